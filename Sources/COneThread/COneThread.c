#include "COneThread.h"
#include <stdint.h>

// The runtime's functions that count references of objects which no second thread knows.
void *swift_nonatomic_retain(void *object);
void *swift_nonatomic_retain_n(void *object, uint32_t count);
void swift_nonatomic_release(void *object);
void swift_nonatomic_release_n(void *object, uint32_t count);

// An object begins with its type. The second word counts its references in bits 33 to 62, beyond the first one. If bit
// 63 is set, it says something else (RefCount.h in the runtime). That case, and what is no object, are the runtime's.
typedef struct {
    void *type;
    int64_t references;
} Object;

static const int64_t one = (int64_t)1 << 33;

static inline _Bool is_none(Object *object) { return (intptr_t)object <= 0; }

// The linker calls `__wrap_f` for `f`.

void *__wrap_swift_retain(Object *object) {
    if (is_none(object)) return object;
    int64_t more = (int64_t)((uint64_t)object->references + (uint64_t)one);
    if (more < 0) return swift_nonatomic_retain(object);
    object->references = more;
    return object;
}

void __wrap_swift_release(Object *object) {
    if (is_none(object)) return;
    if (object->references < one) return swift_nonatomic_release(object);
    object->references -= one;
}

void *__wrap_swift_retain_n(void *object, uint32_t count) { return swift_nonatomic_retain_n(object, count); }
void __wrap_swift_release_n(void *object, uint32_t count) { swift_nonatomic_release_n(object, count); }

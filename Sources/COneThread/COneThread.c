#include "COneThread.h"
#include <stdint.h>

// The runtime's functions that count references of objects which no second thread knows.
void *swift_nonatomic_retain(void *object);
void *swift_nonatomic_retain_n(void *object, uint32_t count);
void swift_nonatomic_release(void *object);
void swift_nonatomic_release_n(void *object, uint32_t count);

// The linker calls `__wrap_f` for `f`.
void *__wrap_swift_retain(void *object) { return swift_nonatomic_retain(object); }
void *__wrap_swift_retain_n(void *object, uint32_t count) { return swift_nonatomic_retain_n(object, count); }
void __wrap_swift_release(void *object) { swift_nonatomic_release(object); }
void __wrap_swift_release_n(void *object, uint32_t count) { swift_nonatomic_release_n(object, count); }

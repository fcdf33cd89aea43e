#include "CAllocationCounter.h"
#include <errno.h>
#include <stddef.h>

static _Thread_local uint64_t count;

uint64_t agd_allocation_count(void) { return count; }

#if __has_feature(address_sanitizer)

// The sanitizer has a malloc of its own, which calls these. They run before it has begun, so they are not checked.
__attribute__((no_sanitize("address"))) void __sanitizer_malloc_hook(const volatile void *block, size_t size) {
    (void)block, (void)size;
    count++;
}
void __sanitizer_free_hook(const volatile void *block) { (void)block; }

#else

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

void *malloc(size_t size) {
    count++;
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count++;
    return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size) {
    if (!block) count++;
    return __libc_realloc(block, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count++;
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **block, size_t alignment, size_t size) {
    count++;
    *block = __libc_memalign(alignment, size);
    return *block ? 0 : ENOMEM;
}

#endif

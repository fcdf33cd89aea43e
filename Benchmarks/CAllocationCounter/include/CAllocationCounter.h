// Counts what a benchmark or a test allocates: its own `malloc`, in front of the C library's.
#ifndef AGD_ALLOCATION_COUNTER_H
#define AGD_ALLOCATION_COUNTER_H

#include <stdint.h>

/// Calls of malloc, calloc, aligned_alloc and posix_memalign, and of realloc without a block, by this thread.
uint64_t agd_allocation_count(void);

#endif

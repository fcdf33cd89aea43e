// Counts what a benchmark allocates: its own `malloc`, in front of the C library's.
#ifndef AGD_ALLOCATION_COUNTER_H
#define AGD_ALLOCATION_COUNTER_H

#include <stdint.h>

/// Calls of malloc, calloc, aligned_alloc and posix_memalign, and of realloc without a block, since the program began.
uint64_t agd_allocation_count(void);

#endif

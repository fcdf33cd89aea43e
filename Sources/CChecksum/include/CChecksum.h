#ifndef CCHECKSUM_H
#define CCHECKSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// True if the processor has instructions for CRC-32C: SSE4.2, or the CRC extension of ARMv8.
bool cchecksum_is_fast(void);

/// Adds bytes to the state of a CRC-32C. Only where `cchecksum_is_fast`.
uint32_t cchecksum_add(uint32_t state, const uint8_t *_Nonnull bytes, size_t count);

#endif

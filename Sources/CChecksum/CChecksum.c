#include "CChecksum.h"
#include <string.h>

#if defined(__x86_64__)

#include <nmmintrin.h>

bool cchecksum_is_fast(void) { return __builtin_cpu_supports("sse4.2"); }

#define FAST __attribute__((target("sse4.2")))
#define ADD_WORD(state, word) ((uint32_t)_mm_crc32_u64(state, word))
#define ADD_BYTE(state, byte) _mm_crc32_u8(state, byte)

#elif defined(__aarch64__)

#include <arm_acle.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>

bool cchecksum_is_fast(void) { return getauxval(AT_HWCAP) & HWCAP_CRC32; }

#define FAST __attribute__((target("+crc")))
#define ADD_WORD(state, word) __crc32cd(state, word)
#define ADD_BYTE(state, byte) __crc32cb(state, byte)

#endif

#ifdef FAST

FAST uint32_t cchecksum_add(uint32_t state, const uint8_t *bytes, size_t count) {
    for (; count >= 8; bytes += 8, count -= 8) {
        uint64_t word;
        memcpy(&word, bytes, 8);
        state = ADD_WORD(state, word);
    }
    for (; count > 0; bytes++, count--) state = ADD_BYTE(state, *bytes);
    return state;
}

#else

bool cchecksum_is_fast(void) { return false; }

uint32_t cchecksum_add(uint32_t state, const uint8_t *bytes, size_t count) { return state; }

#endif

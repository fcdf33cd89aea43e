#include "CFuzzer.h"

__attribute__((weak)) int LLVMFuzzerRunDriver(int *count, char ***arguments, int (*entry)(const uint8_t *, size_t));

bool fuzzer_is_there(void) { return LLVMFuzzerRunDriver; }
int fuzzer_run(int count, char **arguments, int (*entry)(const uint8_t *, size_t)) {
    return LLVMFuzzerRunDriver(&count, &arguments, entry);
}

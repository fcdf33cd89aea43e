// libFuzzer, if the program was built with it.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool fuzzer_is_there(void);
// Calls `entry` with bytes that reach ever more of the code, as the arguments of libFuzzer say.
int fuzzer_run(int count, char *_Nonnull *_Nonnull arguments, int (*_Nonnull entry)(const uint8_t *_Nullable, size_t));

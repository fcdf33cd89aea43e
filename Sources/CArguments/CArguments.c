#include "CArguments.h"
#include <stddef.h>

static char **words;

// The C library passes to every constructor what it passes to `main`. Swift's `CommandLine` does not take the words from
// there: it looks for them in /proc/self/cmdline, or in memory before `environ`.
__attribute__((constructor)) static void keep(int count, char **arguments) {
    words = count > 0 ? arguments : NULL;
}

char **arguments_of_main(void) { return words; }

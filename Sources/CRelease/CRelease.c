#include "CRelease.h"
#include <stddef.h>

const char *agd_commit(void) {
#ifdef AGD_COMMIT
    return AGD_COMMIT;
#else
    return NULL;
#endif
}

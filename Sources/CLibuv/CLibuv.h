// Beside libuv: malloc_trim, which is in no module of Swift's.
#include <malloc.h>
#include <uv.h>

#include <systemd/sd-bus.h>
// Swift's module of the C library leaves adjtimex out.
#include <sys/timex.h>

// Beside libuv: malloc_trim, which is in no module of Swift's, and a timer that tells that the wall clock was set.
#include <malloc.h>
#include <sys/timerfd.h>
#include <time.h>
#include <uv.h>

static inline int agd_open_clock_watch(void) { return timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC); }

// The timer never expires. It becomes readable when the wall clock is set, or jumps because the machine was asleep.
static inline int agd_arm_clock_watch(int descriptor) {
    struct itimerspec never = {.it_value = {.tv_sec = (time_t)((1ULL << (8 * sizeof(time_t) - 1)) - 1)}};
    return timerfd_settime(descriptor, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL);
}

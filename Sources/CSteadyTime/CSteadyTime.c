#define _GNU_SOURCE
#include "CSteadyTime.h"
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

typedef int (*ClockGettime)(clockid_t, struct timespec *);
typedef int (*CondTimedwait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);

// The functions of the C library, and where libnats is in memory. Set before `main`.
static ClockGettime clock_gettime_of_library;
static CondTimedwait cond_timedwait_of_library;
static uintptr_t first, end;
// What libnats takes for the wall clock, minus the monotonic clock. In nanoseconds.
static int64_t difference;

static const int64_t second = 1000000000;

static int64_t nanoseconds(struct timespec time) { return time.tv_sec * second + time.tv_nsec; }

static struct timespec timespec_of(int64_t nanoseconds) {
    if (nanoseconds < 0) nanoseconds = 0;
    return (struct timespec){.tv_sec = nanoseconds / second, .tv_nsec = nanoseconds % second};
}

static int64_t read_clock(clockid_t clock) {
    struct timespec now;
    clock_gettime_of_library(clock, &now);
    return nanoseconds(now);
}

static int find_libnats(struct dl_phdr_info *library, size_t size, void *nothing) {
    (void)size, (void)nothing;
    if (!library->dlpi_name || !strstr(library->dlpi_name, "/libnats.so")) return 0;
    for (int number = 0; number < library->dlpi_phnum; number++) {
        const ElfW(Phdr) *part = &library->dlpi_phdr[number];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        first = library->dlpi_addr + part->p_vaddr;
        end = first + part->p_memsz;
    }
    return 1;
}

static void find_library(void) {
    clock_gettime_of_library = (ClockGettime)dlsym(RTLD_NEXT, "clock_gettime");
    cond_timedwait_of_library = (CondTimedwait)dlsym(RTLD_NEXT, "pthread_cond_timedwait");
}

__attribute__((constructor)) static void start(void) {
    find_library();
    difference = read_clock(CLOCK_REALTIME) - read_clock(CLOCK_MONOTONIC);
    dl_iterate_phdr(find_libnats, NULL);
}

static _Bool is_libnats(void *caller) { return (uintptr_t)caller >= first && (uintptr_t)caller < end; }

// A static libnats is compiled with these names in place of those of the C library (Scripts/libraries).

int agd_steady_gettime(clockid_t clock, struct timespec *time) {
    if (!clock_gettime_of_library) find_library();
    if (clock != CLOCK_REALTIME) return clock_gettime_of_library(clock, time);
    *time = timespec_of(read_clock(CLOCK_MONOTONIC) + difference);
    return 0;
}

int agd_steady_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *deadline) {
    struct timespec steady = timespec_of(nanoseconds(*deadline) - difference);
    return pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, &steady);
}

// References of a shared libnats find these functions before those of the C library.

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (!clock_gettime_of_library) find_library();
    return is_libnats(__builtin_return_address(0)) ? agd_steady_gettime(clock, time)
                                                   : clock_gettime_of_library(clock, time);
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex, const struct timespec *deadline) {
    if (!cond_timedwait_of_library) find_library();
    return is_libnats(__builtin_return_address(0)) ? agd_steady_timedwait(condition, mutex, deadline)
                                                   : cond_timedwait_of_library(condition, mutex, deadline);
}

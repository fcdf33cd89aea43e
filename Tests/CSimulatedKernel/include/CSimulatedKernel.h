// A kernel for one program in one thread: clocks, Unix sockets, epoll and a disk, in memory, decided by one number.
//
// The program contains the functions of the C library that the daemon, libuv and SQLite call. The dynamic linker
// resolves their references to these. Paths below /sim and descriptors from `sim_first_descriptor` on are simulated;
// all others go to the C library.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Everything is forgotten, and the numbers begin anew.
void sim_reset(uint64_t seed);
// The numbers from here on: those of one step.
void sim_seed(uint64_t seed);

// The program that this process becomes has its memory at the same addresses each time.
void sim_place_memory_alike(void);

// Clocks, in nanoseconds.
void sim_advance(int64_t nanoseconds);
void sim_sleep(int64_t nanoseconds);
void sim_step_wall(int64_t nanoseconds);
int64_t sim_monotonic(void);
// The time that each reading of a clock takes.
void sim_set_tick(int64_t nanoseconds);
double sim_real_seconds(void);
// Whether some bytes are among others.
bool sim_contains(const void *bytes, size_t count, const void *wanted, size_t length);

// Files.
void sim_write_file(const char *path, const char *text);
void sim_make_folder(const char *path);
void sim_copy_file(const char *from, const char *to);
// The size of a file; below 0 if there is none.
int64_t sim_file_size(const char *path);
// Inverts the bits of bytes, as a bad disk does.
void sim_damage_file(const char *path, int64_t place, int64_t count);
void sim_remove_file(const char *path);
// The kernel has written everything to the disk by itself, as it does after some seconds.
void sim_write_back(void);
// From the call with this number on, counted from now, so many calls to the disk fail.
void sim_fail_disk(int64_t calls, int number, int64_t count);
// The disk has room for so many bytes more; below 0: for everything.
void sim_set_room(int64_t bytes);
// Each `fsync` takes so long.
void sim_set_sync_time(int64_t nanoseconds);
uint64_t sim_disk_calls(void);

// The process dies at the call with this number, counted from now: no later call changes anything.
void sim_kill(int64_t calls);
bool sim_is_dead(void);
// The calls that follow are those of another process, which does not die with the daemon.
void sim_be_another(bool isAnother);
// Called when the daemon's objects are gone. The connections are closed.
void sim_bury(void);
// What was not synced may be lost, torn or reordered.
void sim_cut_power(void);
// Descriptors that are open.
int sim_open_descriptors(void);

// The clients' side of connections.
// Returns a number; below 0 if nobody listens.
int sim_connect(const char *path, int32_t pid, uint32_t uid, uint32_t gid);
// Bytes that the daemon can read from now on. Returns how many there was room for.
size_t sim_send(int connection, const void *bytes, size_t count);
// Takes bytes that the daemon has written. 0: there are none.
size_t sim_receive(int connection, void *bytes, size_t count);
size_t sim_waiting(int connection);
// Bytes that the daemon has not read.
size_t sim_unread(int connection);
// The daemon has closed its side, and all of its bytes have been taken.
bool sim_is_over(int connection);
// The client has hung up, and the daemon has not closed its side yet.
bool sim_is_served(int connection);
void sim_end_sending(int connection);
void sim_hang_up(int connection);
// Bytes that the daemon can write before the client reads.
void sim_set_window(int connection, size_t bytes);
// Reads and writes of the daemon transfer any number of bytes.
void sim_set_short(bool isShort);

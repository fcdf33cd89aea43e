#define _GNU_SOURCE
#include "CSimulatedKernel.h"
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

// The function of the C library.
#define NEXT(name) ({ static __typeof__(&name) next; if (!next) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name); next; })
#define FAIL(number) ({ errno = (number); -1; })

enum { first_descriptor = 4096, descriptors = 4096, connections = 4096, files = 1024, sector = 512, path_size = 200 };
static const int64_t second = 1000000000;

// MARK: Numbers

static uint64_t state;

static uint64_t number(void) {
    uint64_t mixed = state += 0x9e3779b97f4a7c15;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
    mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
    return mixed ^ mixed >> 31;
}
static uint64_t below(uint64_t bound) { return number() % bound; }

void sim_seed(uint64_t seed) { state = seed; }

// The seeds of Swift's hashing, which are 0 in a process with SWIFT_DETERMINISTIC_HASHING: other orders find other faults.
extern uint64_t _swift_stdlib_Hashing_parameters[];
__attribute__((constructor)) static void seed_hashing(void) {
    const char *text = getenv("SIMULATE_HASHING");
    if (text) _swift_stdlib_Hashing_parameters[0] = strtoull(text, NULL, 10);
}

void sim_place_memory_alike(void) { personality(ADDR_NO_RANDOMIZE); }

// MARK: Clocks

static int64_t monotonic, wall, asleep, tick;
static bool clock_was_set;

void sim_advance(int64_t nanoseconds) { monotonic += nanoseconds; wall += nanoseconds; }
void sim_sleep(int64_t nanoseconds) { asleep += nanoseconds; wall += nanoseconds; clock_was_set = true; }
void sim_step_wall(int64_t nanoseconds) { wall += nanoseconds; clock_was_set = true; }
int64_t sim_monotonic(void) { return monotonic; }
void sim_set_tick(int64_t nanoseconds) { tick = nanoseconds; }

double sim_real_seconds(void) {
    struct timespec time;
    NEXT(clock_gettime)(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

bool sim_contains(const void *bytes, size_t count, const void *wanted, size_t length) {
    return memmem(bytes, count, wanted, length);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    sim_advance(tick);
    int64_t now = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ? wall
        : clock == CLOCK_BOOTTIME ? monotonic + asleep : monotonic;
    time->tv_sec = now / second;
    time->tv_nsec = now % second;
    return 0;
}
time_t time(time_t *result) {
    if (result) *result = wall / second;
    return wall / second;
}
int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    time->tv_sec = wall / second;
    time->tv_usec = wall % second / 1000;
    return 0;
}

// MARK: The life of the process

static int64_t calls_to_death, calls_to_failure, failures;
static int failure;
static uint64_t disk_calls;
static bool is_dead, is_short, is_another;

void sim_kill(int64_t calls) { calls_to_death = calls + 1; }
bool sim_is_dead(void) { return is_dead; }
void sim_fail_disk(int64_t calls, int number, int64_t count) { calls_to_failure = calls + 1; failure = number; failures = count; }
uint64_t sim_disk_calls(void) { return disk_calls; }
void sim_set_short(bool value) { is_short = value; }
void sim_be_another(bool value) { is_another = value; }

// True if the process no longer lives.
static bool dies(void) {
    if (calls_to_death > 0 && --calls_to_death == 0) is_dead = true;
    return is_dead;
}

// An errno, or 0. Each call to the disk asks once.
static int disk_fault(void) {
    if (is_another) return 0;
    disk_calls++;
    if (dies()) return EIO;
    if (calls_to_failure > 1) { calls_to_failure--; return 0; }
    if (calls_to_failure == 1) {
        if (failures-- > 0) return failure;
        calls_to_failure = 0;
    }
    return 0;
}

// MARK: The disk

typedef struct {
    uint8_t *bytes;
    size_t size, room;
} Content;

typedef struct {
    // As programs see it, and as it is on the disk.
    Content now, kept;
    // One for each sector that may differ.
    uint8_t *changed;
    size_t changed_room;
    mode_t mode;
    int names, opened, shared;
    bool is_locked, is_used;
} File;

typedef struct { char path[path_size]; int file; } Name;
typedef struct { int count; Name names[files]; } Names;
typedef struct { char from[path_size], to[path_size]; int file; } Change;

static File disk[files];
static Names names_now, names_kept;
// Since the folder was synced: a file appears under `to` and disappears under `from`, either of which may be empty.
static Change changes[files];
static int change_count;
static int64_t room_left, sync_time;

void sim_set_room(int64_t bytes) { room_left = bytes; }
void sim_set_sync_time(int64_t nanoseconds) { sync_time = nanoseconds; }

static bool is_ours(const char *path) {
    return path && (!strncmp(path, "/sim", 4) || !strcmp(path, "/dev/urandom") || !strncmp(path, "/proc/sys/kernel/random", 23));
}

static int find(const Names *names, const char *path) {
    for (int place = 0; place < names->count; place++)
        if (!strcmp(names->names[place].path, path)) return place;
    return -1;
}
static File *file_at(const char *path) {
    int place = find(&names_now, path);
    return place < 0 ? NULL : &disk[names_now.names[place].file];
}

static void resize(Content *content, size_t size) {
    if (size > content->room) {
        content->room = size * 2 + 4096;
        content->bytes = realloc(content->bytes, content->room);
    }
    if (size > content->size) memset(content->bytes + content->size, 0, size - content->size);
    content->size = size;
}

static void mark(File *file, size_t from, size_t end) {
    size_t needed = end / sector + 1;
    if (needed > file->changed_room) {
        file->changed = realloc(file->changed, needed * 2);
        memset(file->changed + file->changed_room, 0, needed * 2 - file->changed_room);
        file->changed_room = needed * 2;
    }
    for (size_t place = from / sector; place * sector < end; place++) file->changed[place] = 1;
}

static void free_unused(File *file) {
    if (file->opened) return;
    int index = (int)(file - disk);
    for (int place = 0; place < names_now.count; place++) if (names_now.names[place].file == index) return;
    for (int place = 0; place < names_kept.count; place++) if (names_kept.names[place].file == index) return;
    for (int place = 0; place < change_count; place++) if (changes[place].file == index) return;
    free(file->now.bytes); free(file->kept.bytes); free(file->changed);
    memset(file, 0, sizeof *file);
}

static void rename_in(Names *names, const char *from, const char *to, int file) {
    int place;
    if (*from && (place = find(names, from)) >= 0) names->names[place] = names->names[--names->count];
    if (!*to) return;
    if ((place = find(names, to)) < 0) place = names->count++;
    if (names->count > files) abort();
    strcpy(names->names[place].path, to);
    names->names[place].file = file;
}

static void change_names(const char *from, const char *to, int file) {
    rename_in(&names_now, from, to, file);
    if (change_count == files) {
        // The disk has written the oldest change by itself.
        rename_in(&names_kept, changes[0].from, changes[0].to, changes[0].file);
        memmove(changes, changes + 1, sizeof *changes * --change_count);
    }
    Change *change = &changes[change_count++];
    strcpy(change->from, from);
    strcpy(change->to, to);
    change->file = file;
}

static File *make_file(const char *path, mode_t mode) {
    for (int index = 0; index < files; index++) if (!disk[index].is_used) {
        disk[index].is_used = true;
        disk[index].mode = mode;
        change_names("", path, index);
        return &disk[index];
    }
    abort();
}

static void sync_names(void) {
    for (int place = 0; place < change_count; place++)
        rename_in(&names_kept, changes[place].from, changes[place].to, changes[place].file);
    change_count = 0;
    for (int index = 0; index < files; index++) if (disk[index].is_used) free_unused(&disk[index]);
}

static void sync_file(File *file) {
    size_t end = file->now.size > file->kept.size ? file->now.size : file->kept.size;
    resize(&file->kept, file->now.size);
    for (size_t place = 0; place * sector < end && place < file->changed_room; place++) if (file->changed[place]) {
        size_t from = place * sector, to = from + sector < file->now.size ? from + sector : file->now.size;
        if (from < to) memcpy(file->kept.bytes + from, file->now.bytes + from, to - from);
        file->changed[place] = 0;
    }
}

static ssize_t write_file(File *file, const void *bytes, size_t count, size_t at) {
    size_t end = at + count;
    if (end > file->now.size) {
        int64_t more = end - file->now.size;
        if (room_left >= 0 && more > room_left) return FAIL(ENOSPC);
        if (room_left >= 0) room_left -= more;
        mark(file, file->now.size, end);
        resize(&file->now, end);
    }
    memcpy(file->now.bytes + at, bytes, count);
    mark(file, at, end);
    return count;
}

// The disk writes some sectors by itself, in any order, and what was not synced is lost.
void sim_cut_power(void) {
    int kept = change_count ? (int)below(change_count + 1) : 0;
    for (int place = 0; place < kept; place++)
        rename_in(&names_kept, changes[place].from, changes[place].to, changes[place].file);
    change_count = 0;
    names_now = names_kept;
    for (int index = 0; index < files; index++) {
        File *file = &disk[index];
        if (!file->is_used || S_ISDIR(file->mode)) continue;
        // Of one crash all, none or some sectors have arrived.
        uint64_t share = below(3) == 0 ? 0 : below(3) == 0 ? 100 : below(101);
        if (file->now.size != file->kept.size && below(100) < (share + 50) / 2) {
            mark(file, file->now.size < file->kept.size ? file->now.size : file->kept.size,
                file->now.size > file->kept.size ? file->now.size : file->kept.size);
            resize(&file->kept, file->now.size);
        }
        for (size_t place = 0; place < file->changed_room; place++) if (file->changed[place]) {
            size_t from = place * sector, end = from + sector < file->now.size ? from + sector : file->now.size;
            if (end > file->kept.size) end = file->kept.size;
            if (below(100) < share && from < end) memcpy(file->kept.bytes + from, file->now.bytes + from, end - from);
            file->changed[place] = 0;
        }
        resize(&file->now, file->kept.size);
        if (file->kept.size) memcpy(file->now.bytes, file->kept.bytes, file->kept.size);
        free_unused(file);
    }
}

void sim_make_folder(const char *path) { if (!file_at(path)) make_file(path, S_IFDIR | 0755); sync_names(); }
void sim_write_file(const char *path, const char *text) {
    File *file = file_at(path);
    if (!file) file = make_file(path, S_IFREG | 0644);
    int64_t room = room_left;
    room_left = -1;
    resize(&file->now, 0);
    write_file(file, text, strlen(text), 0);
    room_left = room;
    sync_file(file);
    sync_names();
}

void sim_copy_file(const char *from, const char *to) {
    File *source = file_at(from), *file = file_at(to);
    if (!source) return;
    if (!file) file = make_file(to, S_IFREG | 0644);
    resize(&file->now, 0);
    resize(&file->now, source->now.size);
    if (source->now.size) memcpy(file->now.bytes, source->now.bytes, source->now.size);
    mark(file, 0, source->now.size);
    sync_file(file);
    sync_names();
}
int64_t sim_file_size(const char *path) {
    File *file = file_at(path);
    return file ? (int64_t)file->now.size : -1;
}
void sim_damage_file(const char *path, int64_t place, int64_t count) {
    File *file = file_at(path);
    for (int64_t at = place; file && at < place + count && at < (int64_t)file->now.size; at++)
        file->now.bytes[at] ^= 0xff, file->kept.bytes[at] ^= 0xff;
}
void sim_remove_file(const char *path) {
    int place = find(&names_now, path);
    if (place >= 0) change_names(path, "", names_now.names[place].file);
    sync_names();
}
void sim_write_back(void) {
    for (int index = 0; index < files; index++)
        if (disk[index].is_used && !S_ISDIR(disk[index].mode)) sync_file(&disk[index]);
    sync_names();
}

// MARK: Descriptors

enum Kind { unused, plain, folder, randomness, listening, connected, polling, clock_watch, socket_unbound };

typedef struct { int fd; uint32_t events; epoll_data_t data; } Interest;

typedef struct {
    enum Kind kind;
    File *file;
    size_t place;
    // flock: 0, LOCK_SH or LOCK_EX.
    int lock;
    int connection;
    char path[path_size];
    int *waiting;
    int waiting_count;
    Interest *interests;
    int interest_count, interest_room;
} Descriptor;

typedef struct {
    bool is_used, has_client, has_daemon, is_ended;
    int32_t pid;
    uint32_t uid, gid;
    // What the daemon can read, and what the client can.
    Content in, out;
    size_t in_start, out_start, window;
} Connection;

static Descriptor table[descriptors];
static Connection peers[connections];

static Descriptor *ours(int fd) {
    return fd >= first_descriptor && fd < first_descriptor + descriptors && table[fd - first_descriptor].kind
        ? &table[fd - first_descriptor] : NULL;
}

static int new_descriptor(enum Kind kind) {
    for (int place = 0; place < descriptors; place++) if (!table[place].kind) {
        memset(&table[place], 0, sizeof table[place]);
        table[place].kind = kind;
        table[place].connection = -1;
        return first_descriptor + place;
    }
    return FAIL(EMFILE);
}

int sim_open_descriptors(void) {
    int count = 0;
    for (int place = 0; place < descriptors; place++) count += table[place].kind != unused;
    return count;
}

static void free_peer(Connection *peer) {
    if (peer->has_client || peer->has_daemon) return;
    free(peer->in.bytes); free(peer->out.bytes);
    memset(peer, 0, sizeof *peer);
}

static void unlock(Descriptor *descriptor) {
    if (descriptor->lock == LOCK_EX) descriptor->file->is_locked = false;
    if (descriptor->lock == LOCK_SH) descriptor->file->shared--;
    descriptor->lock = 0;
}

static int close_ours(Descriptor *descriptor) {
    if (descriptor->file) {
        unlock(descriptor);
        descriptor->file->opened--;
        free_unused(descriptor->file);
    }
    if (descriptor->connection >= 0) {
        Connection *peer = &peers[descriptor->connection];
        peer->has_daemon = false;
        free_peer(peer);
    }
    for (int place = 0; place < descriptor->waiting_count; place++) {
        peers[descriptor->waiting[place]].has_daemon = false;
        free_peer(&peers[descriptor->waiting[place]]);
    }
    free(descriptor->waiting);
    free(descriptor->interests);
    int fd = first_descriptor + (int)(descriptor - table);
    descriptor->kind = unused;
    for (int place = 0; place < descriptors; place++) if (table[place].kind == polling) {
        Descriptor *poller = &table[place];
        for (int at = 0; at < poller->interest_count; at++) if (poller->interests[at].fd == fd)
            poller->interests[at--] = poller->interests[--poller->interest_count];
    }
    return 0;
}

static void confirm(void);

void sim_bury(void) {
    confirm();
    for (int place = 0; place < descriptors; place++) if (table[place].kind) close_ours(&table[place]);
    is_dead = false;
    calls_to_death = calls_to_failure = failures = 0;
    room_left = -1;
    sync_time = 0;
}

void sim_reset(uint64_t seed) {
    sim_bury();
    for (int place = 0; place < connections; place++) {
        peers[place].has_client = peers[place].has_daemon = false;
        free_peer(&peers[place]);
    }
    names_now.count = names_kept.count = change_count = 0;
    for (int index = 0; index < files; index++) if (disk[index].is_used) free_unused(&disk[index]);
    state = seed;
    monotonic = 1000 * second;
    wall = 1800000000 * second;
    asleep = 0;
    tick = 1000;
    clock_was_set = is_short = false;
    disk_calls = 0;
    sim_make_folder("/sim");
    sim_write_file("/dev/urandom", "");
    sim_write_file("/proc/sys/kernel/random/boot_id", "boot-0\n");
}

// MARK: The clients' side

int sim_connect(const char *path, int32_t pid, uint32_t uid, uint32_t gid) {
    for (int place = 0; place < descriptors; place++) {
        Descriptor *listener = &table[place];
        if (listener->kind != listening || strcmp(listener->path, path)) continue;
        for (int index = 0; index < connections; index++) if (!peers[index].is_used) {
            peers[index] = (Connection){.is_used = true, .has_client = true, .has_daemon = true,
                .pid = pid, .uid = uid, .gid = gid, .window = 1 << 17};
            listener->waiting = realloc(listener->waiting, sizeof(int) * (listener->waiting_count + 1));
            listener->waiting[listener->waiting_count++] = index;
            return index;
        }
    }
    return -1;
}

static size_t held(const Content *content, size_t start) { return content->size - start; }

static size_t take(Content *content, size_t *start, void *bytes, size_t count) {
    size_t there = held(content, *start);
    if (count > there) count = there;
    if (count) memcpy(bytes, content->bytes + *start, count);
    *start += count;
    if (*start == content->size) *start = content->size = 0;
    return count;
}

static void put(Content *content, const void *bytes, size_t count) {
    size_t end = content->size;
    resize(content, end + count);
    if (count) memcpy(content->bytes + end, bytes, count);
}

size_t sim_send(int connection, const void *bytes, size_t count) {
    Connection *peer = &peers[connection];
    if (!peer->has_daemon) return 0;
    size_t room = (1 << 17) > held(&peer->in, peer->in_start) ? (1 << 17) - held(&peer->in, peer->in_start) : 0;
    if (count > room) count = room;
    put(&peer->in, bytes, count);
    return count;
}
size_t sim_receive(int connection, void *bytes, size_t count) { return take(&peers[connection].out, &peers[connection].out_start, bytes, count); }
size_t sim_waiting(int connection) { return held(&peers[connection].out, peers[connection].out_start); }
size_t sim_unread(int connection) { return held(&peers[connection].in, peers[connection].in_start); }
bool sim_is_over(int connection) { return !peers[connection].has_daemon && !sim_waiting(connection); }
bool sim_is_served(int connection) { return peers[connection].is_used && !peers[connection].has_client && peers[connection].has_daemon; }
void sim_end_sending(int connection) { peers[connection].is_ended = true; }
void sim_hang_up(int connection) { peers[connection].has_client = false; free_peer(&peers[connection]); }
void sim_set_window(int connection, size_t bytes) { peers[connection].window = bytes; }

// MARK: Sockets

int socket(int domain, int type, int protocol) {
    return domain == AF_UNIX ? new_descriptor(socket_unbound) : NEXT(socket)(domain, type, protocol);
}
int bind(int fd, const struct sockaddr *address, socklen_t length) {
    Descriptor *descriptor = ours(fd);
    if (!descriptor) return NEXT(bind)(fd, address, length);
    const char *path = ((const struct sockaddr_un *)address)->sun_path;
    if (dies()) return FAIL(EIO);
    if (file_at(path)) return FAIL(EADDRINUSE);
    make_file(path, S_IFSOCK | 0600);
    strncpy(descriptor->path, path, path_size - 1);
    return 0;
}
int listen(int fd, int backlog) {
    Descriptor *descriptor = ours(fd);
    if (!descriptor) return NEXT(listen)(fd, backlog);
    descriptor->kind = listening;
    return 0;
}
int connect(int fd, const struct sockaddr *address, socklen_t length) {
    return ours(fd) ? FAIL(ECONNREFUSED) : NEXT(connect)(fd, address, length);
}
int accept4(int fd, struct sockaddr *address, socklen_t *length, int flags) {
    Descriptor *listener = ours(fd);
    if (!listener) return NEXT(accept4)(fd, address, length, flags);
    if (dies()) return FAIL(EAGAIN);
    if (!listener->waiting_count) return FAIL(EAGAIN);
    int made = new_descriptor(connected);
    if (made < 0) return -1;
    ours(made)->connection = listener->waiting[0];
    memmove(listener->waiting, listener->waiting + 1, sizeof(int) * --listener->waiting_count);
    return made;
}
int getsockopt(int fd, int level, int name, void *restrict value, socklen_t *restrict length) {
    Descriptor *descriptor = ours(fd);
    if (!descriptor) return NEXT(getsockopt)(fd, level, name, value, length);
    Connection *peer = descriptor->connection >= 0 ? &peers[descriptor->connection] : NULL;
    switch (name) {
    case SO_PEERCRED: {
        if (!peer) return FAIL(ENOTCONN);
        struct ucred credentials = {.pid = peer->pid, .uid = peer->uid, .gid = peer->gid};
        memcpy(value, &credentials, sizeof credentials);
        *length = sizeof credentials;
        return 0;
    }
    case SO_PEERGROUPS: *length = 0; return 0;
    default: *(int *)value = 0; return 0;
    }
}

static ssize_t receive(Connection *peer, void *bytes, size_t count) {
    if (is_dead) return FAIL(ECONNRESET);
    size_t there = held(&peer->in, peer->in_start);
    if (!there) return peer->is_ended || !peer->has_client ? 0 : FAIL(EAGAIN);
    if (is_short && count > 1 && below(2)) count = 1 + below(count < 200 ? count : 200);
    return take(&peer->in, &peer->in_start, bytes, count);
}

static ssize_t transmit(Connection *peer, const void *bytes, size_t count) {
    if (dies()) return FAIL(EPIPE);
    if (!peer->has_client) return FAIL(EPIPE);
    size_t there = held(&peer->out, peer->out_start);
    if (there >= peer->window) return FAIL(EAGAIN);
    if (count > peer->window - there) count = peer->window - there;
    if (is_short && count > 1 && below(4) == 0) count = 1 + below(count);
    put(&peer->out, bytes, count);
    return count;
}

ssize_t send(int fd, const void *bytes, size_t count, int flags) {
    Descriptor *descriptor = ours(fd);
    return descriptor ? transmit(&peers[descriptor->connection], bytes, count) : NEXT(send)(fd, bytes, count, flags);
}
ssize_t recv(int fd, void *bytes, size_t count, int flags) {
    Descriptor *descriptor = ours(fd);
    return descriptor ? receive(&peers[descriptor->connection], bytes, count) : NEXT(recv)(fd, bytes, count, flags);
}
ssize_t sendto(int fd, const void *bytes, size_t count, int flags, const struct sockaddr *to, socklen_t length) {
    return ours(fd) ? FAIL(ENOTCONN) : NEXT(sendto)(fd, bytes, count, flags, to, length);
}

int ioctl(int fd, unsigned long request, ...) {
    va_list list;
    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    Descriptor *descriptor = ours(fd);
    if (!descriptor) return NEXT(ioctl)(fd, request, argument);
    if (request == TIOCOUTQ) *(int *)argument = descriptor->connection < 0 ? 0 : (int)sim_waiting(descriptor->connection);
    return 0;
}

static uint32_t readiness(int fd) {
    Descriptor *descriptor = ours(fd);
    if (!descriptor) return 0;
    if (descriptor->kind == listening) return descriptor->waiting_count ? EPOLLIN : 0;
    if (descriptor->kind == clock_watch) return clock_was_set ? EPOLLIN : 0;
    if (descriptor->kind != connected) return 0;
    Connection *peer = &peers[descriptor->connection];
    uint32_t events = 0;
    if (held(&peer->in, peer->in_start)) events |= EPOLLIN;
    if (peer->is_ended) events |= EPOLLIN | EPOLLRDHUP;
    if (!peer->has_client) events |= EPOLLIN | EPOLLOUT | EPOLLHUP | EPOLLRDHUP;
    if (held(&peer->out, peer->out_start) < peer->window) events |= EPOLLOUT;
    return events;
}

int poll(struct pollfd *polls, nfds_t count, int timeout) {
    for (nfds_t place = 0; place < count; place++) if (!ours(polls[place].fd)) return NEXT(poll)(polls, count, timeout);
    int ready = 0;
    for (nfds_t place = 0; place < count; place++) {
        // The bits are the same.
        polls[place].revents = readiness(polls[place].fd) & (polls[place].events | POLLHUP | POLLERR);
        ready += polls[place].revents != 0;
    }
    return ready;
}

int epoll_create1(int flags) { (void)flags; return new_descriptor(polling); }
int epoll_ctl(int poller, int operation, int fd, struct epoll_event *event) {
    Descriptor *descriptor = ours(poller);
    if (!descriptor) return NEXT(epoll_ctl)(poller, operation, fd, event);
    int place = 0;
    while (place < descriptor->interest_count && descriptor->interests[place].fd != fd) place++;
    bool is_there = place < descriptor->interest_count;
    if (operation == EPOLL_CTL_ADD) {
        if (is_there) return FAIL(EEXIST);
        if (place == descriptor->interest_room) {
            descriptor->interest_room = place * 2 + 16;
            descriptor->interests = realloc(descriptor->interests, sizeof(Interest) * descriptor->interest_room);
        }
        descriptor->interest_count++;
    } else if (!is_there) return FAIL(ENOENT);
    if (operation == EPOLL_CTL_DEL) descriptor->interests[place] = descriptor->interests[--descriptor->interest_count];
    else descriptor->interests[place] = (Interest){fd, event->events, event->data};
    return 0;
}
int epoll_wait(int poller, struct epoll_event *events, int count, int timeout) {
    Descriptor *descriptor = ours(poller);
    if (!descriptor) return NEXT(epoll_wait)(poller, events, count, timeout);
    confirm();
    int ready = 0;
    // The kernel reports descriptors in any order.
    int total = descriptor->interest_count, start = total ? (int)below(total) : 0;
    for (int place = 0; place < total && ready < count; place++) {
        Interest *interest = &descriptor->interests[(start + place) % total];
        uint32_t bits = readiness(interest->fd) & (interest->events | EPOLLHUP | EPOLLERR);
        if (bits) events[ready++] = (struct epoll_event){.events = bits, .data = interest->data};
    }
    return ready;
}
int epoll_pwait(int poller, struct epoll_event *events, int count, int timeout, const sigset_t *mask) {
    return ours(poller) ? epoll_wait(poller, events, count, timeout) : NEXT(epoll_pwait)(poller, events, count, timeout, mask);
}

int timerfd_create(int clock, int flags) { (void)clock, (void)flags; return new_descriptor(clock_watch); }
int timerfd_settime(int fd, int flags, const struct itimerspec *time, struct itimerspec *before) {
    return ours(fd) ? 0 : NEXT(timerfd_settime)(fd, flags, time, before);
}

// MARK: Files

static int open_at(const char *path, int flags, mode_t mode) {
    if (!strcmp(path, "/dev/urandom")) return new_descriptor(randomness);
    int number = disk_fault();
    if (number) return FAIL(number);
    File *file = file_at(path);
    if (file && (flags & O_CREAT) && (flags & O_EXCL)) return FAIL(EEXIST);
    if (!file && !(flags & O_CREAT)) return FAIL(ENOENT);
    int fd = new_descriptor(plain);
    if (fd < 0) return -1;
    if (!file) file = make_file(path, S_IFREG | mode);
    else if (flags & O_TRUNC) { mark(file, 0, file->now.size); resize(&file->now, 0); }
    file->opened++;
    ours(fd)->file = file;
    if (S_ISDIR(file->mode)) ours(fd)->kind = folder;
    return fd;
}
int open(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
    va_end(list);
    return is_ours(path) ? open_at(path, flags, mode) : NEXT(open)(path, flags, mode);
}
int open64(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
    va_end(list);
    return is_ours(path) ? open_at(path, flags, mode) : NEXT(open64)(path, flags, mode);
}
int close(int fd) {
    Descriptor *descriptor = ours(fd);
    return descriptor ? close_ours(descriptor) : NEXT(close)(fd);
}
// libuv closes descriptors with it.
long syscall(long name, ...) {
    va_list list;
    va_start(list, name);
    long a = va_arg(list, long), b = va_arg(list, long), c = va_arg(list, long), d = va_arg(list, long),
         e = va_arg(list, long), f = va_arg(list, long);
    va_end(list);
    if (name == SYS_close && ours((int)a)) return close_ours(ours((int)a));
    return NEXT(syscall)(name, a, b, c, d, e, f);
}

static ssize_t read_at(Descriptor *descriptor, void *bytes, size_t count, size_t place) {
    int number = disk_fault();
    if (number) return FAIL(number);
    Content *content = &descriptor->file->now;
    if (place >= content->size) return 0;
    if (count > content->size - place) count = content->size - place;
    memcpy(bytes, content->bytes + place, count);
    return count;
}
ssize_t read(int fd, void *bytes, size_t count) {
    Descriptor *descriptor = ours(fd);
    if (!descriptor) return NEXT(read)(fd, bytes, count);
    if (descriptor->connection >= 0) return receive(&peers[descriptor->connection], bytes, count);
    if (descriptor->kind == clock_watch) { clock_was_set = false; return FAIL(ECANCELED); }
    if (descriptor->kind == randomness) {
        for (size_t place = 0; place < count; place++) ((uint8_t *)bytes)[place] = (uint8_t)number();
        return count;
    }
    if (descriptor->kind == folder) return FAIL(EISDIR);
    ssize_t done = read_at(descriptor, bytes, count, descriptor->place);
    if (done > 0) descriptor->place += done;
    return done;
}
ssize_t pread(int fd, void *bytes, size_t count, off_t place) {
    Descriptor *descriptor = ours(fd);
    return descriptor ? read_at(descriptor, bytes, count, place) : NEXT(pread)(fd, bytes, count, place);
}
ssize_t pwrite(int fd, const void *bytes, size_t count, off_t place) {
    Descriptor *descriptor = ours(fd);
    if (!descriptor) return NEXT(pwrite)(fd, bytes, count, place);
    int number = disk_fault();
    if (number) return FAIL(number);
    return write_file(descriptor->file, bytes, count, place);
}
ssize_t write(int fd, const void *bytes, size_t count) {
    Descriptor *descriptor = ours(fd);
    if (!descriptor) return NEXT(write)(fd, bytes, count);
    if (descriptor->connection >= 0) return transmit(&peers[descriptor->connection], bytes, count);
    ssize_t done = pwrite(fd, bytes, count, descriptor->place);
    if (done > 0) descriptor->place += done;
    return done;
}
static size_t length_of(const struct iovec *parts, size_t count) {
    size_t length = 0;
    for (size_t place = 0; place < count; place++) length += parts[place].iov_len;
    return length;
}
static ssize_t write_parts(int fd, const struct iovec *parts, size_t count) {
    ssize_t total = 0;
    for (size_t place = 0; place < count; place++) {
        ssize_t done = write(fd, parts[place].iov_base, parts[place].iov_len);
        if (done < 0) return total ? total : done;
        total += done;
        if ((size_t)done < parts[place].iov_len) break;
    }
    return total;
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
    (void)length_of;
    return ours(fd) ? write_parts(fd, parts, count) : NEXT(writev)(fd, parts, count);
}
ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    return ours(fd) ? write_parts(fd, message->msg_iov, message->msg_iovlen) : NEXT(sendmsg)(fd, message, flags);
}
int ftruncate(int fd, off_t size) {
    Descriptor *descriptor = ours(fd);
    if (!descriptor) return NEXT(ftruncate)(fd, size);
    int number = disk_fault();
    if (number) return FAIL(number);
    File *file = descriptor->file;
    size_t old = file->now.size;
    if (room_left >= 0 && (size_t)size < old) room_left += old - size;
    mark(file, (size_t)size < old ? size : old, (size_t)size < old ? old : size);
    resize(&file->now, size);
    return 0;
}
int fsync(int fd) {
    Descriptor *descriptor = ours(fd);
    if (!descriptor) return NEXT(fsync)(fd);
    int number = disk_fault();
    if (number) return FAIL(number);
    sim_advance(sync_time);
    if (descriptor->kind == folder) sync_names();
    else sync_file(descriptor->file);
    return 0;
}
int fdatasync(int fd) { return ours(fd) ? fsync(fd) : NEXT(fdatasync)(fd); }

// What threads of libuv's pool would do is done before the loop waits the next time.
static uv_fs_t *unconfirmed[descriptors];
static int unconfirmed_count;

int uv_fs_fdatasync(uv_loop_t *loop, uv_fs_t *request, uv_file file, uv_fs_cb callback) {
    if (!ours(file) || !callback) return NEXT(uv_fs_fdatasync)(loop, request, file, callback);
    void *data = request->data;
    memset(request, 0, sizeof *request);
    request->data = data;
    request->type = UV_FS;
    request->fs_type = UV_FS_FDATASYNC;
    request->loop = loop;
    request->file = file;
    request->cb = callback;
    unconfirmed[unconfirmed_count++] = request;
    return 0;
}
static void confirm(void) {
    while (unconfirmed_count) {
        uv_fs_t *request = unconfirmed[--unconfirmed_count];
        request->result = fdatasync(request->file) ? -errno : 0;
        request->cb(request);
    }
}
int dup(int fd) {
    Descriptor *descriptor = ours(fd);
    if (!descriptor) return NEXT(dup)(fd);
    int copy = new_descriptor(descriptor->kind);
    if (copy < 0) return -1;
    File *file = descriptor->file;
    ours(copy)->file = file;
    file->opened++;
    return copy;
}
int truncate(const char *path, off_t size) {
    if (!is_ours(path)) return NEXT(truncate)(path, size);
    int fd = open_at(path, O_WRONLY, 0);
    if (fd < 0) return -1;
    int result = ftruncate(fd, size), number = errno;
    close(fd);
    errno = number;
    return result;
}

// The folder that is being listed: one at a time.
static struct { char path[path_size]; int place; struct dirent entry; } listing;

DIR *opendir(const char *path) {
    if (!is_ours(path)) return NEXT(opendir)(path);
    int number = disk_fault();
    if (!number && !file_at(path)) number = ENOENT;
    if (number) { errno = number; return NULL; }
    strcpy(listing.path, path);
    listing.place = 0;
    return (DIR *)&listing;
}
struct dirent *readdir(DIR *folder) {
    if ((void *)folder != &listing) return NEXT(readdir)(folder);
    size_t length = strlen(listing.path);
    while (listing.place < names_now.count) {
        const char *name = names_now.names[listing.place++].path;
        if (strncmp(name, listing.path, length) || name[length] != '/' || strchr(name + length + 1, '/')) continue;
        strcpy(listing.entry.d_name, name + length + 1);
        return &listing.entry;
    }
    return NULL;
}
int closedir(DIR *folder) { return (void *)folder == &listing ? 0 : NEXT(closedir)(folder); }
int flock(int fd, int operation) {
    Descriptor *descriptor = ours(fd);
    if (!descriptor) return NEXT(flock)(fd, operation);
    if (is_dead) return FAIL(EIO);
    unlock(descriptor);
    File *file = descriptor->file;
    int wanted = operation & ~LOCK_NB;
    if (wanted == LOCK_UN) return 0;
    if (file->is_locked || (wanted == LOCK_EX && file->shared)) return FAIL(EWOULDBLOCK);
    if (wanted == LOCK_EX) file->is_locked = true;
    else file->shared++;
    descriptor->lock = wanted;
    return 0;
}
static int control(int fd, int command) {
    (void)fd;
    return command == F_GETFL ? O_RDWR | O_NONBLOCK : 0;
}
int fcntl(int fd, int command, ...) {
    va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    return ours(fd) ? control(fd, command) : NEXT(fcntl)(fd, command, argument);
}
int fcntl64(int fd, int command, ...) {
    va_list list;
    va_start(list, command);
    void *argument = va_arg(list, void *);
    va_end(list);
    return ours(fd) ? control(fd, command) : NEXT(fcntl)(fd, command, argument);
}

static int describe(const File *file, struct stat *status) {
    memset(status, 0, sizeof *status);
    status->st_dev = 77;
    status->st_ino = 1000 + (file - disk);
    status->st_mode = file->mode;
    status->st_nlink = 1;
    status->st_size = file->now.size;
    status->st_blksize = 4096;
    return 0;
}
static int status_at(const char *path, struct stat *status) {
    if (is_dead && !is_another) return FAIL(EIO);
    File *file = file_at(path);
    return file ? describe(file, status) : FAIL(ENOENT);
}
static int status_of(Descriptor *descriptor, struct stat *status) {
    if (descriptor->file) return describe(descriptor->file, status);
    memset(status, 0, sizeof *status);
    status->st_mode = S_IFSOCK | 0600;
    return 0;
}
int stat(const char *restrict path, struct stat *restrict status) { return is_ours(path) ? status_at(path, status) : NEXT(stat)(path, status); }
int lstat(const char *restrict path, struct stat *restrict status) { return is_ours(path) ? status_at(path, status) : NEXT(lstat)(path, status); }
int fstat(int fd, struct stat *status) {
    Descriptor *descriptor = ours(fd);
    return descriptor ? status_of(descriptor, status) : NEXT(fstat)(fd, status);
}
// On 64 bits the two are the same.
int stat64(const char *restrict path, struct stat64 *restrict status) { return stat(path, (struct stat *)status); }
int lstat64(const char *restrict path, struct stat64 *restrict status) { return lstat(path, (struct stat *)status); }
int fstat64(int fd, struct stat64 *status) { return fstat(fd, (struct stat *)status); }
ssize_t pread64(int fd, void *bytes, size_t count, off64_t place) { return pread(fd, bytes, count, place); }
ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t place) { return pwrite(fd, bytes, count, place); }
int ftruncate64(int fd, off64_t size) { return ftruncate(fd, size); }

int access(const char *path, int mode) {
    if (!is_ours(path)) return NEXT(access)(path, mode);
    return file_at(path) ? 0 : FAIL(ENOENT);
}
int unlink(const char *path) {
    if (!is_ours(path)) return NEXT(unlink)(path);
    int number = disk_fault();
    if (number) return FAIL(number);
    int place = find(&names_now, path);
    if (place < 0) return FAIL(ENOENT);
    int file = names_now.names[place].file;
    change_names(path, "", file);
    return 0;
}
int rename(const char *from, const char *to) {
    if (!is_ours(from)) return NEXT(rename)(from, to);
    int number = disk_fault();
    if (number) return FAIL(number);
    int place = find(&names_now, from);
    if (place < 0) return FAIL(ENOENT);
    change_names(from, to, names_now.names[place].file);
    return 0;
}
int link(const char *from, const char *to) {
    if (!is_ours(from)) return NEXT(link)(from, to);
    int number = disk_fault();
    if (number) return FAIL(number);
    int place = find(&names_now, from);
    if (place < 0) return FAIL(ENOENT);
    change_names("", to, names_now.names[place].file);
    return 0;
}
int mkdir(const char *path, mode_t mode) {
    if (!is_ours(path)) return NEXT(mkdir)(path, mode);
    int number = disk_fault();
    if (number) return FAIL(number);
    if (file_at(path)) return FAIL(EEXIST);
    make_file(path, S_IFDIR | mode);
    // Where folders are made is no matter of the store.
    sync_names();
    return 0;
}
int rmdir(const char *path) {
    return is_ours(path) ? unlink(path) : NEXT(rmdir)(path);
}
char *mkdtemp(char *template) {
    if (!is_ours(template)) return NEXT(mkdtemp)(template);
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    for (char *end = template + strlen(template) - 6; *end; end++) *end = letters[below(26)];
    return mkdir(template, 0700) == 0 ? template : NULL;
}
int chmod(const char *path, mode_t mode) { return is_ours(path) ? 0 : NEXT(chmod)(path, mode); }
int chown(const char *path, uid_t user, gid_t group) { return is_ours(path) ? 0 : NEXT(chown)(path, user, group); }
int fchmod(int fd, mode_t mode) { return ours(fd) ? 0 : NEXT(fchmod)(fd, mode); }
int fchown(int fd, uid_t user, gid_t group) { return ours(fd) ? 0 : NEXT(fchown)(fd, user, group); }
uid_t geteuid(void) { return 900; }

int getrlimit(__rlimit_resource_t resource, struct rlimit *limit) {
    (void)resource;
    limit->rlim_cur = limit->rlim_max = 1 << 20;
    return 0;
}

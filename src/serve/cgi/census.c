/* SPDX-License-Identifier: Apache-2.0 */
/* Counts running servers, and ends some to make room for another. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "serve/cgi/internal.h"

#define ABOUT_BYTES_MAX \
    (4 * 4096 + 1024) /* size of KEY.server: each byte of a path may be escaped */
#define ROOM_WAIT_MS 2000
#define BUSY_IDLE_MS 1000 /* a server that answered within that time is not ended */

struct seat {   /* a living server */
    char *name; /* KEY.server */
    char *path;
    pid_t pid;
    uid_t owner;
    uint64_t memory_bytes; /* 0 = not known */
    uint64_t idle_ms;
};

static void free_seat(void *data)
{
    struct seat *seat = data;
    g_free(seat->name);
    g_free(seat->path);
    g_free(seat);
}

static uint64_t resident_bytes(pid_t pid)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/statm", (int)pid);
    g_autofree char *text = NULL;
    unsigned long long pages = 0;
    if (!g_file_get_contents(path, &text, NULL, NULL) || sscanf(text, "%*u %llu", &pages) != 1)
        return 0;
    return (uint64_t)pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void read_about(struct seat *seat, int fd)
{
    char text[ABOUT_BYTES_MAX + 1];
    ssize_t got = pread(fd, text, ABOUT_BYTES_MAX, 0);
    text[MAX(got, 0)] = '\0';
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line != NULL; line++) {
        if (g_str_has_prefix(*line, "data "))
            seat->path = g_strcompress(*line + strlen("data "));
        else if (g_str_has_prefix(*line, FM_CGI_ANSWERED)) {
            uint64_t at = g_ascii_strtoull(*line + strlen(FM_CGI_ANSWERED), NULL, 10);
            uint64_t now = fm_cgi_now_ms();
            seat->idle_ms = now > at ? now - at : 0;
        }
    }
}

/* NULL when no server runs there. */
static struct seat *look_at(int dir_fd, const char *name)
{
    struct stat status;
    int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    pid_t holder = fm_cgi_lock_holder(fd);
    struct seat *seat = NULL;
    if (holder > 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
        seat = g_new0(struct seat, 1);
        seat->name = g_strdup(name);
        seat->pid = holder;
        seat->owner = status.st_uid;
        seat->memory_bytes = resident_bytes(holder);
        read_about(seat, fd);
    }
    close(fd);
    return seat;
}

/* except: a lock file of this process, NULL = none. Opening and closing it would release its record
 * lock. */
static GPtrArray *find_seats(int dir_fd, const char *except)
{
    GPtrArray *seats = g_ptr_array_new_with_free_func(free_seat);
    g_autoptr(GPtrArray) names = fm_cgi_list_names(dir_fd);
    for (guint i = 0; names != NULL && i < names->len; i++) {
        const char *name = g_ptr_array_index(names, i);
        if (fm_cgi_name_kind(name) != FM_CGI_NAME_SERVER || g_strcmp0(name, except) == 0)
            continue;
        struct seat *seat = look_at(dir_fd, name);
        if (seat != NULL)
            g_ptr_array_add(seats, seat);
    }
    return seats;
}

/* --- the list --- */

static void append_seat(const struct seat *seat, GString *out)
{
    const struct passwd *owner = getpwuid(seat->owner);
    g_autofree char *number = g_strdup_printf("%u", (unsigned)seat->owner);
    g_autofree char *memory = seat->memory_bytes == 0
                                  ? g_strdup("not known")
                                  : g_strdup_printf("%.1f MB", (double)seat->memory_bytes / 1e6);
    g_autofree char *path =
        seat->path == NULL ? g_strdup("(just starting)") : g_strescape(seat->path, NULL);
    g_string_append_printf(out, "%8d  %12s  %8.0f s  %-12s  %s\n", (int)seat->pid, memory,
                           (double)seat->idle_ms / 1000, owner != NULL ? owner->pw_name : number,
                           path);
}

/* Folders of servers' names: the configured folder, or the usual ones. */
static GPtrArray *list_folders(const char *configured)
{
    GPtrArray *folders = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(folders, fm_cgi_directory_path(configured));
    static const char *const parents[][3] = {{"/tmp", "fathom-", ""}, {"/run/user", "", "/fathom"}};
    for (size_t i = 0; configured == NULL && i < G_N_ELEMENTS(parents); i++) {
        g_autoptr(GDir) dir = g_dir_open(parents[i][0], 0, NULL);
        const char *name;
        while (dir != NULL && (name = g_dir_read_name(dir)) != NULL) {
            const char *user = name + strlen(parents[i][1]);
            if (!g_str_has_prefix(name, parents[i][1]) || user[0] == '\0' ||
                user[strspn(user, "0123456789")] != '\0')
                continue;
            char *path = g_strconcat(parents[i][0], "/", name, parents[i][2], NULL);
            if (g_ptr_array_find_with_equal_func(folders, path, g_str_equal, NULL))
                g_free(path);
            else
                g_ptr_array_add(folders, path);
        }
    }
    return folders;
}

/* Visits each server in the folders. Returns their number. */
static unsigned visit_all(const char *runtime_dir,
                          void (*visit)(int dir_fd, const struct seat *seat, void *user),
                          void *user)
{
    g_autoptr(GPtrArray) folders = list_folders(runtime_dir);
    unsigned count = 0;
    for (guint i = 0; i < folders->len; i++) {
        int dir_fd =
            open(g_ptr_array_index(folders, i), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (dir_fd < 0)
            continue;
        g_autoptr(GPtrArray) seats = find_seats(dir_fd, NULL);
        for (guint k = 0; k < seats->len; k++)
            visit(dir_fd, g_ptr_array_index(seats, k), user);
        count += seats->len;
        close(dir_fd);
    }
    return count;
}

static void append_one(int dir_fd, const struct seat *seat, void *user)
{
    (void)dir_fd;
    append_seat(seat, user);
}

unsigned fm_cgi_list(const char *runtime_dir, GString *out)
{
    g_string_append_printf(out, "%8s  %12s  %10s  %-12s  %s\n", "pid", "memory", "idle", "owner",
                           "file");
    return visit_all(runtime_dir, append_one, out);
}

/* --- ending servers --- */

/* Signals a server through a pidfd, so that no other process with a reused pid is hit: the lock is
 * checked again after the pidfd was opened. Returns it; -1 = no signal was sent. */
static int tell_to_end(int dir_fd, const struct seat *seat)
{
    int process = (int)syscall(SYS_pidfd_open, seat->pid, 0);
    if (process < 0)
        return -1;
    struct seat *again = look_at(dir_fd, seat->name);
    bool same = again != NULL && again->pid == seat->pid;
    if (again != NULL)
        free_seat(again);
    if (!same || syscall(SYS_pidfd_send_signal, process, SIGTERM, NULL, 0) != 0) {
        close(process);
        return -1;
    }
    return process;
}

static void wait_for_end(int process)
{
    if (process < 0)
        return;
    struct pollfd polled = {process, POLLIN, 0};
    poll(&polled, 1, ROOM_WAIT_MS);
    close(process);
}

unsigned fm_cgi_end_path(const struct fm_cgi_place *place)
{
    g_autoptr(GPtrArray) seats = find_seats(place->dir_fd, NULL);
    unsigned count = 0;
    for (guint i = 0; i < seats->len; i++) {
        const struct seat *seat = g_ptr_array_index(seats, i);
        /* The prefix matches any program and content of the file. */
        if (strncmp(seat->name, place->key, FM_CGI_HASH_DIGITS + 1) != 0)
            continue;
        int process = tell_to_end(place->dir_fd, seat);
        count += process >= 0;
        wait_for_end(process);
    }
    return count;
}

struct ending {
    const char *path;
    bool counts_only;
    unsigned count; /* servers that ran, or those of them that were signalled */
};

static void end_one(int dir_fd, const struct seat *seat, void *user)
{
    struct ending *ending = user;
    if (g_strcmp0(seat->path, ending->path) != 0)
        return;
    int process = ending->counts_only ? -1 : tell_to_end(dir_fd, seat);
    ending->count += ending->counts_only || process >= 0;
    wait_for_end(process);
}

unsigned fm_cgi_servers_of(const char *runtime_dir, const char *path)
{
    struct ending ending = {.path = path, .counts_only = true};
    (void)visit_all(runtime_dir, end_one, &ending);
    return ending.count;
}

unsigned fm_cgi_end_servers_of(const char *runtime_dir, const char *path)
{
    struct ending ending = {.path = path};
    (void)visit_all(runtime_dir, end_one, &ending);
    return ending.count;
}

/* --- room --- */

static uint64_t memory_limit(const struct fm_cgi_options *options)
{
    if (options->memory_max != 0)
        return options->memory_max;
    return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;
}

/* The other servers, the sum of their memory, and the one that is needed least (NULL = all are
 * busy). */
struct room {
    GPtrArray *seats;
    uint64_t memory_bytes;
    const struct seat *idlest;
};

static void look_at_room(const struct fm_cgi_place *place, struct room *ret)
{
    *ret = (struct room){.seats = find_seats(place->dir_fd, place->server_name)};
    for (guint i = 0; i < ret->seats->len; i++) {
        const struct seat *seat = g_ptr_array_index(ret->seats, i);
        ret->memory_bytes += seat->memory_bytes;
        if (seat->idle_ms >= BUSY_IDLE_MS &&
            (ret->idlest == NULL || seat->idle_ms > ret->idlest->idle_ms))
            ret->idlest = seat;
    }
}

/* Makes room for one more server and its memory by ending idle ones. False: there is no room. */
static bool make_room(const struct fm_cgi_place *place, const struct fm_cgi_options *options,
                      const struct fm_cgi_log *log)
{
    unsigned servers_max = options->servers_max != 0 ? options->servers_max : FM_CGI_SERVERS_MAX;
    uint64_t memory_max = memory_limit(options);
    for (;;) {
        struct room room;
        look_at_room(place, &room);
        uint64_t memory = room.memory_bytes + resident_bytes(getpid());
        bool fits = room.seats->len < servers_max && memory <= memory_max;
        bool helps = !fits && room.idlest != NULL;
        int process = helps ? tell_to_end(place->dir_fd, room.idlest) : -1;
        if (helps)
            fm_cgi_log(log, FM_CGI_LOG_STARTUP, "the server of %s makes room, idle for %.0f s",
                       room.idlest->path != NULL ? room.idlest->path : "another file",
                       (double)room.idlest->idle_ms / 1000);
        else if (!fits)
            fm_cgi_log(log, FM_CGI_LOG_ERRORS,
                       "no room for a server: %u of %u live, %.0f of %.0f MB", room.seats->len,
                       servers_max, (double)memory / 1e6, (double)memory_max / 1e6);
        wait_for_end(process);
        g_ptr_array_unref(room.seats);
        if (fits || process < 0)
            return fits;
    }
}

bool fm_cgi_room_take(const struct fm_cgi_place *place, const struct fm_cgi_options *options,
                      const struct fm_cgi_log *log, int *ret_fd)
{
    g_assert(ret_fd != NULL);
    /* flock, because no other process probes this lock, and the directory needs no extra lock
     * file */
    int fd = openat(place->dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    uint64_t deadline_ms = fm_cgi_now_ms() + ROOM_WAIT_MS;
    bool locked = false;
    while (fd >= 0 && !(locked = flock(fd, LOCK_EX | LOCK_NB) == 0) && errno == EWOULDBLOCK &&
           fm_cgi_now_ms() < deadline_ms)
        fm_cgi_sleep_ms(10);
    if (!locked)
        fm_cgi_log(log, FM_CGI_LOG_ERRORS, "no room for a server: others are just starting");
    if (locked && make_room(place, options, log)) {
        *ret_fd = fd;
        return true;
    }
    if (fd >= 0)
        close(fd);
    return false;
}

void fm_cgi_room_give(int fd)
{
    flock(fd, LOCK_UN); /* the child may have it open, too */
    close(fd);
}

bool fm_cgi_room_keep(const struct fm_cgi_place *place, const struct fm_cgi_options *options,
                      const struct fm_cgi_log *log)
{
    uint64_t own = resident_bytes(getpid()), memory_max = memory_limit(options);
    struct room room;
    look_at_room(place, &room);
    bool too_much = room.memory_bytes + own > memory_max;
    int process = too_much && room.idlest != NULL ? tell_to_end(place->dir_fd, room.idlest) : -1;
    if (process >= 0)
        close(process); /* a server does not wait */
    if (too_much)
        fm_cgi_log(log, FM_CGI_LOG_STARTUP, "%.0f MB here and %.0f MB of others, at most %.0f",
                   (double)own / 1e6, (double)room.memory_bytes / 1e6, (double)memory_max / 1e6);
    g_ptr_array_unref(room.seats);
    return own <= memory_max;
}

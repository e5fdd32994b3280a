/* SPDX-License-Identifier: Apache-2.0 */
#include "record/outside/events.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGES_MAX 512u /* a ring of 2 MiB */
#define PAGES_MIN 32u
#define STACK_SMALL 8192u
#define ROUNDS 20u /* looks for threads that began meanwhile */

/* Samples of one CPU. */
struct ring {
    struct perf_event_mmap_page *page;
    size_t size; /* without the first page */
    int file;
};

/* A record that was taken out of a ring. */
struct taken {
    uint64_t time;
    size_t at, size;
};

struct fm_events {
    const struct fm_target *target;
    struct fm_perf_live *live;
    struct fm_children *children;
    struct perf_event_attr attr;
    GArray *rings;       /* struct ring, by CPU; page NULL = the CPU is off */
    GArray *files;       /* int */
    GHashTable *sampled; /* tid: has an event, also an inherited one */
    GByteArray *bytes;
    GArray *taken; /* struct taken, of bytes */
};

static int open_event(struct perf_event_attr *attr, pid_t tid, int cpu)
{
    return (int)syscall(SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* Older kernels do not know all bits of the event; without build ids files are found by path. */
static int try_open(struct fm_events *events, pid_t tid, int cpu)
{
    struct perf_event_attr *attr = &events->attr;
    int file = open_event(attr, tid, cpu);
    if (file < 0 && errno == EINVAL && attr->build_id) {
        attr->build_id = 0;
        file = open_event(attr, tid, cpu);
    }
    if (file < 0 && (errno == EACCES || errno == EPERM) && !attr->exclude_kernel) {
        attr->exclude_kernel = 1;
        attr->sample_type &= ~(uint64_t)PERF_SAMPLE_CALLCHAIN;
        file = open_event(attr, tid, cpu);
    }
    return file;
}

static bool map_ring(struct ring *ring)
{
    for (unsigned pages = PAGES_MAX; pages >= PAGES_MIN; pages /= 2) {
        ring->size = (size_t)pages * 4096;
        void *page =
            mmap(NULL, ring->size + 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ring->file, 0);
        if (page != MAP_FAILED) {
            ring->page = page;
            return true;
        }
    }
    return false;
}

/* One thread on one CPU. False: *ret_errno. A CPU that is off has no events. */
static bool add_event(struct fm_events *events, pid_t tid, unsigned cpu, int *ret_errno)
{
    struct ring *ring = &g_array_index(events->rings, struct ring, cpu);
    int file = try_open(events, tid, (int)cpu);
    uint64_t id;
    if (file < 0) {
        *ret_errno = errno;
        return errno == ENODEV || errno == ESRCH;
    }
    g_array_append_val(events->files, file);
    if (ring->page == NULL) {
        ring->file = file;
        if (!map_ring(ring)) {
            *ret_errno = errno;
            return false;
        }
    } else if (ioctl(file, PERF_EVENT_IOC_SET_OUTPUT, ring->file) != 0) {
        *ret_errno = errno;
        return false;
    }
    if (ioctl(file, PERF_EVENT_IOC_ID, &id) == 0)
        fm_perf_live_id(events->live, FM_PERF_LIVE_CPU, id);
    return true;
}

static bool add_thread(struct fm_events *events, pid_t tid, int *ret_errno)
{
    g_hash_table_add(events->sampled, GINT_TO_POINTER(tid));
    for (unsigned cpu = 0; cpu < events->rings->len; cpu++) {
        if (!add_event(events, tid, cpu, ret_errno))
            return false;
    }
    return true;
}

/* Each thread has an event for each CPU. */
static void raise_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}

/* --- records --- */

static void copy_out(struct fm_events *events, const struct ring *ring, uint64_t from, size_t size)
{
    const uint8_t *data = (const uint8_t *)ring->page + 4096;
    size_t at = from % ring->size, first = MIN(size, ring->size - at);
    g_byte_array_append(events->bytes, data + at, (guint)first);
    g_byte_array_append(events->bytes, data, (guint)(size - first));
}

/* The time is behind a sample's event, address and thread, or the second last of the trailing
 * fields. */
static uint64_t time_of(const uint8_t *record, uint32_t type, size_t size)
{
    size_t at = sizeof(struct perf_event_header) + 3 * sizeof(uint64_t);
    uint64_t time = 0;
    if (type != PERF_RECORD_SAMPLE)
        at = size - 2 * sizeof time;
    if (size >= at + sizeof time)
        memcpy(&time, record + at, sizeof time);
    return time;
}

/* Threads that have inherited the event need no other. Processes do not inherit it. */
static void note_fork(struct fm_events *events, const uint8_t *record, size_t size)
{
    uint32_t numbers[4];
    if (size < sizeof(struct perf_event_header) + sizeof numbers)
        return;
    memcpy(numbers, record + sizeof(struct perf_event_header), sizeof numbers);
    if (numbers[0] != numbers[1])
        fm_children_add(events->children, (pid_t)numbers[0]);
    else
        g_hash_table_add(events->sampled, GINT_TO_POINTER(numbers[2]));
}

static void empty(struct fm_events *events, const struct ring *ring)
{
    uint64_t head = __atomic_load_n(&ring->page->data_head, __ATOMIC_ACQUIRE);
    uint64_t tail = ring->page->data_tail;
    while (head - tail >= sizeof(struct perf_event_header)) {
        struct perf_event_header header;
        struct taken record = {.at = events->bytes->len};
        copy_out(events, ring, tail, sizeof header);
        memcpy(&header, events->bytes->data + record.at, sizeof header);
        if (header.size < sizeof header || header.size > head - tail)
            break;
        g_byte_array_set_size(events->bytes, (guint)record.at);
        copy_out(events, ring, tail, header.size);
        record.size = header.size;
        record.time = time_of(events->bytes->data + record.at, header.type, header.size);
        if (header.type == PERF_RECORD_FORK)
            note_fork(events, events->bytes->data + record.at, header.size);
        g_array_append_val(events->taken, record);
        tail += header.size;
    }
    __atomic_store_n(&ring->page->data_tail, tail, __ATOMIC_RELEASE);
}

static int by_time(const void *a, const void *b)
{
    const struct taken *x = a, *y = b;
    return x->time < y->time ? -1 : x->time > y->time;
}

static void empty_all(struct fm_events *events)
{
    for (guint i = 0; i < events->rings->len; i++) {
        const struct ring *ring = &g_array_index(events->rings, struct ring, i);
        if (ring->page != NULL)
            empty(events, ring);
    }
}

bool fm_events_take(struct fm_events *events, GError **error)
{
    bool done = true;
    empty_all(events);
    g_array_sort(events->taken, by_time);
    for (guint i = 0; i < events->taken->len && done; i++) {
        const struct taken *record = &g_array_index(events->taken, struct taken, i);
        done =
            fm_perf_live_add(events->live, events->bytes->data + record->at, record->size, error);
    }
    g_array_set_size(events->taken, 0);
    g_byte_array_set_size(events->bytes, 0);
    return done;
}

bool fm_events_wait(const struct fm_events *events, const struct fm_target *target, int ms)
{
    g_autofree struct pollfd *files = g_new0(struct pollfd, events->rings->len + 1);
    files[0] = (struct pollfd){.fd = target->pidfd, .events = POLLIN};
    for (guint i = 0; i < events->rings->len; i++) {
        const struct ring *ring = &g_array_index(events->rings, struct ring, i);
        files[i + 1] =
            (struct pollfd){.fd = ring->page == NULL ? -1 : ring->file, .events = POLLIN};
    }
    return poll(files, events->rings->len + 1, ms) > 0 && files[0].revents != 0;
}

/* --- begin and end --- */

/* Threads that begin while others get their events either inherit one, which a record tells, or
 * are found by the next round. */
static bool add_threads(struct fm_events *events, int *ret_errno)
{
    bool found = true;
    for (unsigned round = 0; found && round < ROUNDS; round++) {
        g_autoptr(GArray) threads = fm_target_threads(events->target);
        found = false;
        empty_all(events);
        for (guint i = 0; i < threads->len; i++) {
            pid_t tid = g_array_index(threads, pid_t, i);
            if (g_hash_table_contains(events->sampled, GINT_TO_POINTER(tid)))
                continue;
            found = true;
            if (!add_thread(events, tid, ret_errno))
                return false;
        }
    }
    return events->files->len > 0;
}

/* Small rings hold few large copies. Only the first event may decide, as all share a ring. */
static uint32_t stack_bytes(void)
{
    return geteuid() == 0 ? FM_OUTSIDE_STACK_BYTES : STACK_SMALL;
}

struct fm_events *fm_events_new(const struct fm_target *target, struct fm_perf_live *live,
                                struct fm_children *children, int *ret_errno)
{
    struct fm_events *events = g_new0(struct fm_events, 1);
    long cpus = sysconf(_SC_NPROCESSORS_CONF);
    raise_limit();
    *ret_errno = ESRCH;
    events->target = target;
    events->live = live;
    events->children = children;
    events->attr = fm_outside_event(true, stack_bytes());
    events->rings = g_array_new(FALSE, TRUE, sizeof(struct ring));
    g_array_set_size(events->rings, (guint)MAX(cpus, 1));
    events->files = g_array_new(FALSE, FALSE, sizeof(int));
    events->sampled = g_hash_table_new(NULL, NULL);
    events->bytes = g_byte_array_new();
    events->taken = g_array_new(FALSE, FALSE, sizeof(struct taken));
    bool done = add_threads(events, ret_errno);
    if (!done) {
        fm_events_free(events);
        return NULL;
    }
    fm_outside_events(live, &events->attr);
    return events;
}

void fm_events_free(struct fm_events *events)
{
    if (events == NULL)
        return;
    for (guint i = 0; i < events->rings->len; i++) {
        struct ring *ring = &g_array_index(events->rings, struct ring, i);
        if (ring->page != NULL)
            munmap(ring->page, ring->size + 4096);
    }
    for (guint i = 0; i < events->files->len; i++)
        close(g_array_index(events->files, int, i));
    g_array_unref(events->rings);
    g_array_unref(events->files);
    g_hash_table_unref(events->sampled);
    g_byte_array_unref(events->bytes);
    g_array_unref(events->taken);
    g_free(events);
}

bool fm_events_has_kernel(const struct fm_events *events)
{
    return !events->attr.exclude_kernel;
}

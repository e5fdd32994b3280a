/* SPDX-License-Identifier: Apache-2.0 */
/* The events that make a stream understandable from its beginning, whenever that is. */
#include "state/replay.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <unistd.h>

enum { BLOCK_BYTES = 1 << 20 };

static struct fm_el_process process; /* under the state lock, as is modules */
static struct fm_el_bytes modules;   /* payloads of event 526, each after its length w16 */

const struct fm_el_process *fm_el_process(void)
{
    return &process;
}

static int add_module(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct fm_el_bytes *b = context;
    uint64_t low = UINT64_MAX, high = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *h = &info->dlpi_phdr[i];
        if (h->p_type != PT_LOAD)
            continue;
        low = h->p_vaddr < low ? h->p_vaddr : low;
        high = h->p_vaddr + h->p_memsz > high ? h->p_vaddr + h->p_memsz : high;
    }
    if (low > high)
        return 0;
    char self[4096];
    const char *path = info->dlpi_name;
    if (path[0] == '\0') { /* the program itself comes first; the vdso has a name */
        ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
        self[n > 0 ? n : 0] = '\0';
        path = self;
    }
    fm_el_put16(b, (uint16_t)(24 + strlen(path)));
    fm_el_put64(b, info->dlpi_addr + low);
    fm_el_put64(b, high - low);
    fm_el_put64(b, info->dlpi_addr);
    fm_el_put(b, path, strlen(path));
    return 0;
}

static size_t read_args(char *out, size_t room)
{
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    ssize_t n;
    while (fd >= 0 && used < room && (n = read(fd, out + used, room - used)) != 0) {
        if (n < 0 && errno != EINTR)
            break;
        used += n > 0 ? (size_t)n : 0;
    }
    if (fd >= 0)
        close(fd);
    while (used > 0 && out[used - 1] != '\0') /* whole arguments only */
        used--;
    return used;
}

void fm_el_process_refresh(void)
{
    struct fm_el_bytes found = {0};
    dl_iterate_phdr(add_module, &found); /* takes the loader's lock: none of ours is held */
    fm_el_state_lock();
    if (process.pid != (uint32_t)getpid()) { /* first time, or a child */
        struct timespec wall;
        process.wall_at_ns = fm_el_clock_ns();
        clock_gettime(CLOCK_REALTIME, &wall);
        process.wall_s = (uint64_t)wall.tv_sec;
        process.wall_ns = (uint32_t)wall.tv_nsec;
        process.args_bytes = read_args(process.args, sizeof(process.args));
    }
    process.pid = (uint32_t)getpid();
    process.ppid = (uint32_t)getppid();
    struct fm_el_bytes old = modules;
    modules = found;
    fm_el_state_unlock();
    fm_el_bytes_done(&old);
}

/* ---- writing ----------------------------------------------------------------------------------
 */

static void close_block(struct fm_el_replay *o, uint64_t end)
{
    if (o->open && !o->b->failed)
        fm_el_marker(o->b->data + o->block, o->b->used - o->block, FM_EL_NO_CAP, o->begin, end);
    o->open = false;
    o->floor = end;
}

void fm_el_replay_event(struct fm_el_replay *o, uint16_t type, uint64_t ns, const void *first,
                        size_t first_bytes, const void *second, size_t second_bytes)
{
    static const unsigned char empty[FM_EL_MARKER_BYTES];
    if (o->open && o->b->used - o->block > BLOCK_BYTES)
        close_block(o, o->latest);
    if (o->same_time)
        ns = o->now;
    ns = ns < o->floor ? o->floor : ns;
    if (!o->open) {
        o->block = o->b->used;
        o->begin = o->latest = ns;
        o->open = true;
        fm_el_put(o->b, empty, sizeof(empty));
    }
    o->begin = ns < o->begin ? ns : o->begin;
    o->latest = ns > o->latest ? ns : o->latest;
    fm_el_put16(o->b, type);
    fm_el_put64(o->b, ns);
    if (fm_el_sizes[type] == FM_EL_VARIABLE)
        fm_el_put16(o->b, (uint16_t)(first_bytes + second_bytes));
    fm_el_put(o->b, first, first_bytes);
    fm_el_put(o->b, second, second_bytes);
    o->count++;
}

static void event32_16(struct fm_el_replay *o, uint16_t type, uint64_t ns, uint32_t a, uint16_t b)
{
    a = fm_eventlog_be32_(a);
    b = fm_eventlog_be16_(b);
    fm_el_replay_event(o, type, ns, &a, 4, &b, 2);
}

static void event16(struct fm_el_replay *o, uint16_t type, uint64_t ns, uint16_t v)
{
    v = fm_eventlog_be16_(v);
    fm_el_replay_event(o, type, ns, &v, 2, NULL, 0);
}

static void replay_process(struct fm_el_replay *o)
{
    static const char identity[] = "fathom-0.1.0 C event log";
    const uint32_t zero = 0, one = fm_eventlog_be32_(1);
    event32_16(o, FM_EVENT_CAPSET_CREATE, 0, 0, 2); /* the process */
    event32_16(o, FM_EVENT_CAPSET_CREATE, 0, 1, 3); /* its clock domain */
    fm_el_replay_event(o, FM_EVENT_RTS_IDENTIFIER, 0, &zero, 4, identity, sizeof(identity) - 1);
    fm_el_replay_event(o, FM_EVENT_PROGRAM_ARGS, 0, &zero, 4, process.args, process.args_bytes);
    uint32_t pid = fm_eventlog_be32_(process.pid), ppid = fm_eventlog_be32_(process.ppid);
    fm_el_replay_event(o, FM_EVENT_OS_PROCESS_PID, 0, &zero, 4, &pid, 4);
    fm_el_replay_event(o, FM_EVENT_OS_PROCESS_PPID, 0, &zero, 4, &ppid, 4);
    struct fm_eventlog_w32_w64_ wall = {one, fm_eventlog_be64_(process.wall_s)};
    uint32_t wall_ns = fm_eventlog_be32_(process.wall_ns);
    fm_el_replay_event(o, FM_EVENT_WALL_CLOCK_TIME, process.wall_at_ns, &wall, sizeof(wall),
                       &wall_ns, 4);
    for (size_t at = 0; at + 2 <= modules.used && !modules.failed;) {
        size_t bytes = fm_el_get16(modules.data + at);
        fm_el_replay_event(o, FM_EVENT_MODULE, process.wall_at_ns, modules.data + at + 2, bytes,
                           NULL, 0);
        at += 2 + bytes;
    }
}

static void replay_names(struct fm_el_replay *o)
{
    for (const struct fm_el_name *n = fm_el_names_newest(); n; n = n->next_all) {
        uint32_t id = fm_eventlog_be32_(n->id);
        fm_el_replay_event(o, FM_EVENT_INTERN_STRING, n->made_ns, n->text, n->bytes, &id, 4);
    }
}

static void replay_lock_names(struct fm_el_replay *o)
{
    uint64_t lock;
    uint32_t name;
    for (uint32_t i = 0; fm_el_state_lock_name(i, &lock, &name); i++) {
        lock = fm_eventlog_be64_(lock);
        name = fm_eventlog_be32_(name);
        fm_el_replay_event(o, FM_EVENT_LOCK_NAME, o->now, &lock, 8, &name, 4);
    }
}

/* A lane is made and given away under the state lock; its fields do not change meanwhile. */
static void replay_lanes(struct fm_el_replay *o)
{
    for (unsigned i = 0; i < fm_el_lane_count(); i++) {
        const struct fm_el_lane *l = fm_el_lane_at(i);
        if (l->created_ns == 0)
            continue;
        event16(o, FM_EVENT_CAP_CREATE, l->created_ns, l->number);
        event32_16(o, FM_EVENT_CAPSET_ASSIGN_CAP, l->created_ns, 0, l->number);
        event32_16(o, FM_EVENT_CAPSET_ASSIGN_CAP, l->created_ns, 1, l->number);
    }
}

static void replay_tasks(struct fm_el_replay *o)
{
    for (unsigned i = 0; i < fm_el_lane_count(); i++) {
        const struct fm_el_lane *l = fm_el_lane_at(i);
        if (l->created_ns == 0)
            continue;
        if (!l->in_use) {
            event16(o, FM_EVENT_CAP_DISABLE, o->now, l->number);
            continue;
        }
        unsigned char payload[18];
        uint64_t task = fm_eventlog_be64_((uint64_t)l->task);
        uint16_t cap = fm_eventlog_be16_(l->number);
        memcpy(payload, &task, 8);
        memcpy(payload + 8, &cap, 2);
        memcpy(payload + 10, &task, 8);
        fm_el_replay_event(o, FM_EVENT_TASK_CREATE, o->now, payload, sizeof(payload), NULL, 0);
    }
}

static void replay_threads(struct fm_el_replay *o, const struct fm_el_thread *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id = fm_eventlog_be32_(list[i].id);
        fm_el_replay_event(o, FM_EVENT_THREAD_CREATE, list[i].created_ns, &id, 4, NULL, 0);
    }
}

static void replay_thread_states(struct fm_el_replay *o, const struct fm_el_thread *list,
                                 uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct fm_el_thread *t = &list[i];
        uint32_t id = fm_eventlog_be32_(t->id), info = fm_eventlog_be32_(t->info);
        if (t->label)
            fm_el_replay_event(o, FM_EVENT_THREAD_LABEL, o->now, &id, 4, t->label->text,
                               t->label->bytes);
        if (t->lane != FM_EL_NO_CAP)
            event32_16(o, FM_EVENT_THREAD_MIGRATE, o->now, t->id, t->lane);
        if (t->state == 1)
            fm_el_replay_event(o, FM_EVENT_THREAD_RUN, o->now, &id, 4, NULL, 0);
        if (t->state == 3)
            fm_el_replay_event(o, FM_EVENT_THREAD_RUNNABLE, o->now, &id, 4, NULL, 0);
        if (t->state == 2) {
            unsigned char rest[6];
            uint16_t status = fm_eventlog_be16_(t->status);
            memcpy(rest, &status, 2);
            memcpy(rest + 2, &info, 4);
            fm_el_replay_event(o, FM_EVENT_THREAD_STOP, o->now, &id, 4, rest, 6);
        }
    }
}

/* ---- lanes' blocks ----------------------------------------------------------------------------
 */

static struct {
    uint64_t ns;
    uint16_t type;
    uint8_t bytes, payload[8];
} lane_events[FM_EL_REPLAY_LANE_MAX]; /* by time; under the state lock */
static unsigned lane_events_count;
static uint16_t lane_events_cap;

void fm_el_replay_lane_event(struct fm_el_replay *o, uint16_t cap, uint16_t type, uint64_t ns,
                             const void *payload, size_t bytes)
{
    (void)o;
    if (lane_events_count == FM_EL_REPLAY_LANE_MAX)
        return;
    unsigned at = lane_events_count++;
    for (; at > 0 && lane_events[at - 1].ns > ns; at--)
        lane_events[at] = lane_events[at - 1];
    lane_events[at].ns = ns;
    lane_events[at].type = type;
    lane_events[at].bytes = (uint8_t)bytes;
    memcpy(lane_events[at].payload, payload, bytes);
    lane_events_cap = cap;
}

void fm_el_replay_lane_done(struct fm_el_replay *o)
{
    static const unsigned char empty[FM_EL_MARKER_BYTES];
    unsigned n = lane_events_count;
    lane_events_count = 0;
    if (n == 0)
        return;
    close_block(o, o->latest);
    size_t block = o->b->used;
    fm_el_put(o->b, empty, sizeof(empty));
    for (unsigned i = 0; i < n; i++) {
        fm_el_put16(o->b, lane_events[i].type);
        fm_el_put64(o->b, lane_events[i].ns);
        fm_el_put(o->b, lane_events[i].payload, lane_events[i].bytes);
        o->count++;
    }
    if (!o->b->failed)
        fm_el_marker(o->b->data + block, o->b->used - block, lane_events_cap, lane_events[0].ns,
                     lane_events[n - 1].ns);
}

void fm_el_replay(struct fm_el_bytes *b, bool again, uint64_t at_ns, bool values)
{
    static const char begins[] = "fathom: replay begins";
    struct fm_el_replay o = {
        .b = b, .now = at_ns ? at_ns : fm_el_clock_ns(), .same_time = at_ns != 0};
    again |= fm_el.begun || (values && fm_el_values_any());
    fm_el.begun = true;
    if (again)
        fm_el_replay_event(&o, FM_EVENT_LOG_MESSAGE, 0, begins, sizeof(begins) - 1, NULL, 0);
    uint32_t threads;
    size_t bytes;
    struct fm_el_thread *list = fm_el_state_threads(&threads, &bytes);
    replay_process(&o);
    replay_lanes(&o);
    replay_threads(&o, list, threads);
    replay_names(&o);
    replay_lock_names(&o);
    replay_tasks(&o);
    replay_thread_states(&o, list, threads);
    fm_el_pool_free(list, bytes);
    if (values)
        fm_el_values_replay(&o);
    if (again) {
        char text[64];
        int n = snprintf(text, sizeof(text), "fathom: replay ends: %u events", o.count - 1);
        fm_el_replay_event(&o, FM_EVENT_LOG_MESSAGE, o.now, text, (size_t)n, NULL, 0);
    }
    close_block(&o, o.now);
    fm_el_global_not_before(o.now);
    fm_el_count(&fm_el.replayed, o.count);
}

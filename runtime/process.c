/* SPDX-License-Identifier: Apache-2.0 */
/* The process: start, fork, exit, and the functions of fathom/fathom.h. */
#include "files.h"
#include "internal.h"
#include "slots/slots.h"

#include "fathom/fathom.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define SNAPSHOTS_MAX 100000

static fm_lock start_lock;

static void before_fork(void)
{
    if (fm_process.state == FM_RECORDING && !fm_process_is_copy())
        fm_threads_before_fork();
}

static void after_fork_in_parent(void)
{
    fm_threads_fork_done();
}

static void after_fork_in_child(void)
{
    if (fm_process.state == FM_RECORDING && fm_process_is_copy())
        fm_process_after_fork();
    else if (fm_process.state == FM_INERT && fm_process.lost_in != NULL)
        __atomic_add_fetch(&fm_process.lost_in->children_lost, 1, __ATOMIC_RELAXED);
}

static void wipe_page_make(void)
{
    int *page = fm_private_alloc(4096);
    if (page == NULL)
        return;
    if (madvise(page, 4096, MADV_WIPEONFORK) == 0) {
        *page = fm_process.generation = 1;
        fm_process.wiped_by_fork = page;
    } else {
        fm_private_free(page, 4096);
    }
}

static uint64_t all_user_quanta(void)
{
    uint64_t sum = 0;
    for (uint32_t ref = fm_process.header->first_thread; ref != 0;) {
        const struct fm_rec_thread *thread = fm_at(ref);
        sum += thread->user_quanta;
        ref = thread->next;
    }
    return sum;
}

/* All with signals blocked and `inside`. */
static int mark(const char *name, uint32_t snapshot, uint64_t monotonic_ns)
{
    uint32_t text = fm_arena_text(name, strlen(name));
    struct fm_rec_mark *mark = fm_arena_alloc_shared(sizeof *mark);
    if (mark == NULL || text == 0)
        return -ENOSPC;
    mark->tid = (uint32_t)fm_thread_id();
    mark->monotonic_ns = monotonic_ns;
    mark->user_quanta = all_user_quanta();
    mark->snapshot = snapshot;
    mark->name = text;
    fm_lock_take(&fm_process.lock);
    mark->next = fm_process.header->first_mark;
    __atomic_store_n(&fm_process.header->first_mark, fm_ref(mark), __ATOMIC_RELEASE);
    fm_lock_give(&fm_process.lock);
    return 0;
}

/* For a snapshot requested from outside: the program's own snapshots have larger numbers then,
 * though their files may be gone. */
static int mark_asked(const char *name, uint32_t snapshot, uint64_t monotonic_ns)
{
    int last = __atomic_load_n(&fm_process.snapshots, __ATOMIC_RELAXED);
    while (snapshot < SNAPSHOTS_MAX && (int)snapshot > last &&
           !__atomic_compare_exchange_n(&fm_process.snapshots, &last, (int)snapshot, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    return mark(name, snapshot, monotonic_ns);
}

static const struct fm_control_actions control_actions = {.stop = fm_threads_control,
                                                          .mark = mark_asked};

/* A moment of CLOCK_MONOTONIC, in nanoseconds; 0: none. */
static uint64_t moment_of(const char *variable)
{
    const char *text = fm_getenv(variable);
    uint64_t ns = 0;
    for (; text != NULL && *text >= '0' && *text <= '9' && ns < UINT64_MAX / 16; text++)
        ns = ns * 10 + (uint64_t)(*text - '0');
    return ns;
}

static void begin_stopped(void)
{
    fm_process.stopped = fm_process.was_stopped = true;
    fm_process.grade_flags |= FM_REC_WAS_STOPPED;
    fm_process.header->recording_on = 0;
}

/* These times also apply to programs started by this one. */
static void times_prepare(void)
{
    struct fm_process *p = &fm_process;
    uint64_t now = fm_now_ns(CLOCK_MONOTONIC);
    p->start_at_ns = moment_of("FATHOM_START_AT");
    p->stop_at_ns = moment_of("FATHOM_STOP_AT");
    if (now < p->start_at_ns || (p->stop_at_ns != 0 && p->stop_at_ns <= now))
        begin_stopped();
}

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Test programs that autotools, CMake and Meson build and run to look at the compiler: their
 * recordings would be left in the folder. A run that has a name to record to is recorded. */
static bool is_test_of_build(void)
{
    char path[4096];
    const char *output = fm_getenv("FATHOM_OUTPUT");
    if (output != NULL && output[0] != '\0')
        return false;
    long got =
        fm_system_call(89 /* readlink */, (long)"/proc/self/exe", (long)path, sizeof path - 1, 0);
    if (got <= 0)
        return false;
    path[got] = '\0';
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    return strcmp(name, "conftest") == 0 || begins(name, "cmTC_") ||
           strstr(path, "/meson-private/") != NULL;
}

static void start_locked(void)
{
    if (is_test_of_build() || !fm_arena_open(true)) {
        __atomic_store_n(&fm_process.state, FM_INERT, __ATOMIC_RELEASE);
        return;
    }
    if (fm_slots_are_used())
        fm_process.grade_flags |= FM_REC_EXITS;
    const char *wish = fm_getenv("FATHOM_RECORDING");
    if (wish != NULL && strcmp(wish, "off") == 0)
        begin_stopped();
    times_prepare();
    fm_process.header->grade_flags |= fm_process.grade_flags;
    wipe_page_make();
    fm_threads_end_key_make();
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    fm_modules_refresh();
    fm_traced_prepare();
    fm_waiting_prepare(fm_thread_make);
    fm_ticks_prepare();
    fm_control_prepare(&control_actions);
    __atomic_store_n(&fm_process.state, FM_RECORDING, __ATOMIC_RELEASE);
}

/* Defined only by the linker of fully static programs. There libc may call the program's own malloc
 * before its code is relocated. */
extern const char fm_fully_static[] __attribute__((weak)) FM_HIDDEN;
static bool libc_begun;
void *fm_early_tls; /* for a fully static program, see early.S */
size_t fm_early_tls_bytes;
__attribute__((constructor(101))) static void note_libc(void)
{
    libc_begun = true;
    if (fm_early_tls != NULL)
        fm_private_free(fm_early_tls, fm_early_tls_bytes);
}

bool fm_process_is_early(void)
{
    return fm_fully_static != NULL && !libc_begun;
}

bool fm_process_start(void)
{
    if (__atomic_load_n(&fm_process.state, __ATOMIC_ACQUIRE) == FM_NOT_STARTED) {
        fm_lock_take(&start_lock);
        if (fm_process.state == FM_NOT_STARTED)
            start_locked();
        fm_lock_give(&start_lock);
    }
    return fm_process.state == FM_RECORDING;
}

/* The child cannot create its file. The parent's file counts it and is not touched otherwise. */
static void not_recorded(struct fm_rec_header *parent)
{
    struct fm_process *p = &fm_process;
    p->state = FM_INERT;
    fm_thread_disable();
    fm_held_forget();
    p->threads = p->leaving = NULL;
    p->header = NULL;
    p->control = NULL;
    p->lost_in = parent;
    __atomic_add_fetch(&parent->children_lost, 1, __ATOMIC_RELAXED);
}

void fm_process_after_fork(void)
{
    struct fm_process *p = &fm_process;
    uint64_t mask = fm_block_signals();
    int saved_errno = errno;
    uint32_t inside = fm_tls_v2.inside;
    fm_tls_v2.inside = 1; /* opening the new file is not an action of the program */
    char *old_base = p->base;
    uint64_t old_bytes = p->bytes_extended;
    /* locks held by the parent's threads are free in the child */
    *p->wiped_by_fork = ++p->generation;
    for (struct fm_thread *t = p->threads; t != NULL; t = t->next)
        fm_ticks_leave(t);
    fm_arena_leave_file();
    p->thread_count = 0;
    p->snapshots = 0;
    struct fm_rec_header *parent = (struct fm_rec_header *)old_base;
    if (!fm_arena_open(false)) {
        not_recorded(parent);
    } else {
        p->header->grade_flags |= p->grade_flags | FM_REC_FORKED;
        p->header->recording_on = !p->stopped;
        p->header->sandbox_since_ns = parent->sandbox_since_ns;
        p->header->sandbox_off = parent->sandbox_off;
        /* The child's file refers to this one, which may be gone when they are read. */
        __atomic_add_fetch(&parent->children, 1, __ATOMIC_RELAXED);
        p->header->quantum_ns = parent->quantum_ns;
        p->header->parent_pid = parent->pid; /* it may have ended already */
        fm_traced_prepare();
        fm_waiting_prepare(fm_thread_make);
        fm_control_prepare(&control_actions);
        fm_modules_after_fork(old_base);
        fm_held_after_fork();
        fm_threads_after_fork(old_base);
        fm_memory_unmap(old_base, old_bytes);
    }
    fm_tls_v2.inside = inside;
    errno = saved_errno;
    fm_restore_signals(mask);
}

__attribute__((destructor)) static void at_exit(void)
{
    if (fm_process.state != FM_RECORDING || fm_process_is_copy())
        return;
    if (fm_tls_v2.thread != NULL) {
        fm_held_flush(fm_tls_v2.thread);
        fm_ticks_settle_rest(fm_tls_v2.thread);
        if (fm_process.unwinds != NULL)
            fm_process.unwinds->tell(fm_tls_v2.thread);
    }
    fm_waiting_at_exit();
    fm_arena_close(FM_REC_CLOSED);
}

/* Opening and writing files here is not recorded as the program's. */
static uint64_t step_inside(void)
{
    uint64_t mask = fm_block_signals();
    fm_tls_v2.inside++;
    return mask;
}

static void step_outside(uint64_t mask)
{
    fm_tls_v2.inside--;
    fm_restore_signals(mask);
}

static bool recording_here(void)
{
    if (!fm_process_start())
        return false;
    if (fm_process_is_copy())
        fm_process_after_fork();
    return fm_process.state == FM_RECORDING;
}

/* A child of _Fork() may call this before any hook has noticed the fork. */
static void control(bool stopped)
{
    uint64_t mask = step_inside();
    if (fm_process.state == FM_RECORDING && fm_process_is_copy())
        fm_process_after_fork();
    step_outside(mask);
    fm_threads_control(stopped, true);
}

FM_EXPORT void fathom_runtime_stop(void)
{
    control(true);
}

FM_EXPORT void fathom_runtime_start(void)
{
    control(false);
}

FM_EXPORT int fathom_runtime_mark(const char *name)
{
    if (name == NULL)
        return -EINVAL;
    uint64_t mask = step_inside();
    int result = recording_here() ? mark(name, 0, fm_now_ns(CLOCK_MONOTONIC)) : -ENODEV;
    step_outside(mask);
    return result;
}

FM_EXPORT int fathom_runtime_output(char *name, unsigned long bytes)
{
    static const char ending[] = ".rec";
    uint64_t mask = step_inside();
    int result = -ENODEV;
    if (recording_here()) {
        size_t used = strlen(fm_process.path) - (sizeof ending - 1);
        result = used < bytes ? 0 : -ENAMETOOLONG;
        if (result == 0) {
            memcpy(name, fm_process.path, used);
            name[used] = '\0';
        }
    }
    step_outside(mask);
    return result;
}

static int write_all(int fd, const char *bytes, uint64_t size, uint64_t offset)
{
    while (size > 0) {
        ssize_t wrote = fm_file_write_at(fd, bytes, size, offset);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote <= 0)
            return wrote < 0 ? -errno : -EIO;
        bytes += wrote;
        offset += (uint64_t)wrote;
        size -= (uint64_t)wrote;
    }
    return 0;
}

#define PART_WORDS 512

/* Writes data that others change meanwhile, in ascending order: higher offsets are read later. A
 * single copy by the kernel might contain a new pointer, but the old data at its target. */
static int write_in_order(int fd, const char *bytes, uint64_t size, uint64_t offset)
{
    uint64_t part[PART_WORDS];
    int result = 0;
    for (uint64_t done = 0; done < size && result == 0;) {
        uint64_t more = size - done < sizeof part ? size - done : sizeof part;
        const uint64_t *from = (const uint64_t *)(const void *)(bytes + done);
        for (uint64_t i = 0; i < more / sizeof *from; i++)
            part[i] = __atomic_load_n(&from[i], __ATOMIC_ACQUIRE);
        result = write_all(fd, (const char *)part, more, offset + done);
        done += more;
    }
    return result;
}

static int snapshot_write(uint32_t number)
{
    struct fm_process *p = &fm_process;
    char path[sizeof p->path];
    size_t used = fm_text_append(path, sizeof path, 0, p->path);
    if (used > 4)
        used -= 4; /* ".rec" */
    used = fm_text_append(path, sizeof path, used, ".snap");
    used = fm_text_append_number(path, sizeof path, used, number);
    fm_text_append(path, sizeof path, used, ".rec");
    int fd = fm_file_open(path, O_WRONLY | O_CREAT | O_EXCL);
    if (fd < 0)
        return -errno;
    fm_waiting_note_moment(); /* the snapshot's end */
    struct fm_rec_header header = *p->header;
    header.snapshot_of = number;
    int result = fm_file_may_reach(header.bytes_used) ? 0 : -EFBIG;
    if (result == 0)
        result = write_in_order(fd, p->base + sizeof header, header.bytes_used - sizeof header,
                                sizeof header);
    if (result == 0)
        result = write_all(fd, (const char *)&header, sizeof header, 0);
    fm_file_close(fd);
    if (result != 0)
        fm_system_call(87 /* unlink */, (long)path, 0, 0, 0);
    return result;
}

FM_EXPORT int fathom_runtime_snapshot(const char *name)
{
    int saved_errno = errno;
    uint64_t mask = step_inside();
    int result = -ENODEV;
    if (recording_here()) {
        int number = 0;
        do { /* `fathom ctl` uses numbers, too */
            number = __atomic_add_fetch(&fm_process.snapshots, 1, __ATOMIC_RELAXED);
            result = snapshot_write((uint32_t)number);
        } while (result == -EEXIST && number < SNAPSHOTS_MAX);
        if (result == 0)
            result = mark(name != NULL ? name : "", (uint32_t)number, fm_now_ns(CLOCK_MONOTONIC));
        if (result == 0)
            result = number;
    }
    step_outside(mask);
    errno = saved_errno;
    return result;
}

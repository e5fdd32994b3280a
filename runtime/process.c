/* SPDX-License-Identifier: Apache-2.0 */
/* The process: start, fork, exit, and what the program may ask for (fathom/fathom.h). */
#include "internal.h"

#include "fathom/fathom.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static fm_lock start_lock;

static void after_fork_in_child(void)
{
    if (fm_process.state == FM_RECORDING && fm_process_is_copy())
        fm_process_after_fork();
}

static void wipe_page_make(void)
{
    int *page = fm_private_alloc(4096);
    if (page == NULL)
        return;
    if (madvise(page, 4096, MADV_WIPEONFORK) == 0) {
        *page = 1;
        fm_process.wiped_by_fork = page;
    } else {
        fm_private_free(page, 4096);
    }
}

static void start_locked(void)
{
    if (!fm_arena_open()) {
        __atomic_store_n(&fm_process.state, FM_INERT, __ATOMIC_RELEASE);
        return;
    }
    const char *wish = fm_getenv("FATHOM_RECORDING");
    if (wish != NULL && strcmp(wish, "off") == 0) {
        fm_process.stopped = fm_process.was_stopped = true;
        fm_process.grade_flags |= FM_REC_WAS_STOPPED;
        fm_process.header->recording_on = 0;
    }
    fm_process.header->grade_flags |= fm_process.grade_flags;
    fm_unwind_prepare();
    wipe_page_make();
    fm_threads_end_key_make();
    pthread_atfork(NULL, NULL, after_fork_in_child);
    fm_modules_refresh();
    fm_ticks_prepare();
    __atomic_store_n(&fm_process.state, FM_RECORDING, __ATOMIC_RELEASE);
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

void fm_process_after_fork(void)
{
    struct fm_process *p = &fm_process;
    uint64_t mask = fm_block_signals();
    int saved_errno = errno;
    char *old_base = p->base;
    uint64_t old_bytes = p->bytes_reserved;
    p->lock.held = p->threads_lock.held = start_lock.held = 0;
    *p->wiped_by_fork = 1;
    for (struct fm_thread *t = p->threads; t != NULL; t = t->next)
        fm_ticks_leave(t);
    fm_arena_leave_file();
    p->thread_count = 0;
    p->snapshots = 0;
    if (!fm_arena_open()) {
        p->state = FM_INERT;
        fm_thread_disable(); /* the parent's file is left alone */
        p->threads = NULL;
    } else {
        p->header->grade_flags |= p->grade_flags | FM_REC_FORKED;
        p->header->recording_on = !p->stopped;
        p->header->quantum_ns = ((struct fm_rec_header *)old_base)->quantum_ns;
        fm_modules_after_fork();
        fm_threads_after_fork(old_base);
        munmap(old_base, old_bytes);
    }
    errno = saved_errno;
    fm_restore_signals(mask);
}

__attribute__((destructor)) static void at_exit(void)
{
    if (fm_process.state != FM_RECORDING || fm_process_is_copy())
        return;
    if (fm_tls_v1.thread != NULL)
        fm_heap_flush(fm_tls_v1.thread);
    fm_arena_close(FM_REC_CLOSED);
}

FM_EXPORT void fathom_runtime_stop(void)
{
    fm_threads_control(true);
}

FM_EXPORT void fathom_runtime_start(void)
{
    fm_threads_control(false);
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

static int mark(const char *name, uint32_t snapshot)
{
    uint32_t text = fm_arena_text(name, strlen(name));
    struct fm_rec_mark *mark = fm_arena_alloc_shared(sizeof *mark);
    if (mark == NULL || text == 0)
        return -ENOSPC;
    mark->tid = (uint32_t)gettid();
    mark->monotonic_ns = fm_now_ns(CLOCK_MONOTONIC);
    mark->user_quanta = all_user_quanta();
    mark->snapshot = snapshot;
    mark->name = text;
    fm_lock_take(&fm_process.lock);
    mark->next = fm_process.header->first_mark;
    __atomic_store_n(&fm_process.header->first_mark, fm_ref(mark), __ATOMIC_RELEASE);
    fm_lock_give(&fm_process.lock);
    return 0;
}

static bool recording_here(void)
{
    if (!fm_process_start())
        return false;
    if (fm_process_is_copy())
        fm_process_after_fork();
    return fm_process.state == FM_RECORDING;
}

FM_EXPORT int fathom_runtime_mark(const char *name)
{
    if (name == NULL)
        return -EINVAL;
    uint64_t mask = fm_block_signals();
    int result = recording_here() ? mark(name, 0) : -ENODEV;
    fm_restore_signals(mask);
    return result;
}

FM_EXPORT int fathom_runtime_output(char *name, unsigned long bytes)
{
    static const char ending[] = ".rec";
    uint64_t mask = fm_block_signals();
    int result = -ENODEV;
    if (recording_here()) {
        size_t used = strlen(fm_process.path) - (sizeof ending - 1);
        result = used < bytes ? 0 : -ENAMETOOLONG;
        if (result == 0) {
            memcpy(name, fm_process.path, used);
            name[used] = '\0';
        }
    }
    fm_restore_signals(mask);
    return result;
}

static int write_all(int fd, const char *bytes, uint64_t size, uint64_t offset)
{
    while (size > 0) {
        ssize_t wrote = pwrite(fd, bytes, size, (off_t)offset);
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
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0)
        return -errno;
    struct fm_rec_header header = *p->header;
    header.snapshot_of = number;
    int result =
        write_all(fd, p->base + sizeof header, header.bytes_used - sizeof header, sizeof header);
    if (result == 0)
        result = write_all(fd, (const char *)&header, sizeof header, 0);
    close(fd);
    if (result != 0)
        unlink(path);
    return result;
}

FM_EXPORT int fathom_runtime_snapshot(const char *name)
{
    int saved_errno = errno;
    uint64_t mask = fm_block_signals();
    int result = -ENODEV;
    if (recording_here()) {
        int number = __atomic_add_fetch(&fm_process.snapshots, 1, __ATOMIC_RELAXED);
        result = snapshot_write((uint32_t)number);
        if (result == 0)
            result = mark(name != NULL ? name : "", (uint32_t)number);
        if (result == 0)
            result = number;
    }
    fm_restore_signals(mask);
    errno = saved_errno;
    return result;
}

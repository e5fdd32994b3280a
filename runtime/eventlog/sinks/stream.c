/* SPDX-License-Identifier: Apache-2.0 */
/* The stream sink. Output to a pipe, a terminal or a writer is written by the thread that hands
 * over. Large blocks for a regular file are copied into a queue that a thread of the library
 * writes. So the program pays for a copy, not for the kernel's new pages, and does not wait for
 * the disk until the queue is full.
 *
 * Invariants: blocks are written in the order in which they were taken. sink, header_due and
 * missing change only while the queue is empty, or by the thread that writes it. */
#include "core/live.h"
#include "core/pool.h"
#include "core/threads.h"
#include "core/types.h"
#include "lanes/lane.h"
#include "sinks/output.h"
#include "sinks/stream.h"
#include "state/replay.h"
#include "state/state.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

enum { QUEUE_BYTES_MAX = 8 << 20, DIRECT_BYTES_MAX = 32 << 10 };

struct queued {
    struct queued *next;
    unsigned char *data; /* a pool block of its own, since sizes there are powers of two; NULL for a
                            block in the live file */
    struct fm_el_block block;
};

/* Held while a block is written directly, so that blocks never mix and no sink is closed during a
 * write. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER, room = PTHREAD_COND_INITIALIZER;
static struct fm_el_output sink = {.fd = -1};
static unsigned failures;             /* consecutive failures */
static struct fm_el_bytes header_due; /* a header not yet written: nothing may precede it */
static struct fm_el_gap missing;      /* lost since the last block written */
static struct {
    struct queued *head, *tail;
    size_t bytes;
    uint64_t in, out;  /* numbers of blocks queued, and written or lost */
    uint64_t sequence; /* number of the last block that is also in the live file */
    unsigned holds;    /* number of calls that wait for an empty queue: nothing may be added then */
    bool thread;
} queue;
static struct {
    uint64_t events;
    struct fm_el_gap lost;
    int error;
    unsigned disabled;
} stats;

/* ---- blocks out -------------------------------------------------------------------------------
 */

/* Writes what must precede the next block: the header if it is due, the report of a gap. */
static int put_before_block(const unsigned char *next)
{
    unsigned char block[FM_EL_MISSING_MAX];
    int error = header_due.used ? fm_el_output_put(&sink, header_due.data, header_due.used) : 0;
    if (error)
        return error;
    fm_el_bytes_done(&header_due);
    size_t n = fm_el_missing_block(block, &missing, next);
    error = n ? fm_el_output_put(&sink, block, n) : 0;
    if (!error)
        memset(&missing, 0, sizeof(missing));
    return error;
}

static int put_block(const struct fm_el_block *b)
{
    int error = put_before_block(b->data);
    if (error)
        return error;
    if (b->live) { /* recovery reads where the block was being written */
        off_t at = lseek(sink.fd, 0, SEEK_CUR);
        __atomic_store_n(&b->live->file_at, at < 0 ? 0 : (uint64_t)at + 1, __ATOMIC_RELEASE);
    }
    return fm_el_output_put(&sink, b->data, b->bytes);
}

/* Removes the sink. Blocks are then counted as lost until the program sets another one. */
static void give_up(void)
{
    if (sink.ours)
        fm_el_live_end();
    if (sink.is_writer || sink.ours)
        fm_el_output_done(&sink, true);
    sink = (struct fm_el_output){.fd = -1};
    fm_el_bytes_done(&header_due);
    stats.disabled++;
}

/* Mutex held. */
static void account(const struct fm_el_block *b, int error)
{
    if (!error) {
        stats.events += b->events;
        failures = 0;
        return;
    }
    stats.error = error;
    fm_el_gap_add(&stats.lost, b);
    fm_el_gap_add(&missing, b);
    if (++failures >= fm_el.failures_max && fm_el_output_is_set(&sink))
        give_up();
}

/* ---- the queue --------------------------------------------------------------------------------
 */

static void *write_queue(void *context)
{
    (void)context;
    fm_el_enter(); /* events of this thread are not logged */
    pthread_mutex_lock(&mutex);
    for (;;) {
        while (!queue.head)
            pthread_cond_wait(&work, &mutex);
        struct queued *q = queue.head;
        int error = stats.error; /* the error for which the block's sink was removed */
        if (fm_el_output_is_set(&sink)) {
            pthread_mutex_unlock(&mutex);
            error = put_block(&q->block);
            pthread_mutex_lock(&mutex);
        }
        account(&q->block, error);
        queue.head = q->next;
        if (!queue.head)
            queue.tail = NULL;
        FM_EL_ASSERT(queue.bytes >= q->block.bytes && queue.out < queue.in);
        queue.bytes -= q->block.bytes;
        queue.out++;
        if (q->block.live)
            fm_el_live_free(q->block.live);
        else
            fm_el_pool_free(q->data, q->block.bytes);
        fm_el_pool_free(q, sizeof(*q));
        pthread_cond_broadcast(&room);
    }
    return NULL;
}

/* Without a thread, everything is written directly. */
static void start_thread(void)
{
    sigset_t all, before;
    pthread_t thread;
    pthread_mutex_lock(&mutex);
    if (!queue.thread) {
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        queue.thread = pthread_create(&thread, NULL, write_queue, NULL) == 0;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        if (queue.thread)
            pthread_detach(thread);
    }
    pthread_mutex_unlock(&mutex);
}

/* Mutex held, also for the functions below. */
static void wait_empty(void)
{
    queue.holds++;
    while (queue.head)
        pthread_cond_wait(&room, &mutex);
    FM_EL_ASSERT(queue.holds > 0 && queue.bytes == 0);
    queue.holds--;
    pthread_cond_broadcast(&room);
}

static bool enqueue(const struct fm_el_block *b)
{
    struct queued *q = fm_el_pool_alloc(sizeof(*q));
    unsigned char *data = q && !b->live ? fm_el_pool_alloc(b->bytes) : NULL;
    if (!q || (!data && !b->live)) {
        fm_el_pool_free(q, sizeof(*q));
        return false;
    }
    *q = (struct queued){.data = data, .block = *b};
    if (data)
        q->block.data = memcpy(data, b->data, b->bytes);
    if (queue.tail)
        queue.tail->next = q;
    else
        queue.head = q;
    queue.tail = q;
    queue.bytes += b->bytes;
    queue.in++;
    pthread_cond_signal(&work);
    return true;
}

static void sink_write(const struct fm_el_block *b, bool *taken)
{
    pthread_mutex_lock(&mutex);
    while (queue.holds || (queue.head && queue.bytes + b->bytes > QUEUE_BYTES_MAX))
        pthread_cond_wait(&room, &mutex);
    struct fm_live_slot *written = b->live;
    if (atomic_load(&fm_el.stream_on)) {
        *taken = true;
        if (b->live)
            __atomic_store_n(&b->live->sequence, ++queue.sequence, __ATOMIC_RELEASE);
        bool behind = queue.head || (queue.thread && sink.regular && b->bytes > DIRECT_BYTES_MAX);
        if (behind && enqueue(b)) {
            written = NULL;
        } else {
            while (queue.head) /* no memory for a copy */
                pthread_cond_wait(&room, &mutex);
            account(b, fm_el_output_is_set(&sink) ? put_block(b) : stats.error);
        }
    }
    fm_el_live_free(written); /* before anything else is written after it */
    pthread_mutex_unlock(&mutex);
}

static int sink_settle(int timeout_ms)
{
    struct timespec until = fm_el_deadline(timeout_ms < 0 ? 0 : timeout_ms);
    int result = 0;
    pthread_mutex_lock(&mutex);
    for (uint64_t last = queue.in; queue.out < last && result == 0;)
        result = timeout_ms < 0 ? -pthread_cond_wait(&room, &mutex)
                                : -pthread_cond_timedwait(&room, &mutex, &until);
    pthread_mutex_unlock(&mutex);
    return result;
}

/* ---- setting ----------------------------------------------------------------------------------
 */

/* Mutex held, queue empty. Returns the old sink to its owner, or ends and closes it. */
static int release_old(bool end)
{
    if (!fm_el_output_is_set(&sink))
        return 0;
    int error = put_before_block(NULL);
    bool live = sink.ours;
    if (end || sink.ours) {
        int failed = fm_el_output_put(&sink, fm_el_end_mark, sizeof(fm_el_end_mark));
        error = error ? error : failed;
    }
    int failed = fm_el_output_done(&sink, end || sink.ours);
    if (live)
        fm_el_live_end();
    fm_el_bytes_done(&header_due);
    return error ? -error : -failed;
}

/* State and sink locks held and no block being delivered, so that the replay and the following
 * blocks fit together. */
static int write_header(void)
{
    struct fm_el_bytes b = {0};
    fm_el_header(&b);
    fm_el_replay(&b, false, 0, fm_el_clock_ns(), true);
    if (b.failed) {
        fm_el_bytes_done(&b);
        return -ENOMEM;
    }
    fm_el_bytes_done(&header_due);
    header_due = b;
    return -put_before_block(NULL);
}

/* Locks as above. */
static int replace(const struct fm_el_output *next, unsigned flags)
{
    if (next->file && next->file == sink.file) {
        if (flags & FM_EVENTLOG_CLOSE_PREV)
            return -EINVAL;
        return flags & FM_EVENTLOG_HEADER ? write_header() : 0;
    }
    FM_EL_ASSERT(!queue.head && queue.in == queue.out);
    int result = release_old(flags & FM_EVENTLOG_CLOSE_PREV);
    memset(&missing, 0, sizeof(missing)); /* counts of the old sink */
    failures = 0;
    sink = *next;
    atomic_store(&fm_el.stream_on, fm_el_output_is_set(&sink));
    if (sink.is_writer && sink.writer.init && !sink.writer.init(sink.writer.context)) {
        sink = (struct fm_el_output){.fd = -1};
        atomic_store(&fm_el.stream_on, 0);
        return -EIO;
    }
    if (fm_el_output_is_set(&sink) && flags & FM_EVENTLOG_HEADER) {
        int error = write_header();
        result = result ? result : error;
        if (sink.ours && sink.regular && !fm_el.no_live)
            fm_el_live_begin(sink.path, sink.fd);
        sink.path = NULL;
    } else if (fm_el_output_is_set(&sink)) {
        fm_el_names_again(); /* names may have been made since that stream was left */
    }
    return result;
}

static int install(const struct fm_el_output *next, unsigned flags, int timeout_ms)
{
    if (!atomic_load(&fm_el.running))
        return -ENOTCONN;
    if (next->regular)
        start_thread();
    int late = flags & FM_EVENTLOG_DRAIN ? fm_el_lanes_flush(timeout_ms) : 0;
    if (flags & FM_EVENTLOG_HEADER)
        fm_el_process_refresh();
    fm_el_state_lock();
    fm_el_sink_lock();
    fm_el_global_flush_locked();
    fm_el_deliver_hold();
    pthread_mutex_lock(&mutex);
    wait_empty();
    int result = replace(next, flags);
    pthread_mutex_unlock(&mutex);
    fm_el_deliver_release();
    fm_el_sink_unlock();
    fm_el_update_active();
    fm_el_state_unlock();
    if (next->ours) /* the live file's buffers are used from each lane's next event on */
        fm_el_lanes_nudge();
    return result ? result : late;
}

int fm_eventlog_set_sink_with(FILE *stream, unsigned flags, int timeout_ms)
{
    FM_EL_FORWARD(set_sink_with, stream, flags, timeout_ms);
    if (fm_eventlog_head_.busy)
        return -EDEADLK;
    uint32_t before = fm_el_enter();
    struct fm_el_output next = fm_el_output_of(stream);
    int result = install(&next, flags, timeout_ms);
    fm_el_leave(before);
    return result;
}

int fm_eventlog_set_sink(FILE *stream, bool close_prev, bool emit_header)
{
    unsigned flags = (close_prev ? (unsigned)FM_EVENTLOG_CLOSE_PREV : 0) |
                     (emit_header ? (unsigned)FM_EVENTLOG_HEADER : 0);
    return fm_eventlog_set_sink_with(stream, flags, -1);
}

int fm_eventlog_set_writer(const struct fm_eventlog_writer *writer, unsigned flags, int timeout_ms)
{
    FM_EL_FORWARD(set_writer, writer, flags, timeout_ms);
    if (fm_eventlog_head_.busy)
        return -EDEADLK;
    if (writer && !writer->write)
        return -EINVAL;
    uint32_t before = fm_el_enter();
    struct fm_el_output next = {.fd = -1, .is_writer = writer != NULL};
    if (writer)
        next.writer = *writer;
    int result = install(&next, flags, timeout_ms);
    fm_el_leave(before);
    return result;
}

int fm_eventlog_open_file(const char *path)
{
    FM_EL_FORWARD(open_file, path);
    char beside[4096];
    if (fm_eventlog_head_.busy)
        return -EDEADLK;
    if (!path) {
        if (!fm_el_path_beside_recording(beside, sizeof(beside)))
            snprintf(beside, sizeof(beside), "%s.eventlog", program_invocation_short_name);
        path = beside;
    }
    FILE *file = fopen(path, "wbe");
    if (!file)
        return -errno;
    uint32_t before = fm_el_enter();
    struct fm_el_output next = fm_el_output_of(file);
    next.ours = true;
    next.path = path;
    int result = install(&next, FM_EVENTLOG_HEADER | FM_EVENTLOG_DRAIN, -1);
    fm_el_leave(before);
    if (result == -ENOTCONN)
        fclose(file);
    return result;
}

FILE *fm_eventlog_get_sink(void)
{
    FM_EL_FORWARD(get_sink);
    if (fm_eventlog_head_.busy)
        return NULL;
    uint32_t before = fm_el_enter();
    pthread_mutex_lock(&mutex);
    FILE *file = sink.file;
    pthread_mutex_unlock(&mutex);
    fm_el_leave(before);
    return file;
}

/* ---- end, fork --------------------------------------------------------------------------------
 */

int fm_el_stream_end(void)
{
    pthread_mutex_lock(&mutex);
    wait_empty();
    int result = 0;
    if (fm_el_output_is_set(&sink) && !sink.ours) /* release_old ends the library's own sinks */
        result = -fm_el_output_put(&sink, fm_el_end_mark, sizeof(fm_el_end_mark));
    int error = release_old(false);
    result = result ? result : error;
    atomic_store(&fm_el.stream_on, 0);
    pthread_mutex_unlock(&mutex);
    return result;
}

bool fm_el_stream_is_set(void)
{
    return fm_el_output_is_set(&sink);
}

static void sink_fork_lock(void)
{
    pthread_mutex_lock(&mutex);
    wait_empty();
}

static void sink_fork_unlock(void)
{
    pthread_mutex_unlock(&mutex);
}

/* The stream belongs to the parent: the child only closes its copy of a descriptor that the library
 * opened. */
static void sink_after_fork(void)
{
    pthread_mutex_init(&mutex, NULL);
    pthread_cond_init(&work, NULL);
    pthread_cond_init(&room, NULL);
    if (sink.ours)
        close(sink.fd);
    sink = (struct fm_el_output){.fd = -1};
    memset(&queue, 0, sizeof(queue)); /* it is empty at a fork */
    memset(&missing, 0, sizeof(missing));
    memset(&stats, 0, sizeof(stats));
    failures = 0;
    atomic_store(&fm_el.stream_on, 0);
}

static void sink_stats(struct fm_eventlog_stats *s)
{
    pthread_mutex_lock(&mutex);
    s->stream_events = stats.events;
    s->stream_lost_events = stats.lost.events;
    s->stream_lost_blocks = stats.lost.blocks;
    s->stream_lost_bytes = stats.lost.bytes;
    s->stream_errno = stats.error;
    s->stream_disabled = stats.disabled;
    pthread_mutex_unlock(&mutex);
}

const struct fm_el_sink fm_el_stream_sink = {.write = sink_write,
                                             .settle = sink_settle,
                                             .fork_lock = sink_fork_lock,
                                             .fork_unlock = sink_fork_unlock,
                                             .after_fork = sink_after_fork,
                                             .stats = sink_stats};

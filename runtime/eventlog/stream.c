/* SPDX-License-Identifier: Apache-2.0 */
/* The stream sink: a C file stream, or the four functions of a writer. */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

struct sink {
    FILE *file; /* NULL for a writer, or none */
    struct fm_eventlog_writer writer;
    int fd;         /* of file; -1 = only the C library can write to it */
    bool regular;   /* a lost block can be cut off again */
    bool pipe;      /* writing may raise SIGPIPE */
    bool ours;      /* we close it */
    bool is_writer; /* file is NULL */
};

/* Held while a block is written, so that blocks never mix and no sink is closed under a write. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct sink sink;
static unsigned failures;             /* in a row */
static struct fm_el_bytes header_due; /* could not be written yet: nothing may precede it */
static struct fm_el_gap missing;      /* lost since the last block that was written */
static struct {
    uint64_t events, lost_events, lost_blocks, lost_bytes;
    int error;
    unsigned disabled;
} stats;

/* ---- bytes out --------------------------------------------------------------------------------
 */

/* SIGPIPE is kept from the program: blocked, and taken away if this write raised it. */
static bool pipe_block(sigset_t *before)
{
    sigset_t set, pending;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    sigpending(&pending);
    if (sigismember(&pending, SIGPIPE))
        return false;
    pthread_sigmask(SIG_BLOCK, &set, before);
    return true;
}

static void pipe_unblock(const sigset_t *before, int error)
{
    sigset_t set;
    struct timespec none = {0};
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    if (error == EPIPE)
        while (sigtimedwait(&set, NULL, &none) < 0 && errno == EINTR)
            ;
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

static int write_fd(int fd, const unsigned char *data, size_t bytes)
{
    size_t done = 0;
    while (done < bytes) {
        ssize_t n = write(fd, data + done, bytes - done);
        if (n >= 0) {
            done += (size_t)n;
        } else if (errno == EAGAIN) {
            poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
        } else if (errno != EINTR) {
            int error = errno;
            if (done > 0) { /* a torn block is worse than none */
                off_t at = lseek(fd, 0, SEEK_CUR);
                if (at >= (off_t)done && ftruncate(fd, at - (off_t)done) == 0)
                    lseek(fd, at - (off_t)done, SEEK_SET);
            }
            return error;
        }
    }
    return 0;
}

static int put_bytes(const void *data, size_t bytes)
{
    if (sink.is_writer)
        return sink.writer.write(sink.writer.context, data, bytes) ? 0 : EIO;
    if (sink.fd < 0) {
        bool ok = fwrite(data, 1, bytes, sink.file) == bytes && fflush(sink.file) == 0;
        int error = ok ? 0 : errno ? errno : EIO;
        clearerr(sink.file);
        return error;
    }
    sigset_t before;
    bool blocked = sink.pipe && pipe_block(&before);
    int error = write_fd(sink.fd, data, bytes);
    if (blocked)
        pipe_unblock(&before, error);
    return error;
}

/* ---- blocks -----------------------------------------------------------------------------------
 */

static void give_up(void)
{
    if (sink.is_writer && sink.writer.stop)
        sink.writer.stop(sink.writer.context);
    if (sink.ours)
        fclose(sink.file);
    sink = (struct sink){.fd = -1};
    fm_el_bytes_done(&header_due);
    stats.disabled++;
    atomic_store(&fm_el.stream_on, 0);
    fm_el_update_active();
}

/* What must stand before the next block: the header if it is still due, word of a gap. */
static int put_before_block(const unsigned char *next)
{
    unsigned char block[FM_EL_MISSING_MAX];
    int error = header_due.used ? put_bytes(header_due.data, header_due.used) : 0;
    if (error)
        return error;
    fm_el_bytes_done(&header_due);
    if (missing.blocks == 0)
        return 0;
    size_t n = fm_el_missing_block(block, &missing, next);
    error = put_bytes(block, n);
    if (!error)
        memset(&missing, 0, sizeof(missing));
    return error;
}

void fm_el_stream_write(const struct fm_el_block *b, bool *taken)
{
    pthread_mutex_lock(&mutex);
    if (atomic_load(&fm_el.stream_on)) {
        *taken = true;
        int error = put_before_block(b->data);
        if (!error)
            error = put_bytes(b->data, b->bytes);
        if (!error) {
            stats.events += b->events;
            failures = 0;
        } else {
            stats.lost_events += b->events;
            stats.lost_bytes += b->bytes;
            stats.lost_blocks++;
            stats.error = error;
            missing.events += b->events;
            missing.bytes += b->bytes;
            missing.blocks++;
            if (++failures >= fm_el.failures_max)
                give_up();
        }
    }
    pthread_mutex_unlock(&mutex);
}

/* ---- setting ----------------------------------------------------------------------------------
 */

static struct sink sink_of(FILE *file)
{
    struct sink s = {.file = file, .fd = -1};
    if (!file)
        return s;
    fflush(file);
    s.fd = fileno(file);
    struct stat st;
    if (s.fd >= 0 && fstat(s.fd, &st) == 0) {
        s.regular = S_ISREG(st.st_mode);
        s.pipe = S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode);
    }
    return s;
}

/* Mutex held. The old sink goes back to its owner, or is ended and closed. */
static int release_old(bool end)
{
    static const unsigned char mark[2] = {0xFF, 0xFF};
    int error = 0;
    if (!sink.file && !sink.is_writer)
        return 0;
    error = put_before_block(NULL);
    if (end || sink.ours) {
        int failed = put_bytes(mark, sizeof(mark));
        error = error ? error : failed;
    }
    if (sink.is_writer) {
        if (sink.writer.flush)
            sink.writer.flush(sink.writer.context);
        if (sink.writer.stop)
            sink.writer.stop(sink.writer.context);
    } else if (end || sink.ours) {
        if (fclose(sink.file) != 0)
            error = errno;
    } else {
        fflush(sink.file);
        if (sink.regular) /* the stream learns where the descriptor is now */
            fseeko(sink.file, lseek(sink.fd, 0, SEEK_CUR), SEEK_SET);
    }
    sink = (struct sink){.fd = -1};
    fm_el_bytes_done(&header_due);
    memset(&missing, 0, sizeof(missing));
    failures = 0;
    return -error;
}

/* State lock held, so that what is replayed and what follows in the global buffer fit together. */
static int write_header(void)
{
    struct fm_el_bytes b = {0};
    uint32_t count;
    fm_el_header(&b);
    fm_el_replay(&b, fm_el.begun, 0, &count);
    fm_el.begun = true;
    if (b.failed) {
        fm_el_bytes_done(&b);
        return -ENOMEM;
    }
    fm_el_bytes_done(&header_due);
    header_due = b;
    return -put_before_block(NULL);
}

static int install(struct sink *next, unsigned flags, int timeout_ms)
{
    if (!atomic_load(&fm_el.running))
        return -ENOTCONN;
    int late = flags & FM_EVENTLOG_DRAIN ? fm_el_lanes_flush(timeout_ms) : 0;
    if (flags & FM_EVENTLOG_HEADER)
        fm_el_process_refresh();
    fm_el_state_lock();
    fm_el_sink_lock();
    fm_el_global_flush_locked();
    pthread_mutex_lock(&mutex);
    int result = 0;
    if (next->file && next->file == sink.file) {
        if (flags & FM_EVENTLOG_CLOSE_PREV)
            result = -EINVAL;
        else if (flags & FM_EVENTLOG_HEADER)
            result = write_header();
    } else {
        result = release_old(flags & FM_EVENTLOG_CLOSE_PREV);
        sink = *next;
        atomic_store(&fm_el.stream_on, sink.file || sink.is_writer);
        if (sink.is_writer && sink.writer.init && !sink.writer.init(sink.writer.context)) {
            sink = (struct sink){.fd = -1};
            atomic_store(&fm_el.stream_on, 0);
            result = -EIO;
        } else if (atomic_load(&fm_el.stream_on) && flags & FM_EVENTLOG_HEADER) {
            int error = write_header();
            result = result ? result : error;
        }
    }
    pthread_mutex_unlock(&mutex);
    fm_el_sink_unlock();
    fm_el_update_active();
    fm_el_state_unlock();
    return result ? result : late;
}

int fm_eventlog_set_sink_with(FILE *stream, unsigned flags, int timeout_ms)
{
    if (fm_eventlog_head_.busy)
        return -EDEADLK;
    uint32_t before = fm_el_enter();
    struct sink next = sink_of(stream);
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
    if (fm_eventlog_head_.busy)
        return -EDEADLK;
    if (writer && !writer->write)
        return -EINVAL;
    uint32_t before = fm_el_enter();
    struct sink next = {.fd = -1, .is_writer = writer != NULL};
    if (writer)
        next.writer = *writer;
    int result = install(&next, flags, timeout_ms);
    fm_el_leave(before);
    return result;
}

int fm_eventlog_open_file(const char *path)
{
    if (fm_eventlog_head_.busy)
        return -EDEADLK;
    FILE *file = fopen(path, "wbe");
    if (!file)
        return -errno;
    uint32_t before = fm_el_enter();
    struct sink next = sink_of(file);
    next.ours = true;
    int result = install(&next, FM_EVENTLOG_HEADER | FM_EVENTLOG_DRAIN, -1);
    fm_el_leave(before);
    if (result == -ENOTCONN)
        fclose(file);
    return result;
}

FILE *fm_eventlog_get_sink(void)
{
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
    static const unsigned char mark[2] = {0xFF, 0xFF};
    pthread_mutex_lock(&mutex);
    int result = 0;
    if (sink.file || sink.is_writer) {
        if (!sink.ours) /* release_old ends those that are ours */
            result = -put_bytes(mark, sizeof(mark));
        int error = release_old(false);
        result = result ? result : error;
    }
    atomic_store(&fm_el.stream_on, 0);
    pthread_mutex_unlock(&mutex);
    return result;
}

bool fm_el_stream_is_set(void)
{
    return atomic_load(&fm_el.stream_on) != 0;
}

void fm_el_stream_fork_lock(void)
{
    pthread_mutex_lock(&mutex);
}

void fm_el_stream_fork_unlock(void)
{
    pthread_mutex_unlock(&mutex);
}

/* The stream is the parent's: the child only closes its copy of a descriptor that we opened. */
void fm_el_stream_after_fork(void)
{
    pthread_mutex_init(&mutex, NULL);
    if (sink.ours)
        close(sink.fd);
    sink = (struct sink){.fd = -1};
    memset(&missing, 0, sizeof(missing));
    memset(&stats, 0, sizeof(stats));
    failures = 0;
    atomic_store(&fm_el.stream_on, 0);
}

void fm_el_stream_stats(struct fm_eventlog_stats *s)
{
    pthread_mutex_lock(&mutex);
    s->stream_events = stats.events;
    s->stream_lost_events = stats.lost_events;
    s->stream_lost_blocks = stats.lost_blocks;
    s->stream_lost_bytes = stats.lost_bytes;
    s->stream_errno = stats.error;
    s->stream_disabled = stats.disabled;
    pthread_mutex_unlock(&mutex);
}

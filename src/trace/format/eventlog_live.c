/* SPDX-License-Identifier: Apache-2.0 */
/* A log that grows: a file that a program writes, or what a socket sends, kept in a file without a
 * name. And the first look at a log: finding its blocks. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/writer.h"
#include "eventlog/transport/transport.h"
#include "trace/format/eventlog_trace.h"

enum {
    OPEN_BUDGET = 64 << 20,  /* bytes, or 16,384 block markers, at once */
    GROW_BUDGET = 8 << 20,   /* a call */
    LEARN_BYTES = 8 << 20,   /* smaller logs are read wholly when they are opened */
    RECEIVE_BYTES = 4 << 20, /* a call */
    CONNECT_MS = 3000,
    EPOCH_EVENTS = 1000, /* among which the wall clock is looked for */
};
/* how long a capability that delivers nothing is waited for */
#define HOLD_NS UINT64_C(2000000000)
#define IDLE_US (2L * G_USEC_PER_SEC) /* a file unchanged for so long is not being written */

/* --- what may be shown --- */

static const struct fm_eventlog_block *block_at(const struct fm_eventlog_trace *self, guint index)
{
    return &g_array_index(self->log->blocks, struct fm_eventlog_block, index);
}

/* The end of a block in time; a block that was never closed must be read for it. */
static uint64_t end_of_block(struct fm_eventlog_trace *self, guint index)
{
    const struct fm_eventlog_block *block = block_at(self, index);
    if (block->end_ns == 0 && !fm_eventlog_log_is_known(self->log, index))
        (void)fm_eventlog_log_learn(self->log, index, NULL);
    return fm_eventlog_log_is_known(self->log, index) ? block->max_ns : block->end_ns;
}

static void note_delivered(struct fm_eventlog_trace *self, int32_t capability, uint64_t end)
{
    void *key = GINT_TO_POINTER(capability);
    uint64_t *known = g_hash_table_lookup(self->delivered, key);
    end = fm_eventlog_trace_time(end);
    if (known == NULL)
        g_hash_table_insert(self->delivered, key, g_memdup2(&end, sizeof end));
    else
        *known = MAX(*known, end);
    self->latest = MAX(self->latest, end);
}

/* Up to where all is there: the least of what the capabilities have delivered, but no further back
 * than HOLD_NS. The global buffer, which is written rarely, is not waited for. */
static uint64_t find_horizon(struct fm_eventlog_trace *self, bool idle)
{
    if (!self->live || (idle && !self->in_rounds))
        return FM_TIME_INF;
    uint64_t least = self->latest;
    GHashTableIter iter;
    void *capability, *end;
    g_hash_table_iter_init(&iter, self->delivered);
    while (g_hash_table_iter_next(&iter, &capability, &end)) {
        if (GPOINTER_TO_INT(capability) != FM_EVENTLOG_NO_CAPABILITY)
            least = MIN(least, *(const uint64_t *)end);
    }
    return self->in_rounds ? least : MAX(least, self->latest - MIN(self->latest, HOLD_NS));
}

/* Takes note of blocks from first on: the trace's span, what each capability has delivered. */
static void note_blocks(struct fm_eventlog_trace *self, guint first)
{
    g_assert(first <= self->log->blocks->len);
    for (guint i = first; i < self->log->blocks->len; i++) {
        const struct fm_eventlog_block *block = block_at(self, i);
        uint64_t end = end_of_block(self, i);
        bool known = fm_eventlog_log_is_known(self->log, i);
        if (known && block->events == 0) {
            if (self->in_rounds)
                note_delivered(self, block->capability, block->end_ns);
            continue;
        }
        uint64_t begin = fm_eventlog_trace_time(known ? block->min_ns : block->begin_ns);
        bool is_first = self->delivered != NULL && g_hash_table_size(self->delivered) == 0;
        self->trace->start_time = is_first ? begin : MIN(self->trace->start_time, begin);
        self->trace->late += !is_first && begin < self->trace->end_time;
        self->late_blocks += !is_first && begin < self->trace->end_time &&
                             self->horizon != FM_TIME_INF && end <= self->horizon;
        note_delivered(self, block->capability, end);
    }
}

/* --- finding blocks --- */

/* True when blocks were added, or the last ones, which had been cut, taken away. */
static bool scan(struct fm_eventlog_trace *self, bool final, uint64_t budget, GError **error)
{
    guint before = self->log->blocks->len;
    enum fm_eventlog_extent extent = fm_eventlog_log_extend(self->log, final, budget, error);
    self->scanned = extent == FM_EVENTLOG_EXTENT_DONE;
    g_assert(self->log->first_new <= self->log->blocks->len || self->log->blocks->len < before);
    return self->log->first_new < MAX(before, self->log->blocks->len);
}

static bool is_finished(const struct fm_eventlog_trace *self)
{
    return self->scanned && self->log->tail.end_mark;
}

static void show(struct fm_eventlog_trace *self, bool idle)
{
    /* Events that have been shown stay. */
    self->horizon = MAX(find_horizon(self, idle), self->trace->end_time);
    uint64_t end = MIN(self->horizon, self->latest);
    self->trace->end_time = MAX(self->trace->end_time, end);
    g_assert(self->trace->end_time <= self->horizon);
}

static void learn_all(struct fm_eventlog_trace *self)
{
    for (guint i = 0; i < self->log->blocks->len; i++) {
        GError *error = NULL;
        if (fm_eventlog_log_learn(self->log, i, &error))
            continue;
        fm_eventlog_trace_note(self, "%s", error->message);
        g_clear_error(&error);
    }
}

/* Whether nobody has written the file of late. */
static bool is_idle(const struct fm_eventlog_trace *self)
{
    struct stat stat;
    if (self->socket >= 0 || fstat(self->log->fd, &stat) < 0)
        return false;
    int64_t changed = (int64_t)stat.st_mtim.tv_sec * G_USEC_PER_SEC + stat.st_mtim.tv_nsec / 1000;
    int64_t now = g_get_real_time();
    return now - changed >= IDLE_US || changed > now + IDLE_US;
}

/* Whether no program has the file open for writing: then nobody may be told of it by a lease. Not
 * known where the file is another user's, or lies where there are no leases. The signal for one who
 * opens it in between is one that is ignored. */
static bool has_no_writer(const struct fm_eventlog_trace *self)
{
    if (fcntl(self->log->fd, F_SETSIG, SIGURG) < 0 || fcntl(self->log->fd, F_SETLEASE, F_RDLCK) < 0)
        return false;
    (void)fcntl(self->log->fd, F_SETLEASE, F_UNLCK);
    return true;
}

/* All that the file holds is found, and nobody is there who could add to it. */
static void take_end_of_writer(struct fm_eventlog_trace *self, bool idle)
{
    if (idle && self->scanned && !self->closed && self->socket < 0 && !self->in_rounds)
        self->closed = has_no_writer(self);
}

/* Programs tell the wall clock among their first events. The cursor moves. */
static void find_epoch(struct fm_eventlog_trace *self)
{
    struct fm_tracefile *tracefile = self->trace->tracefiles->pdata[0];
    for (unsigned i = 0; i < EPOCH_EVENTS && self->has_event && !self->has_epoch; i++) {
        const struct fm_event *event = &self->event;
        if (event->id == FM_EVENTLOG_WALL_CLOCK_TIME)
            self->has_epoch = fm_eventlog_wall_clock(event->payload, event->payload_size,
                                                     event->time, &self->epoch_ns);
        tracefile->class_->advance(tracefile);
    }
}

static bool first_look(struct fm_eventlog_trace *self, GError **error)
{
    GError *failure = NULL;
    self->looked_at = true;
    self->live = !is_idle(self);
    scan(self, !self->live, OPEN_BUDGET, &failure);
    if (failure != NULL) {
        g_propagate_error(error, failure);
        return false;
    }
    if (is_finished(self))
        self->live = false;
    take_end_of_writer(self, !self->live);
    if (self->scanned && self->log->size <= LEARN_BYTES)
        learn_all(self);
    note_blocks(self, 0);
    show(self, false);
    fm_eventlog_trace_renew(self);
    struct fm_tracefile *tracefile = self->trace->tracefiles->pdata[0];
    tracefile->class_->seek_time(tracefile, 0);
    if (self->has_event)
        self->trace->start_time = self->event.time;
    if (!self->in_rounds) {
        find_epoch(self);
        tracefile->class_->seek_time(tracefile, 0);
    }
    return true;
}

/* Closes it when not. */
static bool is_file(int fd, const char *path, GError **error)
{
    struct stat stat;
    if (fstat(fd, &stat) == 0 && S_ISREG(stat.st_mode))
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: is not a regular file", path);
    close(fd);
    return false;
}

/* --- growing --- */

/* The file was cut, or its name is another file's: all begins anew. */
static bool was_replaced(const struct fm_eventlog_trace *self)
{
    struct stat here, named;
    return fstat(self->log->fd, &here) == 0 && stat(self->trace->path, &named) == 0 &&
           (here.st_dev != named.st_dev || here.st_ino != named.st_ino ||
            (uint64_t)named.st_size < self->log->size);
}

static bool replace(struct fm_eventlog_trace *self, GError **error)
{
    int fd = fm_roots_open(self->roots, self->trace->path, 0, error);
    if (fd < 0 || !is_file(fd, self->trace->path, error))
        return false;
    fm_eventlog_trace_note(self, "%s: the file was replaced or truncated; it is read again",
                           self->trace->path);
    char *identity = fm_trace_identity_of(fd);
    if (identity != NULL) {
        g_free(self->trace->identity);
        self->trace->identity = identity;
    }
    fm_eventlog_trace_replace(self, fd);
    if (first_look(self, error))
        return true;
    return false;
}

/* Takes what the socket has; true while the other end is there. */
static bool receive(struct fm_eventlog_trace *self, GError **error)
{
    g_autofree uint8_t *bytes = g_malloc(256 << 10);
    struct pollfd poll_fd = {self->socket, POLLIN, 0};
    uint64_t at = self->received;
    while (self->received - at < RECEIVE_BYTES && poll(&poll_fd, 1, 0) > 0) {
        ssize_t got = recv(self->socket, bytes, 256 << 10, MSG_DONTWAIT);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got <= 0)
            return false;
        for (ssize_t done = 0; done < got;) {
            ssize_t put =
                pwrite(self->log->fd, bytes + done, (size_t)(got - done), (off_t)(self->received));
            if (put < 0 && errno == EINTR)
                continue;
            if (put < 0) {
                g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: cannot store incoming data: %s",
                            self->trace->path, g_strerror(errno));
                return false;
            }
            done += put;
            self->received += (uint64_t)put;
        }
    }
    return true;
}

static bool take_growth(struct fm_eventlog_trace *self, bool idle, bool final, GError **error)
{
    bool changed = scan(self, final || idle, GROW_BUDGET, error);
    take_end_of_writer(self, idle);
    if (final || is_finished(self))
        self->live = false;
    uint64_t before = self->trace->end_time;
    if (changed) {
        note_blocks(self, self->log->first_new);
        self->changed_us = g_get_monotonic_time();
    }
    show(self, idle || g_get_monotonic_time() - self->changed_us >= IDLE_US);
    if (changed)
        fm_eventlog_trace_renew(self);
    return changed || self->trace->end_time != before;
}

bool fm_eventlog_trace_grow(struct fm_trace *trace, bool *ret_ended, GError **error)
{
    struct fm_eventlog_trace *self = trace->implementation;
    bool grown;
    if (self->socket < 0 && !self->in_rounds && was_replaced(self)) {
        grown = replace(self, error);
    } else if (self->socket >= 0) {
        GError *failure = NULL;
        bool there = receive(self, &failure);
        grown = take_growth(self, false, !there, failure == NULL ? &failure : NULL);
        if (failure != NULL)
            g_propagate_error(error, failure);
        if (!there) {
            close(self->socket);
            self->socket = -1;
            self->closed = true;
        }
    } else if (self->in_rounds && !self->looked_at) {
        grown = first_look(self, error);
        trace->generation++; /* data about it is no longer valid */
    } else {
        grown = take_growth(self, is_idle(self), self->closed, error);
    }
    *ret_ended = fm_eventlog_trace_growth(trace) == FM_TRACE_WHOLE;
    return grown;
}

enum fm_trace_growth fm_eventlog_trace_growth(const struct fm_trace *trace)
{
    const struct fm_eventlog_trace *self = trace->implementation;
    if (self->in_rounds && !self->closed)
        return FM_TRACE_ARRIVING;
    if (!self->scanned && self->socket < 0)
        return FM_TRACE_SEARCHED;
    bool live = self->socket >= 0 || !(self->closed || is_finished(self));
    return live ? FM_TRACE_LIVE : FM_TRACE_WHOLE;
}

uint64_t fm_eventlog_trace_extent(const struct fm_trace *trace)
{
    const struct fm_eventlog_trace *self = trace->implementation;
    return fm_eventlog_log_whole(self->log);
}

uint64_t fm_eventlog_trace_pending(const struct fm_trace *trace)
{
    const struct fm_eventlog_trace *self = trace->implementation;
    bool whole = fm_eventlog_trace_growth(trace) == FM_TRACE_WHOLE;
    g_assert(fm_eventlog_log_whole(self->log) <= self->log->size);
    return whole ? 0 : self->log->size - fm_eventlog_log_whole(self->log);
}

static int poll_fd(const struct fm_trace *trace)
{
    const struct fm_eventlog_trace *self = trace->implementation;
    return self->socket;
}

static const struct fm_trace_class trace_class = {
    .format = "eventlog",
    .damage = fm_eventlog_trace_damage,
    .grow = fm_eventlog_trace_grow,
    .growth = fm_eventlog_trace_growth,
    .extent = fm_eventlog_trace_extent,
    .pending = fm_eventlog_trace_pending,
    .epoch = fm_eventlog_trace_epoch,
    .poll_fd = poll_fd,
};

/* --- opening --- */

struct fm_trace *fm_eventlog_trace_open(struct fm_roots *roots, const char *path, int fd,
                                        GError **error)
{
    if (!is_file(fd, path, error))
        return NULL;
    struct fm_trace *trace = fm_eventlog_trace_new(&trace_class, path, fd);
    trace->identity = roots == NULL ? NULL : fm_trace_identity_of(fd);
    ((struct fm_eventlog_trace *)trace->implementation)->roots = fm_roots_ref(roots);
    if (first_look(trace->implementation, error))
        return trace;
    fm_trace_free(trace);
    return NULL;
}

struct fm_trace *fm_eventlog_trace_open_rounds(const char *path, int fd)
{
    struct fm_trace *trace = fm_eventlog_trace_new(&trace_class, path, fd);
    struct fm_eventlog_trace *self = trace->implementation;
    self->in_rounds = self->live = true;
    return trace;
}

/* --- sockets --- */

struct fm_trace *fm_eventlog_trace_connect(const char *text, GError **error)
{
    struct fm_transport_address address;
    if (!fm_transport_parse(text, &address, error))
        return NULL;
    bool plain = address.kind == FM_TRANSPORT_UNIX || address.kind == FM_TRANSPORT_TCP;
    int socket = plain ? fm_transport_connect(&address, CONNECT_MS, NULL, error) : -1;
    fm_transport_done(&address);
    if (!plain)
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE, "%s: expected unix:PATH or tcp:HOST:PORT",
                    text);
    int fd = socket < 0 ? -1 : fm_nameless_file(error);
    if (fd < 0) {
        if (socket >= 0)
            close(socket);
        return NULL;
    }
    struct fm_trace *trace = fm_eventlog_trace_new(&trace_class, text, fd);
    struct fm_eventlog_trace *self = trace->implementation;
    self->socket = socket;
    self->live = true;
    bool ended;
    GError *failure = NULL;
    fm_eventlog_trace_grow(trace, &ended, &failure);
    if (failure == NULL)
        return trace;
    g_propagate_error(error, failure);
    fm_trace_free(trace);
    return NULL;
}

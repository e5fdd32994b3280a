/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/input/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "eventlog/input/monitor_stream.h"
#include "eventlog/transport/transport.h"

enum {
    READ_BYTES = 256 << 10,
    PIPE_BYTES = 1 << 20,
};

struct fm_eventlog_source {
    char *name, *path;
    int fd;
    bool growing;
    struct fm_eventlog_reader *reader;
    uint64_t read_bytes;
    uint64_t whole_bytes; /* size of a regular file when it was opened: reading stops there; 0 = not
                             a regular file */
    /* Of a file that may grow. */
    dev_t device;
    ino_t inode;
    struct fm_monitor_stream *monitor;
    bool connected; /* connected to a server, which may send a refusal */
    struct fm_refusal_watch refusal;
};

static struct fm_eventlog_source *source_new(int fd, const char *name)
{
    struct fm_eventlog_source *source = g_new0(struct fm_eventlog_source, 1);
    source->fd = fd;
    source->name = g_strdup(name);
    source->reader = fm_eventlog_reader_new(name);
    return source;
}

struct fm_eventlog_source *fm_eventlog_source_take(int fd, const char *name)
{
    /* A larger pipe needs fewer context switches. It does not matter if this fails. */
    fcntl(fd, F_SETPIPE_SZ, PIPE_BYTES);
    return source_new(fd, name);
}

struct fm_eventlog_source *fm_eventlog_source_take_connection(int fd, const char *name)
{
    struct fm_eventlog_source *source = source_new(fd, name);
    source->connected = true;
    return source;
}

struct fm_eventlog_source *fm_eventlog_source_take_monitor(int fd, const char *name, bool datagrams,
                                                           const char *token)
{
    struct fm_eventlog_source *source = source_new(fd, name);
    source->monitor = fm_monitor_stream_new(fd, name, datagrams, token);
    return source;
}

struct fm_eventlog_source *fm_eventlog_source_connect(const char *text, int timeout_ms,
                                                      const char *token, GError **error)
{
    struct fm_transport_address address;
    if (!fm_transport_parse(text, &address, error))
        return NULL;
    int fd = fm_transport_connect(&address, timeout_ms, token, error);
    bool messages = address.kind == FM_TRANSPORT_MONITOR || address.kind == FM_TRANSPORT_UDP;
    bool datagrams = address.kind == FM_TRANSPORT_UDP;
    fm_transport_done(&address);
    if (fd < 0)
        return NULL;
    return messages ? fm_eventlog_source_take_monitor(fd, text, datagrams, token)
                    : fm_eventlog_source_take_connection(fd, text);
}

static int open_path(const char *path, struct stat *ret_stat, GError **error)
{
    int fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                    : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, ret_stat) < 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s", path, g_strerror(errno));
        if (fd >= 0)
            close(fd);
        return -1;
    }
    if (S_ISDIR(ret_stat->st_mode)) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: is a directory, expected an event log",
                    path);
        close(fd);
        return -1;
    }
    return fd;
}

struct fm_eventlog_source *fm_eventlog_source_open(const char *path, GError **error)
{
    struct stat stat;
    int fd = open_path(path, &stat, error);
    if (fd < 0)
        return NULL;
    struct fm_eventlog_source *source = fm_eventlog_source_take(fd, path);
    /* Standard input may have been read in part, so its position matters. */
    if (S_ISREG(stat.st_mode) && stat.st_size > 0 && lseek(fd, 0, SEEK_CUR) == 0) {
        source->whole_bytes = (uint64_t)stat.st_size;
        posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    }
    return source;
}

struct fm_eventlog_source *fm_eventlog_source_open_growing(const char *path, GError **error)
{
    struct stat stat;
    int fd = open_path(path, &stat, error);
    if (fd < 0)
        return NULL;
    struct fm_eventlog_source *source = fm_eventlog_source_take(fd, path);
    if (S_ISREG(stat.st_mode) && strcmp(path, "-") != 0) {
        source->growing = true;
        source->path = g_strdup(path);
        source->device = stat.st_dev;
        source->inode = stat.st_ino;
    }
    return source;
}

void fm_eventlog_source_free(struct fm_eventlog_source *source)
{
    if (source == NULL)
        return;
    if (source->fd >= 0)
        close(source->fd);
    fm_eventlog_reader_free(source->reader);
    fm_monitor_stream_free(source->monitor);
    g_free(source->name);
    g_free(source->path);
    g_free(source);
}

struct fm_eventlog_reader *fm_eventlog_source_reader(struct fm_eventlog_source *source)
{
    return source->reader;
}

const char *fm_eventlog_source_name(const struct fm_eventlog_source *source)
{
    return source->name;
}

bool fm_eventlog_source_grows(const struct fm_eventlog_source *source)
{
    return source->growing;
}

uint64_t fm_eventlog_source_size(const struct fm_eventlog_source *source)
{
    struct stat stat;
    if (source->whole_bytes > 0)
        return source->whole_bytes;
    return fstat(source->fd, &stat) == 0 && S_ISREG(stat.st_mode) ? (uint64_t)stat.st_size : 0;
}

/* A growing file that shrank, or whose name now belongs to another file, is a new log. */
static bool was_replaced(const struct fm_eventlog_source *source)
{
    struct stat here, named;
    g_assert(source->growing);
    if (fstat(source->fd, &here) < 0 || (uint64_t)here.st_size < source->read_bytes)
        return true;
    return stat(source->path, &named) == 0 &&
           (named.st_dev != source->device || named.st_ino != source->inode);
}

static bool restart(struct fm_eventlog_source *source, GError **error)
{
    struct stat stat;
    int fd = open_path(source->path, &stat, error);
    if (fd < 0)
        return false;
    g_assert(source->growing && source->path != NULL);
    close(source->fd);
    source->fd = fd;
    source->device = stat.st_dev;
    source->inode = stat.st_ino;
    source->read_bytes = 0;
    fm_eventlog_reader_free(source->reader);
    source->reader = fm_eventlog_reader_new(source->name);
    return true;
}

static enum fm_eventlog_fill fill_read(struct fm_eventlog_source *source, GError **error)
{
    size_t space;
    uint8_t *at = fm_eventlog_reader_space(source->reader, READ_BYTES, &space);
    ssize_t got;
    if (source->whole_bytes > 0)
        space = (size_t)MIN((uint64_t)space, source->whole_bytes - source->read_bytes);
    do {
        got = read(source->fd, at, space);
    } while (got < 0 && errno == EINTR);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return FM_EVENTLOG_FILL_TIMEOUT;
    if (got < 0 && errno != ECONNRESET) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: cannot read: %s", source->name,
                    g_strerror(errno));
        return FM_EVENTLOG_FILL_FAILED;
    }
    if (got == 0 && source->read_bytes < source->whole_bytes) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO,
                    "%s: offset %" G_GUINT64_FORMAT
                    ": the file was truncated while it was read, expected %" G_GUINT64_FORMAT
                    " bytes",
                    source->name, source->read_bytes, source->whole_bytes);
        return FM_EVENTLOG_FILL_FAILED;
    }
    if (got <= 0) {
        if (source->connected && fm_refusal_at_end(&source->refusal, source->name, error))
            return FM_EVENTLOG_FILL_FAILED;
        /* A reset connection ends the log there, as a killed program does. */
        if (source->growing)
            return FM_EVENTLOG_FILL_TIMEOUT;
        fm_eventlog_reader_finish(source->reader);
        return FM_EVENTLOG_FILL_END;
    }
    GError *refused = NULL;
    if (source->connected &&
        !fm_refusal_passes(&source->refusal, at, (size_t)got, source->name, &refused)) {
        if (refused != NULL)
            g_propagate_error(error, refused);
        return refused != NULL ? FM_EVENTLOG_FILL_FAILED : FM_EVENTLOG_FILL_TIMEOUT;
    }
    g_assert((size_t)got <= space);
    source->read_bytes += (uint64_t)got;
    fm_eventlog_reader_commit(source->reader, (size_t)got);
    return FM_EVENTLOG_FILL_BYTES;
}

enum fm_eventlog_fill fm_eventlog_source_fill(struct fm_eventlog_source *source, int timeout_ms,
                                              bool *ret_restarted, GError **error)
{
    if (ret_restarted != NULL)
        *ret_restarted = false;
    if (source->growing) {
        enum fm_eventlog_fill fill = fill_read(source, error);
        if (fill != FM_EVENTLOG_FILL_TIMEOUT || !was_replaced(source))
            return fill;
        if (!restart(source, error))
            return FM_EVENTLOG_FILL_FAILED;
        if (ret_restarted != NULL)
            *ret_restarted = true;
        return FM_EVENTLOG_FILL_BYTES;
    }
    g_assert(source->fd >= 0 && !source->growing);
    struct pollfd poll_fd = {source->fd, POLLIN, 0};
    if (source->monitor != NULL)
        return fm_monitor_stream_fill(source->monitor, source->reader, timeout_ms, error);
    int ready = timeout_ms < 0 ? 1 : poll(&poll_fd, 1, timeout_ms);
    if (ready == 0 || (ready < 0 && errno == EINTR))
        return FM_EVENTLOG_FILL_TIMEOUT;
    return fill_read(source, error);
}

enum fm_eventlog_status fm_eventlog_source_next(struct fm_eventlog_source *source,
                                                struct fm_eventlog_event *ret, GError **error)
{
    for (;;) {
        enum fm_eventlog_status status = fm_eventlog_reader_next(source->reader, ret, error);
        if (status != FM_EVENTLOG_MORE)
            return status;
        switch (fm_eventlog_source_fill(source, -1, NULL, error)) {
        case FM_EVENTLOG_FILL_FAILED:
            return FM_EVENTLOG_FAILED;
        case FM_EVENTLOG_FILL_TIMEOUT:
            return FM_EVENTLOG_MORE;
        case FM_EVENTLOG_FILL_BYTES:
        case FM_EVENTLOG_FILL_END:
            break;
        }
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/input/monitor_stream.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "eventlog/transport/transport.h"

enum {
    READ_BYTES = 64 << 10,
    ANNOUNCE_MS = 20000, /* the peer forgets after 60 s of silence */
    TICK_MS = 1000,      /* how often waiting looks at the clock */
};

struct fm_monitor_stream {
    int fd;
    char *name, *token;
    bool datagrams;
    struct fm_frame_parser frames;
    struct fm_monitor_collector *collector;
    GByteArray *log; /* complete, not yet given to the reader */
    uint64_t announced_ms;
    struct fm_refusal_watch refusal;
    uint64_t malformed; /* malformed datagrams */
    uint8_t buffer[READ_BYTES];
};

static uint64_t now_ms(void)
{
    return (uint64_t)(g_get_monotonic_time() / 1000);
}

struct fm_monitor_stream *fm_monitor_stream_new(int fd, const char *name, bool datagrams,
                                                const char *token)
{
    struct fm_monitor_stream *stream = g_new0(struct fm_monitor_stream, 1);
    stream->fd = fd;
    stream->name = g_strdup(name);
    stream->token = g_strdup(token);
    stream->datagrams = datagrams;
    stream->collector = fm_monitor_collector_new(NULL);
    stream->log = g_byte_array_new();
    stream->announced_ms = now_ms();
    fm_frame_parser_init(&stream->frames);
    return stream;
}

void fm_monitor_stream_free(struct fm_monitor_stream *stream)
{
    if (stream == NULL)
        return;
    fm_frame_parser_done(&stream->frames);
    fm_monitor_collector_free(stream->collector);
    g_byte_array_unref(stream->log);
    g_free(stream->name);
    g_free(stream->token);
    g_free(stream);
}

static bool take_frames(struct fm_monitor_stream *stream, size_t length, GError **error)
{
    const uint8_t *bytes;
    size_t message_length;
    int got;
    g_assert(length > 0 && length <= sizeof stream->buffer);
    fm_frame_parser_push(&stream->frames, stream->buffer, length);
    while ((got = fm_frame_parser_next(&stream->frames, &bytes, &message_length, error)) == 1) {
        struct fm_monitor_message message;
        if (!fm_monitor_decode(bytes, message_length, &message, error)) {
            g_prefix_error(error, "%s: ", stream->name);
            return false;
        }
        fm_monitor_collect(stream->collector, &message, now_ms(), stream->log);
    }
    return got == 0;
}

static enum fm_eventlog_fill hand_over(struct fm_monitor_stream *stream,
                                       struct fm_eventlog_reader *reader)
{
    if (stream->log->len == 0)
        return FM_EVENTLOG_FILL_TIMEOUT;
    fm_eventlog_reader_push(reader, stream->log->data, stream->log->len);
    g_byte_array_set_size(stream->log, 0);
    return FM_EVENTLOG_FILL_BYTES;
}

static enum fm_eventlog_fill take_end(struct fm_monitor_stream *stream,
                                      struct fm_eventlog_reader *reader)
{
    bool whole = !fm_frame_parser_inside(&stream->frames);
    fm_monitor_collector_finish(stream->collector, whole, stream->log);
    hand_over(stream, reader);
    fm_eventlog_reader_finish(reader);
    return FM_EVENTLOG_FILL_END;
}

/* Reads once what is available. */
static enum fm_eventlog_fill take_input(struct fm_monitor_stream *stream,
                                        struct fm_eventlog_reader *reader, GError **error)
{
    ssize_t got = recv(stream->fd, stream->buffer, sizeof stream->buffer, 0);
    if (got < 0 &&
        (errno == EINTR || errno == EAGAIN || (stream->datagrams && errno == ECONNREFUSED)))
        return FM_EVENTLOG_FILL_TIMEOUT;
    if (got < 0 && errno != ECONNRESET) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: cannot receive: %s", stream->name,
                    g_strerror(errno));
        return FM_EVENTLOG_FILL_FAILED;
    }
    GError *refused = NULL;
    if (!fm_refusal_passes(&stream->refusal, stream->buffer, (size_t)MAX(got, 0), stream->name,
                           &refused)) {
        if (refused != NULL)
            g_propagate_error(error, refused);
        return refused != NULL ? FM_EVENTLOG_FILL_FAILED : FM_EVENTLOG_FILL_TIMEOUT;
    }
    if (!stream->datagrams) {
        if (got <= 0 && fm_refusal_at_end(&stream->refusal, stream->name, error))
            return FM_EVENTLOG_FILL_FAILED;
        if (got <= 0)
            return take_end(stream, reader);
        if (!take_frames(stream, (size_t)got, error))
            return FM_EVENTLOG_FILL_FAILED;
        hand_over(stream, reader);
        return FM_EVENTLOG_FILL_BYTES;
    }
    struct fm_monitor_message message;
    if (fm_monitor_decode(stream->buffer, (size_t)MAX(got, 0), &message, NULL))
        fm_monitor_collect(stream->collector, &message, now_ms(), stream->log);
    else
        stream->malformed++;
    /* Some bytes came, even if no whole block: the peer is alive. */
    hand_over(stream, reader);
    return FM_EVENTLOG_FILL_BYTES;
}

enum fm_eventlog_fill fm_monitor_stream_fill(struct fm_monitor_stream *stream,
                                             struct fm_eventlog_reader *reader, int timeout_ms,
                                             GError **error)
{
    uint64_t give_up = timeout_ms < 0 ? UINT64_MAX : now_ms() + (uint64_t)timeout_ms;
    for (;;) {
        uint64_t now = now_ms();
        struct pollfd poll_fd = {stream->fd, POLLIN, 0};
        int wait = now >= give_up ? 0 : (int)MIN((uint64_t)TICK_MS, give_up - now);
        int ready = poll(&poll_fd, 1, wait);
        if (ready < 0 && errno == EINTR)
            return FM_EVENTLOG_FILL_TIMEOUT;
        if (ready > 0) {
            enum fm_eventlog_fill fill = take_input(stream, reader, error);
            if (fill != FM_EVENTLOG_FILL_TIMEOUT)
                return fill;
        }
        now = now_ms();
        fm_monitor_collector_expire(stream->collector, now, stream->log);
        if (hand_over(stream, reader) == FM_EVENTLOG_FILL_BYTES)
            return FM_EVENTLOG_FILL_BYTES;
        if (stream->datagrams && now - stream->announced_ms >= ANNOUNCE_MS) {
            stream->announced_ms = now;
            fm_transport_announce(stream->fd, stream->token, NULL);
        }
        if (now >= give_up)
            return FM_EVENTLOG_FILL_TIMEOUT;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A stream's connection. It is taken over from libsoup, which reads a socket only while a message
 * is in progress; here a closed connection is noticed at once. */
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "serve/http/internal.h"
#include "serve/response.h"
#include "serve/stream.h"

/* Interval of comments that keep proxies from closing the connection. */
#define BEAT_S 15
#define LINGER_S 5

struct fm_http_stream {
    struct fm_stream *stream; /* NULL once it has ended */
    struct fm_http_streams *all;
    SoupServerMessage *message; /* set until the connection is taken over */
    GIOStream *connection;
    GSocket *socket;
    GString *out;
    size_t written; /* bytes of out */
    bool broken;    /* the reader has closed the connection, or does not read */
    GSource *readable, *writable, *taking;
    guint beat, breaking, lingering;
};

static void drop_source(GSource **source)
{
    if (*source == NULL)
        return;
    g_source_destroy(*source);
    g_source_unref(*source);
    *source = NULL;
}

static void drop_timer(guint *timer)
{
    if (*timer != 0)
        g_source_remove(*timer);
    *timer = 0;
}

static void http_stream_free(struct fm_http_stream *http_stream)
{
    struct fm_http_streams *all = http_stream->all;
    g_ptr_array_remove(all->list, http_stream);
    drop_source(&http_stream->readable);
    drop_source(&http_stream->writable);
    drop_source(&http_stream->taking);
    drop_timer(&http_stream->beat);
    drop_timer(&http_stream->breaking);
    drop_timer(&http_stream->lingering);
    g_clear_object(&http_stream->message);
    if (http_stream->socket != NULL) {
        g_socket_close(http_stream->socket, NULL);
        fm_http_connections_forget(http_stream->socket);
    }
    g_clear_object(&http_stream->socket);
    g_clear_object(&http_stream->connection);
    g_string_free(http_stream->out, TRUE);
    g_free(http_stream);
}

static gboolean on_broken(gpointer user)
{
    struct fm_http_stream *http_stream = user;
    http_stream->breaking = 0;
    if (http_stream->stream != NULL)
        fm_stream_gone(g_steal_pointer(&http_stream->stream));
    http_stream_free(http_stream);
    return G_SOURCE_REMOVE;
}

/* Deferred, because the sender may be in the middle of something. */
static void break_off(struct fm_http_stream *http_stream)
{
    http_stream->broken = true;
    drop_source(&http_stream->readable);
    drop_source(&http_stream->writable);
    if (http_stream->breaking == 0)
        http_stream->breaking = g_idle_add_full(G_PRIORITY_DEFAULT, on_broken, http_stream, NULL);
}

static gboolean on_writable(GSocket *socket, GIOCondition condition, gpointer user);

static void watch_writable(struct fm_http_stream *http_stream)
{
    if (http_stream->writable != NULL)
        return;
    http_stream->writable = g_socket_create_source(http_stream->socket, G_IO_OUT, NULL);
    g_source_set_callback(http_stream->writable, G_SOURCE_FUNC(on_writable), http_stream, NULL);
    g_source_attach(http_stream->writable, NULL);
}

static void flush(struct fm_http_stream *http_stream)
{
    while (!http_stream->broken && http_stream->written < http_stream->out->len) {
        g_autoptr(GError) error = NULL;
        gssize sent = g_socket_send_with_blocking(
            http_stream->socket, http_stream->out->str + http_stream->written,
            http_stream->out->len - http_stream->written, FALSE, NULL, &error);
        if (sent >= 0) {
            http_stream->written += (size_t)sent;
        } else if (g_error_matches(error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK)) {
            watch_writable(http_stream);
            return;
        } else {
            break_off(http_stream);
        }
    }
    g_string_truncate(http_stream->out, 0);
    http_stream->written = 0;
    drop_source(&http_stream->writable);
    if (http_stream->stream == NULL && !http_stream->broken)
        break_off(http_stream); /* everything has been sent */
}

static gboolean on_writable(GSocket *socket, GIOCondition condition, gpointer user)
{
    struct fm_http_stream *http_stream = user;
    (void)socket;
    (void)condition;
    flush(http_stream);
    return http_stream->writable != NULL;
}

/* Clients send nothing on a stream: input is ignored; end of file ends it. */
static gboolean on_readable(GSocket *socket, GIOCondition condition, gpointer user)
{
    struct fm_http_stream *http_stream = user;
    char buffer[512];
    g_autoptr(GError) error = NULL;
    (void)condition;
    gssize got = g_socket_receive_with_blocking(socket, buffer, sizeof buffer, FALSE, NULL, &error);
    if (got > 0 || g_error_matches(error, G_IO_ERROR, G_IO_ERROR_WOULD_BLOCK))
        return G_SOURCE_CONTINUE;
    break_off(http_stream);
    return G_SOURCE_REMOVE;
}

/* --- the sink --- */

static void sink_write(void *user, const char *bytes, size_t size)
{
    struct fm_http_stream *http_stream = user;
    g_assert(http_stream->written <= http_stream->out->len);
    if (http_stream->broken)
        return;
    if (http_stream->out->len - http_stream->written + size > FM_STREAM_BACKLOG_MAX) {
        break_off(http_stream);
        return;
    }
    if (http_stream->written > FM_STREAM_BACKLOG_MAX / 2) {
        g_string_erase(http_stream->out, 0, (gssize)http_stream->written);
        http_stream->written = 0;
    }
    g_string_append_len(http_stream->out, bytes, (gssize)size);
    if (http_stream->socket != NULL && http_stream->writable == NULL)
        flush(http_stream);
}

static size_t sink_backlog(void *user)
{
    const struct fm_http_stream *http_stream = user;
    g_assert(http_stream->written <= http_stream->out->len);
    return http_stream->out->len - http_stream->written;
}

static gboolean on_linger_end(gpointer user)
{
    struct fm_http_stream *http_stream = user;
    http_stream->lingering = 0;
    break_off(http_stream);
    return G_SOURCE_REMOVE;
}

static void sink_end(void *user)
{
    struct fm_http_stream *http_stream = user;
    http_stream->stream = NULL;
    if (http_stream->broken)
        return;
    http_stream->lingering = g_timeout_add_seconds(LINGER_S, on_linger_end, http_stream);
    if (http_stream->socket != NULL && http_stream->writable == NULL)
        flush(http_stream);
}

static gboolean on_beat(gpointer user)
{
    sink_write(user, ":\n\n", 3);
    return G_SOURCE_CONTINUE;
}

/* --- taking the connection --- */

static void watch_readable(struct fm_http_stream *http_stream)
{
    http_stream->readable = g_socket_create_source(http_stream->socket, G_IO_IN, NULL);
    g_source_set_callback(http_stream->readable, G_SOURCE_FUNC(on_readable), http_stream, NULL);
    g_source_attach(http_stream->readable, NULL);
}

static gboolean on_take(gpointer user)
{
    struct fm_http_stream *http_stream = user;
    SoupServerMessage *message = g_steal_pointer(&http_stream->message);
    GSocket *socket = soup_server_message_get_socket(message);
    drop_source(&http_stream->taking);
    if (socket != NULL)
        http_stream->socket = g_object_ref(socket);
    http_stream->connection = soup_server_message_steal_connection(message);
    g_object_unref(message);
    if (http_stream->connection == NULL || http_stream->socket == NULL) {
        break_off(http_stream);
        return G_SOURCE_REMOVE;
    }
    g_socket_set_timeout(http_stream->socket, 0);
    g_socket_set_option(http_stream->socket, IPPROTO_TCP, TCP_NODELAY, 1, NULL);
    watch_readable(http_stream);
    http_stream->beat = g_timeout_add_seconds(BEAT_S, on_beat, http_stream);
    flush(http_stream);
    return G_SOURCE_REMOVE;
}

static void append_header(const char *name, const char *value, void *user)
{
    g_string_append_printf(user, "%s: %s\r\n", name, value);
}

void fm_http_streams_begin(struct fm_http_streams *all, SoupServerMessage *message,
                           struct fm_response *response)
{
    static const struct fm_stream_sink sink = {sink_write, sink_backlog, sink_end};
    struct fm_http_stream *http_stream = g_new0(struct fm_http_stream, 1);
    http_stream->all = all;
    http_stream->stream = g_steal_pointer(&response->stream);
    http_stream->message = g_object_ref(message);
    http_stream->out = g_string_new("HTTP/1.1 200 OK\r\nConnection: close\r\n");
    fm_response_each_header(response, append_header, http_stream->out);
    g_string_append(http_stream->out, "X-Accel-Buffering: no\r\n\r\n");
    g_ptr_array_add(all->list, http_stream);
    soup_server_message_set_status(message, 200, "OK");
    soup_server_message_pause(message);
    http_stream->taking = g_idle_source_new();
    g_source_set_priority(http_stream->taking, G_PRIORITY_DEFAULT);
    g_source_set_callback(http_stream->taking, on_take, http_stream, NULL);
    g_source_attach(http_stream->taking, NULL);
    fm_stream_attach(http_stream->stream, &sink, http_stream);
}

void fm_http_streams_init(struct fm_http_streams *all)
{
    *all = (struct fm_http_streams){g_ptr_array_new()};
}

void fm_http_streams_clear(struct fm_http_streams *all)
{
    while (all->list->len > 0) {
        struct fm_http_stream *http_stream = all->list->pdata[0];
        if (http_stream->stream != NULL)
            fm_stream_gone(g_steal_pointer(&http_stream->stream));
        http_stream_free(http_stream);
    }
    g_ptr_array_unref(all->list);
}

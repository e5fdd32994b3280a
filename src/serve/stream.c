/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/stream.h"

#include <string.h>
#include <sys/random.h>

#include "serve/serve_internal.h"

#define ID_BYTES 16
/* Time after which a browser reconnects. */
#define RETRY_MS "1000"

struct end_hook {
    fm_stream_end_function *function;
    void *user;
};

struct fm_stream {
    struct fm_server *server;
    char id[2 * ID_BYTES + 1];
    GArray *end_hooks; /* struct end_hook */
    GString *waiting;  /* data sent before the connection was ready; NULL afterwards */
    const struct fm_stream_sink *sink;
    void *sink_user;
    bool ending;
};

static bool make_id(char *ret)
{
    uint8_t bytes[ID_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return false;
    for (unsigned i = 0; i < ID_BYTES; i++)
        g_snprintf(ret + 2 * (size_t)i, 3, "%02x", bytes[i]);
    return true;
}

void fm_streams_limit(struct fm_server *server, unsigned most)
{
    server->streams_max = MIN(most, FM_STREAMS_MAX);
}

struct fm_stream *fm_stream_new(struct fm_server *server)
{
    struct fm_stream *stream = g_new0(struct fm_stream, 1);
    unsigned most = server->streams_max == 0 ? FM_STREAMS_MAX : server->streams_max;
    if (server->streams->len >= most || !make_id(stream->id)) {
        g_free(stream);
        return NULL;
    }
    stream->server = server;
    stream->end_hooks = g_array_new(FALSE, FALSE, sizeof(struct end_hook));
    stream->waiting = g_string_new("retry: " RETRY_MS "\n\n");
    g_ptr_array_add(server->streams, stream);
    return stream;
}

struct fm_response fm_stream_response(struct fm_stream *stream)
{
    return (struct fm_response){
        .status = 200,
        .content_type = "text/event-stream",
        .body = g_bytes_new_static("", 0),
        .stream = stream,
    };
}

const char *fm_stream_id(const struct fm_stream *stream)
{
    return stream->id;
}

struct fm_stream *fm_server_stream(const struct fm_server *server, const char *id)
{
    for (unsigned i = 0; i < server->streams->len; i++) {
        struct fm_stream *stream = server->streams->pdata[i];
        if (!stream->ending && strcmp(stream->id, id) == 0)
            return stream;
    }
    return NULL;
}

void fm_stream_on_end(struct fm_stream *stream, fm_stream_end_function *function, void *user)
{
    g_assert(function != NULL && !stream->ending);
    struct end_hook hook = {function, user};
    g_array_append_val(stream->end_hooks, hook);
}

static void write_bytes(struct fm_stream *stream, const char *bytes, size_t size)
{
    if (stream->sink != NULL)
        stream->sink->write(stream->sink_user, bytes, size);
    else if (stream->waiting->len + size <= FM_STREAM_BACKLOG_MAX)
        g_string_append_len(stream->waiting, bytes, (gssize)size);
}

/* In event streams a carriage return ends a line, too. */
static void append_data(GString *out, const char *data)
{
    for (;;) {
        size_t size = strcspn(data, "\r\n");
        g_string_append(out, "data: ");
        g_string_append_len(out, data, (gssize)size);
        g_string_append_c(out, '\n');
        if (data[size] == '\0')
            return;
        data += size + (data[size] == '\r' && data[size + 1] == '\n' ? 2 : 1);
    }
}

void fm_stream_send(struct fm_stream *stream, const char *event, const char *data)
{
    g_return_if_fail(strpbrk(event, "\r\n") == NULL);
    if (stream->ending)
        return;
    g_autoptr(GString) text = g_string_new("event: ");
    g_string_append_printf(text, "%s\n", event);
    append_data(text, data);
    g_string_append_c(text, '\n');
    write_bytes(stream, text->str, text->len);
}

size_t fm_stream_backlog(const struct fm_stream *stream)
{
    return stream->sink != NULL ? stream->sink->backlog(stream->sink_user) : stream->waiting->len;
}

/* Calls the end hooks, and frees the stream. */
static void finish(struct fm_stream *stream)
{
    stream->ending = true;
    for (unsigned i = 0; i < stream->end_hooks->len; i++) {
        const struct end_hook *hook = &g_array_index(stream->end_hooks, struct end_hook, i);
        hook->function(stream, hook->user);
    }
    g_ptr_array_remove(stream->server->streams, stream);
    g_array_unref(stream->end_hooks);
    if (stream->waiting != NULL)
        g_string_free(stream->waiting, TRUE);
    g_free(stream);
}

void fm_stream_end(struct fm_stream *stream)
{
    g_return_if_fail(!stream->ending);
    if (stream->sink != NULL) {
        stream->sink->end(stream->sink_user);
        finish(stream);
    } else {
        stream->ending = true; /* its owner sends what is waiting, then ends it */
    }
}

void fm_stream_attach(struct fm_stream *stream, const struct fm_stream_sink *sink, void *user)
{
    g_assert(sink->write != NULL && sink->backlog != NULL && sink->end != NULL);
    g_return_if_fail(stream->sink == NULL);
    stream->sink = sink;
    stream->sink_user = user;
    sink->write(user, stream->waiting->str, stream->waiting->len);
    g_string_free(g_steal_pointer(&stream->waiting), TRUE);
    if (stream->ending) {
        sink->end(user);
        finish(stream);
    }
}

void fm_stream_gone(struct fm_stream *stream)
{
    finish(stream);
}

void fm_streams_end_all(struct fm_server *server)
{
    while (server->streams->len > 0) {
        struct fm_stream *stream = server->streams->pdata[0];
        if (stream->sink != NULL)
            stream->sink->end(stream->sink_user);
        finish(stream);
    }
}

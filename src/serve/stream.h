/* SPDX-License-Identifier: Apache-2.0 */
/* A page's event stream (Server-Sent Events), for code behind fm_server_handle(), which knows no
 * sockets. One stream for each page, however many viewers it has.
 *
 * A handler opens one and returns it in the response:
 *
 *     if (!request->can_stream)                       CGI, or another site's page: 406
 *         ...
 *     struct fm_stream *stream = fm_stream_new(server);
 *     if (stream == NULL)                             too many: 503
 *         ...
 *     fm_stream_on_end(stream, page_gone, page);
 *     fm_stream_send(stream, "hello", "{...}");       buffered until the connection is ready
 *     *ret = fm_stream_response(stream);
 *
 * From then on, any code on the server's loop may send: hooks of ad hoc requests (after_chunk,
 * after_request), notifications, watches. When the stream ends (the tab is closed, the
 * connection breaks, the server ends), on_end is called once, and then the stream is freed.
 * There a viewer withdraws its work from the engine:
 *
 *     static void page_gone(struct fm_stream *stream, void *user)
 *     {
 *         fm_engine_reader_remove_all(page->reader, viewer);             its requests, each owner's
 *         fm_background_notify_remove(engine, viewer);      its notifications and watches
 *         fm_engine_reader_free(page->reader);                           and its traces
 *     }
 *
 * on_end is never called from inside fm_stream_send(), and never while the engine steps.
 *
 * Later requests of the same page (another interval, a filter) name the stream: send its
 * fm_stream_id() in the first event, let the script add it to its addresses, and look it up with
 * fm_server_stream(). Results then go through the stream. Browsers allow six connections to one
 * server over all tabs, so a script should close the EventSource of a page that is hidden or
 * waits for nothing. A reader that does not read is disconnected when FM_STREAM_BACKLOG_MAX
 * bytes are waiting. EventSource then reconnects and gets a new stream, so a stream must begin
 * with everything that the page needs. Before sending pictures, check fm_stream_backlog() and
 * skip if it is large. */
#pragma once

#include "serve/serve.h"

#define FM_STREAMS_MAX 64
#define FM_STREAM_BACKLOG_MAX (4u << 20)

struct fm_stream;

/* Sets a limit, if it is lower than FM_STREAMS_MAX. */
void fm_streams_limit(struct fm_server *server, unsigned most);
/* NULL when too many are open. The server owns it. */
FM_MUST_USE struct fm_stream *fm_stream_new(struct fm_server *server);
/* The response that contains the stream. */
struct fm_response fm_stream_response(struct fm_stream *stream);
/* 32 hexadecimal digits that cannot be guessed. */
const char *fm_stream_id(const struct fm_stream *stream);
/* NULL when there is none with that id. */
struct fm_stream *fm_server_stream(const struct fm_server *server, const char *id);

typedef void fm_stream_end_function(struct fm_stream *stream, void *user);
/* Registers a function for the end of the stream; they are called in order of registration. */
void fm_stream_on_end(struct fm_stream *stream, fm_stream_end_function *function, void *user);

/* event: [a-z_-]+; data: any text, also of several lines. Never blocks. */
void fm_stream_send(struct fm_stream *stream, const char *event, const char *data);
/* Bytes that the reader has not read yet. */
size_t fm_stream_backlog(const struct fm_stream *stream);
/* Ends the stream: waiting data is still sent; on_end is called now. Not from on_end. */
void fm_stream_end(struct fm_stream *stream);

/* --- for HTTP and tests --- */

struct fm_stream_sink {
    /* takes or drops everything; must not end the stream */
    void (*write)(void *user, const char *bytes, size_t size);
    size_t (*backlog)(void *user);
    /* no more will be written; user belongs to the sink's owner from now on */
    void (*end)(void *user);
};
/* Connects a sink, and writes everything sent before. */
void fm_stream_attach(struct fm_stream *stream, const struct fm_stream_sink *sink, void *user);
/* The reader has closed the connection: on_end is called; the sink is not used any more. */
void fm_stream_gone(struct fm_stream *stream);

/* SPDX-License-Identifier: Apache-2.0 */
/* A page's channel of events (Server-Sent Events), for code behind fm_server_handle(), which knows
 * no sockets. One a page, however many viewers it has.
 *
 * A handler opens one and gives it to the door with the response:
 *
 *     if (!request->can_stream)                       CGI, or another site's page: 406
 *         ...
 *     struct fm_stream *stream = fm_stream_new(server);
 *     if (stream == NULL)                             too many: 503
 *         ...
 *     fm_stream_on_end(stream, page_gone, page);
 *     fm_stream_send(stream, "hello", "{...}");       kept until the door is ready
 *     *ret = fm_stream_response(stream);
 *
 * From then on anything that runs on the server's loop may send: hooks of ad hoc requests
 * (after_chunk, after_request), notifications, watches. When the reader goes away (the tab is
 * closed, the connection breaks, the server ends), on_end is called, once, and the stream is gone
 * after it: there a viewer takes its work out of the engine,
 *
 *     static void page_gone(struct fm_stream *stream, void *user)
 *     {
 *         fm_trace_reader_remove_all(page->reader, viewer);             its requests, each owner's
 *         fm_background_notify_remove(engine, viewer);      its notifications and watches
 *         fm_trace_reader_free(page->reader);                           and its traces
 *     }
 *
 * on_end is never called from inside fm_stream_send(), and never while the engine steps.
 *
 * Later requests of the same page (another interval, a filter) name the stream: send its
 * fm_stream_id() in the first event, let the script add it to its addresses, and look it up with
 * fm_server_stream(); results then go through the stream. Browsers allow six connections to one
 * server over all tabs, so a script should close the EventSource of a page that is hidden or has
 * nothing to wait for. A reader that does not read is cut off when FM_STREAM_BACKLOG_MAX bytes
 * wait; EventSource connects again by itself, and gets a new stream: so a stream begins with all
 * that the page needs. Who sends pictures looks at fm_stream_backlog() first and skips. */
#pragma once

#include "serve/serve.h"

#define FM_STREAMS_MAX 64
#define FM_STREAM_BACKLOG_MAX (4u << 20)

struct fm_stream;

/* At most so many, where the door has places for fewer than FM_STREAMS_MAX. */
void fm_streams_limit(struct fm_server *server, unsigned most);
/* NULL when as many as may be are open. The server owns it. */
FM_MUST_USE struct fm_stream *fm_stream_new(struct fm_server *server);
/* The response that hands it to the door. */
struct fm_response fm_stream_response(struct fm_stream *stream);
/* 32 hexadecimal digits that nobody can guess. */
const char *fm_stream_id(const struct fm_stream *stream);
/* NULL when there is none of that id. */
struct fm_stream *fm_server_stream(const struct fm_server *server, const char *id);

typedef void fm_stream_end_function(struct fm_stream *stream, void *user);
/* Called when it ends, in order of registering. */
void fm_stream_on_end(struct fm_stream *stream, fm_stream_end_function *function, void *user);

/* event: [a-z_-]+; data: any text, may have several lines. Never blocks. */
void fm_stream_send(struct fm_stream *stream, const char *event, const char *data);
/* Bytes that the reader has not taken yet. */
size_t fm_stream_backlog(const struct fm_stream *stream);
/* Ends it from this side: what waits is still sent, on_end is called now. Not from on_end. */
void fm_stream_end(struct fm_stream *stream);

/* --- for doors --- */

struct fm_stream_sink {
    void (*write)(void *user, const char *bytes, size_t size); /* takes or drops all; never ends */
    size_t (*backlog)(void *user);
    void (*end)(void *user); /* no more will be written; user is the door's from now on */
};
/* Writes everything that was sent before. */
void fm_stream_attach(struct fm_stream *stream, const struct fm_stream_sink *sink, void *user);
/* The reader has gone: on_end is called, the sink no more. */
void fm_stream_gone(struct fm_stream *stream);

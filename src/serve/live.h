/* SPDX-License-Identifier: Apache-2.0 */
/* Pages with an event stream; they are in the server's list while it is open. Classes define what a
 * page shows and sends: the progress of a profile (profile_live.c), viewers' answers about traces
 * (trace_live.c). */
#pragma once

#include "serve/serve.h"
#include "serve/stream.h"

struct fm_trace;
struct fm_live_page;

struct fm_live_class {
    bool (*shows)(const struct fm_live_page *page, const struct fm_trace *trace);
    /* The stream ends when the recording is closed; otherwise the page holds references to what it
     * needs. */
    bool ends_with_recording;
    /* The recording was replaced by another one; called before `changed`. May be NULL. */
    void (*replaced)(struct fm_live_page *page);
    /* The recording has grown, or was replaced. May be NULL. */
    void (*changed)(struct fm_live_page *page);
    void (*free)(struct fm_live_page *page); /* the stream has ended */
};

/* Must be the first member of a class's page. */
struct fm_live_page {
    const struct fm_live_class *class_;
    struct fm_server *server;
    struct fm_stream *stream;
};

/* Opens a stream for the requesting page; NULL when it may have none, with the reason in *ret. */
FM_MUST_USE struct fm_stream *
fm_live_stream(struct fm_server *server, const struct fm_request *request, struct fm_response *ret);
/* The page now belongs to the stream, whose response is *ret. */
void fm_live_begin(struct fm_live_page *page, const struct fm_live_class *class_,
                   struct fm_server *server, struct fm_stream *stream, struct fm_response *ret);

/* Iterates over a class's pages, in order of opening; NULL at the end. */
struct fm_live_page *fm_live_page_at(const struct fm_server *server,
                                     const struct fm_live_class *class_, unsigned index);

/* Notifies all pages that show the recording. */
void fm_live_closing(struct fm_server *server, const struct fm_trace *trace);
void fm_live_changed(struct fm_server *server, const struct fm_trace *trace, bool replaced);

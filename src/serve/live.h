/* SPDX-License-Identifier: Apache-2.0 */
/* Pages with a stream of events: one kind, in the server's list while the stream is open. What a
 * page shows and sends is its class's: a profile's progress (profile_live.c), viewers' answers
 * about traces (trace_live.c). */
#pragma once

#include "serve/serve.h"
#include "serve/stream.h"

struct fm_trace;
struct fm_live_page;

struct fm_live_class {
    bool (*shows)(const struct fm_live_page *page, const struct fm_trace *trace);
    /* Its recording is about to be closed: its stream ends; else it holds what it needs. */
    bool ends_with_recording;
    /* It has become another recording; before `changed`. May be NULL. */
    void (*replaced)(struct fm_live_page *page);
    /* There is more of it, or something else. May be NULL. */
    void (*changed)(struct fm_live_page *page);
    void (*free)(struct fm_live_page *page); /* the stream has ended */
};

/* The first member of a class's page. */
struct fm_live_page {
    const struct fm_live_class *class_;
    struct fm_server *server;
    struct fm_stream *stream;
};

/* A stream for the page that asks; NULL when it may have none: then *ret tells why. */
FM_MUST_USE struct fm_stream *
fm_live_stream(struct fm_server *server, const struct fm_request *request, struct fm_response *ret);
/* From now on the page belongs to the stream, whose response is *ret. */
void fm_live_begin(struct fm_live_page *page, const struct fm_live_class *class_,
                   struct fm_server *server, struct fm_stream *stream, struct fm_response *ret);

/* Pages of a class, in order of opening: NULL at the end of the list. */
struct fm_live_page *fm_live_page_at(const struct fm_server *server,
                                     const struct fm_live_class *class_, unsigned index);

/* Notifies all pages that show the recording. */
void fm_live_closing(struct fm_server *server, const struct fm_trace *trace);
void fm_live_changed(struct fm_server *server, const struct fm_trace *trace, bool replaced);

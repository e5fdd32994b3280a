/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "pages/render.h"
#include "open/open.h"
#include "serve/response.h"
#include "serve/serve.h"

#define FM_QUERY_BYTES_MAX 16384 /* limit of a whole query, encoded */

struct fm_compared; /* compare_handle.c */

struct fm_server {
    struct fm_server_options options;
    const char *build_id;
    struct fm_open_files *recordings;
    GPtrArray *streams;        /* struct fm_stream, open ones */
    unsigned streams_max;      /* 0 = FM_STREAMS_MAX */
    GPtrArray *growing;        /* struct fm_growing: profiles of programs that run */
    fm_moment_function moment; /* NULL = moments are not offered */
    void *moment_user;
    char *awaited;                /* shown while there is none; NULL = none is expected */
    GPtrArray *pages;             /* struct fm_live_page: those with a stream */
    struct fm_compared *compared; /* the last comparison; NULL = none */
    unsigned growth_source;       /* a GLib source that looks for growth of traces; 0 = none */
    uint64_t cancelled_answers; /* viewers' answers that were withdrawn before they were complete */
};

/* stream.c */
void fm_streams_end_all(struct fm_server *server);

/* The parts of "FILE", "CMD&FILE", "CMD&PREFS&FILE", decoded; the first two may be NULL. */
struct fm_deep_query {
    char *command, *preferences, *file;
};
FM_MUST_USE bool fm_deep_query_split(const char *raw, struct fm_deep_query *ret, GError **error);
void fm_deep_query_done(struct fm_deep_query *query);

/* A request on its way to its answer. routes.c has the table of who answers what. */
struct fm_exchange {
    struct fm_server *server;
    const struct fm_request *request;
    enum fm_format format; /* asked for by the path's ending, else by Accept */
    const char *rest;      /* the path behind the route's */
    struct fm_response *ret;
};

/* handle.c */
void fm_answer_deep(const struct fm_exchange *exchange);
void fm_answer_find(const struct fm_exchange *exchange);
void fm_answer_front(const struct fm_exchange *exchange);
void fm_answer_asset(const struct fm_exchange *exchange);
/* trace_handle.c */
void fm_answer_trace(const struct fm_exchange *exchange);
void fm_answer_trace_complete(const struct fm_exchange *exchange);
/* compare_handle.c */
void fm_answer_compare(const struct fm_exchange *exchange);
void fm_compared_free(struct fm_compared *compared); /* NULL is allowed */

/* The page at "/". */
struct fm_display *fm_front_page(const struct fm_server *server);

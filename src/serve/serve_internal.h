/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "pages/render.h"
#include "recording/recording.h"
#include "serve/response.h"
#include "serve/serve.h"

#define FM_QUERY_BYTES_MAX 16384 /* limit of a whole query, encoded */

struct fm_compared; /* compare_handle.c */

struct fm_server {
    struct fm_server_options options;
    const char *build_id;
    struct fm_recordings *recordings;
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
void fm_deep_query_clear(struct fm_deep_query *query);

/* compare_handle.c: answers /compare; false: it is another path. */
bool fm_compare_handle(struct fm_server *server, const struct fm_request *request,
                       struct fm_response *ret);
void fm_compared_free(struct fm_compared *compared); /* NULL is allowed */

/* The page at "/". */
struct fm_display *fm_front_page(const struct fm_server *server);

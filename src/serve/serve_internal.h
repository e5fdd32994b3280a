/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "pages/render.h"
#include "recording/recording.h"
#include "serve/response.h"
#include "serve/serve.h"

#define FM_QUERY_BYTES_MAX 16384 /* of a whole query, encoded */

struct fm_server {
    struct fm_server_options options;
    const char *build_id;
    struct fm_recordings *recordings;
    GPtrArray *streams;         /* struct fm_stream, open ones */
    unsigned streams_max;       /* 0 = FM_STREAMS_MAX */
    GPtrArray *pages;           /* struct fm_live_page: those with a stream */
    unsigned growth_source;     /* a GLib source that looks for growth of traces; 0 = none */
    uint64_t cancelled_answers; /* of viewers, that were withdrawn before their end */
};

/* stream.c */
void fm_streams_end_all(struct fm_server *server);

/* The parts of "FILE", "CMD&FILE", "CMD&PREFS&FILE", decoded; the first two may be NULL. */
struct fm_deep_query {
    char *command, *preferences, *file;
};
FM_MUST_USE bool fm_deep_query_split(const char *raw, struct fm_deep_query *ret, GError **error);
void fm_deep_query_clear(struct fm_deep_query *query);

/* The page at "/". */
struct fm_display *fm_front_page(const struct fm_server *server);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/stat.h>

#include "schedule/schedule.h"
#include "recording/profile.h"
#include "serve/render.h"
#include "serve/response.h"
#include "serve/serve.h"

#define FM_FILE_NAME_BYTES_MAX 4096 /* of the file's part of a query, decoded */
#define FM_QUERY_BYTES_MAX 16384    /* of a whole query, encoded */

/* Which bytes a path led to when it was read; two equal ones mean that nothing changed. */
struct identity {
    bool there;
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec modified, changed;
};

/* A file and the recording that is read from it. */
struct entry {
    char *name; /* as given: in links and on pages */
    char *real; /* real path */
    bool added; /* by fm_server_add(), so it stays; else it was found below a root */
    uint64_t last_used;
    uint64_t reread; /* how many times it was read again */
    struct identity data, contour, procrep, lines;
    struct fm_server *server;
    struct fm_trace *trace;               /* a reference; NULL when it could not be opened */
    const struct fm_recording *recording; /* what is known: set by the functions below */
};

struct fm_server {
    struct fm_server_options options;
    const char *build_id;
    GPtrArray *entries; /* struct entry; added ones first, in order */
    struct fm_roots *roots;
    GHashTable *given; /* of paths that may be opened wherever they lead; all others below roots */
    uint64_t clock;    /* counts uses */
    struct fm_engine *engine;
    GPtrArray *streams;       /* struct fm_stream, open ones */
    GPtrArray *pages;         /* struct page of events.c: those that hear of their recording */
    GPtrArray *traces;        /* struct trace_file (traces/) */
    GPtrArray *trace_pages;   /* struct trace_page (traces/): those with a stream */
    unsigned trace_tick;      /* a GLib source that looks for growth; 0 = none */
    uint64_t trace_cancelled; /* answers that were withdrawn before their end */
};

void fm_entry_free(struct entry *entry);

/* The entry that a request's file names, its recording up to date; in a server that works in the
 * background perhaps not all of it. *ret_notice: what to
 * tell about it, g_free, NULL = nothing. Errors: FM_ERROR_NOT_FOUND for what may not be opened,
 * else those of fm_recording_open(). The entry is borrowed until the next call. */
FM_MUST_USE bool fm_registry_get(struct fm_server *server, const char *file, struct entry **ret,
                                 char **ret_notice, GError **error);
/* Reads it again whatever its identity. On failure the entry has no recording. */
FM_MUST_USE bool fm_registry_restart(struct fm_server *server, struct entry *entry, GError **error);
/* Everything that the bytes of an entry's pages depend on, appended. */
void fm_entry_append_identity(const struct entry *entry, GString *out);

/* The real path that a request's file names below some root, or NULL; of a file, or of a folder
 * that is a trace. Caller frees. */
char *fm_resolve_below_roots(const struct fm_server *server, const char *file);

/* stream.c */
void fm_streams_end_all(struct fm_server *server);

/* The parts of "FILE", "CMD&FILE", "CMD&PREFS&FILE", decoded; the first two may be NULL. */
struct fm_deep_query {
    char *command, *preferences, *file;
};
FM_MUST_USE bool fm_deep_query_split(const char *raw, struct fm_deep_query *ret, GError **error);
void fm_deep_query_clear(struct fm_deep_query *query);

/* What a page that is not whole says (events.c). text: caller frees. */
struct fm_incomplete {
    char *text;
    unsigned stage;
    double fraction;
};
void fm_incomplete_make(struct fm_engine *engine, const struct entry *entry,
                        struct fm_incomplete *ret);
/* The stream of a page: what is known of its recording, until the page is whole. */
void fm_events_answer(struct fm_server *server, const struct fm_request *request,
                      struct fm_response *ret);
/* Ends the streams of a recording that is about to be closed. */
void fm_events_forget(struct fm_server *server, const struct fm_trace *trace);
/* An error's page; takes the error. */
void fm_response_error(const struct fm_request *request, GError *error, struct fm_response *ret);

/* The page at "/". */
struct fm_display *fm_front_page(const struct fm_server *server);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <sys/stat.h>

#include "schedule/schedule.h"
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

/* A file and, while recording is not NULL, the recording that was read from it. */
struct entry {
    char *name; /* as given: in links and on pages */
    char *real; /* real path */
    bool added; /* by fm_server_add(), so it stays; else it was found below a root */
    uint64_t last_used;
    uint64_t reread; /* how many times it was read again */
    struct identity data, contour, procrep;
    struct fm_recording *recording;
};

struct fm_server {
    struct fm_server_options options;
    char *build_id;
    GPtrArray *entries; /* struct entry; added ones first, in order */
    GPtrArray *roots;   /* char *, real paths */
    uint64_t clock;     /* counts uses */
    struct fm_engine *engine;
    GPtrArray *streams; /* struct fm_stream, open ones */
};

void fm_entry_free(struct entry *entry);

/* The entry that a request's file names, its recording read and up to date. *ret_notice: what to
 * tell about it, g_free, NULL = nothing. Errors: FM_ERROR_NOT_FOUND for what may not be opened,
 * else those of fm_recording_open(). The entry is borrowed until the next call. */
FM_MUST_USE bool fm_registry_get(struct fm_server *server, const char *file, struct entry **ret,
                                 char **ret_notice, GError **error);
/* Reads it again whatever its identity. On failure the entry has no recording. */
FM_MUST_USE bool fm_registry_restart(struct fm_server *server, struct entry *entry, GError **error);
/* Everything that the bytes of an entry's pages depend on, appended. */
void fm_entry_append_identity(const struct entry *entry, GString *out);

/* stream.c */
void fm_streams_end_all(struct fm_server *server);

/* The page at "/". */
struct fm_display *fm_front_page(const struct fm_server *server);

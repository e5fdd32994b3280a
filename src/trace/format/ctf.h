/* SPDX-License-Identifier: Apache-2.0 */
/* CTF traces as traces; seen by this folder only. The reading itself is done by the program
 * fathom-import-ctf (ctf_import.h), which writes an event log while it is read here. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/compiler.h"

struct fm_trace;

/* ctf_find.c: folders below path, itself included, that hold a CTF "metadata" file;
 * NULL-terminated, sorted, empty when there is none. Free with g_strfreev(). */
char **fm_ctf_find(const char *path);

/* ctf_start.c: the program at work. */
struct ctf_importer {
    pid_t process;  /* 0 = has ended */
    int status;     /* descriptor: what it tells */
    GString *heard; /* a line that is not complete */
    GString *notes; /* lines about what could not be read */
    bool begun, done, has_epoch;
    int64_t epoch_ns; /* of time 0, since 1970 */
    char *error;      /* nothing could be read at all: why */
};

/* Starts it; log: a descriptor that the log is written to from its place on. */
FM_MUST_USE bool fm_ctf_importer_start(struct ctf_importer *importer, const char *path, int log,
                                       GError **error);
/* Takes what it has told, without waiting. True when there is news. */
bool fm_ctf_importer_listen(struct ctf_importer *importer);
/* Listens until it has begun, failed or ended, or until the time is over. */
void fm_ctf_importer_wait(struct ctf_importer *importer, int64_t patience_us);
/* Ends it, if it is still there. */
void fm_ctf_importer_clear(struct ctf_importer *importer);

/* ctf_trace.c */
FM_MUST_USE struct fm_trace *fm_ctf_open(const char *path, const char *identity, GError **error);

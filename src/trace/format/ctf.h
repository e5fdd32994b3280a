/* SPDX-License-Identifier: Apache-2.0 */
/* CTF traces as traces; seen by this folder only. The reading itself is done by the program
 * fathom-import-ctf (ctf_import.h), which writes an event log while it is read here. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/compiler.h"
#include "base/files/roots.h"
#include "base/text/json_read.h"

struct fm_trace;

/* --- ctf_find.c --- */

/* folder: its descriptor, borrowed; path: its name for people. False: it has seen enough. */
typedef bool (*fm_ctf_visit)(int folder, const char *path, void *user);
/* Visits the folders below one that is open, itself included, that hold a CTF "metadata" file, in
 * the order of their names; not those below them, hidden ones and links to folders. beneath: a
 * metadata file that is a link out of its folder does not count. */
void fm_ctf_search(int folder, const char *path, bool beneath, fm_ctf_visit visit, void *user);
/* Whether the folder is one trace: it or folders below it hold metadata, and their times compare.
 * False with *error (NULL: it holds none) when two have clocks that cannot be aligned. */
FM_MUST_USE bool fm_ctf_is_trace(int folder, const char *path, bool beneath, GError **error);
/* Their paths below a path: NULL-terminated, sorted, empty when there is none. Free with
 * g_strfreev(). */
char **fm_ctf_find(const char *path);
/* Lists the names in a folder, sorted, without hidden ones; free with g_ptr_array_unref(). */
GPtrArray *fm_ctf_names_in(int folder);
/* A descriptor of a file in a folder, to be read; -1 with errno. beneath: links within the folder
 * are followed where the kernel can see to it that they stay there (else EXDEV), or none (ELOOP).
 */
FM_MUST_USE int fm_ctf_open_file(int folder, const char *name, bool beneath);
/* Whether a metadata file begins so. */
#define FM_CTF_METADATA_BEGIN 6

/* --- ctf_fragments.c: metadata of CTF 2 --- */

/* Whether metadata that begins so is of CTF 2. */
bool fm_ctf_is_2(const char *metadata, size_t size);
/* Begin with text and size, which are borrowed. */
struct fm_ctf_fragments {
    const char *text;
    size_t size, at;
};
/* The next fragment, an object. False at the end, or with an error, whose message begins with the
 * offset. */
FM_MUST_USE bool fm_ctf_fragment_next(struct fm_ctf_fragments *fragments, struct fm_json_value *ret,
                                      GError **error);
/* As fm_ctf_clock(), of the beginning of the text. */
char *fm_ctf_clock_2(const char *text, size_t size);

/* ctf_clock.c */
/* Description of the clock in an open metadata file; traces with equal descriptions compare. NULL:
 * none was found. The caller frees it. */
char *fm_ctf_clock(int metadata);

/* ctf_start.c: the program at work. */
struct ctf_importer {
    pid_t process;  /* 0 = has ended */
    char *scratch;  /* its temporary folder, which is gone when it has ended */
    int status;     /* descriptor: what it tells */
    GString *heard; /* a line that is not complete */
    GString *notes; /* lines about what could not be read */
    bool begun, done, has_epoch;
    int64_t epoch_ns; /* wall clock at time 0, since 1970 */
    char *error;      /* nothing could be read at all: why */
};

/* Starts it; folder: path as it was opened, so that nothing is read from elsewhere, or -1: by its
 * name. log: a descriptor that the log is written to from its place on. */
FM_MUST_USE bool fm_ctf_importer_start(struct ctf_importer *importer, const char *path, int folder,
                                       int log, GError **error);
/* Takes what it has told, without waiting. True when there is news. */
bool fm_ctf_importer_listen(struct ctf_importer *importer);
/* Listens until it has begun, failed or ended, or until the time is over. */
void fm_ctf_importer_wait(struct ctf_importer *importer, int64_t patience_us);
/* Ends it, if it is still there. */
void fm_ctf_importer_done(struct ctf_importer *importer);

/* ctf_trace.c */
/* folder: as for the importer, borrowed. */
FM_MUST_USE struct fm_trace *fm_ctf_open(const char *path, int folder, GError **error);

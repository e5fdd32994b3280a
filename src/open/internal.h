/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder. */
#pragma once

#include "open/open.h"

struct fm_open_files {
    struct fm_open_files_options options;
    struct fm_engine *engine;
    struct fm_roots *roots;
    /* paths that may be opened wherever they lead; all others must be below roots */
    GHashTable *given;
    GPtrArray *list;      /* struct fm_open_file, of both classes */
    uint64_t clock;       /* counts uses */
    GHashTable *prepared; /* path -> struct fm_prepared_profile, until its file is read */
};

/* Whether it is the address of a program's live log. */
static inline bool fm_open_files_is_address(const char *path)
{
    return g_str_has_prefix(path, "unix:") || g_str_has_prefix(path, "tcp:");
}

/* --- registry.c: the list, independent of the classes --- */

/* Takes ownership of path. The caller adds it to the list once it could be opened. */
void fm_open_file_init(struct fm_open_file *recording, const struct fm_open_file_class *class_,
                       struct fm_open_files *all, const char *name, char *path);
/* Releases the engine's reference. */
void fm_open_file_close(struct fm_open_file *recording);
void fm_open_file_free(struct fm_open_file *recording); /* NULL is allowed */
/* Finds an open file by its name or path. */
struct fm_open_file *fm_open_files_find(const struct fm_open_files *all,
                                        const struct fm_open_file_class *class_, const char *name);
/* Closes the least recently used files of a class that were found below roots, beyond max, but
 * not `keep`. */
void fm_open_files_close_least_used(struct fm_open_files *all, const struct fm_open_file *keep,
                                    unsigned max);
void fm_open_file_use(struct fm_open_file *recording);
/* The real path of a file named in a request, if it is below a root; NULL otherwise. For a file, or
 * a folder that is a trace. The caller frees it. */
char *fm_open_files_below_roots(const struct fm_open_files *all, const char *file);
/* As above, for a file beside one that was named to be opened: its name ends with `has` where the
 * other's ends with `instead`. It may be opened from then on. */
char *fm_open_files_beside(struct fm_open_files *all, const char *name, const char *has,
                           const char *instead);
/* FM_ERROR_NOT_FOUND: "NAME: not one of the opened traces, ...". */
void fm_open_files_not_found(const struct fm_open_files *all,
                             const struct fm_open_file_class *class_, const char *name,
                             GError **error);

/* Suffixes of a profile, and of its log of calls that were timed one by one. */
#define FM_PROFILE_SUFFIX ".data"
#define FM_CALLS_SUFFIX ".calls.eventlog"

/* --- prepared.c --- */

/* The kind of a result that was handed over for a path and not yet used. */
enum fm_offered { FM_OFFERED_NOTHING, FM_OFFERED_FILE, FM_OFFERED_RECOUNT };
enum fm_offered fm_open_files_offered(const struct fm_open_files *all, const char *path);
/* Gives a profile that was just opened, or must be read again, the results handed over for it, if
 * they are of the same bytes. True: for one without file. */
bool fm_open_files_take_prepared(const struct fm_open_files *all, struct fm_trace *trace);

/* --- of the classes, for open.c --- */

FM_MUST_USE bool fm_open_files_add_profile(struct fm_open_files *all, const char *path,
                                           const char *real, GError **error);
FM_MUST_USE bool fm_open_files_add_trace(struct fm_open_files *all, const char *path,
                                         const char *real, GError **error);

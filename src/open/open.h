/* SPDX-License-Identifier: Apache-2.0 */
/* Open profiles and traces: one registry that decides which names are allowed.
 * It holds an engine reference to each recording, so that computed results are kept.
 *
 * A recording is named as it was given or by its real path or, below a root, by any path that
 * leads there. Missing files and files outside get the same answer, so nothing is revealed about
 * files outside. The same file (device and inode) is one recording. */
#pragma once

#include <sys/stat.h>

#include "base/files/roots.h"
#include "open/deep.h"
#include "engine/engine.h"

#define FM_FILE_NAME_BYTES_MAX 4096 /* limit for a name in a request */

struct fm_open_files;
struct fm_open_file;

/* A kind of open file: profiles, traces. */
struct fm_open_file_class {
    const char *noun;  /* "recording", "trace": for opened ones */
    const char *found; /* "file", "trace": for those below roots */
    /* frees class-specific data before the common part; NULL = none */
    void (*close)(struct fm_open_file *recording);
};

struct fm_open_file {
    const struct fm_open_file_class *class_;
    struct fm_open_files *all;
    char *name; /* as given; used in links and on pages */
    char *path; /* real path, or the address */
    bool added; /* by fm_open_files_add(), so it stays open; otherwise it was found below a root */
    uint64_t last_used;
    struct fm_trace *trace; /* the engine's; NULL when it could not be opened again */
};

struct fm_open_files_options {
    unsigned profiles_max; /* limit for profiles found below roots: the least recently used is
                              closed; 0 = 16 */
    /* true: profiles are read while the engine steps, and the known part is returned. false: a
     * request waits until everything is known. */
    bool background;
    /* With background: called once for each change of an added profile that made it unreadable.
     * Must not block. NULL = nobody is notified. */
    void (*failed)(void *user, const GError *error);
    void *failed_user;
    /* It will be closed, or its file was replaced: drop all references. */
    void (*closing)(void *user, const struct fm_open_file *recording);
    /* Data read from a trace is no longer complete or right: the trace has grown, or was shifted in
     * time. replaced: it is another trace now. */
    void (*changed)(void *user, const struct fm_trace *trace, bool replaced);
    void *user; /* for closing and changed, which may be NULL */
};

struct fm_open_files *fm_open_files_new(const struct fm_open_files_options *options);
/* Closes all files; streams and pages that use them must have ended. NULL is allowed. */
void fm_open_files_free(struct fm_open_files *all);
struct fm_engine *fm_open_files_engine(const struct fm_open_files *all);
struct fm_roots *fm_open_files_roots(const struct fm_open_files *all); /* borrowed */

/* Adds a file, a folder of CTF or an address; opens it at once, and returns its errors. */
FM_MUST_USE bool fm_open_files_add(struct fm_open_files *all, const char *path, GError **error);

/* The open files of a class, in order of opening. Borrowed until the next call. */
unsigned fm_open_files_count(const struct fm_open_files *all,
                             const struct fm_open_file_class *class_);
struct fm_open_file *fm_open_files_at(const struct fm_open_files *all,
                                      const struct fm_open_file_class *class_, unsigned index);

/* --- profiles (profile_entry.c) --- */

extern const struct fm_open_file_class fm_profile_entry_class;

/* Identifies the content that a path led to when it was read; equal identities mean that nothing
 * changed. */
struct fm_file_identity {
    bool there;
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec modified, changed;
};

struct fm_profile_entry {
    struct fm_open_file base;
    uint64_t reread; /* how many times it was read again */
    struct fm_file_identity data, contour, procrep, lines;
    bool recount; /* data is newer than the file: it was handed over without a file */
    const struct fm_open_profile *recording; /* the known part: set by the functions below */
};

/* Returns the profile named in a request, up to date; with background it may be incomplete.
 * *ret_notice: a message about it, g_free, NULL = none. Errors: FM_ERROR_NOT_FOUND for a file that
 * may not be opened, else those of fm_open_profile_open(). Borrowed until the next call. */
FM_MUST_USE bool fm_open_files_get_profile(struct fm_open_files *all, const char *file,
                                           struct fm_profile_entry **ret, char **ret_notice,
                                           GError **error);
/* Uses the prepared result for the next request of a file that was just written, if the file is
 * still that one, instead of reading it. A result without file replaces the present one. Takes
 * ownership of prepared. */
struct fm_prepared_profile;
void fm_open_files_offer(struct fm_open_files *all, struct fm_prepared_profile *prepared);
/* Reads it again even if it is unchanged. On failure it has no recording. */
FM_MUST_USE bool fm_profile_entry_restart(struct fm_profile_entry *profile, GError **error);
/* Appends everything that the bytes of its pages depend on. */
void fm_profile_entry_append_identity(const struct fm_profile_entry *profile, GString *out);

/* --- traces (trace.c) --- */

extern const struct fm_open_file_class fm_trace_entry_class;

struct fm_trace_entry {
    struct fm_open_file base;
    uint64_t unread;  /* bytes of the log that the passes have not read */
    bool missed;      /* some of it are of times that passes had read already */
    int64_t grown_us; /* time of its last growth, by the monotonic clock */
    bool aligned;     /* its times were shifted by the wall clock, to match others */
    uint64_t shift_ns;
};

/* Returns the trace named in a request, opened. Errors: FM_ERROR_NOT_FOUND, those of
 * fm_trace_open(). Borrowed. */
FM_MUST_USE struct fm_trace_entry *fm_open_files_get_trace(struct fm_open_files *all,
                                                           const char *name, GError **error);
static inline struct fm_trace_entry *fm_open_files_trace_at(const struct fm_open_files *all,
                                                            unsigned index)
{
    return (struct fm_trace_entry *)fm_open_files_at(all, &fm_trace_entry_class, index);
}
/* NULL if it was not opened by name, or was closed. */
struct fm_trace_entry *fm_open_files_trace_of(const struct fm_open_files *all,
                                              const struct fm_trace *trace);
/* Bytes of a trace's log that its passes have not read: added ones, which will be read, and
 * incomplete ones. */
uint64_t fm_open_files_unread(const struct fm_open_files *all, const struct fm_trace *trace);
/* Shifts the times of an aligned trace, unless the shift is so large that the traces are
 * unrelated. */
void fm_trace_entry_shift(struct fm_trace_entry *file, uint64_t shift_ns);
/* Checks whether growing traces have grown, and reads again those that have grown much. */
void fm_open_files_grow(struct fm_open_files *all);
/* Whether the search for blocks is incomplete in one of them: check more often. */
bool fm_open_files_are_searched(const struct fm_open_files *all);

struct fm_trace_file_info {
    const char *name, *format; /* borrowed */
    uint64_t duration_ns;
    unsigned streams;
    bool grows, damaged;
};
void fm_trace_entry_describe(const struct fm_trace_entry *file, struct fm_trace_file_info *ret);

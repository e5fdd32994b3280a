/* SPDX-License-Identifier: Apache-2.0 */
/* The recordings that are open, profiles and traces: one registry of which may be named, by which
 * names, with a reference of the engine's to each, so that what was computed of it stays.
 *
 * A recording is named as it was given or by its real path; or, below a root, by any path that
 * leads there. What is not there and what lies elsewhere get the same answer, so nothing is told
 * about files outside. The same file (device and inode) is one recording. */
#pragma once

#include <sys/stat.h>

#include "base/files/roots.h"
#include "recording/deep.h"
#include "schedule/schedule.h"

#define FM_FILE_NAME_BYTES_MAX 4096 /* limit for a name in a request */

struct fm_recordings;
struct fm_recording;

/* A kind of recording. */
struct fm_recording_class {
    const char *noun;  /* "recording", "trace": of those opened */
    const char *found; /* "file", "trace": of those below roots */
    /* frees class-specific data before the common part; NULL = none */
    void (*close)(struct fm_recording *recording);
};

struct fm_recording {
    const struct fm_recording_class *class_;
    struct fm_recordings *all;
    char *name; /* as given: in links and on pages */
    char *path; /* real path, or the address */
    bool added; /* by fm_recordings_add(), so it stays; else it was found below a root */
    uint64_t last_used;
    struct fm_trace *trace; /* the engine's; NULL when it could not be opened again */
};

struct fm_recordings_options {
    unsigned profiles_max; /* limit for profiles found below roots: the least recently used is
                              closed; 0 = 16 */
    /* Profiles are read while the engine steps, and what is known so far is given. Without, who
     * asks for one waits until all is known. */
    bool background;
    /* In the background: a profile turned out to be bad after it was added: once for each change
     * of it. Must not wait. NULL = nobody is told. */
    void (*failed)(void *user, const GError *error);
    void *failed_user;
    /* It is about to be closed, or its file was replaced: what looks at it must let go. */
    void (*closing)(void *user, const struct fm_recording *recording);
    /* Data read from a trace is no longer complete or right: the trace has grown, or was shifted in
     * time. replaced: it is another trace now. */
    void (*changed)(void *user, const struct fm_trace *trace, bool replaced);
    void *user; /* for closing and changed, which may be NULL */
};

struct fm_recordings *fm_recordings_new(const struct fm_recordings_options *options);
/* Closes all; streams and pages that look at them must have gone. NULL is allowed. */
void fm_recordings_free(struct fm_recordings *all);
struct fm_engine *fm_recordings_engine(const struct fm_recordings *all);
struct fm_roots *fm_recordings_roots(const struct fm_recordings *all); /* borrowed */

/* A file, a folder of CTF or an address: opened at once, so that errors are told here. */
FM_MUST_USE bool fm_recordings_add(struct fm_recordings *all, const char *path, GError **error);

/* The open recordings of a class, in order of opening. Borrowed until the next call. */
unsigned fm_recordings_count(const struct fm_recordings *all,
                             const struct fm_recording_class *class_);
struct fm_recording *fm_recordings_at(const struct fm_recordings *all,
                                      const struct fm_recording_class *class_, unsigned index);

/* --- profiles (profile_entry.c) --- */

extern const struct fm_recording_class fm_recorded_profile_class;

/* Identifies the content that a path led to when it was read; equal identities mean that nothing
 * changed. */
struct fm_file_identity {
    bool there;
    dev_t device;
    ino_t inode;
    off_t size;
    struct timespec modified, changed;
};

struct fm_recorded_profile {
    struct fm_recording base;
    uint64_t reread; /* how many times it was read again */
    struct fm_file_identity data, contour, procrep, lines;
    bool recount; /* data is newer than the file: it was handed over without a file */
    const struct fm_deep_recording *recording; /* the known part: set by the functions below */
};

/* The profile that a request's file names, up to date; in the background perhaps not all of it.
 * *ret_notice: what to tell about it, g_free, NULL = nothing. Errors: FM_ERROR_NOT_FOUND for what
 * may not be opened, else those of fm_deep_recording_open(). Borrowed until the next call. */
FM_MUST_USE bool fm_recordings_get_profile(struct fm_recordings *all, const char *file,
                                           struct fm_recorded_profile **ret, char **ret_notice,
                                           GError **error);
/* Uses the prepared result for the next request of a file that was just written, if the file is
 * still that one, instead of reading it. A result without file replaces the present one. Takes
 * ownership of prepared. */
struct fm_prepared_profile;
void fm_recordings_offer(struct fm_recordings *all, struct fm_prepared_profile *prepared);
/* Reads it again whatever its identity. On failure it has no recording. */
FM_MUST_USE bool fm_recorded_profile_restart(struct fm_recorded_profile *profile, GError **error);
/* Everything that the bytes of its pages depend on, appended. */
void fm_recorded_profile_append_identity(const struct fm_recorded_profile *profile, GString *out);

/* --- traces (trace.c) --- */

extern const struct fm_recording_class fm_recorded_trace_class;

struct fm_recorded_trace {
    struct fm_recording base;
    uint64_t unread;  /* bytes of the log that the passes have not seen */
    int64_t grown_us; /* when it last grew, by the monotonic clock */
    bool aligned;     /* its times are shifted: by the wall clock, to those of others */
    uint64_t shift_ns;
};

/* The trace that a request's name stands for, opened. Errors: FM_ERROR_NOT_FOUND, those of
 * fm_trace_open(). Borrowed. */
FM_MUST_USE struct fm_recorded_trace *fm_recordings_get_trace(struct fm_recordings *all,
                                                              const char *name, GError **error);
static inline struct fm_recorded_trace *fm_recordings_trace_at(const struct fm_recordings *all,
                                                               unsigned index)
{
    return (struct fm_recorded_trace *)fm_recordings_at(all, &fm_recorded_trace_class, index);
}
/* NULL for one that nobody named, or that was closed. */
struct fm_recorded_trace *fm_recordings_trace_of(const struct fm_recordings *all,
                                                 const struct fm_trace *trace);
/* Bytes of a trace's log that its passes have not seen: what was added, which will be read, and
 * what is not whole yet. */
uint64_t fm_recordings_unread(const struct fm_recordings *all, const struct fm_trace *trace);
/* Shifts the times of an aligned trace, unless it is so far that the traces have nothing to do with
 * each other. */
void fm_recorded_trace_shift(struct fm_recorded_trace *file, uint64_t shift_ns);
/* Looks whether traces that grow have grown, and reads those again that have grown by much. */
void fm_recordings_grow(struct fm_recordings *all);
/* Something is there to be found in one of them: it is worth to look more often. */
bool fm_recordings_are_searched(const struct fm_recordings *all);

struct fm_trace_file_info {
    const char *name, *format; /* borrowed */
    uint64_t duration_ns;
    unsigned streams;
    bool grows, damaged;
};
void fm_recorded_trace_describe(const struct fm_recorded_trace *file,
                                struct fm_trace_file_info *ret);

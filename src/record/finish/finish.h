/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the profile of a C program from its recording and from the files of the program. */
#pragma once

#include "profile/file/machine/machine_code.h"
#include "profile/file/profile.h"
#include "profile/file/attached/source_map.h"

struct fm_known;
struct fm_finish_opts {
    const char *root; /* the folder that was "/" where the program ran; NULL: "/", or that of its
                         container while it runs */
    const char *debug_path; /* folders of separate debug files, as elfutils takes them, and of the
                               program's files; NULL */
    const char *when;       /* keep only costs within calls of this function; NULL = all */
    const char
        *since; /* an earlier copy of the recording: only what was counted since then; NULL = all */
    uint64_t since_ns;  /* time at which the copy was made, by CLOCK_MONOTONIC; 0 = from its mark */
    bool no_code;       /* do not look for instructions: notes.machine_code stays NULL */
    bool only_existing; /* bodies that were inlined and have no hooks are not put back */
    const char *again;  /* the command that makes the profile again when a process that still runs
                           has  ended; NULL: `fathom finish` of the recording */
    uint64_t ended_ns;  /* when the program ended, by CLOCK_MONOTONIC, for one that was killed; 0 */
    struct fm_known
        *known; /* facts about program files from other recordings, record/known/known.h; NULL */
    /* number of missing recordings of other processes of the run: noted in the profile */
    unsigned lost;
};

/* One call of a function that was chosen. */
struct fm_call_span {
    uint32_t csd;         /* csd of the profile */
    uint32_t thread, tid; /* thread: its number, from 1 */
    uint64_t start_ns;    /* since the recording's start */
    uint64_t ns;
    bool left; /* by longjmp, an exception, or the thread's end */
};

/* Facts to tell the user besides the profile. */
struct fm_finish_notes {
    GPtrArray *lines;      /* elements: char *: losses, one sentence each */
    bool live;             /* the program still runs: this is a profile of now */
    bool killed;           /* it ended without exit(): a signal, _exit */
    bool not_instrumented; /* no call at all was recorded */
    bool unwound;          /* contexts are those of unwound stacks */
    bool incomplete;       /* a module could not be read: worth another try with its files */
    uint64_t calls;
    uint64_t samples; /* that the times are of */
    uint32_t threads;
    /* some of the summed recordings lack them, so the numbers mean nothing */
    bool threads_unknown, samples_unknown;
    struct fm_source_map *source_map; /* lines of the procedures; may be taken */
    GArray *spans;                    /* elements: struct fm_call_span; NULL = none were chosen */
    bool recount; /* the profile shares its nodes with an earlier one, fm_finish_again() */
    struct fm_machine_code *machine_code; /* locations of the instructions; may be taken */
};

/* Reads the recording at path and its modules. On success the caller owns *ret (fm_profile_free)
 * and *notes (fm_finish_notes_done). Nothing recorded is dropped: what cannot be found becomes a
 * node named by its address, with a note. Errors: those of fm_raw_recording_load;
 * FM_ERROR_LIMIT. */
FM_MUST_USE bool fm_finish(const char *path, const struct fm_finish_opts *opts,
                           struct fm_profile **ret, struct fm_finish_notes *notes, GError **error);

/* State of joining a recording that is finished again and again while it is written. */
struct fm_joined;
/* As fm_finish(), and *kept (initially NULL) keeps the joined data. If the recording has no new
 * nodes since then, only counts are read: *ret is a profile with the nodes of the one before
 * (fm_build_new_recount()) without its lines attached, and notes->recount is set; otherwise as
 * fm_finish(). opts must be the same each time; what they point to must outlive *kept. */
FM_MUST_USE bool fm_finish_again(const char *path, const struct fm_finish_opts *opts,
                                 struct fm_joined **kept, struct fm_profile **ret,
                                 struct fm_finish_notes *notes, GError **error);
void fm_joined_free(struct fm_joined *joined); /* NULL is allowed */
void fm_finish_notes_done(struct fm_finish_notes *notes);

/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the profile of a C program from its recording and from the files of the program. */
#pragma once

#include "deep/profile.h"
#include "deep/source_map.h"

struct fm_known;
struct fm_finish_opts {
    const char *debug_path; /* folders of separate debug files, as elfutils takes them; NULL */
    bool only_existing;     /* bodies that were inlined and have no hooks are not put back */
    struct fm_known
        *known; /* what other recordings learned of the files, record/known/known.h; NULL */
};

/* What to tell the user beside the profile. */
struct fm_finish_notes {
    GPtrArray *lines;      /* of char *: what was lost or could not be found, one sentence each */
    bool live;             /* the program still runs: this is a profile of now */
    bool killed;           /* it ended without exit(): a signal, _exit */
    bool not_instrumented; /* not one call was recorded */
    bool incomplete;       /* a module could not be read: worth another try with its files */
    uint64_t calls;
    uint64_t samples; /* that the times are of */
    uint32_t threads;
    double achieved_hz;               /* sampling rate that the machine gave; 0 = no ticks */
    struct fm_source_map *source_map; /* lines of the procedures; may be taken */
};

/* Reads the recording at path and the modules that it names. On success the caller owns *ret
 * (fm_profile_free) and *notes (fm_finish_notes_done). Nothing recorded is dropped: what cannot be
 * found becomes a node named by its address, with a note. Errors: those of fm_raw_recording_load;
 * FM_ERROR_LIMIT. */
FM_MUST_USE bool fm_finish(const char *path, const struct fm_finish_opts *opts,
                           struct fm_profile **ret, struct fm_finish_notes *notes, GError **error);
void fm_finish_notes_done(struct fm_finish_notes *notes);

/* SPDX-License-Identifier: Apache-2.0 */
/* Results of the stages of joining a recording, up to its profile. */
#pragma once

#include "record/finish/emit/emit.h"
#include "record/finish/inlined.h"

struct fm_joined {
    struct fm_finish_opts opts;
    struct fm_raw_recording *recording; /* as changed by finishing */
    struct fm_images images;
    struct fm_nodes nodes;
    struct fm_inlined *inlined; /* NULL: none is put in */
    GArray *merges;             /* struct fm_merge_step */
    uint32_t *classes;
    /* Kept for joining again. */
    struct fm_raw_shape *shape; /* shape of the recording as read; NULL: not kept */
    struct fm_emitted emitted;
    struct fm_profile *profile;      /* that was made of it */
    struct fm_raw_recording *latest; /* recording with the latest counts; NULL: its own */
    GPtrArray *lines;                /* notes from reading the program's files */
    bool incomplete;                 /* likewise */
};

/* Keeps the notes from a number on. */
void fm_joined_note(struct fm_joined *joined, const struct fm_finish_notes *notes, guint first);
/* Whether another reading of the recording can be counted with this joined data. */
bool fm_joined_is_of(const struct fm_joined *joined, const struct fm_raw_recording *recording);
/* Reads the recording again in place, and closes its waits. False: it must be read from the
 * beginning. *ret: for the following stages. */
FM_MUST_USE bool fm_joined_load_again(struct fm_joined *joined, const char *path, uint64_t ended_ns,
                                      struct fm_raw_recording **ret);
/* Takes the reading. False without an error: it cannot, and joined is of no use any more. */
FM_MUST_USE bool fm_joined_recount(struct fm_joined *joined, struct fm_raw_recording *reading,
                                   struct fm_profile **ret, struct fm_finish_notes *notes);

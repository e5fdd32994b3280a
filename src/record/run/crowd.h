/* SPDX-License-Identifier: Apache-2.0 */
/* The recordings of one run, by what is to become one profile. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "record/run/finishing.h"
#include "profile/file/profile.h"

/* A recording. */
struct fm_member {
    const char *path; /* the caller's */
    char *program;
    uint32_t pid;
    uint64_t start_ns;
    bool done;                  /* it is in the profile that is there already, */
    const struct fm_part *part; /* as this; the group's */
    bool finished;              /* it is in one that was written now */
    bool stays;                 /* and is to stay all the same: it can be made better later */
};

struct fm_group {
    char *output;    /* NAME.data */
    GArray *members; /* struct fm_member, the first of the run first */
    unsigned programs;
    struct fm_profile *before; /* the profile at output, which is extended; NULL: it is replaced */
};

/* Groups (struct fm_group) of recordings, that of the first one first: its output is BASE.data,
 * others' BASE.PROGRAM.data. Snapshots are left out with a note; what is no recording with a
 * message, and *ret_failed is set. fresh: what profiles are there are older runs'. Else a profile
 * that holds processes whose recordings are gone, and of this run, is extended. command: for
 * messages. g_ptr_array_unref(). */
GPtrArray *fm_crowd_groups(const char *command, enum fm_join join, const char *base,
                           const GPtrArray *paths, bool fresh, bool *ret_failed);

static inline struct fm_member *fm_group_member(const struct fm_group *group, guint i)
{
    return &g_array_index(group->members, struct fm_member, i);
}

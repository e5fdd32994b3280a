/* SPDX-License-Identifier: Apache-2.0 */
/* `fathom merge`: statistics over the ranks that are in a sum, by a second pass over the files. */
#pragma once

#include "runs/merge/merge.h"

struct fm_merge_ranks {
    struct fm_merge_options options; /* that the sum is made with */
    bool asked;                      /* even where the profiles have no ranks */
    bool kept; /* some of the files have statistics: as if asked for, but it is no failure when they
                  have to be left out */
    bool no;   /* never */
};

/* Adds the statistics to sum; paths: all files that were added to it, each of one process or of
 * processes of one rank, those of a rank one after another; sums: there were others, too. The
 * statistics are left out, with a note on stderr, where they make no
 * sense. False: they were asked for and are left out. */
FM_MUST_USE bool fm_merge_ranks_add(const struct fm_merge_ranks *ranks, char **paths,
                                    unsigned count, bool sums, struct fm_profile *sum);

/* For fathom-merge-mpi (src/runs/mpi/): writes the statistics of some files to a file of their
 * own, unless they make no sense. The status is FM_MERGE_RANKS_UNFIT when the files themselves show
 * that: some are sums of several ranks, or a rank has files of several runs. */
#define FM_MERGE_RANKS_UNFIT 3
int fm_merge_ranks_share(const struct fm_merge_ranks *ranks, const char *sum_path, char **paths,
                         unsigned count, const char *output);
/* the sum with what all shares give together (NULL: nothing), and with what lies beside it. no:
 * a share was unfit, and has said so. */
int fm_merge_ranks_join(const struct fm_merge_ranks *ranks, const char *sum_path,
                        const char *shares_path, const char *output);

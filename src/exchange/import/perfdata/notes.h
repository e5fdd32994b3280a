/* SPDX-License-Identifier: Apache-2.0 */
/* Says what a perf.data file lacks. */
#pragma once

#include "exchange/import/perfdata/processes.h"

struct fm_perf_quality {
    uint64_t samples, value, unnamed, kernel, unnamed_kernel, one_frame; /* the first measure's */
    uint64_t chains, branches, deferred;
    uint64_t copies, copies_full, not_unwound, unwound_cut; /* number of stacks */
    uint64_t damaged, no_event, no_room;
    struct fm_import_times times;
    bool live; /* samples of a process, not of a file: perf's options are no help */
};

void fm_perf_add_notes(struct fm_build *build, const struct fm_perf_file *file,
                       const struct fm_perf_processes *processes,
                       const struct fm_perf_quality *quality);

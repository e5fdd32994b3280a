/* SPDX-License-Identifier: Apache-2.0 */
/* On which lines of the source the time of each procedure fell. */
#pragma once

#include "record/finish/nodes.h"
#include "record/finish/notes.h"

struct fm_line_time {
    uint32_t ps; /* ps of the nodes */
    uint32_t line;
    uint64_t quanta;
};

/* struct fm_line_time, by ps and line, without time in code of another file, or without known line.
 * Call it when samples belong to the procedures that they are charged to. The caller unrefs it. */
GArray *fm_line_times(const struct fm_raw_recording *recording, struct fm_nodes *nodes,
                      struct fm_finish_notes *notes);

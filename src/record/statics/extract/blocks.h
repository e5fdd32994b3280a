/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that code of their own counts: which lines of which bodies they have code of. */
#pragma once

#include "record/statics/statics.h"

struct fm_blocks {
    const struct fm_statics *statics;
    const GArray *counters; /* struct fm_counter; borrowed */
    GArray *runs;           /* code of a block in one body, ascending */
    GArray *lines;          /* lines that it has there */
    uint64_t *hook_of;      /* per out-of-line scope: where its entry hook ends; 0 = none */
};

/* fm_blocks_done() it. physical: struct fm_statics_opts. */
void fm_blocks_find(struct fm_blocks *blocks, const struct fm_statics *statics,
                    const GArray *counters, bool physical);
void fm_blocks_done(struct fm_blocks *blocks);
/* A row of a table of lines, of a body's own code: false = no counted block has any of it. */
bool fm_blocks_use_row(struct fm_blocks *blocks, uint32_t owner, uint32_t line, uint64_t low,
                       uint64_t high);
/* Appends the results: struct fm_point, by address. */
void fm_blocks_add_points(struct fm_blocks *blocks, GArray *points);

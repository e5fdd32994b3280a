/* SPDX-License-Identifier: Apache-2.0 */
/* V8's CPU profiles: a tree of nodes, and samples that name one each with the time since the one
 * before. They stand in a file of their own (.cpuprofile) or within a trace. */
#pragma once

#include "exchange/import/internal.h"

struct fm_v8;

/* The function of a "callFrame", which heap profiles have, too. */
uint32_t fm_v8_function(struct fm_stacks *stacks, struct fm_json_value call_frame);

struct fm_v8 *fm_v8_new(const struct fm_import_input *input, struct fm_stacks *stacks);
void fm_v8_free(struct fm_v8 *v8); /* NULL is allowed */

/* Nodes that name their children, or their parent. */
bool fm_v8_add_nodes(struct fm_v8 *v8, struct fm_json_value nodes, GError **error);
/* samples: nodes; deltas: microseconds before each, may be missing. */
bool fm_v8_add_samples(struct fm_v8 *v8, struct fm_json_value samples, struct fm_json_value deltas,
                       GError **error);
/* Adds samples and, as the other measure, their microseconds until the next one below the frames
 * that are on the stacks. end_us: of the profile, from the first sample's beginning on; NAN = not
 * known. Nodes without samples add what they count themselves. Returns how many samples. */
bool fm_v8_add(struct fm_v8 *v8, unsigned samples, unsigned wall, double end_us, uint64_t *ret,
               GError **error);

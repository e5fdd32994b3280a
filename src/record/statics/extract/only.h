/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that were met in a file without hooks, and no others. */
#pragma once

#include "record/statics/extract/bodies.h"

/* Whether one of the addresses that are wanted lies in [low, high); all do if nobody says which. */
bool fm_only_wants(const struct fm_statics_opts *opts, uint64_t low, uint64_t high);
/* Bodies for those that debug information does not have: named by a symbol whose range holds the
 * address, else by the address. Flattened before and, by the caller, afterwards. */
void fm_only_add_bodies(struct fm_bodies *bodies, const struct fm_elf *elf,
                        const struct fm_statics_opts *opts);
/* Out-of-line bodies are recorded by what was met in them, as if they had hooks. */
void fm_only_mark(struct fm_bodies *bodies);

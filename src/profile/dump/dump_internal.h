/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profile/dump/dump.h"
#include "profile/dump/fields.h"

/* facts.c: what a profile of a C program says beside its graph (docs/format-data.md, facts).
 * Mercury's profiles have none: text says nothing, lists of JSON are empty. */
void fm_dump_facts(struct fm_dump_out *out, const struct fm_profile *profile);
/* measured.c: what it says by context beside its measures. */
void fm_dump_measured(struct fm_dump_out *out, const struct fm_profile *profile);
/* ranks.c */
void fm_dump_ranks(struct fm_dump_out *out, const struct fm_profile *profile);

/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about a C program's run after the graph of a profile (docs/format-data.md, facts). */
#pragma once

#include "base/text/json.h"
#include "deep/profile.h"

/* Mercury's profiles have none: nothing is printed of them. */
void fm_dump_facts(const struct fm_profile *profile);
/* A member "facts"; what is not recorded is null, lists are empty. */
void fm_dump_facts_json(struct fm_json *json, const struct fm_profile *profile);

/* dump_ranks.c */
void fm_dump_ranks_print(const struct fm_profile *profile);
void fm_dump_ranks_json(struct fm_json *json, const struct fm_profile *profile);

/* SPDX-License-Identifier: Apache-2.0 */
/* Which profiles are in the sum, and how often: a multiset, so that it does not depend on the order
 * or grouping either. */
#include <string.h>

#include "merge/internal.h"

/* The first part that does not come before this one. */
static guint place_of(const struct fm_merge *m, const struct fm_part *part)
{
    guint first = 0, end = m->parts->len;
    while (first < end) {
        guint middle = first + (end - first) / 2;
        if (fm_part_compare(&g_array_index(m->parts, struct fm_part, middle), part) < 0)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

static void add(struct fm_merge *m, const struct fm_part *part)
{
    guint at = place_of(m, part);
    if (at < m->parts->len) {
        struct fm_part *there = &g_array_index(m->parts, struct fm_part, at);
        if (fm_part_compare(there, part) == 0) {
            there->times = fm_merge_sum(there->times, part->times);
            return;
        }
    }
    struct fm_part own = *part;
    own.process.command = fm_strings_add(m->strings, part->process.command);
    own.process.folder = fm_strings_add(m->strings, part->process.folder);
    g_array_insert_val(m->parts, at, own);
}

void fm_merge_add_parts_of(struct fm_merge *m, const struct fm_profile *profile)
{
    for (uint32_t i = 0; i < profile->run_info.part_count; i++)
        add(m, &profile->run_info.parts[i]);
}

void fm_merge_add_part(struct fm_merge *m, const struct fm_profile *profile,
                       const uint8_t hash[FM_PART_HASH_BYTES])
{
    g_return_if_fail(m != NULL && profile != NULL && hash != NULL);
    const struct fm_run_info *run_info = &profile->run_info;
    struct fm_part part = {.times = 1,
                           .process = run_info->process,
                           .duration_ns = run_info->duration_ns,
                           .peak_bytes = run_info->peak_bytes};
    /* last_procs is empty when nothing of it was added */
    if (run_info->part_count > 0 || profile->flavour != FM_FLAVOUR_C || m->last_procs->len == 0)
        return;
    if (part.process.command == NULL)
        part.process.command = part.process.folder = "";
    memcpy(part.hash, hash, sizeof part.hash);
    add(m, &part);
}

static bool has(const struct fm_merge *m, const uint8_t hash[FM_PART_HASH_BYTES])
{
    struct fm_part least = {.process = {.command = "", .folder = ""}};
    memcpy(least.hash, hash, sizeof least.hash);
    guint at = place_of(m, &least);
    return at < m->parts->len &&
           memcmp(g_array_index(m->parts, struct fm_part, at).hash, hash, sizeof least.hash) == 0;
}

bool fm_merge_has_part(const struct fm_merge *m, const struct fm_profile *profile,
                       const uint8_t hash[FM_PART_HASH_BYTES])
{
    const struct fm_run_info *run_info = &profile->run_info;
    if (run_info->process.command != NULL && hash != NULL && has(m, hash))
        return true;
    for (uint32_t i = 0; i < run_info->part_count; i++) {
        if (run_info->parts[i].process.pid != 0 && has(m, run_info->parts[i].hash))
            return true;
    }
    return false;
}

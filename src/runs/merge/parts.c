/* SPDX-License-Identifier: Apache-2.0 */
/* The profiles in the sum, and how often: a multiset, so that it does not depend on the order
 * or grouping either. */
#include <string.h>

#include "runs/merge/internal.h"

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

static struct fm_part copy_of(struct fm_merge *m, const struct fm_part *part)
{
    struct fm_part own = *part;
    own.process.command = fm_strings_add(m->strings, part->process.command);
    own.process.folder = fm_strings_add(m->strings, part->process.folder);
    if (part->process.host != NULL)
        own.process.host = fm_strings_add(m->strings, part->process.host);
    if (part->process.forked_in != NULL)
        own.process.forked_in = fm_strings_add(m->strings, part->process.forked_in);
    return own;
}

/* The cost of a part that an earlier fathom added up is not known. */
static void know_cost(struct fm_part *of, const struct fm_part *same)
{
    if (of->has_cost || !same->has_cost)
        return;
    of->has_cost = true;
    of->calls = same->calls;
    of->cpu_ns = same->cpu_ns;
}

static void add(struct fm_merge *m, const struct fm_part *part)
{
    guint at = place_of(m, part);
    if (at < m->parts->len) {
        struct fm_part *there = &g_array_index(m->parts, struct fm_part, at);
        if (fm_part_compare(there, part) == 0) {
            there->times = fm_merge_sum(there->times, part->times);
            know_cost(there, part);
            return;
        }
    }
    struct fm_part own = copy_of(m, part);
    g_array_insert_val(m->parts, at, own);
}

/* Both ascend: a sum of many is added in one pass. */
void fm_merge_add_parts_of(struct fm_merge *m, const struct fm_profile *profile)
{
    const struct fm_run_info *run_info = &profile->run_info;
    if (run_info->part_count == 0)
        return;
    GArray *all = g_array_sized_new(FALSE, FALSE, sizeof(struct fm_part),
                                    m->parts->len + run_info->part_count);
    guint had = 0;
    for (uint32_t i = 0; i < run_info->part_count; i++) {
        struct fm_part own = copy_of(m, &run_info->parts[i]);
        for (; had < m->parts->len; had++) {
            const struct fm_part *there = &g_array_index(m->parts, struct fm_part, had);
            int order = fm_part_compare(there, &own);
            if (order == 0) {
                own.times = fm_merge_sum(own.times, there->times);
                know_cost(&own, there);
            } else if (order < 0)
                g_array_append_vals(all, there, 1);
            if (order > 0)
                break;
        }
        g_array_append_val(all, own);
    }
    if (had < m->parts->len)
        g_array_append_vals(all, &g_array_index(m->parts, struct fm_part, had),
                            m->parts->len - had);
    g_array_unref(m->parts);
    m->parts = all;
}

static void add_cost(struct fm_part *part, const struct fm_profile *profile)
{
    const double ns = 1e9;
    part->has_cost = fm_profile_knows(profile, FM_EXITS) && fm_profile_knows(profile, FM_QUANTA) &&
                     !fm_profile_is(profile, FM_NATURE_CLOCK) && profile->ticks_per_second > 0;
    if (!part->has_cost)
        return;
    part->calls = (uint64_t)fm_profile_calls_of_all(profile);
    part->cpu_ns =
        (uint64_t)((double)profile->user_quanta * ns / (double)profile->ticks_per_second);
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
    add_cost(&part, profile);
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

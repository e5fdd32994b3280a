/* SPDX-License-Identifier: Apache-2.0 */
/* Depths of recursions. Values of several classes are added when these have been joined, at the
 * end. */
#include "runs/merge/internal.h"

void fm_merge_add_depths(struct fm_merge *m, const struct fm_profile *profile,
                         const uint32_t *nodes)
{
    const struct fm_run_info *run_info = &profile->run_info;
    for (uint32_t i = 0; i < run_info->depths_count; i++) {
        struct fm_depths depths = run_info->depths[i];
        if (nodes[depths.pd] == UINT32_MAX)
            continue; /* nothing leads there */
        depths.pd = fm_merge_class_of(m, nodes[depths.pd]);
        guint at = GPOINTER_TO_UINT(g_hash_table_lookup(m->depths_of, GUINT_TO_POINTER(depths.pd)));
        if (at != 0) {
            fm_depths_add(&g_array_index(m->depths, struct fm_depths, at - 1), &depths);
            continue;
        }
        g_array_append_val(m->depths, depths);
        g_hash_table_insert(m->depths_of, GUINT_TO_POINTER(depths.pd),
                            GUINT_TO_POINTER(m->depths->len));
    }
}

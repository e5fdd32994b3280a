/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/digest/lines/source_index.h"

#include <string.h>

struct fm_source_index {
    const struct fm_profile *profile;
    uint32_t *ps; /* ascending by file, then line */
    uint32_t count;
};

static int compare_places(const void *a, const void *b, void *user)
{
    const struct fm_profile *profile = user;
    const struct fm_ps *pa = &profile->ps[*(const uint32_t *)a];
    const struct fm_ps *pb = &profile->ps[*(const uint32_t *)b];
    int files = pa->file == pb->file ? 0 : strcmp(pa->file, pb->file);
    return files ? files : (pa->line > pb->line) - (pa->line < pb->line);
}

struct fm_source_index *fm_source_index_new(const struct fm_profile *profile)
{
    struct fm_source_index *index = g_new0(struct fm_source_index, 1);
    index->profile = profile;
    index->ps = g_new(uint32_t, profile->ps_count);
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++)
        if (profile->ps[ps].file[0] && profile->ps[ps].line > 0)
            index->ps[index->count++] = ps;
    g_qsort_with_data(index->ps, (int)index->count, sizeof *index->ps, compare_places,
                      (void *)(uintptr_t)profile);
    return index;
}

void fm_source_index_free(struct fm_source_index *index)
{
    if (!index)
        return;
    g_free(index->ps);
    g_free(index);
}

uint32_t fm_source_index_next(const struct fm_source_index *index, uint32_t ps)
{
    g_assert(ps > 0 && ps <= index->profile->ps_count);
    const struct fm_ps *proc = &index->profile->ps[ps];
    uint32_t low = 0, high = index->count; /* first place beyond the procedure's own */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct fm_ps *at = &index->profile->ps[index->ps[middle]];
        int files = strcmp(at->file, proc->file);
        if (files > 0 || (files == 0 && at->line > proc->line))
            high = middle;
        else
            low = middle + 1;
    }
    if (low == index->count)
        return 0;
    const struct fm_ps *next = &index->profile->ps[index->ps[low]];
    return strcmp(next->file, proc->file) == 0 ? next->line : 0;
}

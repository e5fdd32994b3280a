/* SPDX-License-Identifier: Apache-2.0 */
#include "record/finish/left_out/only_changed.h"

static bool heap_counts(const struct fm_raw_heap *heap)
{
    const uint64_t *counts = (const uint64_t *)heap;
    for (size_t i = 0; i < FM_RAW_HEAP_COUNTS; i++)
        if (counts[i] != 0)
            return true;
    return false;
}

static bool counts(const struct fm_raw_recording *recording, const struct fm_raw_csd *csd)
{
    return csd->calls != 0 || csd->quanta != 0 || csd->waits != 0 || csd->durations != 0 ||
           heap_counts(&recording->heaps[csd->heap]);
}

/* Pds with counts, and those that lead to them: creators come before what they created. */
static bool *find_kept(const struct fm_raw_recording *recording)
{
    bool *kept = g_new0(bool, recording->pd_count + 1u);
    for (uint32_t i = 0; i < recording->csd_count; i++) {
        const struct fm_raw_csd *csd = &recording->csds[i];
        if (csd->caller == FM_RAW_NONE || !counts(recording, csd))
            continue;
        kept[csd->caller] = kept[csd->callee] = true;
    }
    for (uint32_t i = 0; i < recording->point_count; i++)
        if (recording->points[i].count != 0)
            kept[recording->points[i].pd] = true;
    for (uint32_t i = recording->pd_count; i-- > 0;) {
        const struct fm_raw_pd *pd = &recording->pds[i];
        uint32_t caller =
            pd->maker == FM_RAW_NONE ? FM_RAW_NONE : recording->csds[pd->maker].caller;
        if (kept[i] && caller != FM_RAW_NONE)
            kept[caller] = true;
    }
    return kept;
}

void fm_only_changed(struct fm_raw_recording *recording, bool **gone)
{
    g_return_if_fail(recording != NULL && gone != NULL);
    g_autofree bool *kept = find_kept(recording);
    if (*gone == NULL)
        *gone = g_new0(bool, recording->pd_count + 1u);
    for (uint32_t i = 0; i < recording->csd_count; i++) {
        struct fm_raw_csd *csd = &recording->csds[i];
        bool makes = recording->pds[csd->callee].maker == i && kept[csd->callee];
        if (csd->caller != FM_RAW_NONE && !makes && !counts(recording, csd))
            csd->caller = FM_RAW_NONE;
    }
    for (uint32_t i = 0; i < recording->pd_count; i++)
        (*gone)[i] |=
            !kept[i] && recording->pds[i].maker != FM_RAW_NONE && recording->pds[i].fn != 0;
    for (uint32_t i = 1; i < recording->blame_count; i++) {
        struct fm_raw_blame *blame = &recording->blames[i];
        if (blame->holder != FM_RAW_NONE && !kept[recording->csds[blame->holder].callee])
            blame->holder = FM_RAW_NONE;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Totals of each function's contexts over the stacks that contain it, from the ticks' charges
 * (runtime/ticks/totals.c): plain stacks by the contexts in which they end, up the path of calls
 * that created these; other stacks as they were charged. */
#include "record/finish/emit/totals.h"

static uint32_t made_by(const struct fm_raw_recording *recording, uint32_t pd)
{
    uint32_t maker = recording->pds[pd].maker;
    return maker == FM_RAW_NONE ? FM_RAW_NONE : recording->csds[maker].caller;
}

/* Calls on the way from the root, [pd_count]; g_free. */
static uint32_t *depths_of(const struct fm_raw_recording *recording, uint32_t *ret_most)
{
    uint32_t *depths = g_new0(uint32_t, (size_t)recording->pd_count + 1); /* + 1; 0 = not known */
    g_autoptr(GArray) path = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    *ret_most = 0;
    for (uint32_t pd = 0; pd < recording->pd_count; pd++) {
        uint32_t at = pd;
        for (; at != FM_RAW_NONE && depths[at] == 0 && path->len <= recording->pd_count;
             at = made_by(recording, at))
            g_array_append_val(path, at);
        uint32_t depth = at == FM_RAW_NONE ? 0 : depths[at];
        for (; path->len > 0; g_array_set_size(path, path->len - 1))
            depths[g_array_index(path, uint32_t, path->len - 1)] = ++depth;
        *ret_most = MAX(*ret_most, depth);
    }
    return depths;
}

/* Contexts by their depth, the root's first; g_free. */
static uint32_t *order_of(const struct fm_raw_recording *recording)
{
    uint32_t most;
    g_autofree uint32_t *depths = depths_of(recording, &most);
    g_autofree uint32_t *first = g_new0(uint32_t, (size_t)most + 2);
    uint32_t *order = g_new0(uint32_t, (size_t)recording->pd_count + 1);
    for (uint32_t pd = 0; pd < recording->pd_count; pd++)
        first[depths[pd] + 1]++;
    for (uint32_t depth = 1; depth <= most + 1; depth++)
        first[depth] += first[depth - 1];
    for (uint32_t pd = 0; pd < recording->pd_count; pd++)
        order[first[depths[pd]]++] = pd;
    return order;
}

/* Whether the context's function is active above it, on the path by which it was made. */
static bool is_nested(const struct fm_raw_recording *recording, uint32_t pd)
{
    uint64_t fn = recording->pds[pd].fn;
    uint32_t above = made_by(recording, pd);
    for (uint32_t steps = 0; above != FM_RAW_NONE && steps < recording->pd_count; steps++) {
        if (recording->pds[above].fn == fn)
            return true;
        above = made_by(recording, above);
    }
    return false;
}

void fm_totals_find(struct fm_raw_recording *recording)
{
    bool recursive = false;
    for (uint32_t i = 0; i < recording->csd_count && !recursive; i++)
        recursive = (recording->csds[i].flags & FM_REC_CSD_MADE_CALLEE) == 0;
    recording->has_totals = recursive && recording->header.version > 2 &&
                            (recording->header.totals & FM_REC_TOTALS_CHARGED) != 0;
    if (!recording->has_totals)
        return;
    g_autofree uint32_t *order = order_of(recording);
    g_autofree uint64_t *plain = g_new0(uint64_t, (size_t)recording->pd_count + 1);
    for (uint32_t i = recording->pd_count; i-- > 0;) {
        struct fm_raw_pd *pd = &recording->pds[order[i]];
        uint32_t above = made_by(recording, order[i]);
        if (pd->maker != FM_RAW_NONE)
            plain[order[i]] += recording->csds[pd->maker].quanta + pd->moved;
        if (above != FM_RAW_NONE)
            plain[above] += plain[order[i]];
    }
    for (uint32_t i = 0; i < recording->pd_count; i++) {
        struct fm_raw_pd *pd = &recording->pds[i];
        pd->nested = is_nested(recording, i);
        pd->total += pd->nested ? 0 : plain[i];
    }
}

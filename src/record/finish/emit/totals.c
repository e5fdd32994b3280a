/* SPDX-License-Identifier: Apache-2.0 */
/* Totals of time inside recursions (profile/file/facts/inclusive.h): contexts of the recording that
 * were joined are added up. Ticks do not distinguish inlined bodies, or functions whose code exists
 * more than once: their totals stay unknown. */
#include "record/finish/emit/totals.h"

#include "record/finish/merge.h"

enum { UNKNOWN = 1, NESTED = 2 };

void fm_emit_totals_init(struct fm_emit_totals *totals, const struct fm_raw_recording *recording,
                         const struct fm_nodes *nodes, uint32_t *classes, const uint32_t *pd_ids)
{
    *totals = (struct fm_emit_totals){0};
    for (uint32_t i = 0; recording->has_totals && i < recording->pd_count; i++)
        totals->count = MAX(totals->count, pd_ids[i] + 1);
    if (totals->count == 0)
        return;
    totals->values = g_new0(uint64_t, totals->count);
    totals->states = g_new0(uint8_t, totals->count);
    g_autofree uint64_t *fns = g_new0(uint64_t, totals->count);
    for (uint32_t i = 0; i < recording->pd_count; i++) {
        const struct fm_raw_pd *pd = &recording->pds[i];
        uint32_t id = pd_ids[fm_merge_class(classes, i)];
        if (id == 0 || nodes->pd_ps[i] == FM_NONE)
            continue;
        bool told = pd->fn != FM_RAW_FN_INSERTED && pd->fn > FM_REC_FN_SPECIAL_MAX &&
                    (fns[id] == 0 || fns[id] == pd->fn);
        fns[id] = pd->fn;
        totals->values[id] += pd->total;
        totals->states[id] |= (told ? 0 : UNKNOWN) | (pd->nested ? NESTED : 0);
    }
}

void fm_emit_totals_tell(struct fm_emit_totals *totals, struct fm_profile *profile)
{
    struct fm_inclusive_info info = {.measures = 1u << FM_QUANTA, .width = 1};
    if (profile != NULL && totals->count > 0 && profile->csd_own[FM_QUANTA].width != 0) {
        g_autofree bool *recursions = fm_profile_recursions(profile);
        info.pds = g_new(uint32_t, totals->count);
        info.values = g_new(uint64_t, totals->count);
        for (uint32_t pd = 1; pd < totals->count && pd <= profile->pd_count; pd++) {
            bool known = (totals->states[pd] & UNKNOWN) == 0;
            if (!known || !(recursions[pd] || (totals->states[pd] & NESTED) != 0))
                continue;
            info.pds[info.count] = pd;
            info.values[info.count++] = totals->values[pd];
        }
        fm_profile_set_inclusive(profile, &info);
    }
    g_free(totals->values);
    g_free(totals->states);
    *totals = (struct fm_emit_totals){0};
}

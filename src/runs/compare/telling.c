/* SPDX-License-Identifier: Apache-2.0 */
/* The measure that a comparison begins with. */
#include "runs/compare/internal.h"
#include "runs/compare/timing.h"

/* Compares only code that both count; starts of threads are not calls. */
static bool differs_exactly(const struct fm_compare *c, enum fm_measure_id measure)
{
    const struct fm_profile *before = c->side[FM_BEFORE], *after = c->side[FM_AFTER];
    bool calls = measure == FM_COMPARE_CALLS;
    for (uint32_t csd = 1; csd <= before->csd_count; csd++) {
        uint32_t callee = before->csd_callee[csd];
        if (calls &&
            (c->uncounted[callee] || !fm_profile_is_function(before, before->pd_ps[callee])))
            continue;
        if (calls ? fm_profile_calls(before, csd) != fm_profile_calls(after, csd)
                  : fm_profile_own(before, csd, measure) != fm_profile_own(after, csd, measure))
            return true;
    }
    return false;
}

enum fm_measure_id fm_compare_telling_measure(const struct fm_compare *c)
{
    static const enum fm_measure_id first[] = {FM_COMPARE_CALLS, FM_ALLOCS, FM_WORDS};
    if (fm_timing_differs(c, FM_QUANTA))
        return FM_QUANTA;
    for (unsigned i = 0; i < G_N_ELEMENTS(first); i++) {
        if (fm_compare_has(c, first[i]) && differs_exactly(c, first[i]))
            return first[i];
    }
    for (unsigned m = FM_QUANTA; m < c->side[FM_BEFORE]->measure_count; m++) {
        if (m != FM_CALLSEQS && fm_compare_has(c, (enum fm_measure_id)m))
            return (enum fm_measure_id)m;
    }
    return FM_COMPARE_CALLS;
}

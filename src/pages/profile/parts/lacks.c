/* SPDX-License-Identifier: Apache-2.0 */
/* A table ordered by a measure that was not recorded would be all zeros. */
#include "pages/profile/parts/lacks.h"

#include "profile/analysis/analysis.h"

static const char *lacks(const struct fm_profile *p, unsigned measure)
{
    unsigned number = measure < FM_FURTHER_FIRST
                          ? measure
                          : fm_profile_measure(p, (enum fm_further_measure)measure);
    if ((number != 0 || measure == FM_EXITS) && fm_profile_knows(p, number))
        return NULL;
    if (measure == FM_CALLSEQS && !fm_profile_knows(p, FM_EXITS))
        measure = FM_EXITS;
    return fm_known_measure(measure)->unrecorded;
}

const char *fm_order_lacks(const struct fm_profile *profile, const struct fm_cost_order *order)
{
    unsigned measure =
        order->kind == FM_BY_CALLS ? FM_EXITS : (unsigned)fm_cost_measure(order->kind);
    const char *text = order->kind == FM_BY_TIME ? NULL : lacks(profile, measure);
    return text == NULL && order->per_call ? lacks(profile, FM_EXITS) : text;
}

const char *fm_measure_lacks(const struct fm_profile *profile, enum fm_query_measure measure)
{
    return measure == FM_QUERY_BY_AUTO ? NULL /* the page chooses one that exists */
                                       : lacks(profile, fm_tree_measures[measure].measure);
}

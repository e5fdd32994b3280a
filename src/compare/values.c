/* SPDX-License-Identifier: Apache-2.0 */
/* One measure of all contexts, of both sides. */
#include "compare/internal.h"

int64_t fm_compare_csd_value(const struct fm_profile *profile, uint32_t csd,
                             enum fm_measure_id measure)
{
    return measure == FM_COMPARE_CALLS ? fm_profile_calls(profile, csd)
                                       : (int64_t)fm_profile_own(profile, csd, measure);
}

/* A file may say anything: sums wrap, as the analysis' do. */
static void add(int64_t *sum, int64_t value)
{
    *sum = (int64_t)((uint64_t)*sum + (uint64_t)value);
}

static void add_up(const struct fm_compare *c, enum fm_measure_id measure, enum fm_side side,
                   struct fm_compare_values *values)
{
    const struct fm_profile *p = c->side[side];
    for (uint32_t csd = 1; csd <= p->csd_count; csd++) {
        add(&values->own[side][p->csd_callee[csd]], fm_compare_csd_value(p, csd, measure));
        add(&values->calls[side][p->csd_callee[csd]], fm_profile_calls(p, csd));
    }
    for (uint32_t pd = 1; pd <= p->pd_count; pd++)
        values->total[side][pd] = values->own[side][pd];
    for (uint32_t at = c->order_count; at-- > 1;) {
        uint32_t pd = c->order[at];
        add(&values->total[side][p->csd_caller[c->tree_csd[pd]]], values->total[side][pd]);
    }
    values->calls[side][p->root_pd] = 1;
    /* What has cost was there, also when no call of it is counted: it never returned, recording
     * began inside, or it is an inlined body, of which calls are not recorded. */
    for (uint32_t at = c->order_count; at-- > 1;) {
        uint32_t pd = c->order[at];
        if (values->calls[side][pd] <= 0)
            values->calls[side][pd] = values->total[side][pd] != 0;
        uint32_t above = p->csd_caller[c->tree_csd[pd]];
        if (values->calls[side][pd] > 0 && values->calls[side][above] <= 0)
            values->calls[side][above] = 1;
    }
}

void fm_compare_values_init(struct fm_compare_values *values, const struct fm_compare *compare,
                            enum fm_measure_id measure)
{
    size_t count = compare->side[FM_BEFORE]->pd_count + 1u;
    for (int side = FM_BEFORE; side < FM_SIDES; side++) {
        values->own[side] = g_new0(int64_t, count);
        values->total[side] = g_new0(int64_t, count);
        values->calls[side] = g_new0(int64_t, count);
        add_up(compare, measure, (enum fm_side)side, values);
    }
}

void fm_compare_values_clear(struct fm_compare_values *values)
{
    for (int side = FM_BEFORE; side < FM_SIDES; side++) {
        g_free(values->own[side]);
        g_free(values->total[side]);
        g_free(values->calls[side]);
    }
}

int64_t fm_compare_total(const struct fm_compare *compare, enum fm_measure_id measure,
                         enum fm_side side)
{
    const struct fm_profile *p = compare->side[side];
    int64_t sum = 0;
    for (uint32_t csd = 1; csd <= p->csd_count; csd++)
        add(&sum, fm_compare_csd_value(p, csd, measure));
    return sum;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* One measure of all contexts, of both sides. */
#include "runs/compare/internal.h"

/* Uses fm_profile_calls_of_all(): starts of threads are not calls. */
static int64_t csd_value(const struct fm_profile *profile, uint32_t csd, enum fm_measure_id measure)
{
    if (measure != FM_COMPARE_CALLS)
        return (int64_t)fm_profile_own(profile, csd, measure);
    return fm_profile_calls_of_code(profile, csd);
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
        add(&values->own[side][p->csd_callee[csd]], csd_value(p, csd, measure));
        if (!fm_compare_is_loop(c, csd))
            add(&values->calls[side][p->csd_callee[csd]], fm_profile_calls(p, csd));
    }
    for (uint32_t pd = 1; pd <= p->pd_count; pd++)
        values->total[side][pd] = values->own[side][pd];
    for (uint32_t at = c->order_count; at-- > 1;) {
        uint32_t pd = c->order[at];
        add(&values->total[side][p->csd_caller[c->tree_csd[pd]]], values->total[side][pd]);
    }
    values->calls[side][p->root_pd] = 1;
    /* A context with costs existed, even if none of its calls is counted. */
    for (uint32_t at = c->order_count; at-- > 1;) {
        uint32_t pd = c->order[at];
        if (values->calls[side][pd] <= 0) {
            values->calls[side][pd] = values->total[side][pd] != 0;
            values->known[pd] = values->known[pd] && values->calls[side][pd] == 0;
        }
        uint32_t above = p->csd_caller[c->tree_csd[pd]];
        if (values->calls[side][pd] > 0 && values->calls[side][above] <= 0) {
            values->calls[side][above] = 1;
            values->known[above] = false;
        }
    }
}

/* It never returned, recording began inside, or it is an inlined body: it is assumed to have run as
 * often as its enclosing context. */
static void suppose(const struct fm_compare *c, struct fm_compare_values *values)
{
    const struct fm_profile *p = c->side[FM_BEFORE];
    for (uint32_t at = 1; at < c->order_count; at++) {
        uint32_t pd = c->order[at], above = p->csd_caller[c->tree_csd[pd]];
        for (int side = FM_BEFORE; side < FM_SIDES && !values->known[pd]; side++) {
            if (values->calls[side][pd] > 0)
                values->calls[side][pd] = values->calls[side][above];
        }
    }
}

void fm_compare_values_init(struct fm_compare_values *values, const struct fm_compare *compare,
                            enum fm_measure_id measure)
{
    size_t count = compare->side[FM_BEFORE]->pd_count + 1u;
    values->known = g_new(bool, count);
    for (size_t pd = 0; pd < count; pd++)
        values->known[pd] = !compare->uncounted[pd];
    for (int side = FM_BEFORE; side < FM_SIDES; side++) {
        values->own[side] = g_new0(int64_t, count);
        values->total[side] = g_new0(int64_t, count);
        values->calls[side] = g_new0(int64_t, count);
        add_up(compare, measure, (enum fm_side)side, values);
    }
    suppose(compare, values);
}

void fm_compare_values_done(struct fm_compare_values *values)
{
    for (int side = FM_BEFORE; side < FM_SIDES; side++) {
        g_free(values->own[side]);
        g_free(values->total[side]);
        g_free(values->calls[side]);
    }
    g_free(values->known);
}

bool fm_compare_is_inlined(const struct fm_compare *c, uint32_t pd, uint32_t u)
{
    uint32_t ps = c->side[FM_BEFORE]->pd_ps[pd];
    return u != 0 && c->uncounted[pd] && fm_compare_has(c, FM_COMPARE_CALLS) &&
           (c->uneven[pd] || (!c->ps_only[FM_BEFORE][ps] && !c->ps_only[FM_AFTER][ps]));
}

void fm_compare_values_leave_out(struct fm_compare_values *values, const struct fm_compare *c,
                                 int64_t ret_out[FM_SIDES])
{
    const struct fm_profile *p = c->side[FM_BEFORE];
    for (int side = FM_BEFORE; side < FM_SIDES; side++) {
        ret_out[side] = 0;
        for (uint32_t csd = 1; csd <= p->csd_count; csd++) {
            uint32_t pd = p->csd_callee[csd];
            if (!fm_compare_is_loop(c, csd) || c->uneven[pd])
                continue;
            int64_t calls = csd_value(c->side[side], csd, FM_COMPARE_CALLS);
            add(&ret_out[side], calls);
            add(&values->own[side][pd], -calls);
        }
        for (uint32_t pd = 1; pd <= p->pd_count; pd++) {
            if (c->uneven[pd]) {
                add(&ret_out[side], values->own[side][pd]);
                values->own[side][pd] = 0;
            }
            values->total[side][pd] = values->own[side][pd];
        }
        for (uint32_t at = c->order_count; at-- > 1;) {
            uint32_t pd = c->order[at];
            add(&values->total[side][p->csd_caller[c->tree_csd[pd]]], values->total[side][pd]);
        }
    }
}

uint32_t *fm_compare_homes(const struct fm_compare *c)
{
    const struct fm_profile *p = c->side[FM_BEFORE];
    uint32_t *home = g_new0(uint32_t, p->pd_count + 1u);
    struct fm_compare_values v;
    fm_compare_values_init(&v, c, FM_QUANTA);
    for (uint32_t at = 0; at < c->order_count; at++) {
        uint32_t pd = c->order[at], csd = c->tree_csd[pd];
        uint32_t above = csd == 0 ? 0 : p->csd_caller[csd];
        bool one_alone = (v.calls[FM_BEFORE][pd] > 0) != (v.calls[FM_AFTER][pd] > 0);
        home[pd] = one_alone && fm_compare_is_inlined(c, pd, above) ? home[above] : pd;
    }
    fm_compare_values_done(&v);
    return home;
}

int64_t fm_compare_total(const struct fm_compare *compare, enum fm_measure_id measure,
                         enum fm_side side)
{
    const struct fm_profile *p = compare->side[side];
    int64_t sum = 0;
    for (uint32_t csd = 1; csd <= p->csd_count; csd++)
        add(&sum, csd_value(p, csd, measure));
    return sum;
}

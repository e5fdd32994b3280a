/* SPDX-License-Identifier: Apache-2.0 */
/* Totals inside recursions. The spanning tree has the whole of a recursion below the context that
 * entered it. How much of that ran while another of its functions was active does not follow from
 * the graph: runs have recorded it (deep/facts/inclusive.h), or it is unknown. */
#include "runs/compare/totals.h"

#include <string.h>

#include "runs/compare/internal.h"

/* --- what a run has recorded --- */

static int measure_of(const struct fm_compare *c, const struct fm_profile *run,
                      enum fm_measure_id measure)
{
    if (measure == FM_COMPARE_CALLS)
        return -1;
    for (unsigned m = 0; m < run->measure_count; m++) {
        if (strcmp(run->measures[m].name, c->side[FM_BEFORE]->measures[measure].name) == 0)
            return (int)m;
    }
    return -1;
}

/* [run's pd + 1] the context of the common graph; 0 = none. */
static uint32_t *places_of(const struct fm_compare *c, const struct fm_profile *run,
                           const uint32_t *csds)
{
    const struct fm_profile *graph = c->side[FM_BEFORE];
    uint32_t *ret = g_new0(uint32_t, run->pd_count + (size_t)1);
    for (uint32_t csd = 1; csd <= run->csd_count; csd++) {
        if (csds[csd] != 0)
            ret[run->csd_callee[csd]] = graph->csd_callee[csds[csd]];
    }
    ret[run->root_pd] = graph->root_pd;
    return ret;
}

/* Costs of contexts with all that was reached from them, in the run's own tree. */
static uint64_t *trees_of(const struct fm_profile *run, int measure, const struct fm_tree *tree)
{
    uint64_t *ret = g_new0(uint64_t, run->pd_count + (size_t)1);
    for (uint32_t csd = 1; csd <= run->csd_count; csd++)
        ret[run->csd_callee[csd]] += measure < 0
                                         ? (uint64_t)fm_profile_calls_of_code(run, csd)
                                         : fm_profile_own(run, csd, (enum fm_measure_id)measure);
    for (uint32_t i = tree->count; i-- > 1;)
        ret[tree->above[tree->order[i]]] += ret[tree->order[i]];
    return ret;
}

static void add(struct fm_compare_records *r, uint32_t place, enum fm_record_state state,
                uint64_t value)
{
    r->states[place] = MAX(r->states[place], (uint8_t)state);
    r->values[place] += value;
}

void fm_compare_records_init(struct fm_compare_records *r, const struct fm_compare *c,
                             enum fm_side side, unsigned number, enum fm_measure_id measure)
{
    const struct fm_profile *run = c->runs[side][number], *graph = c->side[FM_BEFORE];
    const struct fm_inclusive_info *info = &run->run_info.inclusive;
    int of = measure_of(c, run, measure), at = of < 0 ? -1 : fm_inclusive_place(info, (unsigned)of);
    struct fm_tree tree;
    *r = (struct fm_compare_records){.values = g_new0(uint64_t, graph->pd_count + (size_t)1),
                                     .states = g_new0(uint8_t, graph->pd_count + (size_t)1)};
    if (run->flavour != FM_FLAVOUR_C)
        return;
    g_autofree uint32_t *places = places_of(c, run, c->run_csds[side][number]);
    fm_profile_tree_init(&tree, run);
    g_autofree uint64_t *trees = trees_of(run, of, &tree);
    for (uint32_t i = 0; i < tree.count; i++) {
        uint32_t pd = tree.order[i], place = places[pd];
        const uint64_t *record = at < 0 ? NULL : fm_inclusive_find(info, pd);
        if (record != NULL)
            add(r, place, FM_RECORD_KNOWN, record[at]);
        else if (c->head[place] == 0)
            continue;
        else if (tree.heads[pd] == 0 || tree.heads[pd] == pd)
            add(r, place, FM_RECORD_KNOWN, trees[pd]);
        else
            add(r, place, FM_RECORD_UNKNOWN, 0);
    }
    fm_profile_tree_done(&tree);
}

void fm_compare_records_done(struct fm_compare_records *r)
{
    g_clear_pointer(&r->values, g_free);
    g_clear_pointer(&r->states, g_free);
}

/* --- the whole --- */

bool fm_compare_is_inside(const struct fm_compare *c, uint32_t pd)
{
    return c->head[pd] != 0 && c->head[pd] != pd;
}

bool fm_compare_crosses(const struct fm_compare *c, uint32_t pd)
{
    const struct fm_profile *p = c->side[FM_BEFORE];
    uint32_t above = c->tree_csd[pd] == 0 ? 0 : p->csd_caller[c->tree_csd[pd]];
    return above != 0 && (c->head[pd] == 0 || c->head[pd] != c->head[above]);
}

void fm_compare_totals_init(struct fm_compare_totals *t, const struct fm_compare *c,
                            enum fm_side side, enum fm_measure_id measure,
                            const struct fm_compare_values *v)
{
    const struct fm_profile *p = c->side[FM_BEFORE];
    size_t count = p->pd_count + (size_t)1;
    unsigned runs = measure == FM_QUANTA ? c->run_count[side] : 1;
    const int64_t *tree = v->total[side];
    *t = (struct fm_compare_totals){.of = g_memdup2(tree, count * sizeof *tree),
                                    .part = g_memdup2(v->own[side], count * sizeof *tree),
                                    .at_most = g_new0(bool, count)};
    g_autofree int64_t *records = g_new0(int64_t, count);
    g_autofree uint8_t *states = g_new0(uint8_t, count);
    for (unsigned i = 0; i < runs; i++) {
        struct fm_compare_records r;
        uint64_t factor = measure == FM_QUANTA ? fm_compare_factor(c, side, c->runs[side][i]) : 1;
        fm_compare_records_init(&r, c, side, i, measure);
        for (size_t pd = 1; pd < count; pd++) {
            records[pd] = (int64_t)((uint64_t)records[pd] + r.values[pd] * factor);
            states[pd] = MAX(states[pd], r.states[pd]);
        }
        fm_compare_records_done(&r);
    }
    for (uint32_t at = c->order_count; at-- > 1;) {
        uint32_t pd = c->order[at];
        int64_t *above = &t->part[p->csd_caller[c->tree_csd[pd]]];
        if (fm_compare_crosses(c, pd))
            *above = (int64_t)((uint64_t)*above + (uint64_t)tree[pd]);
    }
    t->adds = g_memdup2(t->of, count * sizeof *tree);
    for (uint32_t pd = 1; pd < count; pd++) {
        int64_t whole = c->head[pd] == 0 ? tree[pd] : tree[c->head[pd]];
        if (p->flavour != FM_FLAVOUR_C) {
            t->of[pd] = t->adds[pd] = t->part[pd];
            continue;
        }
        t->at_most[pd] = fm_compare_is_inside(c, pd) && states[pd] == FM_RECORD_UNKNOWN;
        if (t->at_most[pd])
            t->of[pd] = whole;
        else if (fm_compare_is_inside(c, pd))
            t->of[pd] = MIN(MAX(records[pd], t->part[pd]), MAX(whole, t->part[pd]));
        t->adds[pd] = states[pd] == FM_RECORD_KNOWN ? MIN(records[pd], t->of[pd]) : t->of[pd];
    }
}

void fm_compare_totals_done(struct fm_compare_totals *t)
{
    g_clear_pointer(&t->of, g_free);
    g_clear_pointer(&t->adds, g_free);
    g_clear_pointer(&t->part, g_free);
    g_clear_pointer(&t->at_most, g_free);
}

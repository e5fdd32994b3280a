/* SPDX-License-Identifier: Apache-2.0 */
/* Invariants of recorded totals inside recursions. Each stack of a recursion contains the context
 * by which it was entered. So a function's total is at least the sum of its contexts' own parts,
 * and at most the recursion's total; for the function that was entered, it is equal to that. */
#include "profile/analysis/analysis_internal.h"

#include <stdlib.h>

#include "profile/analysis/job.h"

struct record {
    uint32_t clique, ps, pd;
    const uint64_t *values;
};

static int compare_records(const void *a, const void *b)
{
    const struct record *p = a, *q = b;
    if (p->clique != q->clique)
        return p->clique < q->clique ? -1 : 1;
    if (p->ps != q->ps)
        return p->ps < q->ps ? -1 : 1;
    return p->pd < q->pd ? -1 : p->pd > q->pd;
}

/* Then its stacks are counted there, too. */
static bool is_active_above(const struct fm_analysis *a, uint32_t clique, uint32_t ps)
{
    while (a->clique_parent[clique] != 0) {
        clique = a->pd_clique[a->profile->csd_caller[a->clique_parent[clique]]];
        for (uint32_t i = a->clique_first[clique]; i < a->clique_first[clique + 1]; i++) {
            if (a->profile->pd_ps[a->clique_pds[i]] == ps)
                return true;
        }
    }
    return false;
}

/* Checks a function's records in one recursion; NULL: no error. */
static char *fault_of(const struct fm_analysis *a, const struct record *records, guint count,
                      unsigned measure)
{
    const struct fm_inclusive_info *info = &a->profile->run_info.inclusive;
    uint32_t clique = records[0].clique, ps = records[0].ps;
    uint32_t entry = fm_analysis_clique_entry(a, clique);
    uint64_t whole = fm_clique_total(a, clique, measure), sum = 0, parts = 0;
    bool all = entry != 0 && a->profile->pd_ps[entry] == ps;
    for (guint i = 0; i < count; i++) {
        sum += records[i].values[fm_inclusive_place(info, measure)];
        parts += fm_pd_total(a, records[i].pd, measure);
    }
    if (sum <= whole && sum >= (all ? whole : parts))
        return NULL;
    if (sum <= whole && is_active_above(a, clique, ps))
        return NULL;
    return g_strdup_printf("proc static %u, clique %u: total of %" G_GUINT64_FORMAT
                           " %s, expected %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT,
                           ps, clique, sum, a->profile->measures[measure].name, all ? whole : parts,
                           whole);
}

static char *find_fault(const struct fm_analysis *a, struct record *records, guint count)
{
    char *fault = NULL;
    for (guint i = 0, end; i < count && fault == NULL; i = end) {
        end = i + 1;
        while (end < count && records[end].clique == records[i].clique &&
               records[end].ps == records[i].ps)
            end++;
        for (unsigned m = FM_FIRST_INHERITED; m < a->profile->measure_count && !fault; m++) {
            if (fm_counts_once(a, m))
                fault = fault_of(a, &records[i], end - i, m);
        }
    }
    return fault;
}

/* Arc costs were recorded by another tool, and their sums may differ from those of functions. */
void fm_invariants_of_totals(const struct fm_analysis *a, GArray *to)
{
    const struct fm_inclusive_info *info = &a->profile->run_info.inclusive;
    if (info->count == 0 || fm_profile_is(a->profile, FM_NATURE_ARCS))
        return;
    g_autofree struct record *records = g_new(struct record, info->count);
    for (uint32_t i = 0; i < info->count; i++)
        records[i] = (struct record){a->pd_clique[info->pds[i]], a->profile->pd_ps[info->pds[i]],
                                     info->pds[i], &info->values[(size_t)i * info->width]};
    qsort(records, info->count, sizeof *records, compare_records);
    char *fault = find_fault(a, records, info->count);
    const struct fm_invariant invariant = {
        .name = "totals inside recursions: at least their parts, at most the recursion's",
        .holds = fault == NULL,
        .detail = fault != NULL ? fault : g_strdup_printf("%u proc dynamics", info->count)};
    g_array_append_val(to, invariant);
}

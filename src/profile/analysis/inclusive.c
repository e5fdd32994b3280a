/* SPDX-License-Identifier: Apache-2.0 */
/* Totals inside recursions of C programs: the cost of all stacks that contain a function, each
 * counted once.
 *
 * The propagated total (fm_pd_total) is a part of it: own costs and costs of calls that leave
 * the recursion, so that the parts of a recursion add up to the cost of the call that entered
 * it. For the context that was entered, the whole is the total. For others it is recorded
 * (fm_inclusive_info), or known only to be at most the whole. Mercury profiles use the part. */
#include "profile/analysis/analysis_internal.h"

#include <stdlib.h>

bool fm_pd_is_alone(const struct fm_analysis *a, uint32_t pd)
{
    return fm_bit_get(a->storage->pd_alone, pd) || a->profile->flavour != FM_FLAVOUR_C;
}

/* Whether it is the context by which its recursion was entered. Arc profiles have no such context:
 * there may be several entries. */
static bool is_entry(const struct fm_analysis *a, uint32_t pd)
{
    uint32_t csd = a->clique_parent[a->pd_clique[pd]];
    if (fm_profile_is(a->profile, FM_NATURE_ARCS))
        return false;
    return pd == (csd == 0 ? a->profile->root_pd : a->profile->csd_callee[csd]);
}

static const uint64_t *recorded(const struct fm_analysis *a, uint32_t pd, unsigned measure)
{
    const struct fm_inclusive_info *info = &a->profile->run_info.inclusive;
    int place = fm_inclusive_place(info, measure);
    const uint64_t *record = place < 0 ? NULL : fm_inclusive_find(info, pd);
    return record == NULL ? NULL : &record[place];
}

static uint64_t sum_of_entering(const struct fm_analysis *a, uint32_t clique, unsigned measure)
{
    uint64_t entered = 0;
    for (uint32_t i = a->clique_first[clique]; i < a->clique_first[clique + 1]; i++) {
        uint32_t place = a->storage->pd_in[a->clique_pds[i]], csd;
        while ((csd = fm_pd_in_next(a, &place)) != 0) {
            if (fm_csd_enters(a, csd))
                entered += fm_csd_total(a, csd, measure);
        }
    }
    return entered;
}

/* Total of a recursion. In arc profiles it is at least the recorded cost of the calls that enter
 * it, which may exceed the cost of its functions and their callees. fm_sum_recursion() stores that,
 * because each context asks for it. */
static uint64_t whole_of(const struct fm_analysis *a, uint32_t clique, unsigned measure)
{
    uint64_t whole = fm_clique_total(a, clique, measure);
    if (!fm_profile_is(a->profile, FM_NATURE_ARCS))
        return whole;
    const uint64_t *kept =
        fm_map_find(&a->storage->clique_entered, (uint64_t)clique << 4 | measure);
    uint64_t entered = kept != NULL ? *kept : sum_of_entering(a, clique, measure);
    return MAX(whole, MIN(entered, fm_pd_total(a, a->profile->root_pd, measure)));
}

uint64_t fm_pd_inclusive(const struct fm_analysis *a, uint32_t pd, unsigned measure,
                         bool *ret_of_recursion)
{
    uint64_t part = fm_pd_total(a, pd, measure);
    *ret_of_recursion = false;
    if (fm_pd_is_alone(a, pd))
        return part;
    uint64_t whole = whole_of(a, a->pd_clique[pd], measure);
    if (whole <= part || is_entry(a, pd))
        return MAX(whole, part);
    const uint64_t *record = recorded(a, pd, measure);
    *ret_of_recursion = record == NULL;
    return record == NULL ? whole : CLAMP(*record, part, whole);
}

/* Share of a context in its function's total. */
static uint64_t counted(const struct fm_analysis *a, uint32_t pd, unsigned measure,
                        bool *ret_of_recursion)
{
    uint64_t inclusive = fm_pd_inclusive(a, pd, measure, ret_of_recursion);
    const uint64_t *record = *ret_of_recursion ? NULL : recorded(a, pd, measure);
    return record == NULL ? inclusive : MIN(*record, inclusive);
}

bool fm_counts_once(const struct fm_analysis *a, unsigned measure)
{
    return fm_inclusive_place(&a->profile->run_info.inclusive, measure) >= 0;
}

uint64_t fm_pd_counted(const struct fm_analysis *a, uint32_t pd, unsigned measure)
{
    bool of_recursion;
    return a->profile->run_info.inclusive.count == 0 ? fm_pd_total(a, pd, measure)
                                                     : counted(a, pd, measure, &of_recursion);
}

uint64_t fm_group_total(const struct fm_analysis *a, const uint32_t *pds, uint32_t count,
                        unsigned measure, bool *ret_of_recursion)
{
    uint64_t whole = whole_of(a, a->pd_clique[pds[0]], measure), sum = 0;
    *ret_of_recursion = false;
    for (uint32_t i = 0; i < count; i++) {
        bool of_recursion;
        uint64_t value = counted(a, pds[i], measure, &of_recursion);
        *ret_of_recursion |= of_recursion;
        sum = value > whole - MIN(sum, whole) ? whole : sum + value;
        if (is_entry(a, pds[i])) { /* all stacks of the recursion contain it */
            *ret_of_recursion = false;
            return counted(a, pds[i], measure, &of_recursion);
        }
    }
    return sum;
}

/* --- sums by function --- */

static bool is_entered(const struct fm_analysis *a, uint32_t pd)
{
    uint32_t place = a->storage->pd_in[pd], csd;
    while ((csd = fm_pd_in_next(a, &place)) != 0) {
        if (fm_csd_enters(a, csd))
            return true;
    }
    return false;
}

bool fm_pd_is_paid(const struct fm_analysis *a, uint32_t pd)
{
    if (fm_profile_is(a->profile, FM_NATURE_ARCS))
        return is_entered(a, pd);
    uint32_t entry = a->clique_parent[a->pd_clique[pd]];
    if (entry == 0)
        return false;
    uint32_t entered = a->profile->csd_callee[entry];
    return entered == pd || a->profile->pd_ps[entered] == a->profile->pd_ps[pd];
}

struct member {
    uint32_t ps, pd;
};

static int compare_members(const void *a, const void *b)
{
    const struct member *p = a, *q = b;
    if (p->ps != q->ps)
        return p->ps < q->ps ? -1 : 1;
    return p->pd < q->pd ? -1 : p->pd > q->pd;
}

/* The part of a function's total in a recursion that callers from outside were charged with; all of
 * it if they called the function itself. */
static uint64_t paid_of(const struct fm_analysis *a, uint32_t pd, unsigned measure, uint64_t total)
{
    if (!fm_profile_is(a->profile, FM_NATURE_ARCS))
        return total;
    uint32_t place = a->storage->pd_in[pd], csd;
    uint64_t sum = 0;
    while ((csd = fm_pd_in_next(a, &place)) != 0) {
        if (fm_csd_enters(a, csd))
            sum += fm_csd_total(a, csd, measure);
    }
    return MIN(sum, total);
}

static void note_recursion(struct fm_analysis *a, uint32_t ps, uint32_t clique, unsigned measure)
{
    struct fm_analysis_storage *storage = a->storage;
    uint32_t *largest = &storage->ps_recursion[ps];
    if (*largest == 0 ||
        fm_clique_total(a, clique, measure) > fm_clique_total(a, *largest, measure))
        *largest = clique;
    storage->ps_of_recursion[ps] |= 1u << measure;
}

static void add_group(struct fm_analysis *a, const uint32_t *pds, uint32_t count, bool paid,
                      const unsigned *measures, unsigned measure_count)
{
    struct fm_analysis_storage *storage = a->storage;
    uint32_t ps = a->profile->pd_ps[pds[0]];
    size_t first = (size_t)ps * storage->inherited;
    for (unsigned i = 0; i < measure_count; i++) {
        unsigned m = measures[i] - FM_FIRST_INHERITED;
        bool of_recursion;
        uint64_t total = fm_group_total(a, pds, count, measures[i], &of_recursion);
        int64_t *desc = &storage->ps_desc[first + m], *of_paid = &storage->ps_paid[first + m];
        *desc = fm_wrap_add(*desc, (int64_t)total);
        if (of_recursion)
            note_recursion(a, ps, a->pd_clique[pds[0]], measures[i]);
        if (paid)
            *of_paid = fm_wrap_add(*of_paid, (int64_t)paid_of(a, pds[0], measures[i], total));
    }
}

void fm_sum_recursion(struct fm_analysis *a, uint32_t clique, const unsigned *measures,
                      unsigned measure_count)
{
    uint32_t first = a->clique_first[clique], count = a->clique_first[clique + 1] - first;
    g_autofree struct member *members = g_new(struct member, count);
    g_autofree uint32_t *pds = g_new(uint32_t, count);
    for (unsigned i = 0; i < measure_count && fm_profile_is(a->profile, FM_NATURE_ARCS); i++)
        *fm_map_at(&a->storage->clique_entered, (uint64_t)clique << 4 | measures[i]) =
            sum_of_entering(a, clique, measures[i]);
    for (uint32_t i = 0; i < count; i++)
        members[i] =
            (struct member){a->profile->pd_ps[a->clique_pds[first + i]], a->clique_pds[first + i]};
    qsort(members, count, sizeof *members, compare_members);
    for (uint32_t i = 0; i < count;) {
        uint32_t of = 0, ps = members[i].ps;
        bool paid = false;
        for (; i < count && members[i].ps == ps; i++) {
            pds[of++] = members[i].pd;
            paid |= fm_pd_is_paid(a, members[i].pd);
        }
        add_group(a, pds, of, paid, measures, measure_count);
    }
}

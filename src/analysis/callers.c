/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/analysis_internal.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/contour.h"

/* What a pair of csds is grouped by: from the group csd, which is the caller's csd or, where the
 * contour hides the caller, one further up. */
static uint64_t group_key(const struct fm_analysis *a, enum fm_callers_group group, uint32_t csd)
{
    const struct fm_profile *profile = a->profile;
    uint32_t css = profile->csd_css[csd];
    switch (group) {
    case FM_GROUP_CALL_SITE:
        return css;
    case FM_GROUP_CLIQUE:
        return a->pd_clique[profile->csd_caller[csd]];
    case FM_GROUP_PROC:
        return profile->css[css].ps;
    case FM_GROUP_MODULE:
    default:
        /* Modules are in ascending order: their place is their key. */
        return (uint64_t)(fm_analysis_module(a, profile->ps[profile->css[css].ps].decl_module) -
                          a->modules);
    }
}

static void set_key(const struct fm_analysis *a, enum fm_callers_group group, uint64_t key,
                    struct fm_callers_row *row)
{
    switch (group) {
    case FM_GROUP_CALL_SITE:
        row->css = (uint32_t)key;
        row->ps = a->profile->css[key].ps;
        break;
    case FM_GROUP_CLIQUE:
        row->clique = (uint32_t)key;
        break;
    case FM_GROUP_PROC:
        row->ps = (uint32_t)key;
        break;
    case FM_GROUP_MODULE:
        row->module = a->modules[key].name;
        break;
    }
}

/* What calls through csd cost, without what ps does below once more. */
static void add_call(const struct fm_analysis *a, uint32_t csd, uint32_t ps, struct fm_cost *to)
{
    uint32_t callee = a->profile->csd_callee[csd];
    struct fm_cost cost;
    fm_analysis_csd_cost(a, csd, &cost);
    fm_cost_add(to, &cost);
    if (!a->ps_zeroed[ps])
        return;
    uint32_t clique = a->pd_clique[callee];
    for (uint32_t i = a->clique_first[clique]; i < a->clique_first[clique + 1]; i++) {
        const int64_t *nested =
            fm_sparse_find(&a->storage->nested_pd, a->storage->inherited, a->clique_pds[i], ps);
        for (unsigned m = 0; nested && m < a->storage->inherited; m++) {
            int64_t *desc = &to->desc[FM_FIRST_INHERITED + m];
            *desc = fm_wrap_sub(*desc, nested[m]);
        }
    }
}

struct keyed_csd {
    uint64_t key;
    uint32_t csd;
};

static int compare_keyed(const void *a, const void *b)
{
    const struct keyed_csd *left = a, *right = b;
    if (left->key != right->key)
        return left->key < right->key ? -1 : 1;
    return left->csd < right->csd ? 1 : left->csd > right->csd ? -1 : 0;
}

void fm_analysis_callers(const struct fm_analysis *a, uint32_t ps, enum fm_callers_group group,
                         const struct fm_contour *contour, struct fm_callers_row **ret,
                         uint32_t *ret_count)
{
    uint32_t count = a->ps_caller_first[ps + 1] - a->ps_caller_first[ps];
    const uint32_t *csds = a->ps_callers + a->ps_caller_first[ps];
    g_autofree struct keyed_csd *pairs = g_new(struct keyed_csd, MAX(count, 1));
    uint32_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (a->profile->csd_caller[csds[i]] == a->profile->csd_callee[csds[i]])
            continue; /* direct recursion: its costs are part of what its caller cost */
        uint32_t group_csd = contour ? fm_contour_climb(contour, a, csds[i]) : csds[i];
        pairs[used++] = (struct keyed_csd){.key = group_key(a, group, group_csd), .csd = csds[i]};
    }
    count = used;
    qsort(pairs, count, sizeof(*pairs), compare_keyed);
    uint32_t groups = 0;
    for (uint32_t i = 0; i < count; i++)
        groups += i == 0 || pairs[i].key != pairs[i - 1].key;
    struct fm_callers_row *rows = g_new0(struct fm_callers_row, MAX(groups, 1));
    uint32_t row = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0 && pairs[i].key != pairs[i - 1].key)
            row++;
        set_key(a, group, pairs[i].key, &rows[row]);
        add_call(a, pairs[i].csd, ps, &rows[row].cost);
    }
    *ret = rows;
    *ret_count = groups;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/digest/calls/butterfly.h"

#include <stdlib.h>
#include <string.h>

#include "profile/digest/paths.h"

/* Naming a recursion looks at all its members: with more contexts, all recursions are one row. */
#define CONTEXTS_NAMED 1000u

struct key {
    uint32_t kind, css, ps, group;
};

struct collecting {
    const struct fm_analysis *a;
    uint32_t ps, clique;
    enum fm_measure_id measure;
    bool named;        /* one row for each recursion name, not one for all */
    GHashTable *rows;  /* struct key -> row + 1 */
    GHashTable *group; /* clique -> row of its group + 1 */
    GArray *all;       /* struct found */
};

struct found {
    struct fm_neighbour row;
    uint32_t group;     /* for a member: its group's row */
    int64_t most_calls; /* for a group: calls in the clique with the most calls */
    /* for members: values of their group, so that they are sorted after it */
    int64_t group_total, group_calls;
};

static int64_t add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static guint hash_key(const void *key)
{
    const struct key *k = key;
    return k->kind * 31 + k->css * 2654435761u + k->ps * 40503u + k->group * 97u;
}

static gboolean equal_keys(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct key)) == 0;
}

static void begin(struct collecting *in)
{
    in->rows = g_hash_table_new_full(hash_key, equal_keys, g_free, NULL);
    in->group = g_hash_table_new(NULL, NULL);
    in->all = g_array_new(FALSE, FALSE, sizeof(struct found));
}

static uint32_t row_of(struct collecting *in, const struct key *key)
{
    gpointer known = g_hash_table_lookup(in->rows, key);
    if (known != NULL)
        return GPOINTER_TO_UINT(known) - 1;
    const struct found made = {.row = {.kind = (enum fm_neighbour_kind)key->kind,
                                       .css = key->css,
                                       .ps = key->ps,
                                       .total_is_here = key->kind == FM_NEIGHBOUR_CALL ||
                                                        key->kind == FM_NEIGHBOUR_WITHIN},
                               .group = key->group};
    g_array_append_val(in->all, made);
    g_hash_table_insert(in->rows, g_memdup2(key, sizeof *key), GUINT_TO_POINTER(in->all->len));
    return in->all->len - 1;
}

static struct found *at(const struct collecting *in, uint32_t row)
{
    return &g_array_index(in->all, struct found, row);
}

/* Members of several procedures: more than a function that calls itself. */
static bool is_recursion(const struct fm_analysis *a, uint32_t clique)
{
    uint32_t first = a->clique_first[clique];
    uint32_t ps = a->profile->pd_ps[a->clique_pds[first]];
    for (uint32_t i = first + 1; i < a->clique_first[clique + 1]; i++) {
        if (a->profile->pd_ps[a->clique_pds[i]] != ps)
            return true;
    }
    return false;
}

static uint32_t group_of(struct collecting *in, uint32_t clique)
{
    gpointer known = g_hash_table_lookup(in->group, GUINT_TO_POINTER(clique));
    if (known != NULL)
        return GPOINTER_TO_UINT(known) - 1;
    struct key key = {.kind = FM_NEIGHBOUR_WITHIN};
    if (in->named) {
        key.ps = fm_digest_clique_name(in->a, clique);
        key.group = fm_digest_clique_procs(in->a, clique);
    }
    uint32_t row = row_of(in, &key);
    if (at(in, row)->row.clique == 0)
        at(in, row)->row.clique = clique;
    g_hash_table_insert(in->group, GUINT_TO_POINTER(clique), GUINT_TO_POINTER(row + 1));
    return row;
}

static void add_to(struct collecting *in, uint32_t row, int64_t total, int64_t own, int64_t calls)
{
    struct fm_neighbour *it = &at(in, row)->row;
    it->total = add(it->total, total);
    it->own = add(it->own, own);
    it->calls = add(it->calls, calls);
}

/* Adds what pd contributes to the procedure's total, less a part of it. */
static int64_t add_total(struct collecting *in, uint32_t row, uint32_t pd, int64_t less)
{
    bool at_most;
    int64_t total = add(fm_analysis_pd_adds(in->a, pd, in->measure, &at_most), -less);
    add_to(in, row, total, 0, 0);
    at(in, row)->row.at_most |= at_most;
    return total;
}

static int64_t own_of(const struct collecting *in, uint32_t csd)
{
    return (int64_t)fm_profile_own(in->a->profile, csd, in->measure);
}

/* --- callers --- */

static void add_caller(struct collecting *in, uint32_t csd)
{
    const struct fm_profile *profile = in->a->profile;
    uint32_t css = profile->csd_css[csd], clique = in->a->pd_clique[profile->csd_callee[csd]];
    struct key key = {FM_NEIGHBOUR_CALL, css, profile->css[css].ps, 0};
    int64_t own = own_of(in, csd), calls = fm_profile_calls(profile, csd);
    if (is_recursion(in->a, clique)) {
        uint32_t group = group_of(in, clique);
        add_to(in, group, 0, own, calls);
        if (calls > at(in, group)->most_calls) {
            at(in, group)->most_calls = calls;
            at(in, group)->row.clique = clique;
        }
        key.kind = FM_NEIGHBOUR_MEMBER;
        key.group = group;
    } else if (!fm_analysis_csd_enters(in->a, csd)) {
        key.kind = FM_NEIGHBOUR_ITSELF;
    }
    uint32_t row = row_of(in, &key);
    bool charged = fm_profile_is(profile, FM_NATURE_ARCS) && key.kind == FM_NEIGHBOUR_CALL;
    add_to(in, row, charged ? fm_analysis_csd_total(in->a, csd, in->measure) : 0, own, calls);
    at(in, row)->row.inlined |= fm_profile_css_uncounted(profile, css);
}

/* A pd's cost is in the row of the call site that enters its clique, or in its recursion's. */
static void add_callee_total(struct collecting *in, uint32_t pd)
{
    const struct fm_profile *profile = in->a->profile;
    uint32_t clique = in->a->pd_clique[pd], csd = in->a->clique_parent[clique];
    struct key key = {.kind = FM_NEIGHBOUR_CALL};
    if (csd != 0) {
        key.css = profile->csd_css[csd];
        key.ps = profile->css[key.css].ps;
    }
    bool recursion = is_recursion(in->a, clique);
    if (!recursion && csd != 0 && fm_profile_is(profile, FM_NATURE_ARCS))
        return; /* each call has its recorded cost */
    uint32_t row = recursion ? group_of(in, clique) : row_of(in, &key);
    add_total(in, row, pd, 0);
}

static void callers_everywhere(struct collecting *in)
{
    const struct fm_analysis *a = in->a;
    for (uint32_t i = a->ps_caller_first[in->ps]; i < a->ps_caller_first[in->ps + 1]; i++)
        add_caller(in, a->ps_callers[i]);
    for (uint32_t i = a->ps_pd_first[in->ps]; i < a->ps_pd_first[in->ps + 1]; i++)
        add_callee_total(in, a->ps_pds[i]);
}

/* If no call is made inside a recursion, the sums of the call sites are the result. */
static void callers_by_site(struct collecting *in)
{
    g_autofree struct fm_callers_row *rows = NULL;
    uint32_t count;
    fm_analysis_callers(in->a, in->ps, FM_GROUP_CALL_SITE, NULL, &rows, &count);
    for (uint32_t i = 0; i < count; i++) {
        struct key key = {FM_NEIGHBOUR_CALL, rows[i].css, rows[i].ps, 0};
        uint32_t row = row_of(in, &key);
        add_to(in, row, fm_cost_total(&rows[i].cost, in->measure), rows[i].cost.own[in->measure],
               rows[i].cost.calls);
        at(in, row)->row.inlined = rows[i].cost.inlined;
    }
    if (in->a->profile->pd_ps[in->a->profile->root_pd] == in->ps)
        add_callee_total(in, in->a->profile->root_pd);
}

/* Calls that pd makes within its clique, of in->ps; f is called with each. */
static void callers_within(struct collecting *in, uint32_t pd)
{
    const struct fm_profile *profile = in->a->profile;
    uint32_t slots = profile->pd_slot_first[pd + 1] - profile->pd_slot_first[pd];
    for (uint32_t slot = 0; slot < slots; slot++) {
        uint32_t count;
        const uint32_t *csds = fm_profile_slot(profile, pd, slot, &count);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t callee = profile->csd_callee[csds[i]];
            if (profile->pd_ps[callee] == in->ps && in->a->pd_clique[callee] == in->clique)
                add_caller(in, csds[i]);
        }
    }
}

static void callers_in_context(struct collecting *in)
{
    const struct fm_analysis *a = in->a;
    uint32_t entry = a->clique_parent[in->clique];
    if (entry != 0 && a->profile->pd_ps[a->profile->csd_callee[entry]] == in->ps)
        add_caller(in, entry);
    for (uint32_t i = a->clique_first[in->clique]; i < a->clique_first[in->clique + 1]; i++) {
        uint32_t pd = a->clique_pds[i];
        callers_within(in, pd);
        if (a->profile->pd_ps[pd] == in->ps)
            add_callee_total(in, pd);
    }
}

/* --- callees --- */

static void add_callee(struct collecting *in, uint32_t csd)
{
    const struct fm_analysis *a = in->a;
    const struct fm_profile *profile = a->profile;
    uint32_t css = profile->csd_css[csd], child = fm_analysis_csd_child_clique(a, csd);
    uint32_t callee = profile->pd_ps[profile->csd_callee[csd]];
    struct key key = {FM_NEIGHBOUR_CALL, css, callee, 0};
    int64_t own = own_of(in, csd), calls = fm_profile_calls(profile, csd), total = 0;
    if (child != 0 && fm_analysis_csd_enters(a, csd)) {
        struct fm_cost again = {0};
        if (a->ps_zeroed[in->ps])
            fm_analysis_csd_compensation(a, csd, in->ps, -1, &again);
        total = add(fm_analysis_csd_total(a, csd, in->measure), again.desc[in->measure]);
    } else if (is_recursion(a, a->pd_clique[profile->csd_caller[csd]])) {
        key.kind = FM_NEIGHBOUR_MEMBER;
        key.group = group_of(in, a->pd_clique[profile->csd_caller[csd]]);
        add_to(in, key.group, 0, own, calls);
        at(in, key.group)->row.total_is_here = false;
    } else {
        key.kind = FM_NEIGHBOUR_ITSELF;
    }
    uint32_t row = row_of(in, &key);
    add_to(in, row, total, own, calls);
    at(in, row)->row.inlined |= fm_profile_css_uncounted(profile, css);
}

/* The site's sum is the result if all its calls lead to one procedure outside of the clique. */
static bool callee_by_site(struct collecting *in, uint32_t css, bool recursive)
{
    const struct fm_analysis *a = in->a;
    uint32_t first = a->css_csd_first[css], end = a->css_csd_first[css + 1];
    uint32_t low = a->profile->pd_ps[a->profile->csd_callee[a->css_csds[first]]];
    struct fm_cost cost;
    if (recursive || a->profile->pd_ps[a->profile->csd_callee[a->css_csds[end - 1]]] != low)
        return false;
    struct key key = {FM_NEIGHBOUR_CALL, css, low, 0};
    uint32_t row = row_of(in, &key);
    fm_analysis_css_cost(a, css, &cost);
    add_to(in, row, fm_cost_total(&cost, in->measure), cost.own[in->measure], cost.calls);
    at(in, row)->row.inlined = cost.inlined;
    return true;
}

static void callees_everywhere(struct collecting *in, bool recursive)
{
    const struct fm_analysis *a = in->a;
    const struct fm_ps *proc = &a->profile->ps[in->ps];
    for (uint32_t slot = 0; slot < proc->css_count; slot++) {
        uint32_t css = a->profile->css_of_ps[proc->css_first + slot];
        if (a->css_csd_first[css] == a->css_csd_first[css + 1] ||
            callee_by_site(in, css, recursive))
            continue;
        for (uint32_t i = a->css_csd_first[css]; i < a->css_csd_first[css + 1]; i++)
            add_callee(in, a->css_csds[i]);
    }
}

static void callees_in_context(struct collecting *in)
{
    const struct fm_analysis *a = in->a;
    const struct fm_profile *profile = a->profile;
    for (uint32_t i = a->clique_first[in->clique]; i < a->clique_first[in->clique + 1]; i++) {
        uint32_t pd = a->clique_pds[i], count;
        uint32_t slots = profile->pd_slot_first[pd + 1] - profile->pd_slot_first[pd];
        for (uint32_t slot = 0; slot < slots && profile->pd_ps[pd] == in->ps; slot++) {
            const uint32_t *csds = fm_profile_slot(profile, pd, slot, &count);
            for (uint32_t j = 0; j < count; j++)
                add_callee(in, csds[j]);
        }
    }
}

/* Adds the cost of other functions of its recursions while the procedure was active; the calls that
 * caused it are not known. */
static void add_recursion_rest(struct collecting *in, uint32_t pd)
{
    const struct fm_analysis *a = in->a;
    uint32_t clique = a->pd_clique[pd];
    if (a->profile->pd_ps[pd] != in->ps || !is_recursion(a, clique))
        return;
    uint32_t row = group_of(in, clique);
    int64_t rest = add_total(in, row, pd, fm_analysis_pd_part(a, pd, in->measure));
    at(in, row)->row.total_is_here |= rest != 0;
}

/* Both sides add up to the total: costs that belong to no call are in the rows of recursions. */
static void settle(const struct collecting *in, int64_t total)
{
    struct fm_neighbour *row = NULL;
    if (in->a->profile->flavour != FM_FLAVOUR_C)
        return;
    for (guint i = 0; i < in->all->len; i++) {
        total = add(total, -at(in, i)->row.total);
        if (row == NULL && at(in, i)->row.kind == FM_NEIGHBOUR_WITHIN)
            row = &at(in, i)->row;
    }
    if (row != NULL)
        row->total = add(row->total, total);
}

static void rest_of_recursions(struct collecting *in)
{
    const struct fm_analysis *a = in->a;
    const uint32_t *pds = in->clique != 0 ? a->clique_pds : a->ps_pds;
    uint32_t first = in->clique != 0 ? a->clique_first[in->clique] : a->ps_pd_first[in->ps];
    uint32_t end = in->clique != 0 ? a->clique_first[in->clique + 1] : a->ps_pd_first[in->ps + 1];
    for (uint32_t i = first; i < end && a->profile->flavour == FM_FLAVOUR_C; i++)
        add_recursion_rest(in, pds[i]);
}

/* --- rows in order --- */

static int compare_found(const void *a, const void *b)
{
    const struct found *fa = a, *fb = b;
    if (fa->group_total != fb->group_total)
        return fa->group_total > fb->group_total ? -1 : 1;
    if (fa->group_calls != fb->group_calls)
        return fa->group_calls > fb->group_calls ? -1 : 1;
    if (fa->group != fb->group)
        return fa->group < fb->group ? -1 : 1;
    bool ma = fa->row.kind == FM_NEIGHBOUR_MEMBER, mb = fb->row.kind == FM_NEIGHBOUR_MEMBER;
    if (ma != mb)
        return ma ? 1 : -1;
    if (fa->row.calls != fb->row.calls)
        return fa->row.calls > fb->row.calls ? -1 : 1;
    if (fa->row.css != fb->row.css)
        return fa->row.css < fb->row.css ? -1 : 1;
    return fa->row.ps < fb->row.ps ? -1 : fa->row.ps > fb->row.ps;
}

/* A row's group is itself or that of its members, so that they sort together. */
static GArray *take_rows(struct collecting *in)
{
    GArray *rows = g_array_new(FALSE, FALSE, sizeof(struct fm_neighbour));
    for (guint i = 0; i < in->all->len; i++) {
        struct found *it = at(in, i);
        if (it->row.kind != FM_NEIGHBOUR_MEMBER)
            it->group = i;
        it->group_total = at(in, it->group)->row.total;
        it->group_calls = at(in, it->group)->row.calls;
    }
    if (in->all->len > 0)
        qsort(in->all->data, in->all->len, sizeof(struct found), compare_found);
    for (guint i = 0; i < in->all->len; i++)
        g_array_append_val(rows, at(in, i)->row);
    g_hash_table_unref(in->rows);
    g_hash_table_unref(in->group);
    g_array_unref(in->all);
    return rows;
}

static void set_subject(const struct collecting *in, struct fm_butterfly *ret)
{
    const struct fm_analysis *a = in->a;
    if (in->clique == 0) {
        struct fm_cost cost;
        fm_analysis_ps_cost(a, in->ps, &cost);
        ret->total = fm_cost_total(&cost, in->measure);
        ret->own = cost.own[in->measure];
        ret->calls = cost.calls;
        ret->at_most = (cost.of_recursion >> in->measure & 1u) != 0;
        ret->contexts = a->ps_pd_first[in->ps + 1] - a->ps_pd_first[in->ps];
        return;
    }
    for (uint32_t i = a->clique_first[in->clique]; i < a->clique_first[in->clique + 1]; i++) {
        uint32_t pd = a->clique_pds[i];
        if (a->profile->pd_ps[pd] != in->ps)
            continue;
        bool at_most;
        ret->total = add(ret->total, fm_analysis_pd_adds(a, pd, in->measure, &at_most));
        ret->at_most |= at_most;
        ret->own = add(ret->own, fm_analysis_pd_own(a, pd, in->measure));
        ret->calls = add(ret->calls, fm_analysis_pd_calls(a, pd));
        ret->contexts++;
    }
}

void fm_butterfly_figures(struct fm_butterfly *ret, const struct fm_analysis *a, uint32_t ps,
                          uint32_t clique, enum fm_measure_id measure)
{
    g_return_if_fail(ps >= 1 && ps <= a->profile->ps_count && clique <= a->clique_count);
    const struct collecting in = {.a = a, .ps = ps, .clique = clique, .measure = measure};
    *ret = (struct fm_butterfly){0};
    set_subject(&in, ret);
}

void fm_butterfly_init(struct fm_butterfly *ret, const struct fm_analysis *a, uint32_t ps,
                       uint32_t clique, enum fm_measure_id measure)
{
    g_return_if_fail(ps >= 1 && ps <= a->profile->ps_count && clique <= a->clique_count);
    g_return_if_fail(measure >= FM_FIRST_INHERITED && measure < FM_MEASURES_MAX);
    struct collecting in = {
        .a = a,
        .ps = ps,
        .clique = clique,
        .measure = measure,
        .named = clique != 0 || a->ps_pd_first[ps + 1] - a->ps_pd_first[ps] <= CONTEXTS_NAMED,
    };
    bool recursive = clique != 0 || fm_analysis_is_recursive(a, ps);
    *ret = (struct fm_butterfly){0};
    set_subject(&in, ret);
    begin(&in);
    if (clique != 0)
        callers_in_context(&in);
    else if (recursive)
        callers_everywhere(&in);
    else
        callers_by_site(&in);
    settle(&in, ret->total);
    ret->callers = take_rows(&in);
    begin(&in);
    if (clique != 0)
        callees_in_context(&in);
    else
        callees_everywhere(&in, recursive);
    if (recursive)
        rest_of_recursions(&in);
    settle(&in, add(ret->total, -ret->own));
    ret->callees = take_rows(&in);
}

void fm_butterfly_done(struct fm_butterfly *butterfly)
{
    g_clear_pointer(&butterfly->callers, g_array_unref);
    g_clear_pointer(&butterfly->callees, g_array_unref);
}

static int64_t sum_of(const GArray *rows)
{
    int64_t sum = 0;
    for (guint i = 0; i < rows->len; i++)
        sum = add(sum, g_array_index(rows, struct fm_neighbour, i).total);
    return sum;
}

int64_t fm_butterfly_callers_total(const struct fm_butterfly *butterfly)
{
    return sum_of(butterfly->callers);
}

int64_t fm_butterfly_callees_total(const struct fm_butterfly *butterfly)
{
    return add(butterfly->own, sum_of(butterfly->callees));
}

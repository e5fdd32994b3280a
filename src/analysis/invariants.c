/* SPDX-License-Identifier: Apache-2.0 */
/* What holds for every sound profile, whatever the program. Each check looks at the profile and the
 * finished analysis from outside, and names the first node that breaks it. */
#include "analysis/analysis_internal.h"

#include <string.h>

static void add(GArray *to, const char *name, bool holds, char *detail)
{
    struct fm_invariant invariant = {.name = name, .holds = holds, .detail = detail};
    g_array_append_val(to, invariant);
}

static uint64_t sum_own(const struct fm_profile *profile, enum fm_measure_id measure)
{
    uint64_t sum = 0;
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++)
        sum += fm_profile_own(profile, csd, measure);
    return sum;
}

static void check_sums(const struct fm_analysis *a, const uint64_t *sums, GArray *to)
{
    const struct fm_profile *profile = a->profile;
    GString *detail = g_string_new(NULL);
    bool holds = true;
    for (unsigned m = FM_FIRST_INHERITED; m < profile->measure_count; m++) {
        uint64_t root = (uint64_t)fm_cost_total(&a->root_total, (enum fm_measure_id)m);
        holds = holds && root == sums[m];
        g_string_append_printf(detail, "%s%s: %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT,
                               detail->len > 0 ? "; " : "", profile->measures[m].name, sums[m],
                               root);
    }
    add(to, "sum of own costs = total of the root", holds, g_string_free(detail, FALSE));
}

static void check_header(const struct fm_analysis *a, const uint64_t *sums, GArray *to)
{
    const struct fm_profile *profile = a->profile;
    add(to, "sum of call sequence numbers = total in the header",
        sums[FM_CALLSEQS] == profile->callseqs,
        g_strdup_printf("%" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT, sums[FM_CALLSEQS],
                        profile->callseqs));
    add(to, "sum of quanta = user quanta in the header", sums[FM_QUANTA] == profile->user_quanta,
        g_strdup_printf("%" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT, sums[FM_QUANTA],
                        profile->user_quanta));
}

/* The largest share of the root's total that a procedure or a clique's entry has. */
static void check_inclusive(const struct fm_analysis *a, GArray *to)
{
    const struct fm_profile *profile = a->profile;
    double largest = 0;
    bool holds = true;
    char *where = NULL;
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++) {
        struct fm_cost cost;
        fm_analysis_ps_cost(a, ps, &cost);
        for (unsigned m = FM_FIRST_INHERITED; m < profile->measure_count; m++) {
            uint64_t root = (uint64_t)fm_cost_total(&a->root_total, (enum fm_measure_id)m);
            int64_t total = fm_cost_total(&cost, (enum fm_measure_id)m);
            if (total <= 0)
                continue;
            double share = root == 0 ? G_MAXDOUBLE : 100.0 * (double)total / (double)root;
            largest = MAX(largest, share);
            if ((uint64_t)total > root && holds) {
                holds = false;
                where = g_strdup_printf("proc static %u has %" G_GINT64_FORMAT
                                        " %s of %" G_GUINT64_FORMAT,
                                        ps, total, profile->measures[m].name, root);
            }
        }
    }
    for (uint32_t clique = 1; clique <= a->clique_count && holds; clique++) {
        for (unsigned m = FM_FIRST_INHERITED; m < profile->measure_count && holds; m++) {
            uint64_t root = (uint64_t)fm_cost_total(&a->root_total, (enum fm_measure_id)m);
            uint64_t total = fm_clique_total(a, clique, m);
            if (total <= root)
                continue;
            holds = false;
            where = g_strdup_printf("clique %u has %" G_GUINT64_FORMAT " %s of %" G_GUINT64_FORMAT,
                                    clique, total, profile->measures[m].name, root);
        }
    }
    add(to, "own and descendants never above 100 % of the root", holds,
        where ? where : g_strdup_printf("at most %.2f %%", largest));
}

/* A call that was counted at the call port leaves through one port, or is still open at the end;
 * a procedure is not redone more often than it was left. Some callees inside the runtime count no
 * call port: their call sequence number is 0. */
static void check_ports(const struct fm_analysis *a, GArray *to)
{
    const struct fm_profile *profile = a->profile;
    uint32_t uncounted = 0, wrong = 0;
    uint64_t in = 0, out = 0;
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        uint64_t callseqs = fm_profile_own(profile, csd, FM_CALLSEQS);
        int64_t calls = fm_profile_calls(profile, csd);
        if (calls < 0 ||
            fm_profile_own(profile, csd, FM_REDOS) > fm_profile_own(profile, csd, FM_EXITS) ||
            (callseqs > 0 && (uint64_t)calls > callseqs)) {
            wrong = wrong ? wrong : csd;
        }
        if (callseqs == 0) {
            uncounted += calls > 0;
            continue;
        }
        in += callseqs;
        out += (uint64_t)calls;
    }
    char *detail =
        wrong ? g_strdup_printf("call site dynamic %u: %" G_GINT64_FORMAT
                                " calls left it, %" G_GUINT64_FORMAT " entered",
                                wrong, fm_profile_calls(profile, wrong),
                                fm_profile_own(profile, wrong, FM_CALLSEQS))
              : g_strdup_printf("%" G_GUINT64_FORMAT " in, %" G_GUINT64_FORMAT
                                " out, %" G_GUINT64_FORMAT
                                " still open at the end; %u call sites without a call port",
                                in, out, in - out, uncounted);
    add(to, "calls in = calls out", wrong == 0, detail);
}

static void check_cliques(const struct fm_analysis *a, GArray *to)
{
    const struct fm_profile *profile = a->profile;
    uint32_t members = 0, wrong = 0;
    for (uint32_t clique = 1; clique <= a->clique_count; clique++) {
        for (uint32_t i = a->clique_first[clique]; i < a->clique_first[clique + 1]; i++) {
            if (a->pd_clique[a->clique_pds[i]] != clique ||
                (i > a->clique_first[clique] && a->clique_pds[i] <= a->clique_pds[i - 1]))
                wrong++;
            members++;
        }
    }
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        if (a->pd_clique[profile->csd_callee[csd]] > a->pd_clique[profile->csd_caller[csd]])
            wrong++;
    }
    add(to, "each proc dynamic in exactly one clique, callees before callers",
        wrong == 0 && members == profile->pd_count,
        g_strdup_printf("%u proc dynamics in %u cliques", members, a->clique_count));
}

static void check_entries(const struct fm_analysis *a, GArray *to)
{
    uint32_t root = a->pd_clique[a->profile->root_pd];
    uint32_t unentered = 0, first = 0;
    for (uint32_t clique = 1; clique <= a->clique_count; clique++) {
        if ((a->clique_parent[clique] == 0) == (clique == root))
            continue;
        unentered++;
        first = first ? first : clique;
    }
    bool holds = unentered == 0 && a->clique_entries_extra == 0;
    add(to, "each clique entered by exactly one call site dynamic, the root's by none", holds,
        holds ? g_strdup_printf("%u cliques entered", a->clique_count - 1)
        : unentered > 0
            ? g_strdup_printf("clique %u is %s", first,
                              first == root ? "the root's and is entered" : "not entered")
            : g_strdup_printf("%u further entries", a->clique_entries_extra));
}

/* A normal site names its callee. */
static void check_callees(const struct fm_analysis *a, GArray *to)
{
    const struct fm_profile *profile = a->profile;
    uint32_t checked = 0, wrong = 0;
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        const struct fm_css *css = &profile->css[profile->csd_css[csd]];
        if (css->kind != FM_SITE_NORMAL || css->callee_ps == 0)
            continue;
        checked++;
        if (profile->pd_ps[profile->csd_callee[csd]] != css->callee_ps && wrong == 0)
            wrong = csd;
    }
    add(to, "normal call sites call the procedure that they name", wrong == 0,
        wrong ? g_strdup_printf("call site dynamic %u calls proc static %u, its call site names %u",
                                wrong, profile->pd_ps[profile->csd_callee[wrong]],
                                profile->css[profile->csd_css[wrong]].callee_ps)
              : g_strdup_printf("%u calls checked", checked));
}

/* Costs summed over procedures, over call sites and over modules are the same. */
static void check_summaries(const struct fm_analysis *a, const uint64_t *sums, GArray *to)
{
    const struct fm_profile *profile = a->profile;
    struct fm_cost by_ps = {0}, by_css = {0}, by_module = {0}, cost;
    uint32_t procedures = 0;
    for (uint32_t ps = 1; ps <= profile->ps_count; ps++) {
        fm_analysis_ps_cost(a, ps, &cost);
        fm_cost_add(&by_ps, &cost);
    }
    for (uint32_t css = 1; css <= profile->css_count; css++) {
        fm_analysis_css_cost(a, css, &cost);
        fm_cost_add(&by_css, &cost);
    }
    for (uint32_t i = 0; i < a->module_count; i++) {
        fm_cost_add(&by_module, &a->modules[i].cost);
        procedures += a->modules[i].ps_count;
    }
    bool holds = procedures == profile->ps_count;
    for (unsigned m = 0; m < profile->measure_count; m++)
        holds = holds && (uint64_t)by_ps.own[m] == sums[m] && (uint64_t)by_css.own[m] == sums[m] &&
                (uint64_t)by_module.own[m] == sums[m];
    add(to, "sums over procedures, call sites and modules agree", holds,
        g_strdup_printf("%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT
                        " call sequence numbers",
                        by_ps.own[FM_CALLSEQS], by_css.own[FM_CALLSEQS],
                        by_module.own[FM_CALLSEQS]));
}

void fm_analysis_invariants(const struct fm_analysis *a, struct fm_invariant **ret,
                            unsigned *ret_count)
{
    GArray *found = g_array_new(FALSE, FALSE, sizeof(struct fm_invariant));
    uint64_t sums[FM_MEASURES_MAX];
    for (unsigned m = 0; m < FM_MEASURES_MAX; m++)
        sums[m] = sum_own(a->profile, (enum fm_measure_id)m);
    check_sums(a, sums, found);
    check_header(a, sums, found);
    check_inclusive(a, found);
    check_ports(a, found);
    check_cliques(a, found);
    check_entries(a, found);
    check_callees(a, found);
    check_summaries(a, sums, found);
    *ret_count = found->len;
    *ret = (struct fm_invariant *)(void *)g_array_free(found, FALSE);
}

void fm_invariants_free(struct fm_invariant *invariants, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        g_free(invariants[i].detail);
    g_free(invariants);
}

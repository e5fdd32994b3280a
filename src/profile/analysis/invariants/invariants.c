/* SPDX-License-Identifier: Apache-2.0 */
/* Invariants of every sound profile. Each check looks at the profile and the finished analysis from
 * outside, and names the first node that violates it. */
#include "profile/analysis/analysis_internal.h"
#include "profile/analysis/job.h"

#include <string.h>

/* Data gathered in one walk over the nodes. */
struct fm_checking {
    const struct fm_analysis *a;
    unsigned walk;   /* number of the walk that is next */
    uint32_t cursor; /* position in it */
    uint64_t sums[FM_MEASURES_MAX];
    double largest; /* share of the root's total that a procedure has */
    char *above;    /* the first that is above 100 % */
    uint32_t uncounted, ports_wrong;
    uint64_t in, out;
    uint32_t members, misplaced;
    uint32_t unentered, first_unentered;
    uint32_t callees_checked, callee_wrong;
    uint32_t holding_wrong;                                   /* a call site dynamic */
    enum fm_measure_id live_bytes, live_blocks, usable_bytes; /* 0 (FM_EXITS): not recorded */
    struct fm_cost by_ps, by_css, by_module;
    uint32_t procedures;
};

static void add(GArray *to, const char *name, bool holds, char *detail)
{
    struct fm_invariant invariant = {.name = name, .holds = holds, .detail = detail};
    g_array_append_val(to, invariant);
}

/* --- walks --- */

/* A call counted at the call port leaves through one port, or is still open at the end; a procedure
 * is redone at most as often as it exited. Some callees inside the runtime count no call port:
 * their call sequence number is 0. */
static void look_at_ports(struct fm_checking *c, uint32_t csd)
{
    const struct fm_profile *profile = c->a->profile;
    uint64_t callseqs = fm_profile_own(profile, csd, FM_CALLSEQS);
    int64_t calls = fm_profile_calls(profile, csd);
    if (c->ports_wrong == 0 &&
        (calls < 0 ||
         fm_profile_own(profile, csd, FM_REDOS) > fm_profile_own(profile, csd, FM_EXITS) ||
         (callseqs > 0 && (uint64_t)calls > callseqs)))
        c->ports_wrong = csd;
    if (callseqs == 0) {
        c->uncounted += calls > 0;
        return;
    }
    c->in += callseqs;
    c->out += (uint64_t)calls;
}

/* Live bytes were allocated by the same context, and usable bytes are at least the requested
 * ones. */
static void look_at_holding(struct fm_checking *c, uint32_t csd)
{
    const struct fm_profile *profile = c->a->profile;
    uint64_t bytes = fm_profile_own(profile, csd, FM_WORDS);
    if (c->live_bytes != 0 && c->holding_wrong == 0 &&
        (fm_profile_own(profile, csd, c->live_bytes) > bytes ||
         fm_profile_own(profile, csd, c->live_blocks) > fm_profile_own(profile, csd, FM_ALLOCS) ||
         fm_profile_own(profile, csd, c->usable_bytes) < bytes))
        c->holding_wrong = csd;
}

static void look_at_csd(struct fm_checking *c, uint32_t csd)
{
    look_at_holding(c, csd);
    const struct fm_analysis *a = c->a;
    const struct fm_profile *profile = a->profile;
    const struct fm_css *css = &profile->css[profile->csd_css[csd]];
    uint32_t callee = profile->csd_callee[csd];
    for (unsigned m = 0; m < profile->measure_count; m++)
        c->sums[m] += fm_profile_own(profile, csd, (enum fm_measure_id)m);
    look_at_ports(c, csd);
    c->misplaced += a->pd_clique[callee] > a->pd_clique[profile->csd_caller[csd]];
    if (css->kind != FM_SITE_NORMAL || css->callee_ps == 0)
        return;
    c->callees_checked++;
    if (profile->pd_ps[callee] != css->callee_ps && c->callee_wrong == 0)
        c->callee_wrong = csd;
}

/* Tolerance for arc costs, which another tool recorded: its sums may differ a little from those of
 * functions, as valgrind's do. */
static uint64_t most_of(const struct fm_analysis *a, uint64_t root)
{
    return fm_profile_is(a->profile, FM_NATURE_ARCS) ? root + root / 100 + 100 : root;
}

static void look_at_ps(struct fm_checking *c, uint32_t ps)
{
    const struct fm_profile *profile = c->a->profile;
    struct fm_cost cost;
    fm_analysis_ps_cost(c->a, ps, &cost);
    fm_cost_add(&c->by_ps, &cost);
    for (unsigned m = FM_FIRST_INHERITED; m < profile->measure_count; m++) {
        uint64_t root = (uint64_t)fm_cost_total(&c->a->root_total, (enum fm_measure_id)m);
        int64_t total = fm_cost_total(&cost, (enum fm_measure_id)m);
        if (total <= 0)
            continue;
        double share = root == 0 ? G_MAXDOUBLE : 100.0 * (double)total / (double)root;
        c->largest = MAX(c->largest, share);
        if ((uint64_t)total > most_of(c->a, root) && c->above == NULL)
            c->above =
                g_strdup_printf("proc static %u has %" G_GINT64_FORMAT " %s of %" G_GUINT64_FORMAT,
                                ps, total, profile->measures[m].name, root);
    }
}

static void look_at_clique(struct fm_checking *c, uint32_t clique)
{
    const struct fm_analysis *a = c->a;
    const struct fm_profile *profile = a->profile;
    for (unsigned m = FM_FIRST_INHERITED; m < profile->measure_count && c->above == NULL; m++) {
        uint64_t root = (uint64_t)fm_cost_total(&a->root_total, (enum fm_measure_id)m);
        uint64_t total = fm_clique_total(a, clique, m);
        if (total > most_of(a, root))
            c->above =
                g_strdup_printf("clique %u has %" G_GUINT64_FORMAT " %s of %" G_GUINT64_FORMAT,
                                clique, total, profile->measures[m].name, root);
    }
    for (uint32_t i = a->clique_first[clique]; i < a->clique_first[clique + 1]; i++) {
        if (a->pd_clique[a->clique_pds[i]] != clique ||
            (i > a->clique_first[clique] && a->clique_pds[i] <= a->clique_pds[i - 1]))
            c->misplaced++;
        c->members++;
    }
    uint32_t root_clique = a->pd_clique[profile->root_pd];
    if ((a->clique_parent[clique] == 0) == (clique == root_clique))
        return;
    c->unentered++;
    c->first_unentered = c->first_unentered ? c->first_unentered : clique;
}

static void look_at_css(struct fm_checking *c, uint32_t css)
{
    struct fm_cost cost;
    fm_analysis_css_cost(c->a, css, &cost);
    fm_cost_add(&c->by_css, &cost);
}

static void look_at_module(struct fm_checking *c, uint32_t module)
{
    fm_cost_add(&c->by_module, &c->a->modules[module - 1].cost);
    c->procedures += c->a->modules[module - 1].ps_count;
}

static void (*const walks[])(struct fm_checking *c, uint32_t id) = {
    look_at_csd, look_at_ps, look_at_clique, look_at_css, look_at_module,
};

static uint32_t walk_count(const struct fm_checking *c, unsigned walk)
{
    const struct fm_profile *profile = c->a->profile;
    const uint32_t counts[G_N_ELEMENTS(walks)] = {profile->csd_count, profile->ps_count,
                                                  c->a->clique_count, profile->css_count,
                                                  c->a->module_count};
    return counts[walk];
}

struct fm_checking *fm_checking_new(const struct fm_analysis *a)
{
    struct fm_checking *c = g_new0(struct fm_checking, 1);
    c->a = a;
    c->live_bytes = (enum fm_measure_id)fm_profile_measure(a->profile, FM_LIVE_BYTES);
    c->live_blocks = (enum fm_measure_id)fm_profile_measure(a->profile, FM_LIVE_BLOCKS);
    c->usable_bytes = (enum fm_measure_id)fm_profile_measure(a->profile, FM_USABLE_BYTES);
    if (c->live_blocks == 0 || c->usable_bytes == 0)
        c->live_bytes = FM_EXITS;
    return c;
}

bool fm_checking_step(struct fm_checking *c, uint32_t nodes)
{
    for (; c->walk < G_N_ELEMENTS(walks); c->walk++, c->cursor = 0) {
        uint32_t count = walk_count(c, c->walk);
        for (; nodes > 0 && c->cursor < count; nodes--)
            walks[c->walk](c, ++c->cursor);
        if (c->cursor < count)
            return false;
    }
    return true;
}

double fm_checking_fraction(const struct fm_checking *c)
{
    double done = 0, all = 0;
    for (unsigned walk = 0; walk < G_N_ELEMENTS(walks); walk++) {
        double count = walk_count(c, walk);
        all += count;
        done += walk < c->walk ? count : walk == c->walk ? c->cursor : 0;
    }
    return all > 0 ? done / all : 1;
}

void fm_checking_free(struct fm_checking *c)
{
    if (c == NULL)
        return;
    g_free(c->above);
    g_free(c);
}

/* --- results --- */

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
    add(to, "sum of self costs = total of the root", holds, g_string_free(detail, FALSE));
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

static void check_inclusive(struct fm_checking *c, GArray *to)
{
    bool holds = c->above == NULL;
    add(to, "no total above 100 % of the root", holds,
        holds ? g_strdup_printf("at most %.2f %%", c->largest) : g_steal_pointer(&c->above));
}

static void check_ports(const struct fm_checking *c, GArray *to)
{
    const struct fm_profile *profile = c->a->profile;
    uint32_t wrong = c->ports_wrong;
    char *detail =
        wrong ? g_strdup_printf("call site dynamic %u: %" G_GINT64_FORMAT
                                " calls left it, %" G_GUINT64_FORMAT " entered",
                                wrong, fm_profile_calls(profile, wrong),
                                fm_profile_own(profile, wrong, FM_CALLSEQS))
              : g_strdup_printf("%" G_GUINT64_FORMAT " in, %" G_GUINT64_FORMAT
                                " out, %" G_GUINT64_FORMAT
                                " still open at the end; %u call sites without a call port",
                                c->in, c->out, c->in - c->out, c->uncounted);
    add(to, "calls in = calls out", wrong == 0, detail);
}

static void check_cliques(const struct fm_checking *c, GArray *to)
{
    add(to, "each proc dynamic in exactly one clique, callees before callers",
        c->misplaced == 0 && c->members == c->a->profile->pd_count,
        g_strdup_printf("%u proc dynamics in %u cliques", c->members, c->a->clique_count));
}

static void check_entries(const struct fm_checking *c, GArray *to)
{
    const struct fm_analysis *a = c->a;
    uint32_t root = a->pd_clique[a->profile->root_pd];
    bool arcs = fm_profile_is(a->profile, FM_NATURE_ARCS);
    bool holds = c->unentered == 0 && (arcs || a->clique_entries_extra == 0);
    if (arcs && holds) {
        add(to, "each recursion and function has a caller, the root has none", true,
            g_strdup_printf("%u entered, %u further calls", a->clique_count - 1,
                            a->clique_entries_extra));
        return;
    }
    add(to, "each clique entered by exactly one call site dynamic, the root's by none", holds,
        holds ? g_strdup_printf("%u cliques entered", a->clique_count - 1)
        : c->unentered > 0
            ? g_strdup_printf("clique %u is %s", c->first_unentered,
                              c->first_unentered == root ? "the root's and is entered"
                                                         : "not entered")
            : g_strdup_printf("%u further entries", a->clique_entries_extra));
}

/* A normal site names its callee. */
static void check_callees(const struct fm_checking *c, GArray *to)
{
    const struct fm_profile *profile = c->a->profile;
    uint32_t wrong = c->callee_wrong;
    add(to, "normal call sites call the procedure that they name", wrong == 0,
        wrong ? g_strdup_printf("call site dynamic %u calls proc static %u, its call site names %u",
                                wrong, profile->pd_ps[profile->csd_callee[wrong]],
                                profile->css[profile->csd_css[wrong]].callee_ps)
        : c->callees_checked == 0 ? g_strdup("no call site names one")
                                  : g_strdup_printf("%u calls checked", c->callees_checked));
}

/* Costs summed over procedures, over call sites and over modules are the same. */
static void check_summaries(const struct fm_checking *c, GArray *to)
{
    const struct fm_profile *profile = c->a->profile;
    bool holds = c->procedures == profile->ps_count;
    for (unsigned m = 0; m < profile->measure_count; m++)
        holds = holds && (uint64_t)c->by_ps.own[m] == c->sums[m] &&
                (uint64_t)c->by_css.own[m] == c->sums[m] &&
                (uint64_t)c->by_module.own[m] == c->sums[m];
    add(to, "sums over procedures, call sites and modules agree", holds,
        g_strdup_printf("%" G_GINT64_FORMAT ", %" G_GINT64_FORMAT " and %" G_GINT64_FORMAT
                        " call sequence numbers",
                        c->by_ps.own[FM_CALLSEQS], c->by_css.own[FM_CALLSEQS],
                        c->by_module.own[FM_CALLSEQS]));
}

static void check_holding(const struct fm_checking *c, GArray *to)
{
    if (c->live_bytes == 0)
        return;
    const struct fm_profile *profile = c->a->profile;
    uint32_t wrong = c->holding_wrong;
    const char *const format =
        "call site dynamic %u: %" G_GUINT64_FORMAT " bytes live of %" G_GUINT64_FORMAT
        " allocated, usable %" G_GUINT64_FORMAT;
    add(to, "live memory was allocated in its context, usable bytes are no fewer", wrong == 0,
        wrong ? g_strdup_printf(format, wrong, fm_profile_own(profile, wrong, c->live_bytes),
                                fm_profile_own(profile, wrong, FM_WORDS),
                                fm_profile_own(profile, wrong, c->usable_bytes))
              : g_strdup_printf("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " bytes live",
                                c->sums[c->live_bytes], c->sums[FM_WORDS]));
}

void fm_checking_finish(struct fm_checking *c, struct fm_invariant **ret, unsigned *ret_count)
{
    GArray *found = g_array_new(FALSE, FALSE, sizeof(struct fm_invariant));
    check_sums(c->a, c->sums, found);
    check_header(c->a, c->sums, found);
    check_inclusive(c, found);
    check_ports(c, found);
    check_cliques(c, found);
    check_entries(c, found);
    check_callees(c, found);
    check_summaries(c, found);
    fm_invariants_of_waits(c->a->profile, found);
    fm_invariants_of_heap(c->a->profile, found);
    fm_invariants_of_durations(c->a->profile, found);
    fm_invariants_of_facts(c->a, found);
    fm_invariants_of_totals(c->a, found);
    check_holding(c, found);
    *ret_count = found->len;
    *ret = (struct fm_invariant *)(void *)g_array_free(found, FALSE);
}

void fm_analysis_invariants(const struct fm_analysis *a, struct fm_invariant **ret,
                            unsigned *ret_count)
{
    struct fm_checking *c = fm_checking_new(a);
    while (!fm_checking_step(c, UINT32_MAX)) {
    }
    fm_checking_finish(c, ret, ret_count);
    fm_checking_free(c);
}

void fm_invariants_free(struct fm_invariant *invariants, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        g_free(invariants[i].detail);
    g_free(invariants);
}

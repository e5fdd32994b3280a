/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/arcs.h"

#include <string.h>

#include "exchange/groups.h"
#include "exchange/import/internal.h"
#include "exchange/import/stacks/totals.h"

#define NO_MEASURE FM_MEASURES_MAX

struct arc {
    uint32_t caller, callee, site;
    uint64_t calls;
};

struct fm_import_arcs {
    struct fm_stacks *stacks;
    unsigned columns;
    unsigned measures[FM_MEASURES_MAX]; /* measures of the columns, or NO_MEASURE */
    GArray *self;                       /* uint64_t[columns] a function */
    GArray *outside;                    /* uint64_t a function: calls by nobody that is known */
    GArray *lines;                      /* uint32_t a function */
    GArray *arcs;                       /* struct arc, by site */
    GArray *costs;                      /* uint64_t[columns] an arc */
    bool costs_known;
    uint64_t sums[FM_MEASURES_MAX]; /* sums of all functions' self costs */
};

struct fm_import_arcs *fm_import_arcs_new(const char *program, const char *origin, unsigned columns)
{
    g_return_val_if_fail(columns <= FM_MEASURES_MAX, NULL);
    struct fm_import_arcs *arcs = g_new0(struct fm_import_arcs, 1);
    arcs->stacks = fm_stacks_new(program, origin);
    arcs->columns = columns;
    for (unsigned c = 0; c < FM_MEASURES_MAX; c++)
        arcs->measures[c] = NO_MEASURE;
    arcs->self = g_array_new(FALSE, TRUE, sizeof(uint64_t));
    arcs->outside = g_array_new(FALSE, TRUE, sizeof(uint64_t));
    arcs->lines = g_array_new(FALSE, TRUE, sizeof(uint32_t));
    arcs->arcs = g_array_new(FALSE, TRUE, sizeof(struct arc));
    arcs->costs = g_array_new(FALSE, TRUE, sizeof(uint64_t));
    fm_build_nature(fm_stacks_build(arcs->stacks), FM_NATURE_ARCS, 0);
    return arcs;
}

void fm_import_arcs_free(struct fm_import_arcs *arcs)
{
    if (arcs == NULL)
        return;
    fm_stacks_free(arcs->stacks);
    g_array_unref(arcs->self);
    g_array_unref(arcs->outside);
    g_array_unref(arcs->lines);
    g_array_unref(arcs->arcs);
    g_array_unref(arcs->costs);
    g_free(arcs);
}

struct fm_stacks *fm_import_arcs_stacks(struct fm_import_arcs *arcs)
{
    return arcs->stacks;
}

void fm_import_arcs_column(struct fm_import_arcs *arcs, unsigned column, enum fm_measure_id measure)
{
    g_return_if_fail(column < arcs->columns && measure < FM_MEASURES_MAX);
    arcs->measures[column] = measure;
}

/* --- what is read --- */

static uint64_t *self_of(const struct fm_import_arcs *arcs, uint32_t function)
{
    return &g_array_index(arcs->self, uint64_t, (size_t)function * arcs->columns);
}

static struct arc *arc_of(const struct fm_import_arcs *arcs, uint32_t arc)
{
    return &g_array_index(arcs->arcs, struct arc, arc);
}

static uint64_t *costs_of(const struct fm_import_arcs *arcs, uint32_t arc)
{
    return &g_array_index(arcs->costs, uint64_t, (size_t)arc * arcs->columns);
}

/* Room for a function that may be new. */
static void make_room(struct fm_import_arcs *arcs, uint32_t function)
{
    if (function < arcs->outside->len)
        return;
    g_array_set_size(arcs->outside, function + 1);
    g_array_set_size(arcs->lines, function + 1);
    g_array_set_size(arcs->self, (function + 1) * arcs->columns);
}

bool fm_import_arcs_self(struct fm_import_arcs *arcs, uint32_t function, unsigned column,
                         uint64_t cost)
{
    g_assert(column < arcs->columns);
    make_room(arcs, function);
    return fm_import_sum(&arcs->sums[column], cost) &&
           fm_import_sum(&self_of(arcs, function)[column], cost);
}

bool fm_import_arcs_call(struct fm_import_arcs *arcs, const struct fm_stacks_call *call,
                         uint64_t calls, const uint64_t *costs)
{
    uint32_t site = fm_stacks_site(arcs->stacks, call);
    make_room(arcs, MAX(call->caller, call->callee));
    if (site == arcs->arcs->len) {
        const struct arc arc = {call->caller, call->callee, site, 0};
        g_array_append_val(arcs->arcs, arc);
        g_array_set_size(arcs->costs, arcs->arcs->len * arcs->columns);
    }
    bool fits = fm_import_sum(&arc_of(arcs, site)->calls, calls);
    for (unsigned c = 0; c < arcs->columns && costs != NULL; c++)
        fits = fm_import_sum(&costs_of(arcs, site)[c], costs[c]) && fits;
    arcs->costs_known |= costs != NULL;
    return fits;
}

void fm_import_arcs_uncounted(struct fm_import_arcs *arcs, const struct fm_stacks_call *call)
{
    fm_stacks_site_uncounted(arcs->stacks, fm_stacks_site(arcs->stacks, call));
}

void fm_import_arcs_divide(struct fm_import_arcs *arcs, unsigned column, uint64_t by)
{
    g_return_if_fail(column < arcs->columns && by > 0);
    for (uint32_t f = 0; f < arcs->outside->len; f++)
        self_of(arcs, f)[column] /= by;
    for (uint32_t i = 0; i < arcs->arcs->len; i++)
        costs_of(arcs, i)[column] /= by;
    arcs->sums[column] /= by;
}

bool fm_import_arcs_outside(struct fm_import_arcs *arcs, uint32_t function, uint64_t calls)
{
    make_room(arcs, function);
    return fm_import_sum(&g_array_index(arcs->outside, uint64_t, function), calls);
}

void fm_import_arcs_line(struct fm_import_arcs *arcs, uint32_t function, uint32_t line)
{
    make_room(arcs, function);
    uint32_t *known = &g_array_index(arcs->lines, uint32_t, function);
    if (*known == 0 && line != 0) {
        *known = line;
        fm_build_set_line(fm_stacks_build(arcs->stacks), fm_stacks_ps(arcs->stacks, function),
                          line);
    }
}

uint64_t fm_import_arcs_sum(const struct fm_import_arcs *arcs, unsigned column)
{
    g_assert(column < arcs->columns);
    return arcs->sums[column];
}

uint32_t fm_import_arcs_functions(const struct fm_import_arcs *arcs)
{
    return arcs->outside->len;
}

/* --- the graph --- */

/* Calls by what they call, those from outside first: arc_count + f stands for f's. */
struct graph {
    struct fm_import_arcs *arcs;
    uint32_t functions, arc_count, groups;
    uint32_t *group;       /* group of each function; callees come before callers */
    bool *entered;         /* [functions] from outside the program's functions */
    size_t *into_first;    /* [functions + 1] */
    uint32_t *into;        /* arcs by callee */
    uint64_t *entry_costs; /* [functions * columns] of the calls from outside */
};

static bool leaves(const struct graph *g, const struct arc *arc)
{
    return g->group[arc->caller] != g->group[arc->callee];
}

static void group_functions(struct graph *g)
{
    g_autofree size_t *first = g_new0(size_t, (size_t)g->functions + 3);
    g_autofree uint32_t *to = g_new(uint32_t, (size_t)g->arc_count + 1);
    g->into_first = g_new0(size_t, (size_t)g->functions + 3);
    g->into = g_new(uint32_t, (size_t)g->arc_count + 1);
    /* Two ahead while they are counted, so that each is where it belongs after they are put. */
    for (uint32_t i = 0; i < g->arc_count; i++) {
        first[arc_of(g->arcs, i)->caller + 2]++;
        g->into_first[arc_of(g->arcs, i)->callee + 2]++;
    }
    for (uint32_t f = 2; f <= g->functions + 1; f++) {
        first[f] += first[f - 1];
        g->into_first[f] += g->into_first[f - 1];
    }
    for (uint32_t i = 0; i < g->arc_count; i++) {
        to[first[arc_of(g->arcs, i)->caller + 1]++] = arc_of(g->arcs, i)->callee;
        g->into[g->into_first[arc_of(g->arcs, i)->callee + 1]++] = i;
    }
    g->group = fm_exchange_groups(g->functions, first, to, &g->groups);
}

/* From outside: what is said to be, and the first of each group that nothing else leads to. */
static void find_entries(struct graph *g)
{
    g_autofree bool *called = g_new0(bool, (size_t)g->groups + 1);
    g->entered = g_new0(bool, (size_t)g->functions + 1);
    for (uint32_t i = 0; i < g->arc_count; i++) {
        if (leaves(g, arc_of(g->arcs, i)))
            called[g->group[arc_of(g->arcs, i)->callee]] = true;
    }
    for (uint32_t f = 0; f < g->functions; f++) {
        g->entered[f] = g_array_index(g->arcs->outside, uint64_t, f) > 0;
        called[g->group[f]] |= g->entered[f];
    }
    for (uint32_t f = 0; f < g->functions; f++) {
        g->entered[f] |= !called[g->group[f]];
        called[g->group[f]] = true;
    }
}

/* --- sharing out --- */

struct share {
    uint64_t weight;
    uint64_t *to; /* the part is added there */
};

static void add_share(GArray *shares, uint64_t weight, uint64_t *to)
{
    const struct share share = {weight, to};
    g_array_append_val(shares, share);
}

/* Splits an amount in proportion to the weights: exactly, each part less than 1 from its due.
 * Without weights the first has all. */
static void share_out(uint64_t amount, const GArray *shares)
{
    unsigned __int128 all = 0, before = 0;
    uint64_t given = 0;
    unsigned shift = 0;
    for (guint i = 0; i < shares->len; i++)
        all += g_array_index(shares, struct share, i).weight;
    while (all >> shift > INT64_MAX)
        shift++;
    for (guint i = 0; i < shares->len && amount > 0; i++) {
        const struct share *share = &g_array_index(shares, struct share, i);
        before += share->weight;
        uint64_t upto =
            all == 0 ? amount
                     : (uint64_t)((unsigned __int128)amount * (before >> shift) / (all >> shift));
        *share->to += upto - given;
        given = upto;
    }
}

static uint64_t *entry_costs_of(const struct graph *g, uint32_t function)
{
    return &g->entry_costs[(size_t)function * g->arcs->columns];
}

/* Charges a group's total to the calls from outside. If no cost of calls is recorded, in proportion
 * to their numbers; otherwise the remainder goes to the entries from outside of the program. */
static void charge_group(const struct graph *g, const uint32_t *members, uint32_t count,
                         const uint64_t *leaving, unsigned column, GArray *shares)
{
    uint64_t total = 0, charged = 0;
    g_array_set_size(shares, 0);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t f = members[i];
        total += self_of(g->arcs, f)[column] + leaving[f];
        for (size_t at = g->into_first[f]; at < g->into_first[f + 1]; at++) {
            const struct arc *arc = arc_of(g->arcs, g->into[at]);
            uint64_t *cost = &costs_of(g->arcs, g->into[at])[column];
            if (leaves(g, arc) && !g->arcs->costs_known)
                add_share(shares, arc->calls, cost);
            else if (leaves(g, arc))
                charged += *cost;
        }
        if (g->entered[f])
            add_share(shares, g_array_index(g->arcs->outside, uint64_t, f),
                      &entry_costs_of(g, f)[column]);
    }
    share_out(total > charged ? total - charged : 0, shares);
}

static void charge_column(const struct graph *g, const uint32_t *first, const uint32_t *members,
                          unsigned column, GArray *shares)
{
    g_autofree uint64_t *leaving = g_new0(uint64_t, (size_t)g->functions + 1);
    for (uint32_t i = 0; i < g->arc_count && g->arcs->costs_known; i++) {
        if (leaves(g, arc_of(g->arcs, i)))
            leaving[arc_of(g->arcs, i)->caller] += costs_of(g->arcs, i)[column];
    }
    for (uint32_t group = 1; group <= g->groups; group++) {
        const uint32_t *of = members + first[group];
        uint32_t count = first[group + 1] - first[group];
        charge_group(g, of, count, leaving, column, shares);
        for (uint32_t i = 0; i < count && !g->arcs->costs_known; i++) {
            for (size_t at = g->into_first[of[i]]; at < g->into_first[of[i] + 1]; at++) {
                const struct arc *arc = arc_of(g->arcs, g->into[at]);
                if (leaves(g, arc))
                    leaving[arc->caller] += costs_of(g->arcs, g->into[at])[column];
            }
        }
    }
}

static void charge_calls(struct graph *g)
{
    g_autofree uint32_t *first = g_new0(uint32_t, (size_t)g->groups + 3);
    g_autofree uint32_t *members = g_new(uint32_t, (size_t)g->functions + 1);
    g_autoptr(GArray) shares = g_array_new(FALSE, FALSE, sizeof(struct share));
    g->entry_costs = g_new0(uint64_t, (size_t)g->functions * g->arcs->columns + 1);
    for (uint32_t f = 0; f < g->functions; f++)
        first[g->group[f] + 2]++;
    for (uint32_t group = 2; group <= g->groups + 2; group++)
        first[group] += first[group - 1];
    for (uint32_t f = 0; f < g->functions; f++)
        members[first[g->group[f] + 1]++] = f;
    for (unsigned column = 0; column < g->arcs->columns; column++)
        charge_column(g, first, members, column, shares);
}

/* --- the profile --- */

struct made {
    struct fm_build *build;
    uint32_t *pd, *entry_csd; /* by function */
    uint32_t *csd;            /* by arc */
};

static void add_costs(const struct graph *g, const struct made *made, uint32_t csd, uint64_t calls,
                      const uint64_t *costs)
{
    if (calls > 0)
        fm_build_add(made->build, csd, FM_EXITS, calls);
    for (unsigned c = 0; c < g->arcs->columns; c++) {
        unsigned measure = g->arcs->measures[c];
        if (measure < FM_MEASURES_MAX && measure >= FM_FIRST_INHERITED && costs[c] > 0)
            fm_build_add_inclusive(made->build, csd, measure, costs[c]);
    }
}

static void make_calls(const struct graph *g, struct made *made)
{
    struct fm_stacks *stacks = g->arcs->stacks;
    for (uint32_t f = 0; f < g->functions; f++)
        made->pd[f] = fm_build_pd(made->build, fm_stacks_ps(stacks, f));
    for (uint32_t f = 0; f < g->functions; f++) {
        uint64_t calls = g_array_index(g->arcs->outside, uint64_t, f);
        if (!g->entered[f])
            continue;
        made->entry_csd[f] = fm_build_csd(made->build, fm_stacks_root_pd(stacks), 0, made->pd[f]);
        add_costs(g, made, made->entry_csd[f], calls, entry_costs_of(g, f));
        if (calls == 0)
            fm_build_set_uncounted(made->build, fm_stacks_ps(stacks, f));
    }
    for (uint32_t i = 0; i < g->arc_count; i++) {
        const struct arc *arc = arc_of(g->arcs, i);
        made->csd[i] = fm_build_csd(made->build, made->pd[arc->caller],
                                    fm_stacks_slot(stacks, arc->site), made->pd[arc->callee]);
        add_costs(g, made, made->csd[i], arc->calls, costs_of(g->arcs, i));
    }
}

/* A function's own cost among the calls of it: by what they cost, else by their number. */
static void share_own(const struct graph *g, const struct made *made, uint32_t f, unsigned column,
                      GArray *shares, GArray *parts)
{
    size_t first = g->into_first[f], count = g->into_first[f + 1] - first;
    uint64_t own = self_of(g->arcs, f)[column];
    unsigned __int128 weights = g->entered[f] ? entry_costs_of(g, f)[column] : 0;
    for (size_t i = 0; i < count; i++)
        weights += costs_of(g->arcs, g->into[first + i])[column];
    g_array_set_size(shares, 0);
    g_array_set_size(parts, 0);
    g_array_set_size(parts, (guint)count + 1);
    uint64_t *part = &g_array_index(parts, uint64_t, 0);
    if (g->entered[f])
        add_share(shares,
                  weights > 0 ? entry_costs_of(g, f)[column]
                              : g_array_index(g->arcs->outside, uint64_t, f),
                  &part[count]);
    for (size_t i = 0; i < count; i++) {
        uint32_t arc = g->into[first + i];
        add_share(shares,
                  weights > 0 ? costs_of(g->arcs, arc)[column] : arc_of(g->arcs, arc)->calls,
                  &part[i]);
    }
    share_out(own, shares);
    for (size_t i = 0; i <= count; i++) {
        if (part[i] > 0)
            fm_build_add(made->build,
                         i == count ? made->entry_csd[f] : made->csd[g->into[first + i]],
                         g->arcs->measures[column], part[i]);
    }
}

static void make_profile(struct graph *g, struct made *made)
{
    g_autoptr(GArray) shares = g_array_new(FALSE, FALSE, sizeof(struct share));
    g_autoptr(GArray) parts = g_array_new(FALSE, TRUE, sizeof(uint64_t));
    make_calls(g, made);
    for (uint32_t f = 0; f < g->functions; f++) {
        for (unsigned c = 0; c < g->arcs->columns; c++) {
            if (g->arcs->measures[c] < FM_MEASURES_MAX &&
                g->arcs->measures[c] >= FM_FIRST_INHERITED && self_of(g->arcs, f)[c] > 0)
                share_own(g, made, f, c, shares, parts);
        }
    }
}

/* A function's calls are told as a column: what its callers have not is from outside. */
static void calls_from_outside(struct fm_import_arcs *arcs)
{
    for (unsigned c = 0; c < arcs->columns; c++) {
        if (arcs->measures[c] != FM_EXITS)
            continue;
        g_autofree uint64_t *into = g_new0(uint64_t, (size_t)arcs->outside->len + 1);
        for (uint32_t i = 0; i < arcs->arcs->len; i++)
            into[arc_of(arcs, i)->callee] += arc_of(arcs, i)->calls;
        for (uint32_t f = 0; f < arcs->outside->len; f++) {
            uint64_t calls = self_of(arcs, f)[c];
            if (calls > into[f])
                g_array_index(arcs->outside, uint64_t, f) += calls - into[f];
        }
    }
}

bool fm_import_arcs_finish(struct fm_import_arcs *arcs, struct fm_profile **ret, GError **error)
{
    calls_from_outside(arcs);
    struct graph g = {.arcs = arcs, .functions = arcs->outside->len, .arc_count = arcs->arcs->len};
    struct made made = {.build = fm_stacks_build(arcs->stacks)};
    if (!arcs->costs_known && arcs->arcs->len > 0)
        fm_build_nature(made.build, FM_NATURE_AVERAGED, 0);
    made.pd = g_new0(uint32_t, (size_t)g.functions + 1);
    made.entry_csd = g_new0(uint32_t, (size_t)g.functions + 1);
    made.csd = g_new0(uint32_t, (size_t)g.arc_count + 1);
    group_functions(&g);
    find_entries(&g);
    charge_calls(&g);
    make_profile(&g, &made);
    g_free(g.group), g_free(g.entered), g_free(g.into_first), g_free(g.into);
    g_free(g.entry_costs), g_free(made.pd), g_free(made.entry_csd), g_free(made.csd);
    bool done = fm_stacks_finish(g_steal_pointer(&arcs->stacks), ret, error);
    if (done && arcs->costs_known)
        fm_import_totals_of_arcs(*ret);
    fm_import_arcs_free(arcs);
    return done;
}

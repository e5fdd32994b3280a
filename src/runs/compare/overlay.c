/* SPDX-License-Identifier: Apache-2.0 */
/* Both profiles over one graph: the second gets the first's procedures and call sites, then the
 * graphs are merged, and each side's costs are laid where its own contexts are in it. */
#include <string.h>

#include "base/error.h"
#include "runs/compare/internal.h"
#include "runs/merge/merge.h"

static void free_shallow(struct fm_profile *copy)
{
    g_free(copy->ps);
    g_free(copy->css);
    g_free(copy);
}

/* The profile with its own tables, without facts that are not costs of a context. Everything else
 * is borrowed. */
static struct fm_profile *shallow(const struct fm_profile *p)
{
    struct fm_profile *copy = g_memdup2(p, sizeof *p);
    copy->ps = g_memdup2(p->ps, (p->ps_count + 1u) * sizeof *p->ps);
    copy->css = g_memdup2(p->css, (p->css_count + 1u) * sizeof *p->css);
    copy->coverage = FM_COVERAGE_NONE;
    copy->pd_point_first = NULL;
    copy->run_info = (struct fm_run_info){.sample_count = p->run_info.sample_count,
                                          .sample_squares = p->run_info.sample_squares,
                                          .unknown = p->run_info.unknown,
                                          .nature = p->run_info.nature,
                                          .extent = p->run_info.extent,
                                          .tick_event = p->run_info.tick_event,
                                          .heap_period = p->run_info.heap_period};
    for (uint32_t ps = 1; ps <= p->ps_count; ps++) {
        copy->ps[ps].point_count = 0;
        copy->ps[ps].short_name = NULL; /* nobody asks a copy for it */
    }
    return copy;
}

/* Changes before if the builds inline differently, so that both have one graph. */
static void take_names(struct fm_profile *after, struct fm_profile *before,
                       const struct fm_pairs *pairs)
{
    after->program_name = before->program_name;
    for (uint32_t id = 1; id <= after->ps_count; id++) {
        struct fm_ps *ps = &after->ps[id];
        struct fm_ps *of = &before->ps[pairs->ps_back[id]];
        if (pairs->ps_back[id] == 0)
            continue;
        ps->label_kind = of->label_kind;
        ps->decl_module = of->decl_module;
        ps->def_module = of->def_module;
        ps->name = of->name;
        ps->type_name = of->type_name;
        ps->arity = of->arity;
        ps->mode = of->mode;
        ps->file = of->file;
        ps->line = of->line;
        ps->in_interface = of->in_interface;
        ps->variadic = of->variadic;
        ps->inlined = of->inlined = of->inlined || ps->inlined;
        ps->raw_name = of->raw_name;
    }
    for (uint32_t id = 1; id <= after->css_count; id++) {
        struct fm_css *css = &after->css[id];
        struct fm_css *of = &before->css[pairs->css_back[id]];
        if (pairs->css_back[id] == 0)
            continue;
        css->type_subst = of->type_subst;
        css->file = of->file;
        css->line = of->line;
        css->goal_path = of->goal_path;
        css->inlined = of->inlined = of->inlined || css->inlined;
    }
}

/* --- one graph, the costs of both --- */

/* At most the largest number, as sums of profiles are. */
static uint64_t product(uint64_t a, uint64_t b)
{
    return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

static uint64_t sum(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* As narrow as the largest number allows. */
static struct fm_column narrowed(const uint64_t *numbers, size_t count)
{
    uint64_t all = 0;
    for (size_t i = 0; i < count; i++)
        all |= numbers[i];
    if (all == 0)
        return (struct fm_column){0};
    if (all > UINT32_MAX)
        return (struct fm_column){.width = 8, .u64 = g_memdup2(numbers, count * sizeof *numbers)};
    struct fm_column column = {.width = 4, .u32 = g_new(uint32_t, count)};
    for (size_t i = 0; i < count; i++)
        column.u32[i] = (uint32_t)numbers[i];
    return column;
}

static const struct fm_column *column_named(const struct fm_profile *p, const char *name)
{
    for (unsigned m = 0; m < p->measure_count; m++) {
        if (strcmp(p->measures[m].name, name) == 0)
            return &p->csd_own[m];
    }
    return NULL;
}

/* Costs of one side, to be laid on the graph of both. */
struct laying {
    const struct fm_compare *c;
    enum fm_side side;
    uint64_t ticks; /* quanta of the graph a second */
};

/* As many times as the other side has runs. */
static uint64_t factor_of(const struct laying *l, const struct fm_profile *run)
{
    uint64_t ticks = run->ticks_per_second;
    return product(ticks == 0 ? 1 : l->ticks / ticks, l->c->run_count[!l->side]);
}

uint64_t fm_compare_factor(const struct fm_compare *c, enum fm_side side,
                           const struct fm_profile *run)
{
    const struct laying l = {c, side, c->side[side]->ticks_per_second};
    return factor_of(&l, run);
}

static void add_column(const struct fm_column *from, const struct fm_profile *run,
                       const uint32_t *csds, uint64_t factor, uint64_t *sums)
{
    for (uint32_t csd = 1; csd <= run->csd_count && from != NULL && from->width != 0; csd++) {
        uint64_t *to = &sums[csds[csd]];
        *to = sum(*to, product(fm_column_get(from, csd), factor));
    }
}

/* Counts are those of the run in the middle, quanta those of all. */
static gpointer lay(gpointer data)
{
    const struct laying *l = data;
    struct fm_profile *side = l->c->side[l->side];
    size_t count = side->csd_count + 1u;
    g_autofree uint64_t *sums = g_new(uint64_t, count);
    for (unsigned m = 0; m < side->measure_count; m++) {
        unsigned runs = m == FM_QUANTA ? l->c->run_count[l->side] : 1;
        memset(sums, 0, count * sizeof *sums);
        for (unsigned i = 0; i < runs; i++) {
            const struct fm_profile *run = l->c->runs[l->side][i];
            add_column(column_named(run, side->measures[m].name), run, l->c->run_csds[l->side][i],
                       m == FM_QUANTA ? factor_of(l, run) : 1, sums);
        }
        sums[0] = 0; /* edges that the root does not lead to */
        side->csd_own[m] = narrowed(sums, count);
    }
    return NULL;
}

static void set_header(const struct laying *l, bool mixes_times)
{
    struct fm_profile *side = l->c->side[l->side];
    struct fm_run_info *info = &side->run_info;
    const struct fm_profile *middle = l->c->given[l->side];
    side->user_quanta = side->instrumentation_quanta = 0;
    info->sample_count = info->sample_squares = 0;
    side->callseqs = middle->callseqs;
    info->heap_period = middle->run_info.heap_period;
    info->unknown = middle->run_info.unknown | (mixes_times ? 1u << FM_QUANTA : 0);
    for (unsigned i = 0; i < l->c->run_count[l->side]; i++) {
        const struct fm_profile *run = l->c->runs[l->side][i];
        uint64_t factor = factor_of(l, run);
        side->user_quanta = sum(side->user_quanta, product(run->user_quanta, factor));
        side->instrumentation_quanta =
            sum(side->instrumentation_quanta, product(run->instrumentation_quanta, factor));
        info->unknown |= run->run_info.unknown & 1u << FM_QUANTA;
        if (run->run_info.sample_count == 0)
            continue;
        info->sample_count = sum(info->sample_count, run->run_info.sample_count);
        info->sample_squares = sum(info->sample_squares,
                                   product(product(run->run_info.sample_squares, factor), factor));
    }
}

/* Takes the graph, which is that of both sides. */
static void lay_costs(struct fm_compare *c, struct fm_profile *graph)
{
    struct laying sides[FM_SIDES];
    bool mixes_times = false;
    c->quanta_parts = (uint64_t)c->run_count[FM_BEFORE] * c->run_count[FM_AFTER];
    fm_profile_tell_all_apart(graph); /* a comparison's tables show any of its functions */
    c->side[FM_BEFORE] = graph;
    c->side[FM_AFTER] = g_memdup2(graph, sizeof *graph);
    for (int side = FM_BEFORE; side < FM_SIDES; side++) {
        for (unsigned i = 0; i < c->run_count[side]; i++)
            mixes_times =
                mixes_times ||
                ((c->given[FM_BEFORE]->run_info.nature ^ c->runs[side][i]->run_info.nature) &
                 FM_NATURE_CLOCK) != 0;
    }
    for (int side = FM_BEFORE; side < FM_SIDES; side++) {
        sides[side] = (struct laying){c, (enum fm_side)side, graph->ticks_per_second};
        set_header(&sides[side], mixes_times);
    }
    GThread *other = g_thread_new("overlay", lay, &sides[FM_AFTER]);
    lay(&sides[FM_BEFORE]);
    g_thread_join(other);
}

static void note_folded(struct fm_compare *c, uint32_t folded)
{
    if (folded > 0)
        g_ptr_array_add(
            c->notes, g_strdup_printf(
                          "the lines of calls in %u function%s are not known on both sides: calls "
                          "there are compared by what is called",
                          folded, folded == 1 ? "" : "s"));
}

#define UNHOOKED_SAID 0.1

/* "88 %" of the time is in code without hooks; g_free. */
static char *share_of_unhooked(const struct fm_profile *profile, double *ret_share)
{
    const struct fm_unhooked_info *info = &profile->run_info.unhooked;
    double quanta = 0, all = (double)profile->user_quanta;
    for (uint32_t i = 0; i < info->count; i++)
        quanta += (double)info->of[i].quanta;
    *ret_share = all > 0 ? MIN(quanta / all, 1) : 0;
    return info->recorded ? g_strdup_printf("%.0f %% of the time", 100 * *ret_share)
                          : g_strdup("not recorded");
}

static void note_unhooked(struct fm_compare *c)
{
    double before, after;
    g_autofree char *was = share_of_unhooked(c->given[FM_BEFORE], &before);
    g_autofree char *is = share_of_unhooked(c->given[FM_AFTER], &after);
    if (before >= UNHOOKED_SAID || after >= UNHOOKED_SAID)
        g_ptr_array_add(c->notes,
                        g_strdup_printf("in code without hooks: before %s, after %s", was, is));
}

/* The procedures of other runs of a build are those of the run in the middle, whatever these are
 * called by now. */
static void take_names_of_runs(const struct fm_compare *c, enum fm_side side,
                               struct fm_profile *const *copies)
{
    for (unsigned i = 1; i < c->run_count[side]; i++) {
        struct fm_pairs pairs;
        fm_pairs_init(&pairs, c->given[side], c->runs[side][i], false);
        take_names(copies[i], copies[0], &pairs);
        fm_pairs_fold_sites(&pairs, copies[0], copies[i]);
        fm_pairs_done(&pairs);
    }
}

static bool add_runs(struct fm_merge *merge, const struct fm_compare *c, enum fm_side side,
                     struct fm_profile *const *copies, GError **error)
{
    for (unsigned i = 0; i < c->run_count[side]; i++) {
        if (!fm_merge_add(merge, copies[i], side == FM_BEFORE ? "before" : "after", error))
            return false;
    }
    return true;
}

/* Keeps where each run's edges are in the graph, before's runs first. */
static void take_places(struct fm_compare *c, struct fm_merge_places *places)
{
    unsigned at = 0;
    for (int side = FM_BEFORE; side < FM_SIDES; side++) {
        c->run_csds[side] = g_new0(uint32_t *, c->run_count[side]);
        for (unsigned i = 0; i < c->run_count[side]; i++, at++) {
            g_assert(at < places->count);
            c->run_csds[side][i] = g_steal_pointer(&places->csds[at]);
        }
    }
    c->clique_size = g_steal_pointer(&places->clique_size);
    fm_merge_places_done(places);
}

static bool lay_over(struct fm_compare *c, const struct fm_pairs *pairs, GError **error)
{
    const struct fm_merge_options options = {.common = true, .sites_by_key = true, .places = true};
    struct fm_profile *copies[FM_SIDES][FM_COMPARE_RUNS_MAX], *graph;
    struct fm_merge_places places = {0};
    for (int side = FM_BEFORE; side < FM_SIDES; side++) {
        for (unsigned i = 0; i < c->run_count[side]; i++)
            copies[side][i] = shallow(c->runs[side][i]);
    }
    take_names(copies[FM_AFTER][0], copies[FM_BEFORE][0], pairs);
    note_folded(c, fm_pairs_fold_sites(pairs, copies[FM_BEFORE][0], copies[FM_AFTER][0]));
    take_names_of_runs(c, FM_BEFORE, copies[FM_BEFORE]);
    take_names_of_runs(c, FM_AFTER, copies[FM_AFTER]);
    struct fm_merge *merge = fm_merge_new(&options);
    bool done = add_runs(merge, c, FM_BEFORE, copies[FM_BEFORE], error) &&
                add_runs(merge, c, FM_AFTER, copies[FM_AFTER], error);
    if (done) {
        for (const char *const *note = fm_merge_notes(merge); *note != NULL; note++)
            g_ptr_array_add(c->notes, g_strdup(*note));
        done = fm_merge_finish_places(merge, &graph, &places, error);
    } else {
        fm_merge_free(merge);
    }
    for (int side = FM_BEFORE; side < FM_SIDES; side++) {
        for (unsigned i = 0; i < c->run_count[side]; i++)
            free_shallow(copies[side][i]);
    }
    if (!done)
        return false;
    take_places(c, &places);
    lay_costs(c, graph);
    return true;
}

/* --- the spanning tree --- */

static void index_callees(struct fm_compare *c)
{
    const struct fm_profile *p = c->side[FM_BEFORE];
    c->into_first = g_new0(uint32_t, p->pd_count + 2u);
    c->into = g_new(uint32_t, p->csd_count + 1u);
    for (uint32_t csd = 1; csd <= p->csd_count; csd++)
        c->into_first[p->csd_callee[csd] + 1]++;
    for (uint32_t pd = 1; pd <= p->pd_count; pd++)
        c->into_first[pd + 1] += c->into_first[pd];
    g_autofree uint32_t *next = g_memdup2(c->into_first, (p->pd_count + 2u) * sizeof *next);
    for (uint32_t csd = 1; csd <= p->csd_count; csd++)
        c->into[next[p->csd_callee[csd]]++] = csd;
}

/* Breadth first, edges in their canonical order: the tree is the same whichever side leads. */
static void span(struct fm_compare *c)
{
    const struct fm_profile *p = c->side[FM_BEFORE];
    g_autofree bool *reached = g_new0(bool, p->pd_count + 1u);
    c->tree_csd = g_new0(uint32_t, p->pd_count + 1u);
    c->order = g_new(uint32_t, p->pd_count + 1u);
    c->order[c->order_count++] = p->root_pd;
    reached[p->root_pd] = true;
    for (uint32_t at = 0; at < c->order_count; at++) {
        uint32_t pd = c->order[at], slots = p->ps[p->pd_ps[pd]].css_count;
        for (uint32_t slot = 0; slot < slots; slot++) {
            uint32_t count;
            const uint32_t *csds = fm_profile_slot(p, pd, slot, &count);
            for (uint32_t i = 0; i < count; i++) {
                uint32_t callee = p->csd_callee[csds[i]];
                if (reached[callee])
                    continue;
                reached[callee] = true;
                c->tree_csd[callee] = csds[i];
                c->order[c->order_count++] = callee;
            }
        }
    }
}

/* --- result of the pairing --- */

static bool *procs_that_ran(const struct fm_profile *p)
{
    bool *seen = g_new0(bool, p->ps_count + 1u);
    for (uint32_t pd = 1; pd <= p->pd_count; pd++)
        seen[p->pd_ps[pd]] = true;
    return seen;
}

static void take_matches(struct fm_compare *c, const struct fm_pairs *pairs)
{
    g_autofree bool *before = procs_that_ran(c->given[FM_BEFORE]);
    g_autofree bool *after = procs_that_ran(c->given[FM_AFTER]);
    for (uint32_t ps = 1; ps <= c->given[FM_BEFORE]->ps_count; ps++) {
        struct fm_match match = {ps, pairs->ps[ps], pairs->how[ps], pairs->similarity[ps]};
        if (match.after != 0)
            g_array_append_val(c->matches, match);
        else
            c->only[FM_BEFORE] += before[ps];
    }
    for (uint32_t ps = 1; ps <= c->given[FM_AFTER]->ps_count; ps++)
        c->only[FM_AFTER] += pairs->ps_back[ps] == 0 && after[ps];
}

/* Procedures of the common graph that one build alone has: no call site or context of the other. */
static char *identity_of(const struct fm_ps *ps)
{
    return g_strdup_printf("%s\x1f%s\x1f%u", ps->raw_name, ps->file, ps->line);
}

static bool *only_in(const struct fm_compare *c, const struct fm_profile *given,
                     const uint32_t *counterpart)
{
    const struct fm_profile *p = c->side[FM_BEFORE];
    bool *only = g_new0(bool, p->ps_count + 1u);
    g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (uint32_t ps = 1; ps <= given->ps_count; ps++) {
        if (counterpart[ps] == 0)
            g_hash_table_add(names, identity_of(&given->ps[ps]));
    }
    for (uint32_t ps = 1; ps <= p->ps_count; ps++) {
        g_autofree char *name = identity_of(&p->ps[ps]);
        only[ps] = g_hash_table_contains(names, name);
    }
    return only;
}

/* Procedures of the common graph that one build alone has. */
static void find_only(struct fm_compare *c, const struct fm_pairs *pairs)
{
    c->ps_only[FM_BEFORE] = only_in(c, c->given[FM_BEFORE], pairs->ps);
    c->ps_only[FM_AFTER] = only_in(c, c->given[FM_AFTER], pairs->ps_back);
}

static bool can_be_compared(const struct fm_profile *before, const struct fm_profile *after,
                            GError **error)
{
    bool arcs = fm_profile_is(before, FM_NATURE_ARCS) || fm_profile_is(after, FM_NATURE_ARCS);
    if (before->flavour == after->flavour && before->word_size == after->word_size && !arcs)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                before->flavour != after->flavour
                    ? "one is a profile of a C program, the other of a Mercury program"
                : arcs ? "contexts are compared, and one knows calls by function and caller only"
                       : "the profiles have words of different sizes");
    return false;
}

/* The run in the middle comes first. */
static void take_runs(struct fm_compare *c, enum fm_side side, const struct fm_compare_runs *runs)
{
    g_assert(runs->count >= 1 && runs->count <= FM_COMPARE_RUNS_MAX);
    g_assert(runs->middle < runs->count);
    c->run_count[side] = runs->count;
    c->runs[side] = g_memdup2(runs->profiles, runs->count * sizeof *runs->profiles);
    c->runs[side][runs->middle] = runs->profiles[0];
    c->runs[side][0] = c->given[side] = runs->profiles[runs->middle];
}

static bool can_all_be_compared(const struct fm_compare_runs *sides, GError **error)
{
    const struct fm_profile *first = sides[FM_BEFORE].profiles[0];
    for (int side = FM_BEFORE; side < FM_SIDES; side++) {
        for (unsigned i = 0; i < sides[side].count; i++) {
            if (!can_be_compared(first, sides[side].profiles[i], error))
                return false;
        }
    }
    return true;
}

bool fm_compare_new_runs(const struct fm_compare_runs sides[FM_SIDES],
                         const struct fm_compare_options *options, struct fm_compare **ret,
                         GError **error)
{
    struct fm_pairs pairs;
    g_assert(sides != NULL && options != NULL);
    if (!can_all_be_compared(sides, error))
        return false;
    struct fm_compare *c = g_new0(struct fm_compare, 1);
    c->variation = options->variation;
    take_runs(c, FM_BEFORE, &sides[FM_BEFORE]);
    take_runs(c, FM_AFTER, &sides[FM_AFTER]);
    const struct fm_profile *before = c->given[FM_BEFORE], *after = c->given[FM_AFTER];
    c->matches = g_array_new(FALSE, FALSE, sizeof(struct fm_match));
    c->notes = g_ptr_array_new_with_free_func(g_free);
    fm_pairs_init(&pairs, before, after, !options->no_renames);
    bool done = lay_over(c, &pairs, error);
    if (done) {
        note_unhooked(c);
        take_matches(c, &pairs);
        find_only(c, &pairs);
        index_callees(c);
        span(c);
        c->head = fm_profile_recursion_heads(c->side[FM_BEFORE]);
        fm_compare_find_levels(c, &pairs);
    }
    fm_pairs_done(&pairs);
    if (!done)
        g_clear_pointer(&c, fm_compare_free);
    *ret = c;
    return done;
}

bool fm_compare_new(const struct fm_profile *before, const struct fm_profile *after,
                    const struct fm_compare_options *options, struct fm_compare **ret,
                    GError **error)
{
    const struct fm_compare_runs sides[FM_SIDES] = {{.profiles = &before, .count = 1},
                                                    {.profiles = &after, .count = 1}};
    g_assert(before != NULL && after != NULL);
    return fm_compare_new_runs(sides, options, ret, error);
}

void fm_compare_free(struct fm_compare *c)
{
    if (c == NULL)
        return;
    for (unsigned m = 0; c->side[FM_AFTER] != NULL && m < FM_MEASURES_MAX; m++) {
        if (c->side[FM_AFTER]->csd_own[m].width != 0)
            g_free(c->side[FM_AFTER]->csd_own[m].u32);
    }
    g_free(c->side[FM_AFTER]); /* all else is the other's */
    fm_profile_free(c->side[FM_BEFORE]);
    for (int side = FM_BEFORE; side < FM_SIDES; side++) {
        g_free(c->ps_only[side]);
        for (unsigned i = 0; c->run_csds[side] != NULL && i < c->run_count[side]; i++)
            g_free(c->run_csds[side][i]);
        g_free(c->run_csds[side]);
        g_free(c->runs[side]);
    }
    g_free(c->clique_size);
    g_free(c->head);
    g_array_unref(c->matches);
    g_ptr_array_unref(c->notes);
    g_free(c->tree_csd);
    g_free(c->order);
    g_free(c->into_first);
    g_free(c->into);
    g_free(c->uncounted);
    g_free(c->uneven);
    g_free(c->loops);
    g_free(c->frame);
    g_free(c);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Both profiles over one graph: the second gets the first's procedures and call sites, and then
 * each is merged with the other's graph without its costs. What a merge makes of graphs does not
 * depend on costs, so both results have the same contexts under the same numbers. */
#include <string.h>

#include "base/error.h"
#include "compare/internal.h"
#include "merge/merge.h"

static void free_shallow(struct fm_profile *copy)
{
    g_free(copy->ps);
    g_free(copy->css);
    g_free(copy);
}

/* The profile with tables of its own, without what is no cost of a context. Everything else is
 * borrowed. */
static struct fm_profile *shallow(const struct fm_profile *p)
{
    struct fm_profile *copy = g_memdup2(p, sizeof *p);
    copy->ps = g_memdup2(p->ps, (p->ps_count + 1u) * sizeof *p->ps);
    copy->css = g_memdup2(p->css, (p->css_count + 1u) * sizeof *p->css);
    copy->coverage = FM_COVERAGE_NONE;
    copy->pd_point_first = NULL;
    copy->run_info = (struct fm_run_info){.sample_count = p->run_info.sample_count,
                                          .sample_squares = p->run_info.sample_squares};
    for (uint32_t ps = 1; ps <= p->ps_count; ps++)
        copy->ps[ps].point_count = 0;
    return copy;
}

static void take_names(struct fm_profile *after, const struct fm_profile *before,
                       const struct fm_pairs *pairs)
{
    after->program_name = before->program_name;
    for (uint32_t id = 1; id <= after->ps_count; id++) {
        struct fm_ps *ps = &after->ps[id];
        const struct fm_ps *of = &before->ps[pairs->ps_back[id]];
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
        ps->inlined = of->inlined;
        ps->raw_name = of->raw_name;
    }
    for (uint32_t id = 1; id <= after->css_count; id++) {
        struct fm_css *css = &after->css[id];
        const struct fm_css *of = &before->css[pairs->css_back[id]];
        if (pairs->css_back[id] == 0)
            continue;
        css->type_subst = of->type_subst;
        css->file = of->file;
        css->line = of->line;
        css->goal_path = of->goal_path;
        css->inlined = of->inlined;
    }
}

static void without_costs(const struct fm_profile *p, struct fm_profile *ret)
{
    *ret = *p;
    ret->callseqs = ret->user_quanta = ret->instrumentation_quanta = 0;
    ret->run_info = (struct fm_run_info){0};
    for (unsigned m = 0; m < FM_MEASURES_MAX; m++)
        ret->csd_own[m] = (struct fm_column){0};
}

/* One side's costs over the graph of both. */
struct laying {
    const struct fm_profile *before, *after; /* one of them without costs */
    struct fm_profile *result;               /* NULL: error */
    GPtrArray *notes;
    GError *error;
};

static gpointer lay(gpointer data)
{
    struct laying *l = data;
    const struct fm_merge_options options = {.common = true, .sites_by_key = true};
    struct fm_merge *merge = fm_merge_new(&options);
    if (!fm_merge_add(merge, l->before, "before", &l->error) ||
        !fm_merge_add(merge, l->after, "after", &l->error)) {
        fm_merge_free(merge);
        return NULL;
    }
    for (const char *const *note = fm_merge_notes(merge); *note != NULL; note++)
        g_ptr_array_add(l->notes, g_strdup(*note));
    if (!fm_merge_finish(merge, &l->result, &l->error))
        l->result = NULL;
    return NULL;
}

static bool are_alike(const struct fm_profile *a, const struct fm_profile *b)
{
    return a->pd_count == b->pd_count && a->csd_count == b->csd_count &&
           a->ps_count == b->ps_count && a->css_count == b->css_count &&
           memcmp(a->pd_ps, b->pd_ps, (a->pd_count + 1u) * sizeof *a->pd_ps) == 0 &&
           memcmp(a->csd_callee, b->csd_callee, (a->csd_count + 1u) * sizeof *a->csd_callee) == 0 &&
           memcmp(a->csd_css, b->csd_css, (a->csd_count + 1u) * sizeof *a->csd_css) == 0;
}

static bool lay_over(struct fm_compare *c, const struct fm_pairs *pairs, GError **error)
{
    struct fm_profile *before = shallow(c->given[FM_BEFORE]), bare_before;
    struct fm_profile *after = shallow(c->given[FM_AFTER]), bare_after;
    take_names(after, before, pairs);
    without_costs(before, &bare_before);
    without_costs(after, &bare_after);
    struct laying sides[FM_SIDES] = {
        {before, &bare_after, NULL, c->notes, NULL},
        {&bare_before, after, NULL, g_ptr_array_new_with_free_func(g_free), NULL}};
    GThread *other = g_thread_new("overlay", lay, &sides[FM_AFTER]);
    lay(&sides[FM_BEFORE]);
    g_thread_join(other);
    g_ptr_array_unref(sides[FM_AFTER].notes); /* the same */
    free_shallow(before);
    free_shallow(after);
    c->side[FM_BEFORE] = sides[FM_BEFORE].result;
    c->side[FM_AFTER] = sides[FM_AFTER].result;
    if (c->side[FM_BEFORE] == NULL || c->side[FM_AFTER] == NULL) {
        bool first = sides[FM_BEFORE].error != NULL;
        g_propagate_error(error, sides[first ? FM_BEFORE : FM_AFTER].error);
        if (first)
            g_clear_error(&sides[FM_AFTER].error);
        return false;
    }
    g_assert(are_alike(c->side[FM_BEFORE], c->side[FM_AFTER]));
    return fm_analysis_new(c->side[FM_BEFORE], NULL, &c->a, error);
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

/* --- what was paired --- */

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
    if (before->flavour == after->flavour && before->word_size == after->word_size)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                before->flavour != after->flavour
                    ? "one is a profile of a C program, the other of a Mercury program"
                    : "the profiles have words of different sizes");
    return false;
}

bool fm_compare_new(const struct fm_profile *before, const struct fm_profile *after,
                    const struct fm_compare_options *options, struct fm_compare **ret,
                    GError **error)
{
    struct fm_pairs pairs;
    g_assert(before != NULL && after != NULL && options != NULL);
    if (!can_be_compared(before, after, error))
        return false;
    struct fm_compare *c = g_new0(struct fm_compare, 1);
    c->given[FM_BEFORE] = before;
    c->given[FM_AFTER] = after;
    c->matches = g_array_new(FALSE, FALSE, sizeof(struct fm_match));
    c->notes = g_ptr_array_new_with_free_func(g_free);
    fm_pairs_init(&pairs, before, after, !options->no_renames);
    bool done = lay_over(c, &pairs, error);
    if (done) {
        take_matches(c, &pairs);
        find_only(c, &pairs);
        index_callees(c);
        span(c);
    }
    fm_pairs_clear(&pairs);
    if (!done)
        g_clear_pointer(&c, fm_compare_free);
    *ret = c;
    return done;
}

void fm_compare_free(struct fm_compare *c)
{
    if (c == NULL)
        return;
    fm_analysis_free(c->a);
    for (int side = FM_BEFORE; side < FM_SIDES; side++) {
        fm_profile_free(c->side[side]);
        g_free(c->ps_only[side]);
    }
    g_array_unref(c->matches);
    g_ptr_array_unref(c->notes);
    g_free(c->tree_csd);
    g_free(c->order);
    g_free(c->into_first);
    g_free(c->into);
    g_free(c);
}

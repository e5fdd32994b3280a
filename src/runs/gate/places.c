/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the contexts selected by the path of a limit. A context's path is that of the spanning
 * tree, as on pages: a recursion is entered once. */
#include <string.h>

#include "runs/compare/totals.h"
#include "runs/gate/internal.h"

static const struct fm_profile *graph(const struct fm_places *places)
{
    return places->compare->side[FM_BEFORE];
}

static uint32_t parent_of(const struct fm_compare *c, uint32_t pd)
{
    return c->tree_csd[pd] == 0 ? 0 : c->side[FM_BEFORE]->csd_caller[c->tree_csd[pd]];
}

/* The common graph has before's names, but a limit may use after's. */
static void index_names(struct fm_places *places)
{
    const struct fm_compare *c = places->compare;
    g_autoptr(GHashTable) ps_of_raw = g_hash_table_new(g_str_hash, g_str_equal);
    places->after_name = g_hash_table_new(NULL, NULL);
    for (uint32_t ps = 1; ps <= graph(places)->ps_count; ps++)
        g_hash_table_insert(ps_of_raw, (void *)(uintptr_t)graph(places)->ps[ps].raw_name,
                            GUINT_TO_POINTER(ps));
    for (guint i = 0; i < c->matches->len; i++) {
        const struct fm_match *match = &g_array_index(c->matches, struct fm_match, i);
        const struct fm_ps *before = &c->given[FM_BEFORE]->ps[match->before];
        const struct fm_ps *after = &c->given[FM_AFTER]->ps[match->after];
        void *ps = g_hash_table_lookup(ps_of_raw, before->raw_name);
        if (ps != NULL && strcmp(before->raw_name, after->raw_name) != 0)
            g_hash_table_insert(places->after_name, ps, (void *)(uintptr_t)after->unqualified_name);
    }
}

void fm_places_init(struct fm_places *ret, const struct fm_compare *compare)
{
    *ret = (struct fm_places){.compare = compare};
    const struct fm_profile *p = graph(ret);
    index_names(ret);
    ret->pd_first = g_new0(uint32_t, p->ps_count + 2u);
    ret->pds = g_new(uint32_t, MAX(compare->order_count, 1u));
    for (uint32_t at = 0; at < compare->order_count; at++)
        ret->pd_first[p->pd_ps[compare->order[at]] + 1]++;
    for (uint32_t ps = 1; ps <= p->ps_count + 1u; ps++)
        ret->pd_first[ps] += ret->pd_first[ps - 1];
    g_autofree uint32_t *next = g_memdup2(ret->pd_first, (p->ps_count + 2u) * sizeof *next);
    for (uint32_t at = 0; at < compare->order_count; at++)
        ret->pds[next[p->pd_ps[compare->order[at]]]++] = compare->order[at];
}

void fm_places_done(struct fm_places *places)
{
    g_clear_pointer(&places->after_name, g_hash_table_unref);
    g_clear_pointer(&places->pd_first, g_free);
    g_clear_pointer(&places->pds, g_free);
}

/* Matches whole components of the path: "src/hot", "src/hot/", "hot/x.c" of
 * "/build/src/hot/x.c". */
static bool file_is_in(const char *file, const char *place)
{
    g_autofree char *bare = g_strdup(place);
    size_t size = strlen(bare);
    while (size > 0 && bare[size - 1] == '/')
        bare[--size] = '\0';
    for (const char *at = size > 0 ? strstr(file, bare) : NULL; at != NULL;
         at = strstr(at + 1, bare)) {
        bool begins = at == file || at[-1] == '/' || *bare == '/';
        if (begins && (at[size] == '/' || at[size] == '\0'))
            return true;
    }
    return false;
}

bool fm_places_is_in(const struct fm_places *places, uint32_t ps, const char *place)
{
    return file_is_in(graph(places)->ps[ps].file, place);
}

static bool name_is(const struct fm_limit_step *step, const char *name)
{
    if (name == NULL)
        return false;
    if (step->any)
        return g_pattern_match_simple(step->name, name);
    if (strcmp(step->name, name) == 0)
        return true;
    /* C++: without the parameters. */
    const char *parameters = strchr(name, '(');
    return parameters != NULL && parameters > name &&
           strlen(step->name) == (size_t)(parameters - name) &&
           strncmp(step->name, name, (size_t)(parameters - name)) == 0;
}

static bool step_is(const struct fm_places *places, const struct fm_limit_step *step, uint32_t id)
{
    const struct fm_ps *ps = &graph(places)->ps[id];
    if (step->line != 0 && ps->line != step->line)
        return false;
    if (step->place != NULL && !file_is_in(ps->file, step->place))
        return false;
    return name_is(step, ps->unqualified_name) || name_is(step, ps->qualified_name) ||
           name_is(step, ps->brief_name) || name_is(step, ps->raw_name) ||
           name_is(step, g_hash_table_lookup(places->after_name, GUINT_TO_POINTER(id)));
}

/* The root and the threads are not functions. */
static bool is_named(const struct fm_places *places, uint32_t pd)
{
    const struct fm_profile *p = graph(places);
    return pd != 0 && pd != p->root_pd && *p->ps[p->pd_ps[pd]].file != '\0';
}

/* Matches steps upwards. At a gap, tries the nearest matching context first, then the next one when
 * that fails further up. */
static bool matches(const struct fm_places *places, const struct fm_limit *limit, uint32_t pd)
{
    const uint32_t *pd_ps = graph(places)->pd_ps;
    const struct fm_limit_step *steps = (void *)limit->steps->data;
    int at = (int)limit->steps->len - 1, retry_at = -1;
    uint32_t retry_pd = 0;
    while (at >= 0) {
        bool here = pd != 0 && step_is(places, &steps[at], pd_ps[pd]);
        bool gap = at + 1 < (int)limit->steps->len && steps[at + 1].gap;
        if (gap && retry_at != at) {
            retry_at = at;
            retry_pd = pd;
        }
        if (here && at == 0 && limit->from_root && !steps[0].gap &&
            is_named(places, parent_of(places->compare, pd)))
            here = false;
        if (here) {
            pd = parent_of(places->compare, pd);
            at--;
            continue;
        }
        if (retry_at < 0 || retry_pd == 0)
            return false;
        retry_pd = parent_of(places->compare, retry_pd);
        pd = retry_pd;
        at = retry_at;
        if (pd == 0)
            return false;
    }
    return true;
}

static int by_id(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return *a < *b ? -1 : *a > *b;
}

GArray *fm_places_match(const struct fm_places *places, const struct fm_limit *limit)
{
    GArray *found = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g_assert(limit->subject == FM_LIMIT_PATH && limit->steps->len > 0);
    const struct fm_limit_step *last =
        &g_array_index(limit->steps, struct fm_limit_step, limit->steps->len - 1);
    for (uint32_t ps = 1; ps <= graph(places)->ps_count; ps++) {
        if (places->pd_first[ps] == places->pd_first[ps + 1] || !step_is(places, last, ps))
            continue;
        for (uint32_t i = places->pd_first[ps]; i < places->pd_first[ps + 1]; i++) {
            if (matches(places, limit, places->pds[i]))
                g_array_append_val(found, places->pds[i]);
        }
    }
    g_array_sort(found, by_id);
    return found;
}

bool fm_places_is_within(const struct fm_places *places, uint32_t pd, const GArray *matches)
{
    while (pd != 0 && (matches->len == 0 ||
                       bsearch(&pd, matches->data, matches->len, sizeof pd, by_id) == NULL))
        pd = parent_of(places->compare, pd);
    return pd != 0;
}

/* --- totals of contexts --- */

static bool is_found(const GArray *found, uint32_t pd)
{
    return bsearch(&pd, found->data, found->len, sizeof pd, by_id) != NULL;
}

/* Whether all stacks of the context contain a match above it. *overlap: some may. */
static bool is_contained(const struct fm_places *places, const GArray *found, uint32_t pd,
                         bool *overlap)
{
    const struct fm_compare *c = places->compare;
    const uint32_t *pd_ps = graph(places)->pd_ps;
    for (uint32_t at = parent_of(c, pd); at != 0; at = parent_of(c, at)) {
        if (!is_found(found, at))
            continue;
        if (!fm_compare_is_inside(c, at))
            return true;
        /* Of one function, contexts add what the others do not. */
        *overlap = *overlap || pd_ps[at] != pd_ps[pd];
    }
    return false;
}

static int by_head(const void *left, const void *right, void *user)
{
    const uint32_t *a = left, *b = right, *head = user;
    if (head[*a] != head[*b])
        return head[*a] < head[*b] ? -1 : 1;
    return *a < *b ? -1 : *a > *b;
}

/* Several functions of one recursion may be on one stack, wherever the tree has them. */
static bool mixes_functions(const struct fm_places *places, const GArray *pds)
{
    const struct fm_compare *c = places->compare;
    const uint32_t *pd_ps = graph(places)->pd_ps;
    for (guint i = 1; i < pds->len; i++) {
        uint32_t pd = g_array_index(pds, uint32_t, i), last = g_array_index(pds, uint32_t, i - 1);
        if (fm_compare_is_inside(c, pd) && c->head[pd] == c->head[last] && pd_ps[pd] != pd_ps[last])
            return true;
    }
    return false;
}

void fm_places_stacks(const struct fm_places *places, const GArray *found, struct fm_stacks *ret)
{
    *ret = (struct fm_stacks){.pds = g_array_new(FALSE, FALSE, sizeof(uint32_t))};
    for (guint i = 0; i < found->len; i++) {
        uint32_t pd = g_array_index(found, uint32_t, i);
        if (!is_contained(places, found, pd, &ret->overlap))
            g_array_append_val(ret->pds, pd);
    }
    g_array_sort_with_data(ret->pds, by_head, places->compare->head);
    ret->overlap = ret->overlap || mixes_functions(places, ret->pds);
}

/* The end of the run of contexts of one recursion; each other context is a run of its own. */
static guint end_of_run(const struct fm_stacks *s, const struct fm_compare *c, guint from)
{
    uint32_t head = c->head[g_array_index(s->pds, uint32_t, from)];
    guint end = from + 1;
    while (head != 0 && end < s->pds->len && c->head[g_array_index(s->pds, uint32_t, end)] == head)
        end++;
    return end;
}

int64_t fm_stacks_sum(const struct fm_stacks *s, const struct fm_compare *c, const int64_t *adds,
                      const int64_t *whole)
{
    uint64_t all = 0;
    for (guint i = 0, end; i < s->pds->len; i = end) {
        uint32_t pd = g_array_index(s->pds, uint32_t, i);
        uint64_t sum = 0;
        end = end_of_run(s, c, i);
        for (guint k = i; k < end; k++)
            sum += (uint64_t)adds[g_array_index(s->pds, uint32_t, k)];
        if (c->head[pd] != 0)
            sum = MIN(sum, (uint64_t)whole[c->head[pd]]);
        all += sum;
    }
    return (int64_t)all;
}

double fm_stacks_sum_ticks(const struct fm_stacks *s, const struct fm_compare *c,
                           const double *adds, const double *whole)
{
    double all = 0;
    for (guint i = 0, end; i < s->pds->len; i = end) {
        uint32_t pd = g_array_index(s->pds, uint32_t, i);
        double sum = 0;
        end = end_of_run(s, c, i);
        for (guint k = i; k < end; k++)
            sum += adds[g_array_index(s->pds, uint32_t, k)];
        all += c->head[pd] != 0 ? MIN(sum, whole[c->head[pd]]) : sum;
    }
    return all;
}

bool fm_stacks_is_at_most(const struct fm_stacks *s, const struct fm_compare *c,
                          const bool *at_most)
{
    for (guint i = 0, end; i < s->pds->len; i = end) {
        bool entered = false, unknown = false;
        end = end_of_run(s, c, i);
        for (guint k = i; k < end; k++) {
            uint32_t pd = g_array_index(s->pds, uint32_t, k);
            entered = entered || c->head[pd] == pd;
            unknown = unknown || at_most[pd];
        }
        if (unknown && !entered) /* all stacks of a recursion contain what entered it */
            return true;
    }
    return s->overlap;
}

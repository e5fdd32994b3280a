/* SPDX-License-Identifier: Apache-2.0 */
/* Totals inside recursions (profile/file/facts/inclusive.h). A context that is in a recursion in
 * the sum may be in none in an input, where its total follows from the graph. So each context's
 * contribution to its function's total is added up, recorded or not. If an input lacks it for a
 * context, it is unknown in the sum; if it lacks it for all, so is the measure. */
#include <string.h>

#include "profile/file/build.h"
#include "runs/merge/internal.h"

struct total {
    const char *name; /* name of the measure, as in fm_merge.measures */
    GArray *values;   /* uint64_t a node */
};

struct fm_merged_totals {
    bool begun;
    unsigned count;
    struct total of[FM_MEASURES_MAX];
    GByteArray *recorded; /* bits below, by node */
};
/* An input has a record of the node; an input does not know its total. */
enum { RECORDED = 1, UNKNOWN = 2 };

struct fm_merged_totals *fm_merged_totals_new(void)
{
    struct fm_merged_totals *totals = g_new0(struct fm_merged_totals, 1);
    totals->recorded = g_byte_array_new();
    return totals;
}

static void drop(struct fm_merged_totals *totals, unsigned i)
{
    g_array_unref(totals->of[i].values);
    totals->of[i] = totals->of[--totals->count];
}

void fm_merged_totals_free(struct fm_merged_totals *totals)
{
    while (totals->count > 0)
        drop(totals, 0);
    g_byte_array_unref(totals->recorded);
    g_free(totals);
}

/* --- the walk over an input --- */

void fm_merge_walk_init(struct fm_merge_walk *walk, const struct fm_profile *profile)
{
    size_t pds = profile->pd_count + (size_t)1;
    *walk = (struct fm_merge_walk){.order = g_new(uint32_t, pds),
                                   .maker = g_new0(uint32_t, pds),
                                   .closing = g_array_new(FALSE, FALSE, sizeof(uint32_t))};
}

void fm_merge_walk_done(struct fm_merge_walk *walk)
{
    g_free(walk->order);
    g_free(walk->maker);
    if (walk->closing != NULL)
        g_array_unref(walk->closing);
    *walk = (struct fm_merge_walk){0};
}

/* Which contexts belong to one recursion: those between the ends of a call that closes a cycle, in
 * the tree by which they were reached. */
struct groups {
    uint32_t *parents; /* union-find, the root of a group is its outermost */
    uint32_t *depth;
    bool *several; /* by group */
};

static uint32_t group_of(struct groups *g, uint32_t pd)
{
    uint32_t at = pd;
    while (g->parents[at] != at)
        at = g->parents[at];
    while (pd != at) {
        uint32_t next = g->parents[pd];
        g->parents[pd] = at;
        pd = next;
    }
    return at;
}

static void find_groups(struct groups *g, const struct fm_merge_walk *walk,
                        const struct fm_profile *profile)
{
    size_t pds = profile->pd_count + (size_t)1;
    *g = (struct groups){g_new0(uint32_t, pds), g_new0(uint32_t, pds), g_new0(bool, pds)};
    for (uint32_t i = 0; i < walk->count; i++) {
        uint32_t pd = walk->order[i], maker = walk->maker[pd];
        g->parents[pd] = pd;
        g->depth[pd] = maker == 0 ? 0 : g->depth[profile->csd_caller[maker]] + 1;
    }
    for (guint i = 0; i < walk->closing->len; i++) {
        uint32_t csd = g_array_index(walk->closing, uint32_t, i);
        uint32_t a = group_of(g, profile->csd_caller[csd]);
        uint32_t b = group_of(g, profile->csd_callee[csd]);
        while (a != b) {
            uint32_t *deeper = g->depth[a] > g->depth[b] ? &a : &b;
            uint32_t above = group_of(g, profile->csd_caller[walk->maker[*deeper]]);
            g->parents[*deeper] = above;
            g->several[above] = true;
            *deeper = above;
        }
    }
}

static void groups_clear(struct groups *g)
{
    g_free(g->parents);
    g_free(g->depth);
    g_free(g->several);
}

/* --- adding an input --- */

static bool knows(const struct fm_profile *profile, int measure)
{
    return measure >= 0 && fm_inclusive_place(&profile->run_info.inclusive, (unsigned)measure) >= 0;
}

static int measure_of(const struct fm_profile *profile, const char *name)
{
    return fm_merge_measure_of(profile->measures, profile->measure_count, name);
}

/* All that imports may know; recordings know of time. So it does not depend on which input is the
 * first. */
static void choose_measures(struct fm_merge *m, const struct fm_profile *profile, bool recursions)
{
    struct fm_merged_totals *totals = m->totals;
    for (unsigned i = FM_FIRST_INHERITED; i < m->measure_count && !totals->begun; i++) {
        const char *name = m->measures[i].name;
        if (i != FM_QUANTA && profile->run_info.origin == NULL)
            continue;
        totals->of[totals->count++] =
            (struct total){name, g_array_new(FALSE, TRUE, sizeof(uint64_t))};
    }
    totals->begun = true;
    for (unsigned i = totals->count; i-- > 0;) {
        int measure = measure_of(profile, totals->of[i].name);
        if (measure < 0 || (recursions && !knows(profile, measure)))
            drop(totals, i);
    }
}

/* Cost of each context with everything reached from it. */
static uint64_t *totals_of(const struct fm_profile *profile, const struct fm_merge_walk *walk,
                           enum fm_measure_id measure, uint64_t factor)
{
    uint64_t *of = g_new0(uint64_t, profile->pd_count + (size_t)1);
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        uint64_t own = fm_profile_own(profile, csd, measure);
        uint64_t *sum = &of[profile->csd_callee[csd]];
        *sum = fm_merge_sum(*sum, fm_merge_scaled(own, factor));
    }
    for (uint32_t i = walk->count; i-- > 1;) {
        uint32_t pd = walk->order[i];
        uint64_t *above = &of[profile->csd_caller[walk->maker[pd]]];
        *above = fm_merge_sum(*above, of[pd]);
    }
    return of;
}

static void add_measure(struct fm_merge *m, const struct fm_profile *profile,
                        const struct fm_merge_walk *walk, const uint32_t *nodes,
                        struct total *total, uint64_t factor)
{
    const struct fm_inclusive_info *info = &profile->run_info.inclusive;
    int measure = measure_of(profile, total->name);
    bool recorded = knows(profile, measure);
    g_autofree uint64_t *of = totals_of(profile, walk, (enum fm_measure_id)measure, factor);
    if (recorded) {
        int place = fm_inclusive_place(info, (unsigned)measure);
        for (uint32_t i = 0; i < info->count; i++)
            of[info->pds[i]] =
                fm_merge_scaled(info->values[(size_t)i * info->width + (unsigned)place], factor);
    }
    g_array_set_size(total->values, m->nodes->len);
    for (uint32_t i = 0; i < walk->count; i++) {
        uint32_t pd = walk->order[i];
        uint64_t *sum = &g_array_index(total->values, uint64_t, fm_merge_class_of(m, nodes[pd]));
        *sum = fm_merge_sum(*sum, of[pd]);
    }
}

/* In recursions, totals of contexts without a record are not known. */
static void mark(struct fm_merge *m, const struct fm_profile *profile,
                 const struct fm_merge_walk *walk, struct groups *g, const uint32_t *nodes)
{
    GByteArray *recorded = m->totals->recorded;
    guint before = recorded->len;
    g_byte_array_set_size(recorded, m->nodes->len);
    if (before < recorded->len)
        memset(recorded->data + before, 0, recorded->len - before);
    for (uint32_t i = 0; i < walk->count; i++) {
        uint32_t pd = walk->order[i];
        bool told = fm_inclusive_find(&profile->run_info.inclusive, pd) != NULL;
        if (told || g->several[group_of(g, pd)])
            recorded->data[fm_merge_class_of(m, nodes[pd])] |= told ? RECORDED : UNKNOWN;
    }
}

void fm_merge_totals_add(struct fm_merge *m, const struct fm_profile *profile,
                         const struct fm_merge_walk *walk, const uint32_t *nodes, uint64_t factor)
{
    struct groups g;
    choose_measures(m, profile, walk->closing->len > 0);
    for (unsigned i = 0; i < m->totals->count; i++)
        add_measure(m, profile, walk, nodes, &m->totals->of[i],
                    measure_of(profile, m->totals->of[i].name) == FM_QUANTA ? factor : 1);
    find_groups(&g, walk, profile);
    mark(m, profile, walk, &g, nodes);
    groups_clear(&g);
}

void fm_merge_totals_rescale(struct fm_merge *m, uint64_t factor)
{
    for (unsigned i = 0; i < m->totals->count; i++) {
        GArray *values = m->totals->of[i].values;
        if (strcmp(m->totals->of[i].name, m->measures[FM_QUANTA].name) != 0)
            continue;
        for (guint node = 0; node < values->len; node++)
            g_array_index(values, uint64_t, node) =
                fm_merge_scaled(g_array_index(values, uint64_t, node), factor);
    }
}

/* --- the sum --- */

/* Adds up what was recorded for nodes that have since been merged. */
static void join_classes(struct fm_merge *m)
{
    struct fm_merged_totals *totals = m->totals;
    for (uint32_t node = 0; node < totals->recorded->len; node++) {
        uint32_t class = fm_merge_class_of(m, node);
        if (class == node)
            continue;
        totals->recorded->data[class] |= totals->recorded->data[node];
        for (unsigned i = 0; i < totals->count; i++) {
            uint64_t *sum = &g_array_index(totals->of[i].values, uint64_t, class);
            *sum = fm_merge_sum(*sum, g_array_index(totals->of[i].values, uint64_t, node));
        }
    }
}

/* In the order of the result's measures; bit i of the result: measure i. */
static uint32_t order_measures(struct fm_merge *m, GArray *ret_values[])
{
    const struct fm_merged_totals *totals = m->totals;
    uint32_t measures = 0;
    for (unsigned i = FM_FIRST_INHERITED; i < m->measure_count; i++) {
        for (unsigned t = 0; t < totals->count; t++) {
            if (strcmp(totals->of[t].name, m->measures[i].name) != 0)
                continue;
            ret_values[__builtin_popcount(measures)] = totals->of[t].values;
            measures |= 1u << i;
        }
    }
    return measures;
}

void fm_merge_totals_tell(struct fm_merge *m, const GArray *classes, struct fm_build *build)
{
    GArray *values[FM_MEASURES_MAX] = {NULL};
    bool any = false;
    join_classes(m);
    uint32_t measures = order_measures(m, values);
    unsigned width = (unsigned)__builtin_popcount(measures);
    for (guint i = 0; i < classes->len && width > 0; i++) {
        uint32_t class = g_array_index(classes, uint32_t, i);
        uint64_t record[FM_MEASURES_MAX];
        uint8_t state = class < m->totals->recorded->len ? m->totals->recorded->data[class] : 0;
        if ((state & UNKNOWN) != 0 || (state == 0 && m->clique_size[class] <= 1))
            continue;
        if (!any)
            fm_build_inclusive(build, measures);
        any = true;
        for (unsigned v = 0; v < width; v++) {
            bool has = values[v] != NULL && class < values[v]->len;
            record[v] = has ? g_array_index(values[v], uint64_t, class) : 0;
        }
        fm_build_pd_inclusive(build, i + 1, record);
    }
}

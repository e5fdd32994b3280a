/* SPDX-License-Identifier: Apache-2.0 */
/* At which level two builds of a program can be compared. Compilers inline, make one call of two
 * that are alike, and know callees of pointers, so a call may stand below a body in one build and
 * below the function around it in the other. Whatever they do, its frame is the same: the nearest
 * context above it that both builds count. All calls of one function below one frame are a group,
 * which is compared as a whole; where the builds inline that function differently, and its numbers
 * differ as that would make them, they say nothing. */
#include <string.h>

#include "runs/compare/internal.h"

/* Each round passes over the bodies that the one before found. */
#define ROUNDS 4u

struct group {
    int64_t calls[FM_SIDES];
    bool inlines[FM_SIDES];  /* that side has more inlined bodies there */
    bool calls_more, misfit; /* its callees', see dissolves() */
};

struct levels {
    struct fm_compare *c;
    const struct fm_pairs *pairs;
    uint32_t *ps_of[FM_SIDES];      /* [given ps + 1] the procedure of the graph, 0 = none */
    GHashTable *bodies[FM_SIDES];   /* (procedure of the graph, callee) -> inlined sites */
    bool *present[FM_SIDES];        /* [pd + 1] that side has the context */
    bool *uncounted[FM_SIDES];      /* [pd + 1] and has not counted some calls into it */
    int64_t *calls[FM_SIDES];       /* [pd + 1] */
    int64_t *entries[FM_SIDES];     /* [pd + 1] the same, of threads too; 1 of the root */
    int64_t *frame_calls[FM_SIDES]; /* [frame + 1] the sum of entries */
    bool *dissolved;                /* [pd + 1] */
    GHashTable *groups;             /* (frame, procedure) -> struct group */
};

static uint64_t *new_key(uint32_t high, uint32_t low)
{
    const uint64_t key = (uint64_t)high << 32 | low;
    return g_memdup2(&key, sizeof key);
}

static uint32_t parent_of(const struct fm_compare *c, uint32_t pd)
{
    return c->tree_csd[pd] == 0 ? 0 : c->side[FM_BEFORE]->csd_caller[c->tree_csd[pd]];
}

/* By the contexts that ran, else by its counterpart's. */
static void map_procedures(struct levels *l)
{
    const struct fm_profile *graph = l->c->side[FM_BEFORE];
    for (int side = FM_BEFORE; side < FM_SIDES; side++) {
        const struct fm_profile *given = l->c->given[side];
        l->ps_of[side] = g_new0(uint32_t, given->ps_count + 1u);
        for (uint32_t csd = 1; csd <= given->csd_count; csd++) {
            uint32_t of = l->c->run_csds[side][0][csd];
            if (of != 0)
                l->ps_of[side][given->pd_ps[given->csd_callee[csd]]] =
                    graph->pd_ps[graph->csd_callee[of]];
        }
    }
    for (uint32_t ps = 1; ps <= l->c->given[FM_BEFORE]->ps_count; ps++) {
        uint32_t other = l->pairs->ps[ps];
        if (other == 0)
            continue;
        if (l->ps_of[FM_BEFORE][ps] == 0)
            l->ps_of[FM_BEFORE][ps] = l->ps_of[FM_AFTER][other];
        if (l->ps_of[FM_AFTER][other] == 0)
            l->ps_of[FM_AFTER][other] = l->ps_of[FM_BEFORE][ps];
    }
}

static void find_bodies(struct levels *l, enum fm_side side)
{
    const struct fm_profile *given = l->c->given[side];
    l->bodies[side] = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    for (uint32_t css = 1; css <= given->css_count; css++) {
        const struct fm_css *site = &given->css[css];
        if (!site->inlined || site->callee_ps == 0)
            continue;
        uint64_t *key = new_key(l->ps_of[side][site->ps], l->ps_of[side][site->callee_ps]);
        guint count = GPOINTER_TO_UINT(g_hash_table_lookup(l->bodies[side], key));
        g_hash_table_insert(l->bodies[side], key, GUINT_TO_POINTER(count + 1));
    }
}

static guint bodies(const struct levels *l, int side, uint32_t container, uint32_t callee)
{
    const uint64_t key = (uint64_t)container << 32 | callee;
    return GPOINTER_TO_UINT(g_hash_table_lookup(l->bodies[side], &key));
}

static void find_calls(struct levels *l, enum fm_side side)
{
    const struct fm_profile *graph = l->c->side[side], *given = l->c->given[side];
    l->calls[side] = g_new0(int64_t, graph->pd_count + 1u);
    l->entries[side] = g_new0(int64_t, graph->pd_count + 1u);
    l->frame_calls[side] = g_new0(int64_t, graph->pd_count + 1u);
    l->present[side] = g_new0(bool, graph->pd_count + 1u);
    l->uncounted[side] = g_new0(bool, graph->pd_count + 1u);
    for (uint32_t csd = 1; csd <= graph->csd_count; csd++) {
        if (fm_compare_is_loop(l->c, csd))
            continue;
        l->calls[side][graph->csd_callee[csd]] += fm_profile_calls_of_code(graph, csd);
        l->entries[side][graph->csd_callee[csd]] += fm_profile_calls(graph, csd);
    }
    l->entries[side][graph->root_pd] = 1;
    for (uint32_t csd = 1; csd <= given->csd_count; csd++) {
        uint32_t of = l->c->run_csds[side][0][csd];
        if (of == 0)
            continue;
        l->present[side][graph->csd_callee[of]] = true;
        if (fm_profile_css_uncounted(given, given->csd_css[csd]))
            l->uncounted[side][graph->csd_callee[of]] = true;
    }
}

/* Contexts of one function below one frame are one frame: one of them stands for all. */
static void set_frames(struct levels *l)
{
    struct fm_compare *c = l->c;
    const uint32_t *pd_ps = c->side[FM_BEFORE]->pd_ps;
    size_t count = c->side[FM_BEFORE]->pd_count + 1u;
    g_autofree uint32_t *first = g_new0(uint32_t, count);
    g_autoptr(GHashTable) known = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    for (int side = FM_BEFORE; side < FM_SIDES; side++)
        memset(l->frame_calls[side], 0, count * sizeof **l->frame_calls);
    for (uint32_t at = 0; at < c->order_count; at++) {
        uint32_t pd = c->order[at], above = parent_of(c, pd);
        c->frame[pd] = c->uncounted[above] ? c->frame[above] : first[above];
        const uint64_t key = (uint64_t)c->frame[pd] << 32 | pd_ps[pd];
        first[pd] = GPOINTER_TO_UINT(g_hash_table_lookup(known, &key));
        if (first[pd] == 0) {
            first[pd] = pd;
            g_hash_table_insert(known, new_key(c->frame[pd], pd_ps[pd]), GUINT_TO_POINTER(pd));
        }
        for (int side = FM_BEFORE; side < FM_SIDES; side++)
            l->frame_calls[side][first[pd]] += l->entries[side][pd];
    }
}

static struct group *group_of(struct levels *l, uint32_t pd)
{
    uint32_t ps = l->c->side[FM_BEFORE]->pd_ps[pd];
    const uint64_t key = (uint64_t)l->c->frame[pd] << 32 | ps;
    struct group *group = g_hash_table_lookup(l->groups, &key);
    if (group == NULL) {
        group = g_new0(struct group, 1);
        g_hash_table_insert(l->groups, new_key(l->c->frame[pd], ps), group);
    }
    return group;
}

/* A copy of the site is inlined on that side, and the context is not there: an inlined body that
 * calls nothing leaves none. */
static bool has_lost(const struct levels *l, int side, uint32_t pd)
{
    const uint32_t *pd_ps = l->c->side[FM_BEFORE]->pd_ps;
    return l->c->uncounted[pd] && !l->present[side][pd] &&
           bodies(l, side, pd_ps[parent_of(l->c, pd)], pd_ps[pd]) > 0;
}

static void add_to_group(struct levels *l, uint32_t pd)
{
    const uint32_t *pd_ps = l->c->side[FM_BEFORE]->pd_ps;
    uint32_t above = pd_ps[parent_of(l->c, pd)], frame = pd_ps[l->c->frame[pd]];
    struct group *group = group_of(l, pd);
    for (int side = FM_BEFORE; side < FM_SIDES; side++) {
        group->calls[side] += l->calls[side][pd];
        group->inlines[side] =
            group->inlines[side] || (l->uncounted[side][pd] && !l->uncounted[!side][pd]) ||
            has_lost(l, side, pd) ||
            bodies(l, side, above, pd_ps[pd]) > bodies(l, !side, above, pd_ps[pd]) ||
            bodies(l, side, frame, pd_ps[pd]) > bodies(l, !side, frame, pd_ps[pd]);
    }
}

/* -1, 0, 1: the group has fewer, as many, more calls after than its frame's explain. Of a frame
 * that one build alone has, the other's calls are elsewhere. */
static int direction(const struct levels *l, const struct group *group, uint32_t frame)
{
    if (l->frame_calls[FM_BEFORE][frame] <= 0 || l->frame_calls[FM_AFTER][frame] <= 0)
        return group->calls[FM_BEFORE] > 0 ? -1 : group->calls[FM_AFTER] > 0;
    __int128 expected = (__int128)group->calls[FM_BEFORE] * l->frame_calls[FM_AFTER][frame];
    __int128 actual = (__int128)group->calls[FM_AFTER] * l->frame_calls[FM_BEFORE][frame];
    return actual < expected ? -1 : actual > expected;
}

static bool explains(const struct group *group, int direction)
{
    return direction != 0 && group->inlines[direction < 0 ? FM_AFTER : FM_BEFORE];
}

/* The side that has no call of a group; FM_SIDES: both have, or none, or the frame is not in both.
 */
static int side_without(const struct levels *l, const struct group *group, uint32_t frame)
{
    if (l->frame_calls[FM_BEFORE][frame] <= 0 || l->frame_calls[FM_AFTER][frame] <= 0 ||
        (group->calls[FM_BEFORE] > 0) == (group->calls[FM_AFTER] > 0))
        return FM_SIDES;
    return group->calls[FM_BEFORE] > 0 ? FM_AFTER : FM_BEFORE;
}

/* A compiler that makes one call of two in inlined bodies may leave nothing that names the bodies.
 * But what they called is then called by their frame, exactly as often. */
static void look_below(struct levels *l)
{
    const uint32_t *pd_ps = l->c->side[FM_BEFORE]->pd_ps;
    for (uint32_t at = 1; at < l->c->order_count; at++) {
        uint32_t pd = l->c->order[at], above = l->c->frame[pd];
        if (above == 0 || l->c->frame[above] == 0 || l->c->uncounted[pd])
            continue;
        struct group *caller = group_of(l, above);
        uint32_t frame = l->c->frame[above];
        int without = side_without(l, caller, frame);
        const uint64_t key = (uint64_t)frame << 32 | pd_ps[pd];
        struct group sum = {0};
        const struct group *here = group_of(l, pd), *there = g_hash_table_lookup(l->groups, &key);
        if (without == FM_SIDES || here->calls[!without] == 0)
            continue;
        if (there == NULL || there->calls[without] == 0) /* inlined as well, it says nothing */
            continue;
        for (int side = FM_BEFORE; side < FM_SIDES; side++)
            sum.calls[side] = here->calls[side] + there->calls[side];
        caller->calls_more = true;
        caller->misfit = caller->misfit || direction(l, &sum, frame) != 0;
    }
}

static bool dissolves(const struct levels *l, const struct group *group, uint32_t frame)
{
    return side_without(l, group, frame) != FM_SIDES && group->calls_more && !group->misfit;
}

/* Whether anything is known that was not. */
static bool judge_groups(struct levels *l)
{
    bool changed = false;
    g_hash_table_remove_all(l->groups);
    for (uint32_t at = 1; at < l->c->order_count; at++)
        add_to_group(l, l->c->order[at]);
    look_below(l);
    for (uint32_t at = 1; at < l->c->order_count; at++) {
        uint32_t pd = l->c->order[at];
        const struct group *group = group_of(l, pd);
        int way = direction(l, group, l->c->frame[pd]);
        /* Once it is found, what it called is its frame's, and no longer shows it. */
        l->dissolved[pd] = l->dissolved[pd] || dissolves(l, group, l->c->frame[pd]);
        l->c->uneven[pd] = l->dissolved[pd] || explains(group, way);
        bool all_counted = way == 0 && group->calls[FM_BEFORE] > 0 &&
                           (group->inlines[FM_BEFORE] || group->inlines[FM_AFTER]);
        bool uncounted = l->c->uneven[pd] || (l->c->uncounted[pd] && !all_counted);
        changed = changed || uncounted != l->c->uncounted[pd];
        l->c->uncounted[pd] = uncounted;
    }
    return changed;
}

static void find_uncounted(struct fm_compare *c)
{
    const struct fm_profile *p = c->side[FM_BEFORE];
    for (uint32_t csd = 1; csd <= p->csd_count; csd++) {
        if (fm_profile_css_uncounted(c->side[FM_BEFORE], p->csd_css[csd]) ||
            fm_profile_css_uncounted(c->side[FM_AFTER], p->csd_css[csd]))
            c->uncounted[p->csd_callee[csd]] = true;
    }
}

bool fm_compare_is_loop(const struct fm_compare *c, uint32_t csd)
{
    const struct fm_profile *p = c->side[FM_BEFORE];
    return p->csd_caller[csd] == p->csd_callee[csd] && c->loops[p->csd_callee[csd]];
}

static bool calls_itself(const struct fm_profile *p, uint32_t ps)
{
    const struct fm_ps *of = &p->ps[ps];
    for (uint32_t i = 0; i < of->css_count; i++) {
        const struct fm_css *css = &p->css[p->css_of_ps[of->css_first + i]];
        if (css->callee_ps == ps || css->kind != FM_SITE_NORMAL)
            return true;
    }
    return false;
}

/* A function that calls itself, directly, in one build alone: compilers make loops of such calls.
 */
static void find_loops(struct levels *l)
{
    const struct fm_profile *graph = l->c->side[FM_BEFORE];
    g_autofree bool *loops = g_new0(bool, graph->ps_count + 1u);
    for (uint32_t ps = 1; ps <= l->c->given[FM_BEFORE]->ps_count; ps++) {
        uint32_t other = l->pairs->ps[ps];
        if (other != 0)
            loops[l->ps_of[FM_BEFORE][ps]] = calls_itself(l->c->given[FM_BEFORE], ps) !=
                                             calls_itself(l->c->given[FM_AFTER], other);
    }
    loops[0] = false;
    for (uint32_t pd = 1; pd <= graph->pd_count; pd++)
        l->c->loops[pd] = loops[graph->pd_ps[pd]];
}

void fm_compare_find_levels(struct fm_compare *c, const struct fm_pairs *pairs)
{
    struct levels l = {.c = c, .pairs = pairs};
    size_t count = c->side[FM_BEFORE]->pd_count + 1u;
    c->uncounted = g_new0(bool, count);
    c->uneven = g_new0(bool, count);
    c->loops = g_new0(bool, count);
    c->frame = g_new0(uint32_t, count);
    find_uncounted(c);
    if (!fm_compare_has(c, FM_COMPARE_CALLS))
        return;
    map_procedures(&l);
    find_loops(&l);
    l.dissolved = g_new0(bool, count);
    l.groups = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, g_free);
    for (int side = FM_BEFORE; side < FM_SIDES; side++) {
        find_bodies(&l, (enum fm_side)side);
        find_calls(&l, (enum fm_side)side);
    }
    set_frames(&l);
    for (unsigned round = 0; round < ROUNDS && judge_groups(&l); round++)
        set_frames(&l);
    g_hash_table_unref(l.groups);
    g_free(l.dissolved);
    for (int side = FM_BEFORE; side < FM_SIDES; side++) {
        g_free(l.ps_of[side]);
        g_hash_table_unref(l.bodies[side]);
        g_free(l.present[side]);
        g_free(l.uncounted[side]);
        g_free(l.calls[side]);
        g_free(l.entries[side]);
        g_free(l.frame_calls[side]);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Undetected recursion. A procedure with higher-order or method calls can be active twice without
 * the program noticing: it then has two pds, one below the other, and the inner one's costs are
 * contained in the outer one's. For every clique that holds a zeroed procedure S, this finds the
 * nearest clique above that holds S too, and notes there what the inner activation costs: at the
 * csd by which the way down leaves the upper clique, and at that csd's caller. Summaries subtract
 * these. One walk over the tree of cliques, with explicit stacks. */
#include "analysis/analysis_internal.h"

#include <string.h>

struct level {
    uint32_t clique;
    uint32_t edge;   /* the csd that enters it, 0 for the top */
    uint32_t member; /* where the walk over its csds is: into clique_pds */
    uint32_t slot, item;
    uint32_t undo; /* how long the list of undos was before */
};

struct undo {
    uint32_t ps, depth;
};

struct fm_nested_search {
    uint32_t *depth; /* [ps_count + 1] level number + 1 of the innermost clique that holds it */
    GArray *levels;  /* struct level */
    GArray *undos;   /* struct undo */
};

void fm_nested_search_free(struct fm_nested_search *search)
{
    if (!search)
        return;
    g_free(search->depth);
    g_array_unref(search->levels);
    g_array_unref(search->undos);
    g_free(search);
}

/* Adds the total of one member of the clique at `depth` to the nearest activation above. */
static void add_nested(struct fm_analysis *a, const struct fm_nested_search *search, uint32_t pd)
{
    const struct fm_profile *profile = a->profile;
    unsigned inherited = a->storage->inherited;
    uint32_t ps = profile->pd_ps[pd];
    uint32_t above = search->depth[ps];
    if (above == 0)
        return;
    /* levels[above - 1] is the upper clique, the level after it was entered by the csd we want. */
    uint32_t csd = g_array_index(search->levels, struct level, above).edge;
    int64_t *at_csd = fm_sparse_at(&a->storage->nested_csd, inherited, csd, ps);
    int64_t *at_pd = fm_sparse_at(&a->storage->nested_pd, inherited, profile->csd_caller[csd], ps);
    for (unsigned m = 0; m < inherited; m++) {
        int64_t total = (int64_t)fm_pd_total(a, pd, FM_FIRST_INHERITED + m);
        at_csd[m] = fm_wrap_add(at_csd[m], total);
        at_pd[m] = fm_wrap_add(at_pd[m], total);
    }
}

static void enter(struct fm_analysis *a, struct fm_nested_search *search, uint32_t clique,
                  uint32_t edge)
{
    struct level level = {.clique = clique,
                          .edge = edge,
                          .member = a->clique_first[clique],
                          .undo = search->undos->len};
    g_array_append_val(search->levels, level);
    uint32_t end = a->clique_first[clique + 1];
    for (uint32_t i = level.member; i < end; i++) {
        if (a->ps_zeroed[a->profile->pd_ps[a->clique_pds[i]]])
            add_nested(a, search, a->clique_pds[i]);
    }
    for (uint32_t i = level.member; i < end; i++) {
        uint32_t ps = a->profile->pd_ps[a->clique_pds[i]];
        if (!a->ps_zeroed[ps] || search->depth[ps] == search->levels->len)
            continue;
        struct undo undo = {.ps = ps, .depth = search->depth[ps]};
        g_array_append_val(search->undos, undo);
        search->depth[ps] = search->levels->len;
    }
}

static void leave(struct fm_nested_search *search)
{
    const struct level *level =
        &g_array_index(search->levels, struct level, search->levels->len - 1);
    while (search->undos->len > level->undo) {
        struct undo undo = g_array_index(search->undos, struct undo, search->undos->len - 1);
        search->depth[undo.ps] = undo.depth;
        g_array_set_size(search->undos, search->undos->len - 1);
    }
    g_array_set_size(search->levels, search->levels->len - 1);
}

/* The next csd that leaves the clique and enters another as its parent; 0 at the end. */
static uint32_t next_edge(const struct fm_analysis *a, struct level *level)
{
    const struct fm_profile *profile = a->profile;
    for (; level->member < a->clique_first[level->clique + 1]; level->member++, level->slot = 0) {
        uint32_t pd = a->clique_pds[level->member];
        uint32_t slots = fm_slot_count(profile, pd);
        for (; level->slot < slots; level->slot++, level->item = 0) {
            uint32_t count;
            const uint32_t *csds = fm_profile_slot(profile, pd, level->slot, &count);
            while (level->item < count) {
                uint32_t csd = csds[level->item++];
                uint32_t clique = a->pd_clique[profile->csd_callee[csd]];
                if (clique != level->clique && a->clique_parent[clique] == csd)
                    return csd;
            }
        }
    }
    return 0;
}

static bool any_zeroed(const struct fm_analysis *a)
{
    return memchr(a->ps_zeroed, true, a->profile->ps_count + 1u) != NULL;
}

bool fm_phase_nested(struct fm_analysis_job *job, uint32_t budget)
{
    struct fm_analysis *a = job->analysis;
    if (!job->nested) {
        if (!any_zeroed(a))
            return true;
        job->nested = g_new0(struct fm_nested_search, 1);
        job->nested->levels = g_array_new(FALSE, FALSE, sizeof(struct level));
        job->nested->undos = g_array_new(FALSE, FALSE, sizeof(struct undo));
        job->nested->depth = fm_job_numbers(job, a->profile->ps_count + 1u);
        if (job->failed)
            return false;
    }
    struct fm_nested_search *search = job->nested;
    for (; budget > 0; budget--) {
        /* Every clique without a parent is the top of a tree; in a sound profile only the root's.
         */
        while (search->levels->len == 0) {
            if (job->cursor == a->clique_count) {
                g_clear_pointer(&job->nested, fm_nested_search_free);
                return true;
            }
            if (a->clique_parent[++job->cursor] == 0)
                enter(a, search, job->cursor, 0);
        }
        struct level *level = &g_array_index(search->levels, struct level, search->levels->len - 1);
        uint32_t csd = next_edge(a, level);
        if (csd == 0)
            leave(search);
        else
            enter(a, search, a->pd_clique[a->profile->csd_callee[csd]], csd);
    }
    return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Undetected recursion. A procedure with higher-order or method calls may be active twice without
 * the program noticing it. It then has two pds, one below the other, and the inner one's costs are
 * contained in the outer one's. For every clique that contains a zeroed procedure S, this finds the
 * nearest clique above that contains S, too, and notes the inner activation's cost there: at the
 * csd by which the path down leaves the upper clique, and at that csd's caller. Summaries subtract
 * these. One walk over the tree of cliques, with explicit stacks. */
#include "profile/analysis/analysis_internal.h"

#include <string.h>

struct level {
    uint32_t clique;
    uint32_t edge;   /* the csd that enters it, 0 for the top */
    uint32_t member; /* position of the walk over its csds: index into clique_pds */
    uint32_t slot, item;
    uint32_t undo; /* how long the list of undos was before */
};

struct undo {
    uint32_t ps, depth;
};

struct fm_nested_search {
    uint32_t *depth; /* [ps_count + 1] level number + 1 of the innermost clique that holds it */
    struct level *levels;
    uint32_t level_count, level_capacity;
    struct undo *undos;
    uint32_t undo_count, undo_capacity;
};

void fm_nested_search_free(struct fm_nested_search *search)
{
    if (!search)
        return;
    g_free(search->depth);
    g_free(search->levels);
    g_free(search->undos);
    g_free(search);
}

static void push_level(struct fm_nested_search *search, struct level level)
{
    if (FM_UNLIKELY(search->level_count == search->level_capacity)) {
        search->level_capacity = MAX(256u, 2 * search->level_capacity);
        search->levels = g_renew(struct level, search->levels, search->level_capacity);
    }
    search->levels[search->level_count++] = level;
}

static void push_undo(struct fm_nested_search *search, struct undo undo)
{
    if (FM_UNLIKELY(search->undo_count == search->undo_capacity)) {
        search->undo_capacity = MAX(256u, 2 * search->undo_capacity);
        search->undos = g_renew(struct undo, search->undos, search->undo_capacity);
    }
    search->undos[search->undo_count++] = undo;
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
    /* levels[above - 1] is the upper clique; the wanted csd entered the level after it. */
    uint32_t csd = search->levels[above].edge;
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
    uint32_t first = a->clique_first[clique], end = a->clique_first[clique + 1];
    push_level(search,
               (struct level){
                   .clique = clique, .edge = edge, .member = first, .undo = search->undo_count});
    for (uint32_t i = first; i < end; i++) {
        if (a->ps_zeroed[a->profile->pd_ps[a->clique_pds[i]]])
            add_nested(a, search, a->clique_pds[i]);
    }
    for (uint32_t i = first; i < end; i++) {
        uint32_t ps = a->profile->pd_ps[a->clique_pds[i]];
        if (!a->ps_zeroed[ps] || search->depth[ps] == search->level_count)
            continue;
        push_undo(search, (struct undo){.ps = ps, .depth = search->depth[ps]});
        search->depth[ps] = search->level_count;
    }
}

static void leave(struct fm_nested_search *search)
{
    const struct level *level = &search->levels[--search->level_count];
    while (search->undo_count > level->undo) {
        const struct undo *undo = &search->undos[--search->undo_count];
        search->depth[undo->ps] = undo->depth;
    }
}

/* The next csd that leaves the clique and enters another as its parent; 0 at the end. */
static uint32_t next_edge(const struct fm_analysis *a, struct level *level)
{
    const struct fm_profile *profile = a->profile;
    bool arcs = fm_profile_is(profile, FM_NATURE_ARCS);
    for (; level->member < a->clique_first[level->clique + 1]; level->member++, level->slot = 0) {
        uint32_t pd = a->clique_pds[level->member];
        uint32_t slots = fm_slot_count(profile, pd);
        for (; level->slot < slots; level->slot++, level->item = 0) {
            uint32_t count;
            const uint32_t *csds = fm_profile_slot(profile, pd, level->slot, &count);
            while (level->item < count) {
                uint32_t csd = csds[level->item++];
                /* In arc profiles several csds enter a clique; the tree uses one. */
                if (fm_csd_enters(a, csd) &&
                    (!arcs || a->clique_parent[a->pd_clique[profile->csd_callee[csd]]] == csd))
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

/* If every clique can be reached from the one found last, descending numbers are a walk over the
 * tree. False when the next clique is not below an open one. */
static bool enter_next(struct fm_analysis *a, struct fm_nested_search *search, uint32_t clique)
{
    uint32_t edge = a->clique_parent[clique];
    uint32_t above = edge != 0 ? a->pd_clique[a->profile->csd_caller[edge]] : 0;
    while (search->level_count > 0 && search->levels[search->level_count - 1].clique != above)
        leave(search);
    if (above != 0 && search->level_count == 0)
        return false;
    enter(a, search, clique, edge);
    return true;
}

/* As above, for any order of numbers: follows the csds of open cliques. True at the end. */
static bool walk(struct fm_analysis_job *job)
{
    struct fm_analysis *a = job->analysis;
    struct fm_nested_search *search = job->nested;
    /* Every clique without a parent is the top of a tree; in a sound profile only the root's. */
    while (search->level_count == 0) {
        if (job->cursor == a->clique_count)
            return true;
        if (a->clique_parent[++job->cursor] == 0)
            enter(a, search, job->cursor, 0);
    }
    uint32_t csd = next_edge(a, &search->levels[search->level_count - 1]);
    if (csd == 0)
        leave(search);
    else
        enter(a, search, a->pd_clique[a->profile->csd_callee[csd]], csd);
    return false;
}

static void begin_again(struct fm_analysis_job *job)
{
    struct fm_analysis_storage *storage = job->analysis->storage;
    while (job->nested->level_count > 0)
        leave(job->nested);
    fm_sparse_done(&storage->nested_csd);
    fm_sparse_done(&storage->nested_pd);
    job->stage = 1;
    job->cursor = 0;
}

bool fm_phase_nested(struct fm_analysis_job *job, uint32_t budget)
{
    struct fm_analysis *a = job->analysis;
    if (!job->nested) {
        if (!any_zeroed(a))
            return true;
        job->nested = g_new0(struct fm_nested_search, 1);
        job->nested->depth = fm_job_numbers(job, a->profile->ps_count + 1u);
        if (job->failed)
            return false;
    }
    for (; job->stage == 0 && budget > 0 && job->cursor < a->clique_count; budget--) {
        if (!enter_next(a, job->nested, a->clique_count - job->cursor++))
            begin_again(job);
    }
    bool done = job->stage == 0 && job->cursor == a->clique_count;
    for (; job->stage == 1 && budget > 0 && !done; budget--)
        done = walk(job);
    if (done)
        g_clear_pointer(&job->nested, fm_nested_search_free);
    return done;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/digest/hottest.h"

#include <stdlib.h>
#include <string.h>

#include "base/priority_queue.h"
#include "profile/digest/hot_recursions.h"
#include "profile/digest/paths.h"
#include "profile/digest/tree.h"
#include "profile/digest/wrappers.h"

#define CANDIDATES_MAX 4096u
#define MEASURES_FIRST 4 /* that every profile has */
#define CLIMB_NODES 60   /* cost of computing a candidate's path, in proc dynamics */

static const enum fm_measure_id first_measures[MEASURES_FIRST] = {FM_QUANTA, FM_CALLSEQS, FM_ALLOCS,
                                                                  FM_WORDS};

struct candidate {
    int64_t own;
    uint32_t pd;
    uint64_t path; /* hash: equal for contexts with equal path and function */
};

/* The most expensive proc dynamics by one measure, as a heap whose first is the cheapest. */
struct candidates {
    struct candidate *all; /* [CANDIDATES_MAX] */
    void *heap[CANDIDATES_MAX];
    size_t count;
};

enum phase { PHASE_PDS, PHASE_RECURSIONS, PHASE_PATHS, PHASE_DONE };

struct hot_list {
    struct fm_hot_path paths[FM_HOT_MAX];
    unsigned count;
};

struct fm_hot {
    const struct fm_analysis *a;
    enum fm_measure_id measures[FM_HOT_MEASURES];
    unsigned measure_count;
    enum phase phase;
    uint32_t cursor;
    struct candidates candidates[FM_HOT_MEASURES];
    struct fm_hot_search *search; /* for recursions */
    bool beside;                  /* another thread does its steps */
    bool found;                   /* it is done; atomic */
    GHashTable *path_hashes;      /* clique -> GUINT64, while paths are found */
    GArray *climbed;              /* uint32_t; path_hash()'s own */
    struct fm_digest_wrappers *wrappers;
    struct hot_list lists[FM_HOT_MEASURES][2]; /* [1]: wrappers skipped */
    struct fm_hot_recursion dearest[FM_HOT_MEASURES][FM_HOT_MAX];
    unsigned dearest_count[FM_HOT_MEASURES];
};

static void add_measure(struct fm_hot *hot, enum fm_further_measure further)
{
    unsigned measure = fm_profile_measure(hot->a->profile, further);
    if (measure != 0)
        hot->measures[hot->measure_count++] = (enum fm_measure_id)measure;
}

static bool is_of_memory(enum fm_measure_id measure)
{
    return measure == FM_ALLOCS || measure == FM_WORDS || measure >= FM_MEASURES_MERCURY;
}

static int measure_index(const struct fm_hot *hot, enum fm_measure_id measure)
{
    for (unsigned i = 0; i < hot->measure_count; i++) {
        if (hot->measures[i] == measure)
            return (int)i;
    }
    return -1;
}

struct fm_hot *fm_hot_new(const struct fm_analysis *a)
{
    struct fm_hot *hot = g_new0(struct fm_hot, 1);
    hot->a = a;
    memcpy(hot->measures, first_measures, sizeof first_measures);
    hot->measure_count = MEASURES_FIRST;
    if (fm_profile_is(a->profile, FM_NATURE_ARCS)) { /* no path is known */
        hot->phase = PHASE_DONE;
        return hot;
    }
    add_measure(hot, FM_LIVE_BYTES);
    add_measure(hot, FM_PEAK_BYTES);
    hot->cursor = 1;
    hot->path_hashes = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    hot->climbed = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    hot->search = fm_hot_search_new(a, hot->measures, hot->measure_count);
    for (unsigned m = 0; m < FM_HOT_MEASURES; m++)
        hot->candidates[m].all = g_new(struct candidate, CANDIDATES_MAX);
    return hot;
}

static void forget_work(struct fm_hot *hot)
{
    g_clear_pointer(&hot->search, fm_hot_search_free);
    g_clear_pointer(&hot->path_hashes, g_hash_table_unref);
    g_clear_pointer(&hot->climbed, g_array_unref);
    for (unsigned m = 0; m < FM_HOT_MEASURES; m++)
        g_clear_pointer(&hot->candidates[m].all, g_free);
}

void fm_hot_free(struct fm_hot *hot)
{
    if (!hot)
        return;
    forget_work(hot);
    fm_digest_wrappers_free(hot->wrappers);
    g_free(hot);
}

/* --- the most expensive proc dynamics --- */

static bool is_cheaper(const void *a, const void *b)
{
    const struct candidate *ca = a, *cb = b;
    if (ca->own != cb->own)
        return ca->own < cb->own;
    return ca->pd > cb->pd;
}

/* The minimum that a proc dynamic must exceed to become a candidate; earlier ones have lower
 * numbers. */
static uint64_t threshold(const struct candidates *candidates)
{
    return candidates->count < CANDIDATES_MAX
               ? 0
               : (uint64_t)((const struct candidate *)candidates->heap[0])->own;
}

/* Most are not, so this is checked before any look-up. */
static bool is_dear(const struct candidates *candidates, uint32_t pd, int64_t own)
{
    const struct candidate candidate = {own, pd, 0};
    return candidates->count < CANDIDATES_MAX || is_cheaper(candidates->heap[0], &candidate);
}

static void offer(struct candidates *candidates, uint32_t pd, int64_t own)
{
    const struct candidate candidate = {own, pd, 0};
    if (candidates->count < CANDIDATES_MAX) {
        candidates->all[candidates->count] = candidate;
        candidates->heap[candidates->count] = &candidates->all[candidates->count];
        candidates->count++;
        fm_queue_sift_up(candidates->heap, candidates->count - 1, is_cheaper);
    } else {
        *(struct candidate *)candidates->heap[0] = candidate;
        fm_queue_sift_down(candidates->heap, candidates->count, 0, is_cheaper);
    }
}

/* All of them, a measure at a time: columns are read in a row. False: no memory for it. */
static bool look_at_all_pds(struct fm_hot *hot)
{
    const struct fm_profile *profile = hot->a->profile;
    g_autofree int64_t *own = g_try_new(int64_t, profile->pd_count + 1u);
    for (unsigned m = 0; own != NULL && m < hot->measure_count; m++) {
        const struct fm_column *column = &profile->csd_own[hot->measures[m]];
        if (column->width == 0)
            continue;
        memset(own, 0, (profile->pd_count + 1u) * sizeof *own);
        for (uint32_t csd = 1; csd <= profile->csd_count; csd++)
            own[profile->csd_callee[csd]] += (int64_t)fm_column_get(column, csd);
        for (uint32_t pd = 1; pd <= profile->pd_count; pd++)
            if (own[pd] > 0 && is_dear(&hot->candidates[m], pd, own[pd]) &&
                !fm_digest_is_outside(hot->a, hot->a->pd_clique[pd]))
                offer(&hot->candidates[m], pd, own[pd]);
    }
    if (own != NULL)
        hot->cursor = profile->pd_count + 1;
    return own != NULL;
}

static bool look_at_pds(struct fm_hot *hot, uint32_t nodes)
{
    const struct fm_profile *profile = hot->a->profile;
    if (hot->cursor == 1 && nodes >= profile->pd_count && look_at_all_pds(hot))
        return true;
    for (; hot->cursor <= profile->pd_count && nodes > 0; hot->cursor++, nodes--) {
        for (unsigned m = 0; m < hot->measure_count; m++) {
            if (profile->csd_own[hot->measures[m]].width == 0 ||
                fm_analysis_pd_own_bound(hot->a, hot->cursor, hot->measures[m]) <=
                    threshold(&hot->candidates[m]))
                continue;
            int64_t own = fm_analysis_pd_own(hot->a, hot->cursor, hot->measures[m]);
            if (own > 0 && is_dear(&hot->candidates[m], hot->cursor, own) &&
                !fm_digest_is_outside(hot->a, hot->a->pd_clique[hot->cursor]))
                offer(&hot->candidates[m], hot->cursor, own);
        }
    }
    return hot->cursor > profile->pd_count;
}

/* --- recursions --- */

void fm_hot_recursions_beside(struct fm_hot *hot)
{
    hot->beside = hot->search != NULL;
}

bool fm_hot_step_recursions(struct fm_hot *hot, uint32_t nodes)
{
    g_return_val_if_fail(hot != NULL && nodes > 0, true);
    bool found = hot->search == NULL || fm_hot_search_step(hot->search, nodes);
    __atomic_store_n(&hot->found, found, __ATOMIC_RELEASE);
    return found;
}

bool fm_hot_waits(const struct fm_hot *hot)
{
    return hot->beside && hot->phase == PHASE_RECURSIONS &&
           !__atomic_load_n(&hot->found, __ATOMIC_ACQUIRE);
}

static bool look_at_recursions(struct fm_hot *hot, uint32_t nodes)
{
    return hot->beside ? !fm_hot_waits(hot) : fm_hot_step_recursions(hot, nodes);
}

/* --- paths of the most expensive ones --- */

/* Hash of the names of a path's steps, equal for contexts with the same path. With 64 well mixed
 * bits, collisions (which would join two paths) are improbable. The climb stops at a step whose
 * hash is known. */
static uint64_t path_hash(struct fm_hot *hot, uint32_t clique)
{
    const struct fm_analysis *a = hot->a;
    uint64_t hash = 0x9e3779b97f4a7c15u;
    const uint64_t *known = NULL;
    g_array_set_size(hot->climbed, 0);
    for (uint32_t at = clique; known == NULL && !fm_digest_is_outside(a, at);) {
        known = g_hash_table_lookup(hot->path_hashes, GUINT_TO_POINTER(at));
        if (known == NULL) {
            g_array_append_val(hot->climbed, at);
            at = fm_analysis_clique_of_csd_caller(a, a->clique_parent[at]);
        }
    }
    if (known != NULL)
        hash = *known;
    for (guint i = hot->climbed->len; i-- > 0;) {
        uint32_t step = g_array_index(hot->climbed, uint32_t, i);
        uint64_t name =
            (uint64_t)fm_digest_clique_name(a, step) << 32 | fm_digest_clique_procs(a, step);
        hash = (hash ^ name) * 0xbf58476d1ce4e5b9u;
        hash ^= hash >> 31;
        g_hash_table_insert(hot->path_hashes, GUINT_TO_POINTER(step),
                            g_memdup2(&hash, sizeof hash));
    }
    return hash;
}

/* The caller to which the work of allocator wrappers is attributed. */
static uint32_t above_wrappers(const struct fm_hot *hot, uint32_t pd)
{
    const struct fm_analysis *a = hot->a;
    while (fm_digest_is_wrapper(hot->wrappers, a->profile->pd_ps[pd])) {
        uint32_t csd = a->clique_parent[a->pd_clique[pd]];
        if (fm_digest_is_outside(a, a->pd_clique[a->profile->csd_caller[csd]]))
            break;
        pd = a->profile->csd_caller[csd];
    }
    return pd;
}

static int compare_by_path(const void *a, const void *b)
{
    const struct candidate *ca = a, *cb = b;
    if (ca->path != cb->path)
        return ca->path < cb->path ? -1 : 1;
    if (ca->own != cb->own)
        return ca->own > cb->own ? -1 : 1;
    return ca->pd < cb->pd ? -1 : ca->pd > cb->pd;
}

static int compare_by_own(const void *a, const void *b)
{
    const struct candidate *ca = a, *cb = b;
    if (ca->own != cb->own)
        return ca->own > cb->own ? -1 : 1;
    return ca->pd < cb->pd ? -1 : ca->pd > cb->pd;
}

/* Self cost of a pd with that of its wrappers. */
static int64_t own_through_wrappers(const struct fm_hot *hot, uint32_t pd, enum fm_measure_id m)
{
    const struct fm_analysis *a = hot->a;
    const struct fm_profile *profile = a->profile;
    int64_t own = fm_analysis_pd_own(a, pd, m);
    uint32_t slots = profile->pd_slot_first[pd + 1] - profile->pd_slot_first[pd];
    for (uint32_t slot = 0; slot < slots; slot++) {
        uint32_t count;
        const uint32_t *csds = fm_profile_slot(profile, pd, slot, &count);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t callee = profile->csd_callee[csds[i]];
            if (fm_analysis_csd_child_clique(a, csds[i]) != 0 &&
                fm_digest_is_wrapper(hot->wrappers, profile->pd_ps[callee]))
                own += own_through_wrappers(hot, callee, m);
        }
    }
    return own;
}

/* Exact figures of a function in all contexts with one path. */
static struct fm_hot_path hot_path(const struct fm_hot *hot, uint32_t pd, enum fm_measure_id m,
                                   bool skip)
{
    const struct fm_analysis *a = hot->a;
    struct fm_digest_tree tree;
    struct fm_digest_node node;
    struct fm_hot_path path = {.ps = a->profile->pd_ps[pd]};
    fm_digest_tree_init(&tree, a, m, false);
    fm_digest_root(&tree, &(struct fm_digest_focus){.clique = a->pd_clique[pd]}, &node);
    path.clique = a->pd_clique[pd];
    path.contexts = node.contexts;
    for (size_t i = 0; i < node.count; i++) {
        uint32_t member = g_array_index(tree.pds, uint32_t, node.first + i);
        if (a->profile->pd_ps[member] != path.ps)
            continue;
        path.own += skip ? own_through_wrappers(hot, member, m) : fm_analysis_pd_own(a, member, m);
        bool at_most;
        path.total += fm_analysis_member_total(a, member, m, &at_most);
        path.calls += fm_analysis_pd_calls(a, member);
        path.inlined |= fm_analysis_pd_inlined(a, member);
    }
    fm_digest_tree_done(&tree);
    return path;
}

static int compare_paths(const void *a, const void *b)
{
    const struct fm_hot_path *pa = a, *pb = b;
    if (pa->own != pb->own)
        return pa->own > pb->own ? -1 : 1;
    return pa->clique < pb->clique ? -1 : pa->clique > pb->clique;
}

static void rank_paths(struct fm_hot *hot, unsigned m, bool skip)
{
    const struct candidates *candidates = &hot->candidates[m];
    struct hot_list *list = &hot->lists[m][skip];
    g_autofree struct candidate *all = g_new(struct candidate, MAX(candidates->count, 1));
    size_t count = candidates->count, groups = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t pd = candidates->all[i].pd;
        if (skip)
            pd = above_wrappers(hot, pd);
        uint64_t path = path_hash(hot, hot->a->pd_clique[pd]);
        all[i] = (struct candidate){candidates->all[i].own, pd,
                                    (path ^ hot->a->profile->pd_ps[pd]) * 0x94d049bb133111ebu};
    }
    if (count > 0)
        qsort(all, count, sizeof *all, compare_by_path);
    for (size_t i = 0; i < count; i++) {
        if (groups > 0 && all[groups - 1].path == all[i].path)
            all[groups - 1].own += all[i].own;
        else
            all[groups++] = all[i];
    }
    if (groups > 0)
        qsort(all, groups, sizeof *all, compare_by_own);
    list->count = (unsigned)MIN(groups, FM_HOT_MAX);
    for (unsigned i = 0; i < list->count; i++)
        list->paths[i] = hot_path(hot, all[i].pd, hot->measures[m], skip);
    qsort(list->paths, list->count, sizeof *list->paths, compare_paths);
}

/* Handles one path in each step; then the lists, each in a step. */
static bool look_at_paths(struct fm_hot *hot, uint32_t nodes)
{
    uint32_t candidates = hot->measure_count * CANDIDATES_MAX;
    if (hot->cursor == 1 && !hot->wrappers) {
        for (unsigned m = 0; m < hot->measure_count; m++)
            hot->dearest_count[m] = fm_hot_search_rank(hot->search, m, hot->dearest[m]);
        hot->wrappers = fm_digest_wrappers_new(hot->a);
        return false;
    }
    if (hot->cursor > candidates) {
        uint32_t m = (hot->cursor - candidates - 1) / 2;
        bool skip = (hot->cursor - candidates - 1) % 2 == 1;
        if (!skip || is_of_memory(hot->measures[m]))
            rank_paths(hot, m, skip);
        return hot->cursor++ == candidates + 2 * hot->measure_count;
    }
    for (uint32_t work = 0; work < nodes && hot->cursor <= candidates; work += CLIMB_NODES) {
        uint32_t m = (hot->cursor - 1) / CANDIDATES_MAX, i = (hot->cursor - 1) % CANDIDATES_MAX;
        if (i < hot->candidates[m].count)
            path_hash(hot, hot->a->pd_clique[hot->candidates[m].all[i].pd]);
        hot->cursor++;
    }
    return false;
}

bool fm_hot_step(struct fm_hot *hot, uint32_t nodes)
{
    g_return_val_if_fail(hot != NULL && nodes > 0, false);
    static bool (*const phases[])(struct fm_hot *, uint32_t) = {
        [PHASE_PDS] = look_at_pds,
        [PHASE_RECURSIONS] = look_at_recursions,
        [PHASE_PATHS] = look_at_paths,
    };
    if (hot->phase == PHASE_DONE || !phases[hot->phase](hot, nodes))
        return hot->phase == PHASE_DONE;
    hot->phase++;
    hot->cursor = 1;
    if (hot->phase == PHASE_DONE)
        forget_work(hot);
    return hot->phase == PHASE_DONE;
}

/* --- answers --- */

/* Completes the search. */
static void settle(struct fm_hot *hot)
{
    while (!fm_hot_step(hot, UINT32_MAX))
        ;
}

unsigned fm_hot_paths(struct fm_hot *hot, enum fm_measure_id measure, bool skip,
                      const struct fm_hot_path **ret)
{
    int m = measure_index(hot, measure);
    settle(hot);
    if (m < 0)
        return 0;
    skip = skip && is_of_memory(measure);
    *ret = hot->lists[m][skip].paths;
    return hot->lists[m][skip].count;
}

unsigned fm_hot_recursions(struct fm_hot *hot, enum fm_measure_id measure,
                           const struct fm_hot_recursion **ret)
{
    int m = measure_index(hot, measure);
    settle(hot);
    if (m < 0)
        return 0;
    *ret = hot->dearest[m];
    return hot->dearest_count[m];
}

unsigned fm_hot_wrappers(struct fm_hot *hot)
{
    settle(hot);
    return hot->wrappers == NULL ? 0 : fm_digest_wrappers_count(hot->wrappers);
}

bool fm_hot_is_wrapper(struct fm_hot *hot, uint32_t ps)
{
    settle(hot);
    return hot->wrappers != NULL && fm_digest_is_wrapper(hot->wrappers, ps);
}

uint32_t fm_hot_owner(struct fm_hot *hot, uint32_t pd)
{
    settle(hot);
    return hot->a->profile->pd_ps[above_wrappers(hot, pd)];
}

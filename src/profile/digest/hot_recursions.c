/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/digest/hot_recursions.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/memory.h"
#include "profile/digest/paths.h"

struct recursion {
    uint32_t ps, procs, clique, contexts;
    int64_t most, entered, calls;
    bool inlined;
    int64_t own[FM_HOT_MEASURES], total[FM_HOT_MEASURES];
};

/* A clique that recurses. */
struct context {
    uint32_t place; /* index of its recursion, + 1 */
    uint32_t above; /* the next context of any recursion, 0 = none */
};

/* A clique on the path from the root of the tree to the current one. */
struct level {
    uint32_t clique;
    uint32_t context; /* the nearest context of a recursion, at it or above; 0 = none */
};

enum phase { PHASE_SELF_CALLS, PHASE_CLIQUES, PHASE_DONE };

struct fm_hot_search {
    const struct fm_analysis *a;
    enum fm_measure_id measures[FM_HOT_MEASURES];
    unsigned measure_count;
    enum phase phase;
    uint32_t cursor;
    uint32_t *ps_places;    /* [ps_count + 1] index + 1 of the recursion of that procedure only */
    GHashTable *key_places; /* recursions without path: "ps:procs" as a number -> index + 1 */
    GArray *recursions;     /* struct recursion */
    GArray *contexts;       /* struct context; index 0 is unused */
    uint8_t *calls_itself;  /* a bit for each clique */
    struct level *levels;   /* a stack */
    uint32_t level_count, level_capacity;
    uint32_t
        *nearest; /* [clique_count + 1] as in struct level, where numbers are no walk; or NULL */
};

struct fm_hot_search *fm_hot_search_new(const struct fm_analysis *a,
                                        const enum fm_measure_id *measures, unsigned count)
{
    g_return_val_if_fail(count <= FM_HOT_MEASURES, NULL);
    struct fm_hot_search *search = g_new0(struct fm_hot_search, 1);
    search->a = a;
    memcpy(search->measures, measures, count * sizeof *measures);
    search->measure_count = count;
    search->ps_places = g_new0(uint32_t, a->profile->ps_count + 1u);
    search->key_places = g_hash_table_new_full(fm_int64_hash, g_int64_equal, g_free, NULL);
    search->recursions = g_array_new(FALSE, TRUE, sizeof(struct recursion));
    search->contexts = g_array_new(FALSE, TRUE, sizeof(struct context));
    g_array_set_size(search->contexts, 1);
    search->calls_itself = g_new0(uint8_t, a->clique_count / 8 + 1u);
    return search;
}

void fm_hot_search_free(struct fm_hot_search *search)
{
    if (search == NULL)
        return;
    g_free(search->ps_places);
    g_hash_table_unref(search->key_places);
    g_array_unref(search->recursions);
    g_array_unref(search->contexts);
    g_free(search->calls_itself);
    g_free(search->levels);
    g_free(search->nearest);
    g_free(search);
}

static bool look_at_self_calls(struct fm_hot_search *search, uint32_t nodes)
{
    const struct fm_profile *profile = search->a->profile;
    for (; search->cursor < profile->csd_count && nodes > 0; nodes--) {
        uint32_t csd = ++search->cursor, pd = profile->csd_callee[csd];
        if (profile->csd_caller[csd] == pd) {
            uint32_t clique = search->a->pd_clique[pd];
            search->calls_itself[clique / 8] |= (uint8_t)(1u << clique % 8);
        }
    }
    return search->cursor == profile->csd_count;
}

static guint new_recursion(struct fm_hot_search *search, uint32_t ps, uint32_t procs)
{
    const struct recursion recursion = {.ps = ps, .procs = procs, .most = -1};
    g_array_append_val(search->recursions, recursion);
    return search->recursions->len;
}

static guint place_of(struct fm_hot_search *search, uint32_t ps, uint32_t procs)
{
    if (procs == 1) {
        if (search->ps_places[ps] == 0)
            search->ps_places[ps] = new_recursion(search, ps, 1);
        return search->ps_places[ps];
    }
    gint64 key = (gint64)((uint64_t)ps << 32 | procs);
    guint place = GPOINTER_TO_UINT(g_hash_table_lookup(search->key_places, &key));
    if (place == 0) {
        place = new_recursion(search, ps, procs);
        g_hash_table_insert(search->key_places, g_memdup2(&key, sizeof key),
                            GUINT_TO_POINTER(place));
    }
    return place;
}

/* Another context of the same recursion above it holds its total. */
static bool lies_in_itself(const struct fm_hot_search *search, uint32_t above, guint place)
{
    while (above != 0) {
        const struct context *context = &g_array_index(search->contexts, struct context, above);
        if (context->place == place)
            return true;
        above = context->above;
    }
    return false;
}

/* above: the nearest context above it. Returns the index of the new one. */
static uint32_t add_recursion(struct fm_hot_search *search, uint32_t clique, uint32_t above)
{
    const struct fm_analysis *a = search->a;
    guint place =
        place_of(search, fm_digest_clique_name(a, clique), fm_digest_clique_procs(a, clique));
    bool outermost = !lies_in_itself(search, above, place);
    const struct context context = {place, above};
    g_array_append_val(search->contexts, context);
    struct recursion *recursion = &g_array_index(search->recursions, struct recursion, place - 1);
    recursion->contexts++;
    uint32_t into = a->clique_parent[clique];
    recursion->entered += fm_profile_calls(a->profile, into);
    recursion->inlined |= fm_profile_css_uncounted(a->profile, a->profile->csd_css[into]);
    for (uint32_t i = a->clique_first[clique]; i < a->clique_first[clique + 1]; i++) {
        recursion->calls += fm_analysis_pd_calls(a, a->clique_pds[i]);
        for (unsigned m = 0; m < search->measure_count; m++)
            recursion->own[m] += fm_analysis_pd_own(a, a->clique_pds[i], search->measures[m]);
    }
    for (unsigned m = 0; m < search->measure_count && outermost; m++)
        recursion->total[m] += fm_analysis_clique_total(a, clique, search->measures[m]);
    int64_t calls = fm_analysis_clique_total(a, clique, FM_CALLSEQS);
    if (calls > recursion->most) {
        recursion->most = calls;
        recursion->clique = clique;
    }
    return search->contexts->len - 1;
}

/* The clique that calls the clique from outside; 0 = none. */
static inline uint32_t clique_above(const struct fm_analysis *a, uint32_t clique)
{
    uint32_t parent = a->clique_parent[clique];
    return parent == 0 ? 0 : a->pd_clique[a->profile->csd_caller[parent]];
}

/* Closes all levels that do not lead to `above`. False: it is not open. */
static bool close_levels(struct fm_hot_search *search, uint32_t above)
{
    while (search->level_count > 0 && search->levels[search->level_count - 1].clique != above)
        search->level_count--;
    return above == 0 || search->level_count > 0;
}

static void open_level(struct fm_hot_search *search, uint32_t clique, uint32_t context)
{
    if (search->level_count == search->level_capacity) {
        search->level_capacity = MAX(256u, search->level_capacity * 2);
        search->levels = g_renew(struct level, search->levels, search->level_capacity);
    }
    search->levels[search->level_count++] = (struct level){clique, context};
}

/* The numbers are not a walk over the tree: stores the nearest context of each clique instead. */
static void begin_again(struct fm_hot_search *search)
{
    const struct fm_analysis *a = search->a;
    search->nearest = fm_memory_try_array(a->clique_count + 1u, sizeof(uint32_t));
    if (search->nearest == NULL)
        g_error("no memory for %u cliques", a->clique_count);
    memset(search->ps_places, 0, (a->profile->ps_count + 1u) * sizeof *search->ps_places);
    g_hash_table_remove_all(search->key_places);
    g_array_set_size(search->recursions, 0);
    g_array_set_size(search->contexts, 1);
    search->cursor = 0;
}

/* The nearest context above the clique that is next. False: begun again. */
static bool find_above(struct fm_hot_search *search, uint32_t clique, uint32_t *ret)
{
    uint32_t above = clique_above(search->a, clique);
    *ret = 0;
    if (search->nearest != NULL) {
        *ret = search->nearest[above];
    } else if (!close_levels(search, above)) {
        begin_again(search);
        return false;
    } else if (above != 0) {
        *ret = search->levels[search->level_count - 1].context;
    }
    return true;
}

/* Visits cliques by descending number: callers before callees. If every clique can be reached from
 * the one found last, this is a walk over the tree, and levels suffice. */
static bool look_at_cliques(struct fm_hot_search *search, uint32_t nodes)
{
    const struct fm_analysis *a = search->a;
    while (search->cursor < a->clique_count && nodes > 0) {
        uint32_t clique = a->clique_count - search->cursor++, context;
        if (!find_above(search, clique, &context))
            continue;
        uint32_t members = a->clique_first[clique + 1] - a->clique_first[clique];
        bool calls_itself = (search->calls_itself[clique / 8] >> clique % 8 & 1u) != 0;
        if (a->clique_parent[clique] != 0 && (members > 1 || calls_itself)) {
            context = add_recursion(search, clique, context);
            nodes -= MIN(nodes - 1, members);
        }
        if (search->nearest != NULL)
            search->nearest[clique] = context;
        else
            open_level(search, clique, context);
        nodes--;
    }
    return search->cursor == a->clique_count;
}

bool fm_hot_search_step(struct fm_hot_search *search, uint32_t nodes)
{
    if (search->phase == PHASE_SELF_CALLS && look_at_self_calls(search, nodes)) {
        search->phase = PHASE_CLIQUES;
        search->cursor = 0;
    } else if (search->phase == PHASE_CLIQUES && look_at_cliques(search, nodes)) {
        search->phase = PHASE_DONE;
    }
    return search->phase == PHASE_DONE;
}

static int compare_recursions(const void *a, const void *b)
{
    const struct fm_hot_recursion *ra = a, *rb = b;
    if (ra->total != rb->total)
        return ra->total > rb->total ? -1 : 1;
    if (ra->own != rb->own)
        return ra->own > rb->own ? -1 : 1;
    return ra->ps < rb->ps ? -1 : ra->ps > rb->ps;
}

unsigned fm_hot_search_rank(const struct fm_hot_search *search, unsigned number,
                            struct fm_hot_recursion *ret)
{
    g_return_val_if_fail(search->phase == PHASE_DONE && number < search->measure_count, 0);
    unsigned count = 0;
    g_autofree struct fm_hot_recursion *all =
        g_new(struct fm_hot_recursion, MAX(search->recursions->len, 1u));
    for (guint i = 0; i < search->recursions->len; i++) {
        const struct recursion *from = &g_array_index(search->recursions, struct recursion, i);
        if (from->total[number] > 0)
            all[count++] =
                (struct fm_hot_recursion){from->ps,       from->procs,       from->clique,
                                          from->contexts, from->own[number], from->total[number],
                                          from->entered,  from->calls,       from->inlined};
    }
    if (count > 0)
        qsort(all, count, sizeof *all, compare_recursions);
    count = MIN(count, FM_HOT_MAX);
    memcpy(ret, all, count * sizeof *all);
    return count;
}

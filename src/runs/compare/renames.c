/* SPDX-License-Identifier: Apache-2.0 */
/* Detects renamed procedures by their callees and callers, with call counts. */
#include <math.h>

#include "runs/compare/internal.h"

#include "base/hash.h"

#define LEAST_SIMILARITY 0.6
#define RIVAL_WITHIN 0.1
/* A procedure with that many unmatched callers or callees does not distinguish them. */
#define CROWD 64u

enum direction { CALLS, IS_CALLED_BY };

/* Neighbours of an unmatched procedure: callees and callers that have a counterpart, by their
 * number in before, and the procedure itself. */
struct neighbours {
    uint32_t ps;
    GHashTable *calls; /* guint64* (direction << 32 | neighbour) -> double* */
};

static void add(struct neighbours *of, enum direction direction, uint32_t neighbour, double calls)
{
    guint64 key = (guint64)direction << 32 | neighbour;
    double *sum = g_hash_table_lookup(of->calls, &key);
    if (sum == NULL) {
        sum = g_new0(double, 1);
        g_hash_table_insert(of->calls, g_memdup2(&key, sizeof key), sum);
    }
    *sum += calls;
}

static void free_neighbours(gpointer data)
{
    struct neighbours *of = data;
    g_hash_table_unref(of->calls);
    g_free(of);
}

/* identity: of each procedure, as a number in before; 0 = left over. */
static GHashTable *left_over(const struct fm_profile *p, const uint32_t *identity)
{
    GHashTable *found = g_hash_table_new_full(NULL, NULL, NULL, free_neighbours);
    for (uint32_t ps = 1; ps <= p->ps_count; ps++) {
        if (identity[ps] != 0)
            continue;
        struct neighbours *of = g_new0(struct neighbours, 1);
        of->ps = ps;
        of->calls = g_hash_table_new_full(fm_int64_hash, g_int64_equal, g_free, g_free);
        g_hash_table_insert(found, GUINT_TO_POINTER(ps), of);
    }
    for (uint32_t csd = 1; csd <= p->csd_count && g_hash_table_size(found) > 0; csd++) {
        uint32_t caller = p->pd_ps[p->csd_caller[csd]], callee = p->pd_ps[p->csd_callee[csd]];
        double calls = (double)MAX(fm_profile_calls(p, csd), 0);
        if (calls == 0 || (identity[caller] != 0 && identity[callee] != 0))
            continue;
        if (caller == callee)
            add(g_hash_table_lookup(found, GUINT_TO_POINTER(caller)), CALLS, 0, calls);
        else if (identity[caller] == 0 && identity[callee] != 0)
            add(g_hash_table_lookup(found, GUINT_TO_POINTER(caller)), CALLS, identity[callee],
                calls);
        else if (identity[callee] == 0 && identity[caller] != 0)
            add(g_hash_table_lookup(found, GUINT_TO_POINTER(callee)), IS_CALLED_BY,
                identity[caller], calls);
    }
    return found;
}

/* Sum of the lesser over the sum of the greater of both numbers of calls. */
static double similarity(const struct neighbours *one, const struct neighbours *other)
{
    double least = 0, most = 0;
    GHashTableIter iter;
    gpointer key, value;
    g_hash_table_iter_init(&iter, one->calls);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        const double *there = g_hash_table_lookup(other->calls, key);
        least += fmin(*(double *)value, there != NULL ? *there : 0);
        most += fmax(*(double *)value, there != NULL ? *there : 0);
    }
    g_hash_table_iter_init(&iter, other->calls);
    while (g_hash_table_iter_next(&iter, &key, &value)) {
        if (!g_hash_table_contains(one->calls, key))
            most += *(double *)value;
    }
    return most > 0 ? least / most : 0;
}

struct candidate {
    uint32_t before, after;
    double similarity;
};

static gint by_similarity(gconstpointer left, gconstpointer right)
{
    const struct candidate *a = left, *b = right;
    if (a->similarity != b->similarity)
        return a->similarity > b->similarity ? -1 : 1;
    return a->before != b->before ? (a->before < b->before ? -1 : 1)
                                  : (a->after > b->after) - (a->after < b->after);
}

/* The left-over procedures of after by each neighbour. */
static GHashTable *by_neighbour(GHashTable *left)
{
    GHashTable *index = g_hash_table_new_full(fm_int64_hash, g_int64_equal, g_free,
                                              (GDestroyNotify)g_ptr_array_unref);
    GHashTableIter iter, inner;
    gpointer of, key;
    g_hash_table_iter_init(&iter, left);
    while (g_hash_table_iter_next(&iter, NULL, &of)) {
        g_hash_table_iter_init(&inner, ((struct neighbours *)of)->calls);
        while (g_hash_table_iter_next(&inner, &key, NULL)) {
            GPtrArray *list = g_hash_table_lookup(index, key);
            if (list == NULL) {
                list = g_ptr_array_new();
                g_hash_table_insert(index, g_memdup2(key, sizeof(guint64)), list);
            }
            g_ptr_array_add(list, of);
        }
    }
    return index;
}

static void add_candidates(const struct neighbours *one, GHashTable *index,
                           const struct fm_profile *before, const struct fm_profile *after,
                           GArray *candidates)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    GHashTableIter iter;
    gpointer key;
    g_hash_table_iter_init(&iter, one->calls);
    while (g_hash_table_iter_next(&iter, &key, NULL)) {
        GPtrArray *list = g_hash_table_lookup(index, key);
        for (guint i = 0; list != NULL && list->len <= CROWD && i < list->len; i++) {
            const struct neighbours *other = list->pdata[i];
            struct candidate candidate = {one->ps, other->ps, 0};
            if (!g_hash_table_add(seen, GUINT_TO_POINTER(other->ps)) ||
                before->ps[one->ps].arity != after->ps[other->ps].arity)
                continue;
            candidate.similarity = similarity(one, other);
            if (candidate.similarity >= LEAST_SIMILARITY - RIVAL_WITHIN)
                g_array_append_val(candidates, candidate);
        }
    }
}

/* Whether another candidate with one of the two is nearly as similar. */
static bool has_rival(const GArray *candidates, guint which)
{
    const struct candidate *of = &g_array_index(candidates, struct candidate, which);
    for (guint i = 0; i < candidates->len; i++) {
        const struct candidate *other = &g_array_index(candidates, struct candidate, i);
        if (i != which && (other->before == of->before || other->after == of->after) &&
            other->similarity > of->similarity - RIVAL_WITHIN)
            return true;
    }
    return false;
}

void fm_pairs_find_renames(struct fm_pairs *pairs, const struct fm_profile *before,
                           const struct fm_profile *after)
{
    g_autofree uint32_t *identity = g_new0(uint32_t, before->ps_count + 1u);
    for (uint32_t ps = 1; ps <= before->ps_count; ps++)
        identity[ps] = pairs->ps[ps] != 0 ? ps : 0;
    g_autoptr(GHashTable) left = left_over(before, identity);
    g_autoptr(GHashTable) right = left_over(after, pairs->ps_back);
    g_autoptr(GHashTable) index = by_neighbour(right);
    g_autoptr(GArray) candidates = g_array_new(FALSE, FALSE, sizeof(struct candidate));
    GHashTableIter iter;
    gpointer of;
    g_hash_table_iter_init(&iter, left);
    while (g_hash_table_iter_next(&iter, NULL, &of))
        add_candidates(of, index, before, after, candidates);
    g_array_sort(candidates, by_similarity);
    for (guint i = 0; i < candidates->len; i++) {
        struct candidate c = g_array_index(candidates, struct candidate, i);
        if (c.similarity < LEAST_SIMILARITY || has_rival(candidates, i))
            continue;
        pairs->ps[c.before] = c.after;
        pairs->ps_back[c.after] = c.before;
        pairs->how[c.before] = FM_MATCHED_RENAMED;
        pairs->similarity[c.before] = c.similarity;
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/digest/flame_cache.h"

#define KEPT_MAX 16u
#define LONG_PDS 5000u /* a layout that visited that many contexts took some milliseconds */

struct kept {
    enum fm_measure_id measure;
    bool up;
    struct fm_digest_focus focus;
    struct fm_digest_flame_options options;
    struct fm_digest_flame flame;
    uint64_t used;
};

struct fm_flame_cache {
    GMutex lock;
    struct kept kept[KEPT_MAX];
    unsigned count;
    uint64_t clock;
};

struct fm_flame_cache *fm_flame_cache_new(void)
{
    struct fm_flame_cache *cache = g_new0(struct fm_flame_cache, 1);
    g_mutex_init(&cache->lock);
    return cache;
}

void fm_flame_cache_free(struct fm_flame_cache *cache)
{
    if (cache == NULL)
        return;
    for (unsigned i = 0; i < cache->count; i++)
        fm_digest_flame_done(&cache->kept[i].flame);
    g_mutex_clear(&cache->lock);
    g_free(cache);
}

static bool is_same(const struct kept *a, const struct kept *b)
{
    return a->measure == b->measure && a->up == b->up && a->focus.clique == b->focus.clique &&
           a->focus.ps == b->focus.ps && a->options.width == b->options.width &&
           a->options.recursions == b->options.recursions &&
           a->options.boxes_max == b->options.boxes_max &&
           a->options.rows_max == b->options.rows_max;
}

static struct fm_digest_flame shared(const struct fm_digest_flame *flame)
{
    struct fm_digest_flame copy = *flame;
    g_array_ref(copy.boxes);
    g_array_ref(copy.nodes);
    return copy;
}

static bool find(struct fm_flame_cache *cache, const struct kept *asked,
                 struct fm_digest_flame *ret)
{
    for (unsigned i = 0; i < cache->count; i++) {
        if (!is_same(&cache->kept[i], asked))
            continue;
        cache->kept[i].used = ++cache->clock;
        *ret = shared(&cache->kept[i].flame);
        return true;
    }
    return false;
}

/* Replaces the least recently used one. */
static void keep(struct fm_flame_cache *cache, const struct kept *made)
{
    struct fm_digest_flame there;
    unsigned at = 0;
    if (find(cache, made, &there)) { /* another thread was faster */
        fm_digest_flame_done(&there);
        return;
    }
    if (cache->count < KEPT_MAX) {
        at = cache->count++;
    } else {
        for (unsigned i = 1; i < KEPT_MAX; i++)
            at = cache->kept[i].used < cache->kept[at].used ? i : at;
        fm_digest_flame_done(&cache->kept[at].flame);
    }
    cache->kept[at] = *made;
    cache->kept[at].flame = shared(&made->flame);
    cache->kept[at].used = ++cache->clock;
}

void fm_flame_cache_layout(struct fm_flame_cache *cache, const struct fm_analysis *a,
                           enum fm_measure_id measure, bool up, const struct fm_digest_focus *focus,
                           const struct fm_digest_flame_options *options,
                           struct fm_digest_flame *ret)
{
    struct kept asked = {.measure = measure, .up = up, .focus = *focus, .options = *options};
    struct fm_digest_tree tree;
    if (cache != NULL) {
        g_mutex_lock(&cache->lock);
        bool found = find(cache, &asked, ret);
        g_mutex_unlock(&cache->lock);
        if (found)
            return;
    }
    fm_digest_tree_init(&tree, a, measure, up);
    fm_digest_flame_layout(&tree, focus, options, ret);
    bool took_long = tree.pds->len > LONG_PDS;
    fm_digest_tree_done(&tree);
    if (cache == NULL || !took_long)
        return;
    asked.flame = *ret;
    g_mutex_lock(&cache->lock);
    keep(cache, &asked);
    g_mutex_unlock(&cache->lock);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/digest/calls/site_cache.h"

#include <string.h>

enum {
    SITES_KEPT = 4,
    ORDERS_KEPT = 3,       /* orders cached for a site */
    CALLEES_LEAST = 10000, /* for fewer callees, some milliseconds suffice */
    BYTES_KEPT = 64 << 20,
};

struct kept {
    uint32_t css;
    struct fm_site_callees *callees;
    struct {
        uint32_t key;
        GBytes *order;
    } orders[ORDERS_KEPT]; /* the latest first; NULL = none */
    uint64_t used;
};

struct fm_site_cache {
    GMutex lock;
    struct kept kept[SITES_KEPT];
    unsigned count;
    uint64_t clock;
};

struct fm_site_cache *fm_site_cache_new(void)
{
    struct fm_site_cache *cache = g_new0(struct fm_site_cache, 1);
    g_mutex_init(&cache->lock);
    return cache;
}

static void clear_kept(struct kept *kept)
{
    g_atomic_rc_box_release(kept->callees);
    for (unsigned i = 0; i < ORDERS_KEPT; i++)
        g_clear_pointer(&kept->orders[i].order, g_bytes_unref);
}

void fm_site_cache_free(struct fm_site_cache *cache)
{
    if (cache == NULL)
        return;
    for (unsigned i = 0; i < cache->count; i++)
        clear_kept(&cache->kept[i]);
    g_mutex_clear(&cache->lock);
    g_free(cache);
}

static size_t bytes_of(const struct kept *kept)
{
    size_t bytes = kept->callees->count * sizeof kept->callees->starts[0];
    for (unsigned i = 0; i < ORDERS_KEPT; i++)
        bytes += kept->orders[i].order == NULL ? 0 : g_bytes_get_size(kept->orders[i].order);
    return bytes;
}

static size_t bytes_of_all(const struct fm_site_cache *cache)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < cache->count; i++)
        bytes += bytes_of(&cache->kept[i]);
    return bytes;
}

static struct kept *find(struct fm_site_cache *cache, uint32_t css)
{
    for (unsigned i = 0; i < cache->count; i++) {
        if (cache->kept[i].css == css) {
            cache->kept[i].used = ++cache->clock;
            return &cache->kept[i];
        }
    }
    return NULL;
}

/* Drops the least recently used other site; false when there is none. */
static bool drop_oldest(struct fm_site_cache *cache, uint32_t css)
{
    struct kept *oldest = NULL;
    for (unsigned i = 0; i < cache->count; i++) {
        struct kept *kept = &cache->kept[i];
        if (kept->css != css && (oldest == NULL || kept->used < oldest->used))
            oldest = kept;
    }
    if (oldest == NULL)
        return false;
    clear_kept(oldest);
    *oldest = cache->kept[--cache->count];
    return true;
}

static bool has_room(const struct fm_site_cache *cache, size_t bytes)
{
    return bytes_of_all(cache) + bytes <= BYTES_KEPT;
}

bool fm_site_cache_keeps(uint32_t callees)
{
    return callees >= CALLEES_LEAST && callees <= BYTES_KEPT / (2 * sizeof(uint32_t));
}

static struct fm_site_callees *add_up(const struct fm_analysis *a, uint32_t css)
{
    g_autoptr(GArray) starts = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    struct fm_cost sum = {0}, cost;
    for (uint32_t from = 0, before = 0, ps; fm_analysis_site_callee(a, css, &from, &ps, &cost);
         before = from) {
        fm_cost_add(&sum, &cost);
        g_array_append_val(starts, before);
    }
    size_t bytes = starts->len * sizeof(uint32_t);
    struct fm_site_callees *callees = g_atomic_rc_box_alloc(sizeof *callees + bytes);
    callees->count = starts->len;
    callees->cost = sum;
    if (bytes > 0)
        memcpy(callees->starts, starts->data, bytes);
    return callees;
}

struct fm_site_callees *fm_site_cache_callees(struct fm_site_cache *cache,
                                              const struct fm_analysis *a, uint32_t css)
{
    if (cache == NULL)
        return add_up(a, css);
    g_mutex_lock(&cache->lock);
    const struct kept *known = find(cache, css);
    struct fm_site_callees *callees =
        known == NULL ? NULL : g_atomic_rc_box_acquire(known->callees);
    g_mutex_unlock(&cache->lock);
    if (callees != NULL)
        return callees;
    callees = add_up(a, css);
    if (!fm_site_cache_keeps(callees->count))
        return callees;
    g_mutex_lock(&cache->lock);
    if (find(cache, css) == NULL) { /* else another thread was faster */
        size_t bytes = callees->count * sizeof(uint32_t);
        while (cache->count == SITES_KEPT || !has_room(cache, bytes))
            drop_oldest(cache, css);
        cache->kept[cache->count++] = (struct kept){
            .css = css, .callees = g_atomic_rc_box_acquire(callees), .used = ++cache->clock};
    }
    g_mutex_unlock(&cache->lock);
    return callees;
}

GBytes *fm_site_cache_order(struct fm_site_cache *cache, uint32_t css, uint32_t key)
{
    if (cache == NULL)
        return NULL;
    GBytes *order = NULL;
    g_mutex_lock(&cache->lock);
    const struct kept *kept = find(cache, css);
    for (unsigned i = 0; kept != NULL && order == NULL && i < ORDERS_KEPT; i++) {
        if (kept->orders[i].order != NULL && kept->orders[i].key == key)
            order = g_bytes_ref(kept->orders[i].order);
    }
    g_mutex_unlock(&cache->lock);
    return order;
}

void fm_site_cache_keep_order(struct fm_site_cache *cache, uint32_t css, uint32_t key,
                              GBytes *order)
{
    if (cache == NULL)
        return;
    g_mutex_lock(&cache->lock);
    size_t bytes = g_bytes_get_size(order);
    while (!has_room(cache, bytes) && drop_oldest(cache, css)) {
    }
    struct kept *kept = find(cache, css);
    for (unsigned i = ORDERS_KEPT; kept != NULL && !has_room(cache, bytes) && i-- > 0;)
        g_clear_pointer(&kept->orders[i].order, g_bytes_unref);
    if (kept != NULL && bytes == kept->callees->count * sizeof(uint32_t) &&
        has_room(cache, bytes)) {
        g_clear_pointer(&kept->orders[ORDERS_KEPT - 1].order, g_bytes_unref);
        memmove(&kept->orders[1], &kept->orders[0], (ORDERS_KEPT - 1) * sizeof kept->orders[0]);
        kept->orders[0].key = key;
        kept->orders[0].order = g_bytes_ref(order);
    }
    g_mutex_unlock(&cache->lock);
}

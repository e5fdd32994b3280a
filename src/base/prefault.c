/* SPDX-License-Identifier: Apache-2.0 */
#include "base/prefault.h"

#include <errno.h>
#include <glib.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>

#include "base/worker.h"

#define PAGE_BYTES ((uintptr_t)4096)
#define STEP_BYTES ((size_t)2 << 20) /* a huge page */

struct range {
    uintptr_t at, end; /* whole pages still to be requested */
    size_t bytes;      /* size of the whole range */
    bool later;        /* handled after all other ranges */
};

struct fm_prefault {
    struct fm_worker *worker; /* started with the first array */
    pthread_mutex_t lock;
    GArray *ranges; /* struct range; empty when all is done */
    bool refused;   /* the kernel does not support it */
};

struct fm_prefault *fm_prefault_new(void)
{
    struct fm_prefault *prefault = g_new0(struct fm_prefault, 1);
    pthread_mutex_init(&prefault->lock, NULL);
    prefault->ranges = g_array_new(FALSE, FALSE, sizeof(struct range));
    return prefault;
}

/* The range of which the smallest fraction is done: ranges advance side by side, and later ones
 * come last. */
static guint most_wanted(const GArray *ranges)
{
    guint found = 0;
    double most = -1;
    for (guint i = 0; i < ranges->len; i++) {
        const struct range *range = &g_array_index(ranges, struct range, i);
        double left = (double)(range->end - range->at) / (double)range->bytes + !range->later;
        if (left > most) {
            most = left;
            found = i;
        }
    }
    return found;
}

/* Requests some pages of one array. */
static void ask(struct fm_prefault *prefault)
{
    guint number = most_wanted(prefault->ranges);
    struct range *range = &g_array_index(prefault->ranges, struct range, number);
    size_t bytes = MIN(STEP_BYTES, range->end - range->at);
#ifdef MADV_POPULATE_WRITE
    int failed = madvise((void *)range->at, bytes, MADV_POPULATE_WRITE);
    prefault->refused = failed != 0 && errno == EINVAL;
#else
    int failed = -1;
    prefault->refused = true;
#endif
    range->at += bytes;
    if (prefault->refused)
        g_array_set_size(prefault->ranges, 0);
    else if (failed != 0 || range->at == range->end)
        g_array_remove_index_fast(prefault->ranges, number);
}

static bool step(void *user)
{
    struct fm_prefault *prefault = user;
    pthread_mutex_lock(&prefault->lock);
    if (prefault->ranges->len > 0)
        ask(prefault);
    bool more = prefault->ranges->len > 0;
    pthread_mutex_unlock(&prefault->lock);
    return more;
}

static void add(struct fm_prefault *prefault, void *array, size_t bytes, bool later)
{
    const struct range range = {((uintptr_t)array + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1),
                                ((uintptr_t)array + bytes) & ~(PAGE_BYTES - 1), bytes, later};
    if (array == NULL || range.at >= range.end)
        return;
    pthread_mutex_lock(&prefault->lock);
    if (!prefault->refused)
        g_array_append_val(prefault->ranges, range);
    pthread_mutex_unlock(&prefault->lock);
    if (prefault->worker == NULL)
        prefault->worker = fm_worker_new(step, prefault);
    else
        fm_worker_again(prefault->worker);
}

void fm_prefault_add(struct fm_prefault *prefault, void *array, size_t bytes)
{
    g_return_if_fail(prefault != NULL);
    add(prefault, array, bytes, false);
}

void fm_prefault_add_later(struct fm_prefault *prefault, void *array, size_t bytes)
{
    g_return_if_fail(prefault != NULL);
    add(prefault, array, bytes, true);
}

void fm_prefault_forget(struct fm_prefault *prefault, const void *array, size_t bytes)
{
    g_return_if_fail(prefault != NULL);
    uintptr_t start = (uintptr_t)array, end = start + bytes;
    pthread_mutex_lock(&prefault->lock);
    for (guint i = prefault->ranges->len; i-- > 0;) {
        const struct range *range = &g_array_index(prefault->ranges, struct range, i);
        if (range->at < end && range->end > start)
            g_array_remove_index_fast(prefault->ranges, i);
    }
    pthread_mutex_unlock(&prefault->lock);
}

bool fm_prefault_is_done(struct fm_prefault *prefault)
{
    pthread_mutex_lock(&prefault->lock);
    bool done = prefault->ranges->len == 0;
    pthread_mutex_unlock(&prefault->lock);
    return done;
}

void fm_prefault_free(struct fm_prefault *prefault)
{
    if (prefault == NULL)
        return;
    fm_worker_free(prefault->worker);
    g_array_unref(prefault->ranges);
    pthread_mutex_destroy(&prefault->lock);
    g_free(prefault);
}

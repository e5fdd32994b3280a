/* SPDX-License-Identifier: Apache-2.0 */
#include "record/running/looks.h"

#include <signal.h>
#include <stdbool.h>

#include "record/running/asleep.h"

struct fm_looks {
    struct fm_asleep *asleep;
    GThread *thread; /* NULL: it has not begun, or could not */
    GMutex mutex;    /* guards the fields below */
    GCond changed;
    bool is_over;
};

struct fm_looks *fm_looks_new(const char *base, const GPtrArray *before)
{
    struct fm_looks *looks = g_new0(struct fm_looks, 1);
    looks->asleep = fm_asleep_new(base, before);
    g_mutex_init(&looks->mutex);
    g_cond_init(&looks->changed);
    return looks;
}

static gpointer look_on(gpointer data)
{
    struct fm_looks *looks = data;
    g_mutex_lock(&looks->mutex);
    while (!looks->is_over) {
        g_mutex_unlock(&looks->mutex);
        gint64 next_us = g_get_monotonic_time();
        next_us += fm_asleep_look(looks->asleep);
        g_mutex_lock(&looks->mutex);
        while (!looks->is_over && g_cond_wait_until(&looks->changed, &looks->mutex, next_us))
            ;
    }
    g_mutex_unlock(&looks->mutex);
    return NULL;
}

void fm_looks_begin(struct fm_looks *looks)
{
    sigset_t all, mask;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &mask);
    looks->thread = g_thread_try_new("looks", look_on, looks, NULL);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

void fm_looks_free(struct fm_looks *looks)
{
    if (looks == NULL)
        return;
    g_mutex_lock(&looks->mutex);
    looks->is_over = true;
    g_cond_signal(&looks->changed);
    g_mutex_unlock(&looks->mutex);
    if (looks->thread != NULL)
        g_thread_join(looks->thread);
    g_cond_clear(&looks->changed);
    g_mutex_clear(&looks->mutex);
    fm_asleep_free(looks->asleep);
    g_free(looks);
}

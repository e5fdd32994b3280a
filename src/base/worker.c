/* SPDX-License-Identifier: Apache-2.0 */
#include "base/worker.h"

#include <glib.h>
#include <pthread.h>

struct fm_worker {
    fm_worker_step *step;
    void *user;
    GThread *thread; /* NULL: the fork left it behind */
    GMutex lock;     /* of what follows */
    GCond changed;
    bool stepping, paused, stop, done;
};

/* All there are. A fork happens between two steps of each. */
static GMutex workers_lock;
static GPtrArray *workers;

static void before_fork(void)
{
    g_mutex_lock(&workers_lock);
    for (guint i = 0; i < workers->len; i++) {
        struct fm_worker *worker = g_ptr_array_index(workers, i);
        g_mutex_lock(&worker->lock);
        worker->paused = true;
        while (worker->stepping)
            g_cond_wait(&worker->changed, &worker->lock);
    }
}

static void after_fork(bool child)
{
    for (guint i = 0; i < workers->len; i++) {
        struct fm_worker *worker = g_ptr_array_index(workers, i);
        worker->paused = false;
        if (child)
            worker->thread = NULL;
        else
            g_cond_broadcast(&worker->changed);
        g_mutex_unlock(&worker->lock);
    }
    g_mutex_unlock(&workers_lock);
}

static void after_fork_in_parent(void)
{
    after_fork(false);
}

static void after_fork_in_child(void)
{
    after_fork(true);
}

static void *run(void *user)
{
    struct fm_worker *worker = user;
    g_mutex_lock(&worker->lock);
    while (!worker->stop && !worker->done) {
        if (worker->paused) {
            g_cond_wait(&worker->changed, &worker->lock);
            continue;
        }
        worker->stepping = true;
        g_mutex_unlock(&worker->lock);
        bool more = worker->step(worker->user);
        g_mutex_lock(&worker->lock);
        worker->stepping = false;
        worker->done = !more;
        if (worker->done || worker->paused)
            g_cond_broadcast(&worker->changed);
    }
    g_mutex_unlock(&worker->lock);
    return NULL;
}

struct fm_worker *fm_worker_new(fm_worker_step *step, void *user)
{
    g_return_val_if_fail(step != NULL, NULL);
    struct fm_worker *worker = g_new0(struct fm_worker, 1);
    worker->step = step;
    worker->user = user;
    g_mutex_init(&worker->lock);
    g_cond_init(&worker->changed);
    g_mutex_lock(&workers_lock);
    if (workers == NULL) {
        workers = g_ptr_array_new();
        (void)pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    }
    g_ptr_array_add(workers, worker);
    worker->thread = g_thread_new("fathom worker", run, worker);
    g_mutex_unlock(&workers_lock);
    return worker;
}

bool fm_worker_wait(struct fm_worker *worker, uint64_t microseconds)
{
    g_return_val_if_fail(worker != NULL, true);
    gint64 end = g_get_monotonic_time() + (gint64)microseconds;
    g_mutex_lock(&worker->lock);
    if (worker->thread == NULL) {
        do
            worker->done = worker->done || !worker->step(worker->user);
        while (!worker->done && g_get_monotonic_time() < end);
    }
    while (!worker->done && g_cond_wait_until(&worker->changed, &worker->lock, end))
        continue;
    bool done = worker->done;
    g_mutex_unlock(&worker->lock);
    return done;
}

void fm_worker_free(struct fm_worker *worker)
{
    if (worker == NULL)
        return;
    g_mutex_lock(&worker->lock);
    worker->stop = true;
    g_cond_broadcast(&worker->changed);
    g_mutex_unlock(&worker->lock);
    if (worker->thread != NULL)
        g_thread_join(worker->thread);
    g_mutex_lock(&workers_lock);
    g_ptr_array_remove(workers, worker);
    g_mutex_unlock(&workers_lock);
    g_mutex_clear(&worker->lock);
    g_cond_clear(&worker->changed);
    g_free(worker);
}

bool fm_worker_pays(void)
{
    return g_get_num_processors() > 1;
}

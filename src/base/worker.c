/* SPDX-License-Identifier: Apache-2.0 */
#include "base/worker.h"

#include <glib.h>
#include <pthread.h>
#include <sched.h>

struct fm_worker {
    fm_worker_step *step;
    void *user;
    GThread *thread; /* NULL after a fork, in the child */
    pthread_mutex_t
        lock; /* protects the fields below; a pthread mutex, because ThreadSanitizer knows it */
    pthread_cond_t changed;
    bool stepping, paused, stop, done;
    bool again; /* requested during a step, which may have looked too early */
};

/* All workers. A fork waits until none of them is in a step. */
static pthread_mutex_t workers_lock = PTHREAD_MUTEX_INITIALIZER;
static GPtrArray *workers;

static void before_fork(void)
{
    pthread_mutex_lock(&workers_lock);
    for (guint i = 0; i < workers->len; i++) {
        struct fm_worker *worker = g_ptr_array_index(workers, i);
        pthread_mutex_lock(&worker->lock);
        worker->paused = true;
        while (worker->stepping)
            pthread_cond_wait(&worker->changed, &worker->lock);
    }
}

static void after_fork(bool child)
{
    for (guint i = 0; i < workers->len; i++) {
        struct fm_worker *worker = g_ptr_array_index(workers, i);
        worker->paused = false;
        if (child) {
            worker->thread = NULL;
            pthread_cond_init(&worker->changed, NULL); /* in the child no thread waits for it */
        } else {
            pthread_cond_broadcast(&worker->changed);
        }
        pthread_mutex_unlock(&worker->lock);
    }
    pthread_mutex_unlock(&workers_lock);
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
    pthread_mutex_lock(&worker->lock);
    while (!worker->stop) {
        if (worker->paused || worker->done) {
            pthread_cond_wait(&worker->changed, &worker->lock);
            continue;
        }
        worker->stepping = true;
        worker->again = false;
        pthread_mutex_unlock(&worker->lock);
        bool more = worker->step(worker->user);
        pthread_mutex_lock(&worker->lock);
        worker->stepping = false;
        worker->done = !more && !worker->again;
        if (worker->done || worker->paused)
            pthread_cond_broadcast(&worker->changed);
    }
    pthread_mutex_unlock(&worker->lock);
    return NULL;
}

struct fm_worker *fm_worker_new(fm_worker_step *step, void *user)
{
    g_return_val_if_fail(step != NULL, NULL);
    struct fm_worker *worker = g_new0(struct fm_worker, 1);
    worker->step = step;
    worker->user = user;
    pthread_mutex_init(&worker->lock, NULL);
    pthread_cond_init(&worker->changed, NULL);
    pthread_mutex_lock(&workers_lock);
    if (workers == NULL) {
        workers = g_ptr_array_new();
        (void)pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    }
    g_ptr_array_add(workers, worker);
    worker->thread = g_thread_new("fathom worker", run, worker);
    pthread_mutex_unlock(&workers_lock);
    return worker;
}

void fm_worker_again(struct fm_worker *worker)
{
    g_return_if_fail(worker != NULL);
    pthread_mutex_lock(&worker->lock);
    worker->again = worker->stepping;
    if (worker->done) {
        worker->done = false;
        pthread_cond_broadcast(&worker->changed);
    }
    pthread_mutex_unlock(&worker->lock);
}

/* False when that time has passed. */
static bool wait_until(struct fm_worker *worker, gint64 end_us)
{
    const struct timespec end = {.tv_sec = end_us / G_USEC_PER_SEC,
                                 .tv_nsec = end_us % G_USEC_PER_SEC * 1000};
    return pthread_cond_clockwait(&worker->changed, &worker->lock, CLOCK_MONOTONIC, &end) == 0;
}

bool fm_worker_wait(struct fm_worker *worker, uint64_t microseconds)
{
    g_return_val_if_fail(worker != NULL, true);
    gint64 end = g_get_monotonic_time() + (gint64)microseconds;
    pthread_mutex_lock(&worker->lock);
    if (worker->thread == NULL) {
        do
            worker->done = worker->done || !worker->step(worker->user);
        while (!worker->done && g_get_monotonic_time() < end);
    }
    while (!worker->done && wait_until(worker, end))
        continue;
    bool done = worker->done;
    pthread_mutex_unlock(&worker->lock);
    return done;
}

void fm_worker_free(struct fm_worker *worker)
{
    if (worker == NULL)
        return;
    pthread_mutex_lock(&worker->lock);
    worker->stop = true;
    pthread_cond_broadcast(&worker->changed);
    pthread_mutex_unlock(&worker->lock);
    if (worker->thread != NULL)
        g_thread_join(worker->thread);
    pthread_mutex_lock(&workers_lock);
    g_ptr_array_remove(workers, worker);
    pthread_mutex_unlock(&workers_lock);
    pthread_mutex_destroy(&worker->lock);
    pthread_cond_destroy(&worker->changed);
    g_free(worker);
}

bool fm_worker_pays(void)
{
    cpu_set_t allowed; /* GLib also counts CPUs that this process may not use */
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        return CPU_COUNT(&allowed) > 1;
    return g_get_num_processors() > 1;
}

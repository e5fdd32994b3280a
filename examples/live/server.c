/* SPDX-License-Identifier: Apache-2.0 */
/* A small job server that logs: two workers take jobs from a queue, each job is a span, the length
 * of the queue a counter. Usage: server [SECONDS] [ADDRESS], see README.md. */
#include <fathom/eventlog.h>

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { QUEUE_MAX = 64, WORKERS = 2 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned queue[QUEUE_MAX], queued, done;
static bool closing;

static void take_lock(void)
{
    if (pthread_mutex_trylock(&lock) != 0) {
        fm_eventlog_lock_wait(&lock);
        pthread_mutex_lock(&lock);
    }
    fm_eventlog_lock_acquire(&lock);
}

static void give_lock(void)
{
    fm_eventlog_lock_release(&lock);
    pthread_mutex_unlock(&lock);
}

static unsigned is_prime(unsigned n)
{
    for (unsigned d = 2; d * d <= n; d++)
        if (n % d == 0)
            return 0;
    return 1;
}

static void run_job(unsigned job)
{
    FM_SPAN("job");
    unsigned found = 0;
    {
        FM_SPAN("count primes");
        for (unsigned n = 2; n < job * 1000; n++)
            found += is_prime(n);
    }
    FM_VALUE("primes", found);
}

static void *worker(void *context)
{
    char label[32];
    snprintf(label, sizeof(label), "worker %d", (int)(intptr_t)context);
    fm_eventlog_label_thread(label);
    for (;;) {
        take_lock();
        while (queued == 0 && !closing) {
            fm_eventlog_lock_release(&lock);
            pthread_cond_wait(&changed, &lock);
            fm_eventlog_lock_acquire(&lock);
        }
        if (queued == 0)
            break;
        unsigned job = queue[--queued];
        FM_COUNTER("queue", queued);
        give_lock();
        run_job(job);
        __atomic_fetch_add(&done, 1, __ATOMIC_RELAXED);
    }
    give_lock();
    return NULL;
}

int main(int argc, char **argv)
{
    int seconds = argc > 1 ? atoi(argv[1]) : 5;
    const char *address = argc > 2 ? argv[2] : "unix:/tmp/fathom-live.sock";
    struct fm_eventlog_options options = {.flush_interval_ms = 100};
    fm_eventlog_start(&options);
    int listener = fm_eventlog_listen(address, NULL);
    if (listener < 0) {
        fprintf(stderr, "cannot serve the log at %s: %s\n", address, strerror(-listener));
        return 1;
    }
    fm_eventlog_open_file("server.eventlog");
    fm_eventlog_label_thread("clients");
    fm_eventlog_lock_name(&lock, "queue lock");
    pthread_t workers[WORKERS];
    for (intptr_t i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, worker, (void *)i);
    unsigned seed = 1;
    for (int i = 0; i < seconds * 100; i++) {
        usleep(10000);
        seed = seed * 1103515245u + 12345u;
        take_lock();
        if (queued < QUEUE_MAX) {
            queue[queued++] = 1 + (seed >> 16) % 20;
            FM_COUNTER("queue", queued);
            pthread_cond_signal(&changed);
        } else {
            FM_INSTANT("queue is full");
        }
        give_lock();
        if (i % 100 == 99)
            fm_eventlog_messagef("%d s, %u jobs done", (i + 1) / 100,
                                 __atomic_load_n(&done, __ATOMIC_RELAXED));
    }
    take_lock();
    closing = true;
    pthread_cond_broadcast(&changed);
    give_lock();
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    fm_eventlog_stop();
    printf("%u jobs done\n", done);
    return 0;
}

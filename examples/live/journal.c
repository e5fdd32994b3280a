/* SPDX-License-Identifier: Apache-2.0 */
/* A lock held too long: four threads answer requests and note each in a journal under a lock. Now
 * and then one of them writes the journal to disk, and keeps the lock meanwhile. It writes
 * journal.eventlog; docs/traces.md tells how the fault is found. */
#include <fathom/eventlog.h>

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { THREADS = 4, REQUESTS = 100, NOTES_MAX = 50, DISK_US = 12000 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned notes;

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

static void write_journal(void)
{
    FM_SPAN("write journal");
    usleep(DISK_US); /* stands for the disk */
    notes = 0;
}

static void note(void)
{
    FM_SPAN("note");
    take_lock();
    if (++notes == NOTES_MAX)
        write_journal(); /* the fault: the lock need not be held here */
    give_lock();
}

static unsigned answer(unsigned seed)
{
    FM_SPAN("answer");
    unsigned found = 0;
    for (unsigned i = 0; i < 100000 + seed % 300000; i++)
        found = found * 31 + i;
    return found;
}

static void *serve(void *context)
{
    unsigned seed = (unsigned)(uintptr_t)context + 1;
    char label[32];
    snprintf(label, sizeof label, "worker %u", seed);
    fm_eventlog_label_thread(label);
    for (unsigned i = 0; i < REQUESTS; i++) {
        FM_SPAN("request");
        seed = seed * 1103515245u + 12345u;
        FM_VALUE("found", answer(seed >> 8));
        note();
    }
    return NULL;
}

int main(void)
{
    const struct fm_eventlog_options options = {0};
    fm_eventlog_start(&options);
    fm_eventlog_open_file("journal.eventlog");
    fm_eventlog_lock_name(&lock, "journal lock");
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, serve, (void *)i);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    fm_eventlog_stop();
    return 0;
}

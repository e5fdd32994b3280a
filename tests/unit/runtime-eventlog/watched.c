/* SPDX-License-Identifier: Apache-2.0 */
/* A program under ThreadSanitizer that links the library as it is installed, which is not: no race
 * is reported, as there is none. Its exit status is ThreadSanitizer's. */
#include <fathom/eventlog.h>

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

enum { THREADS = 4, EVENTS = 20000, ROUNDS = 3 };
static char folder[4096], path[4200];

static void remove_folder(void)
{
    unlink(path);
    rmdir(folder);
}

static bool make_folder(void)
{
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof(folder), "%s/fathom-watched-XXXXXX", parent ? parent : "/tmp");
    if (!mkdtemp(folder))
        return false;
    snprintf(path, sizeof(path), "%s/log", folder);
    return atexit(remove_folder) == 0;
}

static void *work(void *context)
{
    fm_eventlog_label_thread("worker");
    for (int i = 0; i < EVENTS; i++) {
        FM_SPAN("work");
        FM_COUNTER("i", i);
    }
    fm_eventlog_message("done");
    fm_eventlog_lock_name(context, "lock");
    return NULL;
}

static void *take(void *context)
{
    struct fm_eventlog_chunk chunk;
    size_t *bytes = context;
    while (fm_eventlog_chunk_wait(-1) == 1)
        while (fm_eventlog_chunk_take(&chunk, false)) {
            for (size_t i = 0; i < chunk.bytes; i++)
                *bytes += ((const unsigned char *)chunk.data)[i] != 0;
            fm_eventlog_chunk_release(&chunk);
        }
    return NULL;
}

int main(void)
{
    struct fm_eventlog_options o = {
        .flags = FM_EVENTLOG_MEMORY, .buffer_bytes = 16384, .flush_interval_ms = 1};
    pthread_t threads[THREADS], reader;
    size_t bytes = 0;
    int locks[THREADS];
    if (!make_folder() || fm_eventlog_start(&o) != 0 ||
        pthread_create(&reader, NULL, take, &bytes) != 0)
        return 1;
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, work, &locks[i]);
        if (fm_eventlog_open_file(path) != 0)
            return 2;
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
        fm_eventlog_flush(-1);
    }
    fm_eventlog_stop();
    pthread_join(reader, NULL);
    struct fm_eventlog_stats s;
    fm_eventlog_stats(&s);
    return bytes > 0 && s.produced_events >= (uint64_t)ROUNDS * THREADS * EVENTS * 3 ? 0 : 3;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A program that logs, for test_log_live.py: live_program ADDRESS|FILE THREADS EVENTS [TOKEN]. Each
 * thread logs EVENTS counter values inside one span. With an address it prints the port (0 for a
 * path) and waits for the first client. With LIVE_STAY in the environment it exits when standard
 * input closes. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fathom/eventlog.h"

static int event_count;

static void *work(void *data)
{
    (void)data;
    FM_SPAN_BEGIN("work");
    for (int i = 0; i < event_count; i++)
        FM_COUNTER("step", i);
    FM_SPAN_END("work");
    return NULL;
}

static uint8_t answer(void *context, const char *name_space, uint8_t number)
{
    (void)context;
    (void)name_space;
    return number == 1 ? 0 : 7;
}

/* fm_eventlog_listen waits for a client, which must know the port before. */
static void *say_port(void *data)
{
    int port;
    while ((port = fm_eventlog_port(0)) < 0)
        usleep(1000);
    printf("listening on port %d\n", port);
    fflush(stdout);
    return data;
}

static bool listen_at(const char *address, const struct fm_eventlog_listen_options *options)
{
    pthread_t thread;
    pthread_create(&thread, NULL, say_port, NULL);
    if (fm_eventlog_listen(address, options) < 0)
        return false;
    pthread_join(thread, NULL);
    return true;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    int threads = atoi(argv[2]);
    event_count = atoi(argv[3]);
    /* Nothing is dropped: a slow reader slows the program down. */
    struct fm_eventlog_listen_options options = {
        .wait_client = true,
        .queue_limit_bytes = (uint64_t)1 << 30,
        .token = argc > 4 ? argv[4] : NULL,
    };
    fm_eventlog_start(NULL);
    fm_eventlog_on_command("program", 1, answer, NULL);
    fm_eventlog_on_command("program", 2, answer, NULL);
    if (strchr(argv[1], ':') == NULL) {
        if (fm_eventlog_open_file(argv[1]) != 0)
            return 1;
    } else if (!listen_at(argv[1], &options)) {
        return 1;
    }
    pthread_t ids[64];
    for (int i = 0; i < threads && i < 64; i++)
        pthread_create(&ids[i], NULL, work, NULL);
    for (int i = 0; i < threads && i < 64; i++)
        pthread_join(ids[i], NULL);
    fm_eventlog_marker("all done");
    fm_eventlog_flush(-1);
    while (getenv("LIVE_STAY") != NULL && getchar() != EOF)
        ;
    return fm_eventlog_stop() == 0 ? 0 : 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* CPU time of a filter for each event of a log: bench_filter LOG. The first 65,536 events are kept
 * in memory; the best of 40 rounds over them counts. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "trace/filter/filter.h"
#include "trace/format/open.h"

enum { EVENTS = 65536, ROUNDS = 40 };

static double cpu_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct taken {
    struct fm_tracefile_context *events;
    unsigned count;
};

static bool take(void *user, void *context)
{
    struct taken *taken = user;
    const struct fm_tracefile_context *at = context;
    taken->events[taken->count] = *at;
    taken->events[taken->count].event.payload =
        g_memdup2(at->event.payload, at->event.payload_size);
    return ++taken->count == EVENTS;
}

static void measure(const struct taken *taken, const char *text)
{
    struct fm_filter *filter = fm_filter_new(text, NULL);
    uint64_t accepted = 0;
    double best = 1e9;
    for (unsigned round = 0; round < ROUNDS; round++) {
        double begin = cpu_seconds();
        for (unsigned i = 0; i < taken->count; i++)
            accepted += fm_filter_accepts(filter, &taken->events[i], NULL);
        double took = cpu_seconds() - begin;
        best = took < best ? took : best;
    }
    printf("| `%s` | %.1f | %.1f | %.1f |\n", text, best * 1e9 / taken->count,
           taken->count / best / 1e6, (double)accepted * 100 / ROUNDS / taken->count);
    fm_filter_free(filter);
}

int main(int argc, char **argv)
{
    static const char *const filters[] = {
        "event.name = RunThread",
        "event.cpu = 1",
        "event.time >= 0.001",
        "event.name = RunThread & event.cpu = 1 & event.time >= 0.001",
        "event.name = Run* | event.name = Stop* | event.name = Create*",
        "event.name = RunThread ^ event.cpu = 1 ^ event.time < 0.5",
        "event.field.thread > 1000",
    };
    GError *error = NULL;
    struct fm_trace *trace = argc == 2 ? fm_trace_open(argv[1], argv[1], &error) : NULL;
    if (trace == NULL) {
        fprintf(stderr, "usage: bench_filter LOG (%s)\n", error == NULL ? "" : error->message);
        return 2;
    }
    struct taken taken = {g_new(struct fm_tracefile_context, EVENTS), 0};
    struct fm_hooks *hooks = fm_hooks_new();
    const struct fm_chunk_hooks chunk = {.event = hooks};
    struct fm_context *context = fm_context_new(&trace, 1);
    fm_hooks_add(hooks, take, &taken, FM_HOOK_DEFAULT);
    fm_context_seek_time(context, 0);
    fm_context_begin(context, &chunk, -1);
    fm_context_middle(context, FM_TIME_INF, EVENTS, NULL);
    fm_context_detach(context, &chunk, -1);
    printf("| filter | ns an event | 10^6 events/s | accepted %% |\n|---|---|---|---|\n");
    for (size_t i = 0; i < G_N_ELEMENTS(filters); i++)
        measure(&taken, filters[i]);
    fm_context_free(context);
    fm_hooks_free(hooks);
    for (unsigned i = 0; i < taken.count; i++)
        g_free((void *)(uintptr_t)taken.events[i].event.payload);
    g_free(taken.events);
    fm_trace_free(trace);
    return 0;
}

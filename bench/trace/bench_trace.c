/* SPDX-License-Identifier: Apache-2.0 */
/* The engine over one event log: bench_trace LOG [REQUESTS]. Prints
 *
 *   opening, the first picture (an ad hoc request of 1/100 of the trace, painted), the full pass of
 *   all computations, ad hoc requests during the pass, pictures at random zooms after it, memory.
 *
 * Work goes as in the server: turns of 2 ms, ad hoc requests first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "engine/source.h"
#include "engine/trace_modules.h"
#include "trace/format/open.h"
#include "trace/state/state.h"
#include "trace/summary/summary.h"

enum { COLUMNS = 1000, BOXES = 5000, ZOOMS = 400, EVENTS_READ_MAX = 40000 };

static double now_ms(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static struct fm_trace *open_trace(const char *path, const char *identity, void *user,
                                   GError **error)
{
    (void)user;
    return fm_trace_open(path, identity, error);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Times of one operation that is repeated: wall time and CPU time. */
struct times {
    double wall[10000], cpu[10000];
    unsigned count;
};

static void add_time(struct times *times, double wall, double cpu)
{
    if (times->count == G_N_ELEMENTS(times->wall))
        return;
    times->wall[times->count] = now_ms(CLOCK_MONOTONIC) - wall;
    times->cpu[times->count++] = now_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu;
}

static void print_times(const char *what, struct times *times)
{
    unsigned count = times->count;
    if (count == 0)
        return;
    qsort(times->wall, count, sizeof(double), by_value);
    qsort(times->cpu, count, sizeof(double), by_value);
    printf("%-34s median %.2f ms, 99 %% %.2f ms; of CPU %.2f and %.2f ms; %u times\n", what,
           times->wall[count / 2], times->wall[count * 99 / 100], times->cpu[count / 2],
           times->cpu[count * 99 / 100], count);
}

static double memory_mb(const char *field)
{
    char line[256];
    double kb = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, field, strlen(field)) == 0)
            kb = strtod(line + strlen(field), NULL);
    }
    if (file != NULL)
        fclose(file);
    return kb / 1024;
}

/* --- an ad hoc request that paints a window --- */

struct page {
    struct fm_engine_reader *reader;
    struct fm_state *state;
    struct fm_chunk_hooks permanent;
    struct fm_painter *painter;
    bool done;
};

static void restore(struct fm_context *context, uint64_t time, void *user)
{
    struct page *page = user;
    struct fm_trace *trace = context->traces[0].trace;
    struct fm_checkpoints *saved = fm_attributes_get(trace->attributes, "state/checkpoints");
    if (saved != NULL) {
        fm_checkpoints_restore(saved, context, time, page->state);
        return;
    }
    fm_state_clear(page->state, time);
    fm_context_seek_time(context, time);
}

static bool paint(void *user, void *at)
{
    const struct page *page = user;
    return fm_painter_hook(page->painter, at);
}

static bool finish(void *user, void *at)
{
    (void)at;
    ((struct page *)user)->done = true;
    return false;
}

static struct page *page_new(struct fm_engine *engine, const char *path)
{
    GError *error = NULL;
    struct page *page = g_new0(struct page, 1);
    page->reader = fm_engine_reader_new(engine);
    if (!fm_engine_reader_add_trace(page->reader, path, &error)) {
        fprintf(stderr, "%s\n", error->message);
        exit(1);
    }
    struct fm_trace *trace = fm_engine_reader_context(page->reader)->traces[0].trace;
    page->state = fm_state_new(trace);
    page->permanent.event = fm_hooks_new();
    fm_hooks_add(page->permanent.event, fm_state_hook, page->state, FM_HOOK_STATE);
    fm_engine_reader_set_permanent_hooks(page->reader, &page->permanent);
    fm_engine_reader_set_state(page->reader, restore, page);
    return page;
}

static void request(struct page *page, uint64_t start, uint64_t end, struct times *times)
{
    double begin = now_ms(CLOCK_MONOTONIC), cpu = now_ms(CLOCK_PROCESS_CPUTIME_ID);
    page->painter = fm_painter_new(page->state, start, end, COLUMNS, BOXES);
    fm_state_add_observer(page->state, fm_painter_observer(page->painter));
    struct fm_events_request *request = fm_events_request_new(page);
    request->start_time = start;
    request->end_time = end;
    request->chunk.event = fm_hooks_new();
    fm_hooks_add(request->chunk.event, paint, page, FM_HOOK_DEFAULT);
    request->after_request = fm_hooks_new();
    fm_hooks_add(request->after_request, finish, page, FM_HOOK_DEFAULT);
    page->done = false;
    fm_engine_reader_request(page->reader, request);
    while (!page->done)
        g_main_context_iteration(NULL, TRUE);
    struct fm_picture picture;
    fm_painter_picture(page->painter, end, NULL, 0, &picture);
    fm_picture_done(&picture);
    fm_state_remove_observer(page->state, fm_painter_observer(page->painter));
    g_clear_pointer(&page->painter, fm_painter_free);
    if (times != NULL)
        add_time(times, begin, cpu);
}

/* --- zooming --- */

static uint64_t state_of_dice = 12345;

static double dice(void)
{
    state_of_dice = state_of_dice * UINT64_C(6364136223846793005) + 1442695040888963407U;
    return (double)(state_of_dice >> 11) / 9007199254740992.0;
}

static bool is_ready(struct fm_trace *trace, const char *const *modules)
{
    for (; *modules != NULL; modules++) {
        if (!fm_background_is_ready(trace, *modules))
            return false;
    }
    return true;
}

/* Lets the background pass run for some milliseconds. */
static void idle(double ms)
{
    double begin = now_ms(CLOCK_MONOTONIC);
    while (now_ms(CLOCK_MONOTONIC) - begin < ms && g_main_context_iteration(NULL, FALSE)) {
    }
}

static void zoom(struct page *page, struct fm_trace *trace)
{
    struct fm_summary *summary = fm_attributes_get(trace->attributes, "summary/summary");
    static struct times drawn, painted;
    unsigned boxes = 0;
    uint64_t span = trace->end_time - trace->start_time;
    for (unsigned i = 0; i < ZOOMS; i++) {
        uint64_t length = (uint64_t)((double)span / (1 << (i % 20))) + 1;
        uint64_t start = trace->start_time + (uint64_t)(dice() * (double)(span - length));
        if (fm_summary_events(summary, start, start + length) > EVENTS_READ_MAX) {
            struct fm_picture picture = {.start = start, .end = start + length, .columns = COLUMNS};
            double begin = now_ms(CLOCK_MONOTONIC), cpu = now_ms(CLOCK_PROCESS_CPUTIME_ID);
            fm_summary_draw(summary, NULL, 0, &picture, BOXES);
            add_time(&drawn, begin, cpu);
            boxes += picture.boxes->len;
            fm_picture_done(&picture);
        } else {
            request(page, start, start + length, &painted);
        }
    }
    print_times("zooms drawn from the summary", &drawn);
    print_times("zooms painted from events", &painted);
    printf("%-34s %8.0f\n", "boxes a drawn picture", (double)boxes / MAX(drawn.count, 1));
    printf("%-34s %8.2f MB, resolution %llu ns\n", "summary",
           (double)fm_summary_memory(summary) / 1048576,
           (unsigned long long)fm_summary_resolution(summary));
}

int main(int argc, char **argv)
{
    static struct times during;
    bool requests = argc > 2 ? atoi(argv[2]) != 0 : true;
    const char *const modules[] = {"state", "statistics", "summary", NULL};
    GError *error = NULL;
    struct fm_engine *engine = fm_engine_new(open_trace, NULL);
    if (!fm_engine_modules_load(engine, &error))
        g_error("%s", error->message);
    GSource *source = fm_engine_source_new(engine);
    g_source_attach(source, NULL);
    double begin = now_ms(CLOCK_MONOTONIC), begin_cpu = now_ms(CLOCK_PROCESS_CPUTIME_ID);
    struct page *page = page_new(engine, argv[1]);
    struct fm_trace *trace = fm_engine_reader_context(page->reader)->traces[0].trace;
    printf("%-34s %8.2f ms, %.2f ms of CPU\n", "opening", now_ms(CLOCK_MONOTONIC) - begin,
           now_ms(CLOCK_PROCESS_CPUTIME_ID) - begin_cpu);
    uint64_t span = trace->end_time - trace->start_time;
    uint64_t window = MAX(span / 1000, MIN(span, 4000000));
    request(page, trace->start_time, trace->start_time + window, NULL);
    printf("%-34s %8.2f ms, %.2f ms of CPU\n", "first picture, opening included",
           now_ms(CLOCK_MONOTONIC) - begin, now_ms(CLOCK_PROCESS_CPUTIME_ID) - begin_cpu);
    double cpu = now_ms(CLOCK_PROCESS_CPUTIME_ID), wall = now_ms(CLOCK_MONOTONIC);
    for (const char *const *module = modules; *module != NULL; module++)
        fm_background_request(engine, trace, *module);
    double asked = 0;
    while (!is_ready(trace, modules)) {
        idle(20);
        if (!requests || is_ready(trace, modules))
            continue;
        uint64_t start = trace->start_time + (uint64_t)(dice() * (double)(span - window));
        double before = now_ms(CLOCK_PROCESS_CPUTIME_ID);
        request(page, start, start + 1000000, &during);
        asked += now_ms(CLOCK_PROCESS_CPUTIME_ID) - before;
    }
    cpu = now_ms(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    wall = now_ms(CLOCK_MONOTONIC) - wall;
    struct fm_summary *summary = fm_attributes_get(trace->attributes, "summary/summary");
    double total = (double)fm_summary_events(summary, 0, UINT64_MAX);
    printf("%-34s %8.0f ms wall, %8.0f ms CPU, of it about %.0f ms ad hoc\n", "the pass", wall, cpu,
           asked);
    printf("%-34s %8.0f, %.1f ns of CPU each\n", "events", total, (cpu - asked) * 1e6 / total);
    print_times("ad hoc requests during the pass", &during);
    zoom(page, trace);
    printf("%-34s %8.1f MB now, %8.1f MB at most\n", "resident memory", memory_mb("VmRSS:"),
           memory_mb("VmHWM:"));
    fm_engine_reader_free(page->reader);
    fm_state_free(page->state);
    fm_hooks_free(page->permanent.event);
    g_free(page);
    g_source_destroy(source);
    g_source_unref(source);
    fm_engine_free(engine);
    return 0;
}

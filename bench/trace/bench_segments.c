/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of the store of segments, and of the answers that are made from it: bench_segments LOG
 * [ROUNDS]. The pass is in nanoseconds of CPU time an event, answers about the whole trace are in
 * milliseconds of CPU time, minimum of the rounds. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "engine/trace_modules.h"
#include "trace/format/open.h"
#include "trace/grouping/groups.h"
#include "trace/segments/details.h"
#include "trace/segments/flame.h"
#include "trace/segments/path.h"
#include "trace/state/tape.h"

enum { FIRST_BLOCKS = 8, ALL_BLOCKS = 1 << 30 };

static double cpu_ms(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void fail(GError *error)
{
    fprintf(stderr, "%s\n", error->message);
    exit(1);
}

/* CPU time in ns of an event of a pass that keeps segments, or only the state. */
static double pass(struct fm_trace *trace, struct fm_segments *segments)
{
    struct fm_hooks *hooks = fm_hooks_new();
    struct fm_state *state = fm_state_new(trace);
    struct fm_tape *tape = segments == NULL ? NULL : fm_tape_new(state, false);
    fm_hooks_add(hooks, fm_state_hook, state, FM_HOOK_STATE);
    if (tape != NULL) {
        fm_hooks_add(hooks, fm_tape_hook, tape, FM_HOOK_DEFAULT);
        fm_tape_add(tape, fm_segments_take, segments);
    }
    double begin = cpu_ms();
    uint64_t events = fm_trace_each_event(trace, 0, FM_TIME_INF, hooks);
    if (tape != NULL)
        fm_tape_end(tape, trace->end_time);
    double took = cpu_ms() - begin;
    fm_tape_free(tape);
    fm_state_free(state);
    return took * 1e6 / (double)MAX(events, 1);
}

static uint32_t busiest_thread(struct fm_segments *segments)
{
    const struct fm_totals_area area = {.end = UINT64_MAX, .by = FM_TOTALS_BY_LANE};
    struct fm_totals *totals = fm_totals_new(segments, &area);
    while (fm_totals_step(totals, ALL_BLOCKS))
        continue;
    const GPtrArray *groups = fm_totals_groups(totals);
    uint32_t lane = 0;
    uint64_t most = 0;
    for (guint i = 0; i < groups->len; i++) {
        const struct fm_totals_group *group = groups->pdata[i];
        if (group->kind != FM_LANE_THREAD || group->count <= most)
            continue;
        most = group->count;
        lane = group->number;
    }
    fm_totals_free(totals);
    return lane;
}

static double time_totals(struct fm_segments *segments, unsigned blocks)
{
    const struct fm_totals_area area = {.end = UINT64_MAX, .by = FM_TOTALS_BY_NAME};
    double begin = cpu_ms();
    struct fm_totals *totals = fm_totals_new(segments, &area);
    fm_totals_step(totals, blocks);
    fm_totals_groups(totals);
    double took = cpu_ms() - begin;
    fm_totals_free(totals);
    return took;
}

static double time_flame(struct fm_segments *segments)
{
    const struct fm_totals_area area = {.end = UINT64_MAX};
    double begin = cpu_ms();
    struct fm_flame *flame = fm_flame_new(segments, &area);
    fm_flame_step(flame, ALL_BLOCKS);
    g_array_unref(fm_flame_nodes(flame));
    double took = cpu_ms() - begin;
    fm_flame_free(flame);
    return took;
}

static double time_query(struct fm_segments *segments, const char *text)
{
    const struct fm_totals_area area = {.end = UINT64_MAX};
    GError *error = NULL;
    struct fm_grouping *grouping = fm_grouping_new(text, &error);
    if (grouping == NULL)
        fail(error);
    double begin = cpu_ms();
    struct fm_groups *groups = fm_groups_new(grouping, segments, &area);
    fm_groups_step(groups, ALL_BLOCKS);
    fm_groups_rows(groups);
    double took = cpu_ms() - begin;
    fm_groups_free(groups);
    fm_grouping_free(grouping);
    return took;
}

static double time_path(struct fm_segments *segments, const struct fm_trace *trace, uint32_t lane)
{
    double begin = cpu_ms();
    struct fm_path *path = fm_path_new(segments, lane, trace->start_time, trace->end_time);
    while (fm_path_step(path, ALL_BLOCKS))
        continue;
    g_array_unref(fm_path_parts(path));
    double took = cpu_ms() - begin;
    fm_path_free(path);
    return took;
}

static double time_details(struct fm_segments *segments, const struct fm_trace *trace,
                           uint32_t lane)
{
    uint64_t middle = trace->start_time + (trace->end_time - trace->start_time) / 2;
    double begin = cpu_ms();
    struct fm_details *details = fm_details_new(segments, lane, middle, FM_DETAILS_INNERMOST);
    fm_details_step(details, ALL_BLOCKS);
    double took = cpu_ms() - begin;
    fm_details_free(details);
    return took;
}

static const char *const names[] = {
    "the first blocks of the totals by name",
    "totals by name",
    "flame graph",
    "query: by name and lane, with percentiles",
    "query: with a filter and self times",
    "critical path of a thread over all",
    "details of a segment",
};

static void answers(struct fm_segments *segments, const struct fm_trace *trace, uint32_t lane,
                    double *ret)
{
    ret[0] = time_totals(segments, FIRST_BLOCKS);
    ret[1] = time_totals(segments, ALL_BLOCKS);
    ret[2] = time_flame(segments);
    ret[3] = time_query(segments, "group by segment.name, lane.name");
    ret[4] = time_query(segments, "segment.state != idle & segment.duration > 100ns | group by "
                                  "segment.name | show count, sum(segment.self)");
    ret[5] = time_path(segments, trace, lane);
    ret[6] = time_details(segments, trace, lane);
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    if (argc < 2) {
        fprintf(stderr, "usage: bench_segments LOG [ROUNDS]\n");
        return 2;
    }
    int rounds = argc > 2 ? atoi(argv[2]) : 3;
    struct fm_trace *trace = fm_trace_open(argv[1], NULL, &error);
    if (trace == NULL)
        fail(error);
    while (fm_trace_growth(trace) == FM_TRACE_SEARCHED)
        fm_trace_grow(trace, NULL, NULL);
    struct fm_segments *segments = fm_segments_new(trace, FM_SEGMENTS_BUDGET);
    double state = pass(trace, NULL), all = pass(trace, segments);
    printf("%.1f ns of CPU an event for the state, %.1f more for the segments\n", state,
           all - state);
    printf("%" G_GUINT64_FORMAT " segments, %" G_GUINT64_FORMAT " arrows, %u lanes\n",
           fm_segments_count(segments), fm_segments_arrow_count(segments),
           fm_segments_lane_count(segments));
    uint32_t lane = busiest_thread(segments);
    double least[G_N_ELEMENTS(names)] = {0}, took[G_N_ELEMENTS(names)];
    for (int round = 0; round < rounds; round++) {
        answers(segments, trace, lane, took);
        for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
            least[i] = round == 0 ? took[i] : MIN(least[i], took[i]);
    }
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
        printf("%-44s %9.1f ms of CPU\n", names[i], least[i]);
    fm_segments_free(segments);
    fm_trace_free(trace);
    return 0;
}

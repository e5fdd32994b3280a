/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of the parts of a pass over an event log: bench_parts LOG [ROUNDS [PART]]. Each line is a
 * pass with one part more than the line before; nanoseconds of CPU time per event, minimum of the
 * rounds. PART: 0 to 5, runs only that pass, for a profiler. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "engine/trace_modules.h"
#include "trace/format/open.h"
#include "trace/state/tape.h"
#include "trace/statistics/statistics.h"
#include "trace/summary/summary.h"

enum part { READING, STATE, TAPE, STATISTICS, SUMMARY, CHECKPOINTS, PARTS };

static const char *const names[PARTS] = {
    [READING] = "reading in the order of time",
    [STATE] = "with the state",
    [TAPE] = "written down",
    [STATISTICS] = "with statistics",
    [SUMMARY] = "with the summary",
    [CHECKPOINTS] = "with saved states",
};

static double cpu_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static bool nothing(void *user, void *at)
{
    (void)user;
    (void)at;
    return false;
}

/* CPU time of one event. */
static double pass(const char *path, enum part last)
{
    GError *error = NULL;
    struct fm_trace *trace = fm_trace_open(path, NULL, &error);
    if (trace == NULL) {
        fprintf(stderr, "%s\n", error->message);
        exit(1);
    }
    while (fm_trace_growth(trace) == FM_TRACE_SEARCHED)
        fm_trace_grow(trace, NULL, NULL);
    struct fm_hooks *hooks = fm_hooks_new();
    struct fm_state *state = fm_state_new(trace);
    struct fm_tape *tape = NULL;
    struct fm_statistics *statistics = NULL;
    struct fm_summary *summary = NULL;
    struct fm_checkpoints *checkpoints = NULL;
    if (last == READING)
        fm_hooks_add(hooks, nothing, NULL, FM_HOOK_DEFAULT);
    if (last >= STATE)
        fm_hooks_add(hooks, fm_state_hook, state, FM_HOOK_STATE);
    if (last >= TAPE) {
        tape = fm_tape_new(state, false);
        fm_hooks_add(hooks, fm_tape_hook, tape, FM_HOOK_DEFAULT);
    }
    if (last >= STATISTICS) {
        statistics = fm_statistics_new(state);
        fm_tape_add(tape, fm_statistics_take, statistics);
    }
    if (last >= SUMMARY) {
        summary = fm_summary_new(trace, FM_SUMMARY_BUDGET);
        fm_tape_add(tape, fm_summary_take, summary);
    }
    if (last >= CHECKPOINTS) {
        checkpoints = fm_checkpoints_new(trace, FM_STATE_BUDGET);
        fm_checkpoints_record(checkpoints, state);
        fm_hooks_add(hooks, fm_checkpoints_hook, checkpoints, FM_HOOK_STATE - 1);
    }
    double begin = cpu_ns();
    uint64_t events = fm_trace_each_event(trace, 0, FM_TIME_INF, hooks);
    if (tape != NULL)
        fm_tape_end(tape, trace->end_time);
    double took = cpu_ns() - begin;
    fm_tape_free(tape);
    fm_checkpoints_free(checkpoints);
    fm_summary_free(summary);
    fm_statistics_free(statistics);
    fm_state_free(state);
    fm_trace_free(trace);
    return took / (double)MAX(events, 1);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: bench_parts LOG [ROUNDS [PART]]\n");
        return 2;
    }
    int rounds = argc > 2 ? atoi(argv[2]) : 3;
    if (argc > 3) {
        for (int round = 0; round < rounds; round++)
            printf("%.1f ns\n", pass(argv[1], (enum part)CLAMP(atoi(argv[3]), 0, PARTS - 1)));
        return 0;
    }
    double least[PARTS] = {0};
    for (int round = 0; round < rounds; round++) {
        for (unsigned part = 0; part < PARTS; part++) {
            double took = pass(argv[1], part);
            if (round == 0 || took < least[part])
                least[part] = took;
        }
    }
    for (unsigned part = 0; part < PARTS; part++)
        printf("%-34s %8.1f ns of CPU an event, %6.1f more\n", names[part], least[part],
               least[part] - (part == 0 ? 0 : least[part - 1]));
    return 0;
}

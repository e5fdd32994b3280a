/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a log in one way and prints the number of events, CPU time and peak memory: read_bench
 * count|items| merge FILE (- = standard input, not for merge). */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "eventlog/reader/count.h"
#include "eventlog/log/log.h"
#include "eventlog/input/source.h"

static uint64_t count(const char *path, GError **error)
{
    struct fm_eventlog_source *source = fm_eventlog_source_open(path, error);
    if (source == NULL)
        return 0;
    struct fm_eventlog_counts *counts = fm_eventlog_counts_new();
    enum fm_eventlog_status status;
    do {
        status = fm_eventlog_count(fm_eventlog_source_reader(source), counts, error);
        if (status == FM_EVENTLOG_MORE)
            fm_eventlog_source_fill(source, -1, NULL, error);
    } while (status != FM_EVENTLOG_FINISHED && status != FM_EVENTLOG_FAILED);
    uint64_t events = counts->events;
    fm_eventlog_counts_free(counts);
    fm_eventlog_source_free(source);
    return events;
}

static uint64_t items(const char *path, GError **error)
{
    struct fm_eventlog_source *source = fm_eventlog_source_open(path, error);
    struct fm_eventlog_event event;
    enum fm_eventlog_status status;
    uint64_t events = 0;
    if (source == NULL)
        return 0;
    while ((status = fm_eventlog_source_next(source, &event, error)) != FM_EVENTLOG_FINISHED &&
           status != FM_EVENTLOG_FAILED)
        events += status == FM_EVENTLOG_HAS_EVENT && event.number != FM_EVENTLOG_BLOCK_MARKER;
    fm_eventlog_source_free(source);
    return events;
}

static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* Reports the pass that finds the blocks separately from the merge. */
static uint64_t merge(const char *path, GError **error)
{
    double begun = cpu_seconds();
    struct fm_eventlog_log *log = fm_eventlog_log_open(path, NULL, error);
    if (log == NULL)
        return 0;
    double scanned = cpu_seconds();
    struct fm_eventlog_merge *merge = fm_eventlog_merge_new(log);
    struct fm_eventlog_event event;
    uint64_t events = 0, last = 0, memory = 0;
    while (fm_eventlog_merge_next(merge, &event, error)) {
        if (event.time_ns < last)
            g_error("out of order at %" PRIu64, event.offset);
        last = event.time_ns;
        if (++events % 4096 == 0)
            memory = MAX(memory, fm_eventlog_merge_memory(merge));
    }
    printf("scan_cpu_s %.3f merge_cpu_s %.3f merge_bytes %" PRIu64 " ", scanned - begun,
           cpu_seconds() - scanned, memory);
    fm_eventlog_merge_free(merge);
    fm_eventlog_log_free(log);
    return events;
}

/* Peak memory of this program only, not of the one that started it. */
static long peak_kb(void)
{
    long peak = 0;
    char line[256];
    FILE *status = fopen("/proc/self/status", "re");
    while (status != NULL && fgets(line, sizeof line, status) != NULL)
        sscanf(line, "VmHWM: %ld", &peak);
    if (status != NULL)
        fclose(status);
    return peak;
}

int main(int argc, char **argv)
{
    GError *error = NULL;
    if (argc != 3) {
        fprintf(stderr, "usage: read_bench count|items|merge FILE\n");
        return 2;
    }
    gint64 begun = g_get_monotonic_time();
    uint64_t events = strcmp(argv[1], "merge") == 0   ? merge(argv[2], &error)
                      : strcmp(argv[1], "items") == 0 ? items(argv[2], &error)
                                                      : count(argv[2], &error);
    double wall = (double)(g_get_monotonic_time() - begun) / 1e6;
    if (error != NULL) {
        fprintf(stderr, "read_bench: %s\n", error->message);
        return 1;
    }
    printf("events %" PRIu64 " cpu_s %.3f wall_s %.3f peak_kb %ld\n", events, cpu_seconds(), wall,
           peak_kb());
    return 0;
}

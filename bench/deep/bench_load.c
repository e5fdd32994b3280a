/* SPDX-License-Identifier: Apache-2.0 */
/* bench_load FILE [read]: loads a profile once, with or without the start-up analysis, and prints
 * one line of JSON: CPU seconds, nodes, peak memory. One load per process, so that peak memory is
 * that of the load. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "profile/analysis/analysis.h"

static double cpu_s(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* getrusage() would also count the memory of the program that started this one. */
static long peak_kib(void)
{
    g_autofree char *status = NULL;
    if (!g_file_get_contents("/proc/self/status", &status, NULL, NULL))
        return 0;
    const char *line = strstr(status, "VmHWM:");
    return line ? strtol(line + strlen("VmHWM:"), NULL, 10) : 0;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: bench_load FILE [read]\n");
        return 2;
    }
    g_autoptr(FmProfile) profile = NULL;
    g_autoptr(FmAnalysis) analysis = NULL;
    g_autoptr(GError) error = NULL;
    bool only_read = argc > 2 && strcmp(argv[2], "read") == 0;
    long before_kib = peak_kib();
    double start = cpu_s();
    bool done = fm_profile_read(argv[1], NULL, &profile, &error);
    double read_s = cpu_s() - start;
    if (done && !only_read)
        done = fm_analysis_new(profile, NULL, &analysis, &error);
    if (!done) {
        fprintf(stderr, "%s\n", error->message);
        return 1;
    }
    double all_s = cpu_s() - start;
    struct stat status;
    if (stat(argv[1], &status) != 0)
        return 1;
    printf("{\"nodes\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"read_s\": %.4f, \"all_s\": %.4f, "
           "\"peak_bytes\": %ld}\n",
           (uint64_t)profile->pd_count + profile->csd_count, (uint64_t)status.st_size, read_s,
           all_s, (peak_kib() - before_kib) * 1024);
    return 0;
}

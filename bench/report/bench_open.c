/* SPDX-License-Identifier: Apache-2.0 */
/* bench_open FILE [ROUNDS]: opens a recording as a server does. For each part that must be done
 * before the first complete page it prints, in milliseconds, CPU time of the loop, CPU time of all
 * threads, and wall time, each the minimum of the rounds; then peak memory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "open/deep_job.h"

#define NODES_A_STEP 20000

enum clock { LOOP, ALL_THREADS, WALL, CLOCKS };

static double now_ms(enum clock clock)
{
    static const clockid_t ids[CLOCKS] = {CLOCK_THREAD_CPUTIME_ID, CLOCK_PROCESS_CPUTIME_ID,
                                          CLOCK_MONOTONIC};
    struct timespec at;
    clock_gettime(ids[clock], &at);
    return (double)at.tv_sec * 1e3 + (double)at.tv_nsec / 1e6;
}

struct times {
    double ms[FM_PARTS][CLOCKS];
};

static void open_once(const char *path, struct times *times)
{
    g_autoptr(GError) error = NULL;
    struct fm_mapped_file *file;
    struct fm_open_profile_job *job;
    if (!fm_mapped_file_open(path, &file, &error) ||
        !fm_open_profile_job_new_file(file, NULL, &job, &error))
        g_error("%s", error->message);
    for (unsigned part = 0; part <= FM_PART_CHECKS; part++) {
        for (unsigned c = 0; c < CLOCKS; c++)
            times->ms[part][c] = -now_ms(c);
        enum fm_job_state state = FM_JOB_MORE;
        while (state == FM_JOB_MORE)
            state = fm_open_profile_job_step(job, part, NODES_A_STEP, &error);
        if (state == FM_JOB_FAILED)
            g_error("%s", error->message);
        for (unsigned c = 0; c < CLOCKS; c++)
            times->ms[part][c] += now_ms(c);
    }
    fm_open_profile_job_free(job);
}

static void print_line(const char *name, const double *ms)
{
    printf("%-12s %9.0f %12.0f %9.0f\n", name, ms[LOOP], ms[ALL_THREADS], ms[WALL]);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: bench_open FILE.data [ROUNDS]\n");
        return 2;
    }
    struct times least = {0};
    double least_all[CLOCKS] = {0};
    for (int rounds = argc > 2 ? atoi(argv[2]) : 3, i = 0; i < rounds; i++) {
        struct times times = {0};
        double all[CLOCKS] = {0};
        open_once(argv[1], &times);
        for (unsigned c = 0; c < CLOCKS; c++) {
            for (unsigned part = 0; part <= FM_PART_CHECKS; part++) {
                double *kept = &least.ms[part][c];
                *kept = i == 0 ? times.ms[part][c] : MIN(*kept, times.ms[part][c]);
                all[c] += times.ms[part][c];
            }
            least_all[c] = i == 0 ? all[c] : MIN(least_all[c], all[c]);
        }
    }
    printf("%-12s %9s %12s %9s\n", "part", "loop", "all threads", "clock");
    for (unsigned part = 0; part <= FM_PART_CHECKS; part++)
        print_line(fm_open_profile_part_name(part), least.ms[part]);
    print_line("all", least_all);
    g_autofree char *status = NULL;
    if (g_file_get_contents("/proc/self/status", &status, NULL, NULL))
        printf("%.*s\n", (int)strcspn(strstr(status, "VmHWM"), "\n"), strstr(status, "VmHWM"));
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "live/spare.h"

#include <glib.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define ENOUGH 0.75        /* spare fraction of a CPU */
#define LOOK_NS 200000000u /* the kernel counts in hundredths of a second */
#define LOWEST 19

/* Idle time of all CPUs since boot; 0 = not known. */
static uint64_t idle_ns(void)
{
    g_autofree char *text = NULL;
    guint64 user, nice, system, idle;
    long hz = sysconf(_SC_CLK_TCK);
    if (!g_file_get_contents("/proc/stat", &text, NULL, NULL) || hz <= 0 ||
        sscanf(text,
               "cpu %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT " %" G_GUINT64_FORMAT
               " %" G_GUINT64_FORMAT,
               &user, &nice, &system, &idle) != 4)
        return 0;
    return idle * (1000000000u / (uint64_t)hz);
}

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void fm_spare_look(struct fm_spare *spare)
{
    uint64_t now = clock_ns(CLOCK_MONOTONIC), passed = now - spare->at_ns;
    if (spare->at_ns != 0 && passed < LOOK_NS)
        return;
    uint64_t idle = idle_ns(), own = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    bool known = spare->at_ns != 0 && idle != 0 && idle >= spare->idle_ns;
    double left = known ? (double)(idle - spare->idle_ns) + (double)(own - spare->own_ns) : 0;
    *spare = (struct fm_spare){left >= ENOUGH * (double)passed, idle, own, now};
}

void fm_spare_only(void)
{
    (void)setpriority(PRIO_PROCESS, 0, LOWEST); /* on Linux, of the thread only */
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The clocks of the program under test, controlled by the test. Included by one file of a test: its
 * definitions precede GLib's for the libraries that are linked into the test. */
#pragma once
#include <glib.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <time.h>

static gint64 own_monotonic_us = G_USEC_PER_SEC;
static bool own_monotonic_runs; /* runs like the system's, for code that sleeps until a time */
static gint64 own_wall_us;      /* 0 = the system's */

static inline gint64 own_system_us(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (gint64)now.tv_sec * G_USEC_PER_SEC + now.tv_nsec / 1000;
}

/* Each call advances the clock by a microsecond, so that loops with a time limit end, however slow
 * the machine is. */
gint64 g_get_monotonic_time(void)
{
    return own_monotonic_runs ? own_system_us(CLOCK_MONOTONIC)
                              : __atomic_add_fetch(&own_monotonic_us, 1, __ATOMIC_RELAXED);
}

static inline void own_clock_advance(gint64 microseconds)
{
    __atomic_add_fetch(&own_monotonic_us, microseconds, __ATOMIC_RELAXED);
}

gint64 g_get_real_time(void)
{
    return own_wall_us != 0 ? own_wall_us : own_system_us(CLOCK_REALTIME);
}

/* Sets the wall clock to the modification time of that file. */
static inline void own_clock_set_by(const char *path)
{
    struct stat status;
    g_assert_cmpint(stat(path, &status), ==, 0);
    own_wall_us = (gint64)status.st_mtim.tv_sec * G_USEC_PER_SEC + status.st_mtim.tv_nsec / 1000;
}

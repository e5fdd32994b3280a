/* SPDX-License-Identifier: Apache-2.0 */
/* How long tests wait for events. A wait ends with a condition; its limit only ends a test that
 * hangs, so it is far above what the busiest machine needs. */
#pragma once
#include <glib.h>
#include <stdlib.h>

/* Seconds. FATHOM_PATIENCE multiplies it, as in patience.py. */
static inline double patience(void)
{
    const char *factor = g_getenv("FATHOM_PATIENCE");
    return 120 * (factor ? g_ascii_strtod(factor, NULL) : 1);
}

/* Fails the test when the condition is still false after patience() seconds. */
#define check_until(condition)                                                             \
    do {                                                                                   \
        gint64 limit_ = g_get_monotonic_time() + (gint64)(patience() * 1e6);               \
        while (!(condition)) {                                                             \
            if (g_get_monotonic_time() > limit_)                                           \
                g_error("%s:%d: waited in vain until %s", __FILE__, __LINE__, #condition); \
            g_usleep(1000);                                                                \
        }                                                                                  \
    } while (0)

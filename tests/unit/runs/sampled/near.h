/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers that were computed elsewhere (scipy) and are given with six digits. */
#pragma once

#include <glib.h>
#include <math.h>

#define NEAR(value, expected) near((value), (expected), __LINE__)
static inline void near(double value, double expected, int line)
{
    if (!(fabs(value - expected) <= 1.5e-5 * fabs(expected) + 1e-300))
        g_error("line %d: %.9g, expected %.9g", line, value, expected);
}

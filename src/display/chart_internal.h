/* SPDX-License-Identifier: Apache-2.0 */
/* Charts, as the writers see them. */
#pragma once

#include "display/chart.h"
#include "display/display_internal.h"

struct chart_point {
    struct chart_point *next;
    const char *label, *group; /* group: NULL = not known */
    double seconds;
};

struct chart_series {
    struct chart_series *next;
    const char *label;
    enum fm_chart_unit unit;
    double *values; /* [point_count] */
};

struct fm_chart {
    struct fm_display *display;
    const char *label, *instead;
    struct chart_point *first, *last;
    struct chart_series *first_series, *last_series;
    unsigned point_count;
};

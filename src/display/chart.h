/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers over time as an item of a page: points in order, each in a group, and series with a
 * number for each point. HTML contains them for a script that draws one series at a time; other
 * formats omit them, since a table has the same data. */
#pragma once

#include "display/display.h"

struct fm_chart;

enum fm_chart_unit { FM_CHART_COUNT, FM_CHART_SECONDS, FM_CHART_BYTES };

/* id: in HTML; label: alternative text; instead: id of the drawing that the chart replaces, NULL =
 * none. Texts are copied. */
struct fm_chart *fm_add_chart(struct fm_list *to, const char *id, const char *label,
                              const char *instead);
/* Before any series. group: what points of one colour have in common, NULL = not known; seconds:
 * since 1970, 0 = not known. */
void fm_chart_add_point(struct fm_chart *chart, const char *label, const char *group,
                        double seconds);
/* values: one a point, copied; below 0 = not known. */
void fm_chart_add_series(struct fm_chart *chart, const char *label, enum fm_chart_unit unit,
                         const double *values);

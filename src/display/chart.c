/* SPDX-License-Identifier: Apache-2.0 */
#include "display/chart.h"

#include <string.h>

#include "display/chart_internal.h"

static const char *copy(struct fm_chart *chart, const char *text)
{
    return text ? fm_arena_copy(&chart->display->arena, text, strlen(text)) : NULL;
}

struct fm_chart *fm_add_chart(struct fm_list *to, const char *id, const char *label,
                              const char *instead)
{
    g_return_val_if_fail(to != NULL && label != NULL, NULL);
    struct fm_chart *chart = fm_arena_alloc(&to->display->arena, sizeof *chart);
    chart->display = to->display;
    chart->label = copy(chart, label);
    chart->instead = copy(chart, instead);
    struct item *item = fm_list_add_item(to, ITEM_CHART);
    item->id = copy(chart, id);
    item->chart = chart;
    return chart;
}

void fm_chart_add_point(struct fm_chart *chart, const char *label, const char *group,
                        double seconds)
{
    g_return_if_fail(chart != NULL && label != NULL && chart->first_series == NULL);
    struct chart_point *point = fm_arena_alloc(&chart->display->arena, sizeof *point);
    *point = (struct chart_point){NULL, copy(chart, label), copy(chart, group), seconds};
    if (chart->last)
        chart->last->next = point;
    else
        chart->first = point;
    chart->last = point;
    chart->point_count++;
}

void fm_chart_add_series(struct fm_chart *chart, const char *label, enum fm_chart_unit unit,
                         const double *values)
{
    g_return_if_fail(chart != NULL && label != NULL && values != NULL && chart->point_count > 0);
    struct chart_series *series = fm_arena_alloc(&chart->display->arena, sizeof *series);
    size_t bytes = chart->point_count * sizeof *values;
    *series = (struct chart_series){.label = copy(chart, label), .unit = unit};
    series->values = fm_arena_alloc(&chart->display->arena, bytes);
    memcpy(series->values, values, bytes);
    if (chart->last_series)
        chart->last_series->next = series;
    else
        chart->first_series = series;
    chart->last_series = series;
}

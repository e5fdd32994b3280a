/* SPDX-License-Identifier: Apache-2.0 */
/* Counters and the heap over the window: least, greatest and last value of each column. */
#include <math.h>

#include "viewers/viewers.h"

struct watching { /* one trace being read */
    struct fm_trace_counters *counters;
    unsigned part;
    struct fm_state_observer observer;
};

static void free_series(gpointer data)
{
    struct fm_trace_series *series = data;
    g_free(series->name);
    g_free(series->numbers);
    g_free(series);
}

static struct fm_trace_series *series_of(struct fm_trace_counters *counters, unsigned part,
                                         const struct fm_lane *lane)
{
    for (unsigned i = 0; i < counters->series->len; i++) {
        struct fm_trace_series *series = counters->series->pdata[i];
        if (series->part == part && series->lane == lane->index)
            return series;
    }
    if (counters->series->len >= TRACE_COUNTERS_MAX) {
        counters->left_out++;
        return NULL;
    }
    struct fm_trace_series *series = g_new0(struct fm_trace_series, 1);
    *series = (struct fm_trace_series){.part = part,
                                       .lane = lane->index,
                                       .key = lane->key,
                                       .name = g_strdup(lane->name),
                                       .kind = lane->kind,
                                       .numbers = g_new(double, 3 * (size_t)counters->job.columns)};
    for (unsigned i = 0; i < 3 * counters->job.columns; i++)
        series->numbers[i] = (double)NAN;
    g_ptr_array_add(counters->series, series);
    return series;
}

static void put(struct fm_trace_counters *counters, struct fm_trace_series *series, uint64_t time,
                double value)
{
    const struct fm_trace_job *job = &counters->job;
    double place = (double)(time - job->start) / (double)(job->end - job->start) * job->columns;
    double *column = &series->numbers[3 * (size_t)MIN((unsigned)place, job->columns - 1)];
    column[0] = isnan(column[0]) ? value : MIN(column[0], value);
    column[1] = isnan(column[1]) ? value : MAX(column[1], value);
    column[2] = value;
}

static void on_number(void *user, const struct fm_lane *lane, uint64_t time, double value)
{
    const struct watching *watching = user;
    const struct fm_trace_job *job = &watching->counters->job;
    if (time < job->start || time >= job->end)
        return;
    struct fm_trace_series *series = series_of(watching->counters, watching->part, lane);
    if (series != NULL)
        put(watching->counters, series, time, value);
}

/* The value at the window's begin. */
static void begin_watching(struct fm_trace_reading *reading)
{
    const struct watching *watching = reading->viewer;
    const struct fm_state *state = reading->job->set->parts[watching->part].state;
    for (uint32_t i = 0; i < fm_state_lane_count(state); i++) {
        const struct fm_lane *lane = fm_state_lane(state, i);
        struct fm_trace_series *series =
            lane->has_number ? series_of(watching->counters, watching->part, lane) : NULL;
        if (series != NULL)
            put(watching->counters, series, reading->job->start, lane->number);
    }
}

static const struct fm_state_observer *observe(struct fm_trace_reading *reading)
{
    return &((struct watching *)reading->viewer)->observer;
}

static void from_summary(struct fm_trace_counters *counters, unsigned part)
{
    const struct fm_trace_job *job = &counters->job;
    const struct fm_trace_part *of = &job->set->parts[part];
    const struct fm_state *state = fm_trace_part_summary_state(of);
    for (uint32_t i = 0; i < fm_state_lane_count(state); i++) {
        const struct fm_lane *lane = fm_state_lane(state, i);
        struct fm_trace_series *series = lane->has_number ? series_of(counters, part, lane) : NULL;
        if (series != NULL)
            fm_summary_numbers(fm_trace_part_summary(of), lane->index, job->start, job->end,
                               job->columns, series->numbers);
    }
    counters->job.from_summary = true;
}

static bool begin(struct fm_trace_job *job, GError **error)
{
    (void)error;
    struct fm_trace_counters *counters = (struct fm_trace_counters *)job;
    const struct fm_trace_set *set = job->set;
    counters->series = g_ptr_array_new_with_free_func(free_series);
    counters->watching = g_ptr_array_new_with_free_func(g_free);
    for (unsigned i = 0; i < set->count; i++) {
        if (fm_trace_part_summary(&set->parts[i]) != NULL &&
            fm_trace_part_summary_state(&set->parts[i]) != NULL) {
            from_summary(counters, i);
            continue;
        }
        struct watching *watching = g_new0(struct watching, 1);
        *watching = (struct watching){counters, i, {.user = watching, .number = on_number}};
        g_ptr_array_add(counters->watching, watching);
        const struct fm_trace_reading reading = {
            .part = (int)i, .viewer = watching, .begin = begin_watching, .observer = observe};
        job->provisional = true;
        fm_trace_job_read(job, &reading, job->start, NULL, job->end, NULL);
    }
    return true;
}

void fm_trace_counters_bounds(struct fm_trace_counters *counters)
{
    for (unsigned i = 0; i < counters->series->len; i++) {
        struct fm_trace_series *series = counters->series->pdata[i];
        series->least = series->greatest = (double)NAN;
        series->last = (double)NAN;
        for (unsigned j = 0; j < counters->job.columns; j++) {
            const double *column = &series->numbers[3 * (size_t)j];
            if (isnan(column[0]))
                continue;
            series->least = isnan(series->least) ? column[0] : MIN(series->least, column[0]);
            series->greatest =
                isnan(series->greatest) ? column[1] : MAX(series->greatest, column[1]);
            series->last = column[2];
        }
    }
}

static void clear(struct fm_trace_job *job)
{
    struct fm_trace_counters *counters = (struct fm_trace_counters *)job;
    g_clear_pointer(&counters->series, g_ptr_array_unref);
    g_clear_pointer(&counters->watching, g_ptr_array_unref);
}

const struct fm_trace_viewer fm_trace_viewer_counters = {
    "counters", sizeof(struct fm_trace_counters), begin, clear};

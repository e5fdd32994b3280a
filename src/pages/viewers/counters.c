/* SPDX-License-Identifier: Apache-2.0 */
/* Counters and the heap over the window: minimum, maximum and last value of each column. */
#include <math.h>

#include "pages/viewers/viewers.h"

struct watching { /* the reading of one trace */
    struct fm_viewer_counters *counters;
    unsigned part;
    struct fm_state_observer observer;
};

static void free_series(gpointer data)
{
    struct fm_viewer_series *series = data;
    g_free(series->name);
    g_free(series->numbers);
    g_free(series);
}

static struct fm_viewer_series *series_of(struct fm_viewer_counters *counters, unsigned part,
                                          const struct fm_lane *lane)
{
    const int64_t key = (int64_t)((uint64_t)part << 32 | lane->index);
    struct fm_viewer_series *series = g_hash_table_lookup(counters->read, &key);
    if (series != NULL)
        return series;
    if (counters->all->len >= TRACE_COUNTERS_READ_MAX) {
        g_hash_table_insert(counters->unread, g_memdup2(&key, sizeof key), NULL);
        return NULL;
    }
    series = g_new0(struct fm_viewer_series, 1);
    *series = (struct fm_viewer_series){
        .part = part,
        .lane = lane->index,
        .key = lane->key,
        .name = g_strdup(lane->name),
        .kind = lane->kind,
        .band = lane->kind == FM_LANE_HEAP && (lane->key & FM_LANE_HEAP_BAND) != 0,
        .numbers = g_new(double, 3 * (size_t)counters->job.columns)};
    for (unsigned i = 0; i < 3 * counters->job.columns; i++)
        series->numbers[i] = (double)NAN;
    g_ptr_array_add(counters->all, series);
    g_hash_table_insert(counters->read, g_memdup2(&key, sizeof key), series);
    return series;
}

static void put(struct fm_viewer_counters *counters, struct fm_viewer_series *series, uint64_t time,
                double value)
{
    const struct fm_viewer_job *job = &counters->job;
    double place = (double)(time - job->start) / (double)(job->end - job->start) * job->columns;
    double *column = &series->numbers[3 * (size_t)MIN((unsigned)place, job->columns - 1)];
    column[0] = isnan(column[0]) ? value : MIN(column[0], value);
    column[1] = isnan(column[1]) ? value : MAX(column[1], value);
    column[2] = value;
}

static void on_number(void *user, const struct fm_lane *lane, uint64_t time, double value)
{
    const struct watching *watching = user;
    const struct fm_viewer_job *job = &watching->counters->job;
    if (time < job->start || time >= job->end)
        return;
    struct fm_viewer_series *series = series_of(watching->counters, watching->part, lane);
    if (series != NULL)
        put(watching->counters, series, time, value);
}

/* The value at the window's begin. */
static void begin_watching(struct fm_viewer_reading *reading)
{
    const struct watching *watching = reading->viewer;
    const struct fm_state *state = reading->job->set->parts[watching->part].state;
    for (uint32_t i = 0; i < fm_state_lane_count(state); i++) {
        const struct fm_lane *lane = fm_state_lane(state, i);
        struct fm_viewer_series *series =
            lane->has_number ? series_of(watching->counters, watching->part, lane) : NULL;
        if (series != NULL)
            put(watching->counters, series, reading->job->start, lane->number);
    }
}

static const struct fm_state_observer *observe(struct fm_viewer_reading *reading)
{
    return &((struct watching *)reading->viewer)->observer;
}

static void from_summary(struct fm_viewer_counters *counters, unsigned part)
{
    const struct fm_viewer_job *job = &counters->job;
    const struct fm_viewer_part *of = &job->set->parts[part];
    const struct fm_state *state = fm_viewer_part_summary_state(of);
    for (uint32_t i = 0; i < fm_state_lane_count(state); i++) {
        const struct fm_lane *lane = fm_state_lane(state, i);
        struct fm_viewer_series *series = lane->has_number ? series_of(counters, part, lane) : NULL;
        if (series != NULL)
            fm_summary_numbers(fm_viewer_part_summary(of), lane->index, job->start, job->end,
                               job->columns, series->numbers);
    }
    counters->job.from_summary = true;
}

static bool begin(struct fm_viewer_job *job, GError **error)
{
    (void)error;
    struct fm_viewer_counters *counters = (struct fm_viewer_counters *)job;
    const struct fm_viewer_set *set = job->set;
    counters->series = g_ptr_array_new();
    counters->all = g_ptr_array_new_with_free_func(free_series);
    counters->read = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    counters->unread = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
    counters->watching = g_ptr_array_new_with_free_func(g_free);
    for (unsigned i = 0; i < set->count; i++) {
        if (fm_viewer_part_summary(&set->parts[i]) != NULL &&
            fm_viewer_part_summary_state(&set->parts[i]) != NULL) {
            from_summary(counters, i);
            continue;
        }
        struct watching *watching = g_new0(struct watching, 1);
        *watching = (struct watching){counters, i, {.user = watching, .number = on_number}};
        g_ptr_array_add(counters->watching, watching);
        const struct fm_viewer_reading reading = {
            .part = (int)i, .viewer = watching, .begin = begin_watching, .observer = observe};
        job->provisional = true;
        fm_viewer_job_read(job, &reading, job->start, NULL, job->end, NULL);
    }
    return true;
}

static void find_bounds(const struct fm_viewer_counters *counters, struct fm_viewer_series *series)
{
    series->least = series->greatest = (double)NAN;
    series->last = (double)NAN;
    for (unsigned j = 0; j < counters->job.columns; j++) {
        const double *column = &series->numbers[3 * (size_t)j];
        if (isnan(column[0]))
            continue;
        series->least = isnan(series->least) ? column[0] : MIN(series->least, column[0]);
        series->greatest = isnan(series->greatest) ? column[1] : MAX(series->greatest, column[1]);
        series->last = column[2];
    }
}

/* Largest first, those without a value last; equal ones in the trace's order. */
static int compare_sizes(gconstpointer a, gconstpointer b)
{
    const struct fm_viewer_series *one = *(struct fm_viewer_series *const *)a;
    const struct fm_viewer_series *other = *(struct fm_viewer_series *const *)b;
    if (isnan(one->greatest) || isnan(other->greatest))
        return (int)isnan(one->greatest) - (int)isnan(other->greatest);
    if (one->greatest > other->greatest || one->greatest < other->greatest)
        return one->greatest > other->greatest ? -1 : 1;
    return 0;
}

/* A band stays what it was where a column has nothing new. */
static void add_to_rest(struct fm_viewer_counters *counters, const struct fm_viewer_series *band)
{
    double last = (double)NAN;
    if (counters->rest == NULL)
        counters->rest = g_new0(double, counters->job.columns);
    counters->rest_count++;
    for (unsigned i = 0; i < counters->job.columns; i++) {
        double value = band->numbers[3 * (size_t)i + 2];
        last = isnan(value) ? last : value;
        counters->rest[i] += isnan(last) ? 0 : last;
    }
}

void fm_viewer_counters_choose(struct fm_viewer_counters *counters)
{
    g_ptr_array_set_size(counters->series, 0);
    g_clear_pointer(&counters->rest, g_free);
    counters->rest_count = 0;
    for (unsigned i = 0; i < counters->all->len; i++) {
        find_bounds(counters, counters->all->pdata[i]);
        g_ptr_array_add(counters->series, counters->all->pdata[i]);
    }
    counters->left_out = g_hash_table_size(counters->unread);
    if (counters->series->len <= TRACE_COUNTERS_MAX)
        return;
    counters->left_out += counters->series->len - TRACE_COUNTERS_MAX;
    g_ptr_array_sort(counters->series, compare_sizes);
    for (unsigned i = TRACE_COUNTERS_MAX; i < counters->series->len; i++) {
        const struct fm_viewer_series *series = counters->series->pdata[i];
        if (series->band)
            add_to_rest(counters, series);
    }
    g_ptr_array_set_size(counters->series, TRACE_COUNTERS_MAX);
}

static void clear(struct fm_viewer_job *job)
{
    struct fm_viewer_counters *counters = (struct fm_viewer_counters *)job;
    g_clear_pointer(&counters->series, g_ptr_array_unref);
    g_clear_pointer(&counters->read, g_hash_table_unref);
    g_clear_pointer(&counters->unread, g_hash_table_unref);
    g_clear_pointer(&counters->all, g_ptr_array_unref);
    g_clear_pointer(&counters->watching, g_ptr_array_unref);
    g_free(counters->rest);
}

const struct fm_viewer fm_viewer_of_counters = {"counters", sizeof(struct fm_viewer_counters),
                                                begin, clear};

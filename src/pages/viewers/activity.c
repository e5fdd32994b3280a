/* SPDX-License-Identifier: Apache-2.0 */
/* Number of working capabilities, CPUs or threads over the window. The entries of all lanes of that
 * kind are added up by column and class of state, visible or not: from the summary, or while the
 * events are read. */
#include <inttypes.h>
#include <math.h>

#include "pages/viewers/viewers.h"

static unsigned rank_of(enum fm_lane_kind kind)
{
    switch (kind) {
    case FM_LANE_CAPABILITY:
        return 3;
    case FM_LANE_CPU:
        return 2;
    case FM_LANE_THREAD:
        return 1;
    default:
        return 0;
    }
}

void fm_viewer_activity_init(struct fm_viewer_activity *activity, const struct fm_viewer_job *job)
{
    unsigned columns = MIN(job->columns, TRACE_LOAD_COLUMNS_MAX);
    *activity = (struct fm_viewer_activity){.known_until = job->start};
    fm_load_init(&activity->ended, job->start, job->end, columns);
    fm_load_init(&activity->load, job->start, job->end, columns);
}

void fm_viewer_activity_done(struct fm_viewer_activity *activity)
{
    fm_load_done(&activity->ended);
    fm_load_done(&activity->load);
}

/* Drops threads, which were counted before a CPU was seen. */
static void prefer(struct fm_viewer_activity *activity, enum fm_lane_kind kind)
{
    activity->kind = kind;
    activity->rank = rank_of(kind);
    fm_load_reset(&activity->ended);
}

/* Finds the lanes that exist. */
static void look(struct fm_viewer_activity *activity, const struct fm_state *state)
{
    unsigned lanes = 0;
    bool known = false;
    for (uint32_t i = 0; i < fm_state_lane_count(state); i++) {
        const struct fm_lane *lane = fm_state_lane(state, i);
        if (rank_of(lane->kind) > activity->rank) {
            prefer(activity, lane->kind);
            lanes = 0;
            known = false;
        }
        bool counts = activity->rank > 0 && lane->kind == activity->kind;
        lanes += counts;
        known |= counts && (lane->had_state || lane->depth > 0);
    }
    activity->lanes = known ? lanes : 0;
}

/* Time is counted for the innermost entry only. */
static void count(struct fm_load *load, const struct fm_state *state, const struct fm_lane *lane,
                  uint32_t depth, const struct fm_state_entry *entry, uint64_t end)
{
    const struct fm_trace *trace = fm_state_trace(state);
    enum fm_state_class own = fm_trace_value_class(trace, entry->value);
    bool nested = depth > 0 && depth <= lane->depth;
    enum fm_state_class below =
        nested ? fm_trace_value_class(trace, lane->stack[depth - 1].value) : own;
    if (nested && below == own)
        return;
    fm_load_add(load, own, entry->since, end, (double)(end - entry->since));
    if (nested)
        fm_load_add(load, below, entry->since, end, -(double)(end - entry->since));
}

void fm_viewer_activity_count(struct fm_viewer_activity *activity, const struct fm_state *state,
                              const struct fm_lane *lane, uint32_t depth,
                              const struct fm_state_entry *entry, uint64_t end)
{
    if (rank_of(lane->kind) > activity->rank)
        prefer(activity, lane->kind);
    if (lane->kind == activity->kind && activity->rank > 0 && end > entry->since)
        count(&activity->ended, state, lane, depth, entry, end);
}

struct opening {
    struct fm_viewer_activity *activity;
    const struct fm_state *state;
};

static void count_open(void *user, const struct fm_lane *lane, uint32_t depth,
                       const struct fm_state_entry *entry, uint64_t end)
{
    const struct opening *opening = user;
    if (lane->kind == opening->activity->kind && opening->activity->rank > 0 && end > entry->since)
        count(&opening->activity->load, opening->state, lane, depth, entry, end);
}

void fm_viewer_activity_show(struct fm_viewer_activity *activity, struct fm_state *state,
                             uint64_t time, bool complete)
{
    struct opening opening = {activity, state};
    const struct fm_state_observer open = {.user = &opening, .segment = count_open};
    look(activity, state);
    fm_load_reset(&activity->load);
    fm_load_add_all(&activity->load, &activity->ended);
    fm_state_flush(state, time, &open);
    activity->known_until = CLAMP(time, activity->load.start, activity->load.end);
    activity->complete = complete;
}

/* With very many lanes the answer is coarser, so that it takes no longer. */
static void use_fewer_columns(struct fm_viewer_activity *activity, unsigned nested)
{
    enum { SUMS_MAX = 1000000, COLUMNS_LEAST = 20 };
    unsigned columns = activity->load.columns;
    uint64_t start = activity->load.start, end = activity->load.end;
    if ((uint64_t)nested * columns <= SUMS_MAX)
        return;
    fm_load_done(&activity->load);
    fm_load_init(&activity->load, start, end, MIN(columns, MAX(SUMS_MAX / nested, COLUMNS_LEAST)));
}

void fm_viewer_activity_from_summary(struct fm_viewer_activity *activity,
                                     const struct fm_summary *summary, const struct fm_state *state)
{
    look(activity, state);
    g_autoptr(GArray) lanes = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t i = 0; activity->rank > 0 && i < fm_state_lane_count(state); i++) {
        if (fm_state_lane(state, i)->kind == activity->kind)
            g_array_append_val(lanes, i);
    }
    const uint32_t *numbers = (const uint32_t *)(const void *)lanes->data;
    use_fewer_columns(activity, fm_summary_nested(summary, numbers, lanes->len));
    fm_summary_load(summary, numbers, lanes->len, &activity->load);
    activity->known_until =
        fm_summary_known_until(summary) >= fm_state_trace(state)->end_time
            ? activity->load.end
            : CLAMP(fm_summary_known_until(summary), activity->load.start, activity->load.end);
    activity->from_summary = activity->complete = true;
}

/* --- results --- */

bool fm_viewer_activity_is_empty(const struct fm_viewer_activity *activity)
{
    return activity->lanes == 0 || activity->known_until == activity->load.start;
}

static double mean(const struct fm_viewer_activity *activity, double time)
{
    double known = (double)(activity->known_until - activity->load.start);
    return known == 0 ? 0 : CLAMP(time / known, 0, (double)activity->lanes);
}

static double work_time(const struct fm_viewer_activity *activity)
{
    double sum = 0;
    for (unsigned i = 0; i < activity->load.columns; i++)
        sum += fm_load_at_work(&activity->load, i);
    return sum - fm_load_time(&activity->load, FM_STATE_COLLECTING);
}

double fm_viewer_activity_mean(const struct fm_viewer_activity *activity)
{
    return mean(activity, work_time(activity));
}

double fm_viewer_activity_mean_of(const struct fm_viewer_activity *activity,
                                  enum fm_state_class state_class)
{
    return mean(activity, fm_load_time(&activity->load, state_class));
}

double fm_viewer_activity_productivity(const struct fm_viewer_activity *activity)
{
    double collecting = fm_load_time(&activity->load, FM_STATE_COLLECTING);
    double work = MAX(work_time(activity), 0);
    return collecting < 0.5 ? -1 : work / (work + collecting);
}

static double column_width(const struct fm_load *load)
{
    return (double)(load->end - load->start) / load->columns;
}

/* Sums of fractions of nanoseconds have rounding errors. */
static double tidy(double value)
{
    return value < 1e-6 ? 0 : value;
}

double fm_viewer_activity_at(const struct fm_viewer_activity *activity,
                             enum fm_state_class state_class, unsigned column)
{
    const struct fm_load *load = &activity->load;
    g_assert(column < load->columns && state_class < FM_STATE_CLASS_COUNT);
    double time = load->time[(size_t)column * FM_STATE_CLASS_COUNT + state_class];
    return tidy(time / column_width(load));
}

unsigned fm_viewer_activity_scale(const struct fm_viewer_activity *activity)
{
    double most = 0;
    if (activity->kind != FM_LANE_THREAD)
        return MAX(activity->lanes, 1);
    for (unsigned i = 0; i < activity->load.columns; i++)
        most = MAX(most, fm_load_at_work(&activity->load, i) / column_width(&activity->load));
    return MAX((unsigned)ceil(most - 1e-6), 1);
}

char *fm_viewer_activity_name(const struct fm_viewer_activity *activity)
{
    static const char *const names[][2] = {
        {"capability", "capabilities"}, {"CPU", "CPUs"}, {"thread", "threads"}};
    unsigned which = 3 - CLAMP(activity->rank, 1, 3);
    return g_strdup_printf("%u %s", activity->lanes, names[which][activity->lanes != 1]);
}

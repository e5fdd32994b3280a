/* SPDX-License-Identifier: Apache-2.0 */
/* The statistics tree of the window or of the whole trace, as rows. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "engine/trace_modules.h"
#include "pages/viewers/viewers.h"

#define ROWS_MAX 2000u
#define CHILDREN_MAX 60u
#define DEPTH_MAX 24u
#define LANE_DEPTH 2u /* a trace, its kinds of lanes, their lanes */

static void begin_reading(struct fm_viewer_reading *reading)
{
    reading->job->provisional |=
        !fm_state_is_complete(reading->job->set->parts[reading->part].state);
}

static const struct fm_state_observer *observe(struct fm_viewer_reading *reading)
{
    return fm_statistics_observer(reading->viewer);
}

static bool count_event(struct fm_viewer_reading *reading, struct fm_tracefile_context *at)
{
    return fm_statistics_hook(reading->viewer, at);
}

/* Entries that continue beyond the end of the window are counted up to it. */
static void end_reading(struct fm_viewer_reading *reading, uint64_t time)
{
    if (reading->begun)
        fm_state_flush(reading->job->set->parts[reading->part].state, time,
                       fm_statistics_observer(reading->viewer));
}

static bool begin(struct fm_viewer_job *job, GError **error)
{
    (void)error;
    struct fm_viewer_statistics *statistics = (struct fm_viewer_statistics *)job;
    const struct fm_viewer_set *set = job->set;
    bool all = job->query.whole_trace ||
               (job->start == set->origin + set->start && job->end == set->origin + set->end);
    statistics->whole = all && fm_viewer_set_is_ready(set, TRACE_STATISTICS);
    statistics->own = g_new0(struct fm_statistics *, set->count);
    statistics->rows = g_array_new(FALSE, FALSE, sizeof(struct fm_viewer_statistics_row));
    if (all) {
        job->start = set->origin + set->start;
        job->end = set->origin + set->end;
    }
    statistics->length = job->end - job->start - (all ? 1 : 0);
    job->known_until = job->start;
    for (unsigned i = 0; statistics->whole && i < set->count; i++) {
        uint64_t until;
        statistics->own[i] = fm_engine_statistics_so_far(set->parts[i].trace, &until);
        if (statistics->own[i] != NULL && until < set->parts[i].trace->end_time)
            job->reaches = MIN(job->reaches, until);
    }
    for (unsigned i = 0; !statistics->whole && i < set->count; i++) {
        statistics->own[i] = fm_statistics_new(set->parts[i].state);
        fm_statistics_set_interval(statistics->own[i], job->start, job->end);
        const struct fm_viewer_reading reading = {.part = (int)i,
                                                  .viewer = statistics->own[i],
                                                  .begin = begin_reading,
                                                  .event = count_event,
                                                  .observer = observe,
                                                  .end = end_reading};
        fm_viewer_job_read(job, &reading, job->start, NULL, job->end, NULL);
    }
    return true;
}

/* --- rows --- */

static uint64_t number_of(const struct fm_statistics_node *node, enum fm_trace_sort sort)
{
    switch (sort) {
    case FM_TRACE_SORT_SELF:
        return node->self_time;
    case FM_TRACE_SORT_COUNT:
        return node->count;
    case FM_TRACE_SORT_LONGEST:
        return node->longest;
    case FM_TRACE_SORT_EVENTS:
        return node->all_events;
    default:
        return node->time;
    }
}

static int compare_nodes(gconstpointer a, gconstpointer b, gpointer user)
{
    const struct fm_statistics_node *left = *(struct fm_statistics_node *const *)a;
    const struct fm_statistics_node *right = *(struct fm_statistics_node *const *)b;
    enum fm_trace_sort sort = *(const enum fm_trace_sort *)user;
    if (sort != FM_TRACE_SORT_NAME) {
        uint64_t left_number = number_of(left, sort), right_number = number_of(right, sort);
        if (left_number != right_number)
            return left_number > right_number ? -1 : 1;
        if (left->count != right->count)
            return left->count > right->count ? -1 : 1;
    }
    return g_strcmp0(left->name, right->name);
}

struct waiting { /* a node whose row is not yet made */
    const struct fm_statistics_node *node;
    int parent;
    unsigned depth, part;
};

static void push_children(const struct fm_viewer_statistics *statistics, GArray *stack,
                          const struct waiting *of, int row)
{
    const GPtrArray *children = of->node->children;
    if (children == NULL || of->depth >= DEPTH_MAX)
        return;
    enum fm_trace_sort sort = statistics->job.query.sort;
    g_autoptr(GPtrArray) sorted = g_ptr_array_new();
    for (unsigned i = 0; i < children->len; i++)
        g_ptr_array_add(sorted, children->pdata[i]);
    g_ptr_array_sort_with_data(sorted, compare_nodes, &sort);
    unsigned shown = MIN(sorted->len, CHILDREN_MAX);
    if (row >= 0)
        g_array_index(statistics->rows, struct fm_viewer_statistics_row, row).left_out =
            sorted->len - shown;
    for (unsigned i = shown; i-- > 0;) {
        struct waiting child = {sorted->pdata[i], row, of->depth + 1, of->part};
        g_array_append_val(stack, child);
    }
}

/* Whether its times add up to more than the elapsed time. */
static bool is_of_several_lanes(const struct fm_statistics_node *node, unsigned depth)
{
    const struct fm_statistics_node *lane = node;
    for (; depth > LANE_DEPTH; depth--)
        lane = lane->parent;
    if (depth == LANE_DEPTH)
        return lane->is_shared;
    const GPtrArray *children = node->children;
    return children == NULL || children->len != 1 ||
           is_of_several_lanes(children->pdata[0], depth + 1);
}

void fm_viewer_statistics_fill(struct fm_viewer_statistics *statistics)
{
    const struct fm_viewer_set *set = statistics->job.set;
    g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(struct waiting));
    g_array_set_size(statistics->rows, 0);
    for (unsigned i = set->count; i-- > 0;) {
        struct fm_statistics *of = statistics->own[i] != NULL
                                       ? statistics->own[i]
                                       : fm_viewer_part_statistics(&set->parts[i]);
        struct waiting root = {fm_statistics_root(of), -1, 0, i};
        g_array_append_val(stack, root);
    }
    while (stack->len > 0 && statistics->rows->len < ROWS_MAX) {
        struct waiting at = g_array_index(stack, struct waiting, stack->len - 1);
        g_array_set_size(stack, stack->len - 1);
        const struct fm_statistics_node *node = at.node;
        struct fm_viewer_statistics_row row = {
            .node = at.node,
            .parent = at.parent,
            .depth = at.depth,
            .part = at.part,
            .share = statistics->length == 0 || is_of_several_lanes(node, at.depth)
                         ? (double)NAN
                         : (double)node->time / (double)statistics->length,
        };
        g_array_append_val(statistics->rows, row);
        push_children(statistics, stack, &at, (int)statistics->rows->len - 1);
    }
}

static void clear(struct fm_viewer_job *job)
{
    struct fm_viewer_statistics *statistics = (struct fm_viewer_statistics *)job;
    for (unsigned i = 0; statistics->own != NULL && i < job->set->count; i++)
        fm_statistics_free(statistics->own[i]);
    g_free(statistics->own);
    g_clear_pointer(&statistics->rows, g_array_unref);
}

const struct fm_viewer fm_viewer_of_statistics = {"statistics", sizeof(struct fm_viewer_statistics),
                                                  begin, clear};

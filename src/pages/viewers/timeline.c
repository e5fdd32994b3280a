/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes of lanes over the window: from the summary if there is one and the window has many events;
 * otherwise painted while the events are read, with marks and arrows. The resource viewer does the
 * same for other kinds of lanes, with the time of each state added up. */
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "pages/viewers/viewers.h"

/* A window with at most this many events is read, which is exact and shows marks and arrows. */
#define READ_EVENTS_MAX 50000u
#define USAGE_DEPTH_MAX 8u
/* With more, taking and ordering them, the picture and the load have a turn each. */
#define LANES_A_TURN 4096u

struct painting { /* the reading of one trace */
    struct fm_viewer_timeline *timeline;
    unsigned part;
    struct fm_painter *painter;
    bool last; /* the window has been read */
    /* passes changes on to the painter, and notes marks and arrows */
    struct fm_state_observer observer;
};

/* --- usage --- */

static uint64_t usage_key(unsigned part, uint32_t lane, uint32_t value)
{
    return ((uint64_t)part << 56) ^ ((uint64_t)lane << 28) ^ value;
}

static void add_usage(struct fm_viewer_timeline *timeline, unsigned part, uint32_t lane,
                      uint32_t value, int64_t time)
{
    if (timeline->usage == NULL || time == 0)
        return;
    uint64_t key = usage_key(part, lane, value);
    struct fm_viewer_usage *usage = g_hash_table_lookup(timeline->usage, &key);
    if (usage == NULL) {
        usage = g_new0(struct fm_viewer_usage, 1);
        *usage = (struct fm_viewer_usage){key, part, lane, value, 0};
        g_hash_table_insert(timeline->usage, &usage->key, usage);
    }
    usage->time += time;
}

static int compare_usage(gconstpointer a, gconstpointer b)
{
    const struct fm_viewer_usage *left = *(struct fm_viewer_usage *const *)a;
    const struct fm_viewer_usage *right = *(struct fm_viewer_usage *const *)b;
    if (left->time != right->time)
        return left->time > right->time ? -1 : 1;
    return left->value < right->value ? -1 : left->value > right->value;
}

GPtrArray *fm_viewer_timeline_usage(const struct fm_viewer_timeline *timeline,
                                    const struct fm_viewer_lane *lane)
{
    g_assert(timeline->usage != NULL && lane->part < timeline->job.set->count);
    GPtrArray *of_lane = g_ptr_array_new();
    GHashTableIter iter;
    gpointer usage;
    g_hash_table_iter_init(&iter, timeline->usage);
    while (g_hash_table_iter_next(&iter, NULL, &usage)) {
        const struct fm_viewer_usage *one = usage;
        if (one->part == lane->part && one->lane == lane->index && one->time > 0)
            g_ptr_array_add(of_lane, usage);
    }
    g_ptr_array_sort(of_lane, compare_usage);
    return of_lane;
}

double fm_viewer_timeline_busy(const struct fm_viewer_timeline *timeline,
                               const struct fm_viewer_lane *lane)
{
    const struct fm_viewer_job *job = &timeline->job;
    if (timeline->usage == NULL)
        return -1;
    uint64_t busy = 0, known = job->known_until - job->start;
    g_autoptr(GPtrArray) all = fm_viewer_timeline_usage(timeline, lane);
    for (unsigned i = 0; i < all->len; i++) {
        const struct fm_viewer_usage *usage = all->pdata[i];
        if (fm_state_class_is_busy(
                fm_trace_value_class(job->set->parts[lane->part].trace, usage->value)))
            busy += (uint64_t)usage->time;
    }
    return known == 0 ? -1 : MIN((double)busy / (double)known, 1.0);
}

static void set_active(struct fm_viewer_timeline *timeline, unsigned part, uint32_t lane)
{
    GByteArray *active = timeline->boxes[part].active;
    guint known = active->len;
    if (lane >= known) {
        g_byte_array_set_size(active, lane + 1 + lane / 2);
        memset(active->data + known, 0, active->len - known);
    }
    timeline->lanes.fresh &= active->data[lane] != 0;
    active->data[lane] = 1;
}

static bool is_active(const struct fm_viewer_timeline *timeline, const struct fm_viewer_lane *lane)
{
    const GByteArray *active = timeline->boxes[lane->part].active;
    return lane->index < active->len && active->data[lane->index] != 0;
}

/* --- choice of lanes --- */

/* Moves the range of lanes to the one that has to be seen. */
static void reveal(struct fm_viewer_timeline *timeline)
{
    struct fm_trace_query *query = &timeline->job.query;
    const GPtrArray *order = timeline->lanes.order;
    unsigned count = query->lanes == 0 ? TRACE_LANES_DEFAULT : query->lanes;
    struct fm_viewer_lane wanted;
    if (query->reveal == NULL || !fm_viewer_lane_parse(query->reveal, &wanted))
        return;
    for (unsigned i = 0; i < order->len; i++) {
        const struct fm_viewer_lane *lane = order->pdata[i];
        if (lane->part == wanted.part && lane->kind == wanted.kind && lane->key == wanted.key &&
            (i < query->first || i - query->first >= count)) {
            query->first = i - MIN(i, count / 2);
            return;
        }
    }
}

/* Leaves out lanes that have ended and without events in the window. */
static void select_lanes(struct fm_viewer_timeline *timeline)
{
    GPtrArray *order = timeline->lanes.order;
    unsigned kept = 0;
    if (timeline->lanes.fresh) /* with many lanes it takes long */
        return;
    timeline->lanes.fresh = true;
    fm_viewer_busy_take(timeline);
    fm_viewer_lanes_order(&timeline->lanes, &timeline->job.query, timeline->test);
    for (unsigned i = 0; i < order->len; i++) {
        struct fm_viewer_lane *lane = order->pdata[i];
        bool is_there = is_active(timeline, lane) || !lane->ended;
        if (is_there && (timeline->busy == NULL || !timeline->job.query.busy_only ||
                         lane->busy > 0 || lane->is_pinned))
            order->pdata[kept++] = lane;
    }
    g_ptr_array_set_size(order, (gint)kept);
    reveal(timeline);
}

/* The lanes whose boxes will be written. */
static const uint32_t no_lanes[1]; /* NULL would select all */

static const uint32_t *lane_numbers(const GArray *lanes)
{
    return lanes->len == 0 ? no_lanes : (const uint32_t *)(const void *)lanes->data;
}

static int compare_numbers(gconstpointer a, gconstpointer b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return left < right ? -1 : left > right;
}

static GArray *chosen_lanes(const struct fm_viewer_timeline *timeline, unsigned part)
{
    const struct fm_trace_query *query = &timeline->job.query;
    unsigned count = query->lanes == 0 ? TRACE_LANES_DEFAULT : query->lanes;
    GArray *chosen = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (unsigned i = query->first; i < timeline->lanes.order->len && i - query->first < count;
         i++) {
        const struct fm_viewer_lane *lane = timeline->lanes.order->pdata[i];
        if (lane->part == part)
            g_array_append_val(chosen, lane->index);
    }
    g_array_sort(chosen, compare_numbers); /* the order in which boxes are looked up */
    return chosen;
}

/* --- reading --- */

/* Time is counted for the innermost entry: it is subtracted from the entry below. */
static void count_segment(const struct painting *painting, const struct fm_lane *lane,
                          uint32_t depth, uint32_t value, int64_t time)
{
    add_usage(painting->timeline, painting->part, lane->index, value, time);
    if (depth > 0 && depth <= lane->depth)
        add_usage(painting->timeline, painting->part, lane->index, lane->stack[depth - 1].value,
                  -time);
}

static void on_segment(void *user, const struct fm_lane *lane, uint32_t depth,
                       const struct fm_state_entry *entry, uint64_t end)
{
    struct painting *painting = user;
    struct fm_viewer_timeline *timeline = painting->timeline;
    const struct fm_state_observer *inner = fm_painter_observer(painting->painter);
    if (inner->segment != NULL)
        inner->segment(inner->user, lane, depth, entry, end);
    uint64_t from = MAX(entry->since, timeline->job.start), to = MIN(end, timeline->job.end);
    set_active(timeline, painting->part, lane->index);
    if (to > from)
        count_segment(painting, lane, depth, entry->value, (int64_t)(to - from));
    if (timeline->activity != NULL)
        fm_viewer_activity_count(&timeline->activity[painting->part],
                                 timeline->job.set->parts[painting->part].state, lane, depth, entry,
                                 end);
}

static void on_lane(void *user, const struct fm_lane *lane)
{
    const struct painting *painting = user;
    const struct fm_state_observer *inner = fm_painter_observer(painting->painter);
    if (inner->lane_added != NULL)
        inner->lane_added(inner->user, lane);
}

static void on_number(void *user, const struct fm_lane *lane, uint64_t time, double value)
{
    const struct painting *painting = user;
    const struct fm_state_observer *inner = fm_painter_observer(painting->painter);
    if (inner->number != NULL)
        inner->number(inner->user, lane, time, value);
}

static void on_mark(void *user, const struct fm_lane *lane, uint64_t time, uint32_t value)
{
    const struct painting *painting = user;
    GArray *marks = painting->timeline->marks;
    struct fm_viewer_point mark = {painting->part, lane->index, value, time};
    if (marks->len < TRACE_MARKS_MAX)
        g_array_append_val(marks, mark);
}

static void on_arrow(void *user, const struct fm_lane *from, uint64_t from_time,
                     const struct fm_lane *to, uint64_t to_time)
{
    const struct painting *painting = user;
    struct fm_viewer_timeline *timeline = painting->timeline;
    const struct fm_arrow arrow = {from_time, to_time, from->index, to->index};
    fm_viewer_arrows_add(&timeline->arrows, &timeline->job, painting->part, &arrow);
}

static void begin_painting(struct fm_viewer_reading *reading)
{
    struct painting *painting = reading->viewer;
    struct fm_viewer_job *job = reading->job;
    const struct fm_state *state = job->set->parts[painting->part].state;
    job->provisional |= !fm_state_is_complete(state);
    painting->painter = fm_painter_new(state, job->start, job->end, job->columns, TRACE_BOXES_MAX);
}

static bool paint_event(struct fm_viewer_reading *reading, struct fm_tracefile_context *at)
{
    const struct painting *painting = reading->viewer;
    return fm_painter_hook(painting->painter, at);
}

static const struct fm_state_observer *observe(struct fm_viewer_reading *reading)
{
    return &((struct painting *)reading->viewer)->observer;
}

static void note_open(void *user, const struct fm_lane *lane, uint32_t depth,
                      const struct fm_state_entry *entry, uint64_t end)
{
    const struct painting *painting = user;
    const struct fm_viewer_job *job = &painting->timeline->job;
    uint64_t from = MAX(entry->since, job->start), to = MIN(end, job->end);
    set_active(painting->timeline, painting->part, lane->index);
    if (painting->last && to > from)
        count_segment(painting, lane, depth, entry->value, (int64_t)(to - from));
}

static void take_picture(struct fm_viewer_reading *reading, uint64_t time)
{
    struct painting *painting = reading->viewer;
    struct fm_viewer_timeline *timeline = painting->timeline;
    struct fm_viewer_boxes *boxes = &timeline->boxes[painting->part];
    struct fm_state *state = timeline->job.set->parts[painting->part].state;
    const struct fm_state_observer open = {.user = painting, .segment = note_open};
    fm_viewer_lanes_take(&timeline->lanes, painting->part, state);
    fm_state_flush(state, time, &open);
    if (timeline->activity != NULL)
        fm_viewer_activity_show(&timeline->activity[painting->part], state, time,
                                painting->last && fm_state_is_complete(state));
    if (painting->painter == NULL) /* there was nothing to read */
        return;
    select_lanes(timeline);
    g_autoptr(GArray) lanes = chosen_lanes(timeline, painting->part);
    if (boxes->filled)
        fm_picture_done(&boxes->picture);
    fm_painter_picture(painting->painter, time, lane_numbers(lanes), lanes->len, &boxes->picture);
    boxes->filled = true;
    fm_viewer_timeline_find_ends(timeline, painting->part, time, painting->last);
}

static void end_painting(struct fm_viewer_reading *reading, uint64_t time)
{
    struct painting *painting = reading->viewer;
    painting->last = true;
    take_picture(reading, time);
    g_clear_pointer(&painting->painter, fm_painter_free);
}

static void read_part(struct fm_viewer_timeline *timeline, unsigned part)
{
    struct painting *painting = g_new0(struct painting, 1);
    *painting = (struct painting){.timeline = timeline,
                                  .part = part,
                                  .observer = {.user = painting,
                                               .lane_added = on_lane,
                                               .segment = on_segment,
                                               .number = on_number,
                                               .mark = on_mark,
                                               .arrow = on_arrow}};
    g_ptr_array_add(timeline->paintings, painting);
    const struct fm_viewer_reading reading = {.part = (int)part,
                                              .viewer = painting,
                                              .begin = begin_painting,
                                              .event = paint_event,
                                              .observer = observe,
                                              .pause = take_picture,
                                              .end = end_painting};
    fm_viewer_job_read(&timeline->job, &reading, timeline->job.start, NULL, timeline->job.end,
                       NULL);
}

/* --- from the summary --- */

/* Parent of the entries at the next depth, which the summary does not store: a collection (its work
 * is nested), else an entry that is not busy (an interrupt of an idle CPU), else the longest. */
static uint32_t stood_on(const struct fm_trace *trace, const GArray *values, double time)
{
    for (unsigned turn = 0; turn < 2; turn++) {
        for (unsigned i = 0; i < values->len; i++) {
            const struct fm_value_time *value = &g_array_index(values, struct fm_value_time, i);
            enum fm_state_class state_class = fm_trace_value_class(trace, value->value);
            if (value->time >= time && (turn == 0 ? state_class == FM_STATE_COLLECTING
                                                  : !fm_state_class_is_busy(state_class)))
                return value->value;
        }
    }
    return g_array_index(values, struct fm_value_time, 0).value;
}

/* Time is counted for the innermost entry. */
static void add_summed(struct fm_viewer_timeline *timeline, unsigned part, uint32_t lane)
{
    const struct fm_viewer_job *job = &timeline->job;
    const struct fm_viewer_part *of = &job->set->parts[part];
    g_autoptr(GArray) below = NULL;
    for (uint32_t depth = 0; depth < USAGE_DEPTH_MAX; depth++) {
        g_autoptr(GArray) values =
            fm_summary_values(fm_viewer_part_summary(of), lane, depth, job->start, job->end);
        double sum = 0;
        for (unsigned i = 0; i < values->len; i++) {
            const struct fm_value_time *value = &g_array_index(values, struct fm_value_time, i);
            add_usage(timeline, part, lane, value->value, (int64_t)value->time);
            sum += value->time;
        }
        if (below != NULL)
            add_usage(timeline, part, lane, stood_on(of->trace, below, sum), -(int64_t)sum);
        if (values->len == 0)
            return;
        g_clear_pointer(&below, g_array_unref);
        below = g_steal_pointer(&values);
    }
}

static void draw_part(struct fm_viewer_timeline *timeline, unsigned part)
{
    const struct fm_viewer_job *job = &timeline->job;
    g_assert(!timeline->boxes[part].filled);
    struct fm_viewer_boxes *boxes = &timeline->boxes[part];
    g_autoptr(GArray) lanes = chosen_lanes(timeline, part);
    boxes->picture =
        (struct fm_picture){.start = job->start, .end = job->end, .columns = job->columns};
    fm_summary_draw(fm_viewer_part_summary(&job->set->parts[part]), lane_numbers(lanes), lanes->len,
                    &boxes->picture, TRACE_BOXES_MAX);
    boxes->filled = true;
    for (unsigned i = 0; timeline->usage != NULL && i < lanes->len; i++)
        add_summed(timeline, part, g_array_index(lanes, uint32_t, i));
}

static void draw_activity(struct fm_viewer_timeline *timeline, unsigned part)
{
    const struct fm_viewer_part *of = &timeline->job.set->parts[part];
    if (timeline->activity != NULL)
        fm_viewer_activity_from_summary(&timeline->activity[part], fm_viewer_part_summary(of),
                                        fm_viewer_part_summary_state(of));
}

/* The order of the lanes, or a part's picture or load. False: all are drawn. */
static bool draw_next(struct fm_viewer_timeline *timeline)
{
    unsigned part = timeline->drawing / 2;
    if (part >= timeline->job.set->count)
        return false;
    if (!timeline->lanes.fresh) {
        select_lanes(timeline);
        return true;
    }
    const struct fm_viewer_part *of = &timeline->job.set->parts[part];
    bool is_load = timeline->drawing++ % 2 != 0;
    if (!timeline->boxes[part].from_summary)
        return true;
    if (fm_viewer_part_summary(of) == NULL || fm_viewer_part_summary_state(of) == NULL)
        timeline->job.provisional = true; /* it begins anew */
    else if (is_load)
        draw_activity(timeline, part);
    else
        draw_part(timeline, part);
    return true;
}

/* --- the viewer --- */

static void choose(struct fm_viewer_timeline *timeline)
{
    struct fm_viewer_job *job = &timeline->job;
    const struct fm_viewer_set *set = job->set;
    for (unsigned i = 0; i < set->count; i++) {
        const struct fm_summary *summary = fm_viewer_part_summary(&set->parts[i]);
        const struct fm_state *state = fm_viewer_part_summary_state(&set->parts[i]);
        uint64_t known = summary == NULL ? 0 : fm_summary_known_until(summary);
        bool reaches = known >= MIN(job->end, set->parts[i].trace->end_time);
        bool drawn = summary != NULL && state != NULL &&
                     (reaches || fm_background_follows(set->engine, set->parts[i].trace)) &&
                     fm_summary_events(summary, job->start, job->end) > READ_EVENTS_MAX;
        if (drawn && !reaches)
            job->reaches = MIN(job->reaches, known);
        timeline->boxes[i].from_summary = drawn;
        if (drawn) {
            g_autoptr(GArray) active = fm_summary_lanes(summary, job->start, job->end);
            fm_viewer_lanes_take(&timeline->lanes, i, state);
            for (unsigned k = 0; k < active->len; k++)
                set_active(timeline, i, g_array_index(active, uint32_t, k));
        } else {
            read_part(timeline, i);
        }
        job->from_summary |= drawn;
    }
    while (timeline->lanes.all->len <= LANES_A_TURN && draw_next(timeline))
        ;
}

/* First the lanes' order, where it has to be found out, then the picture, then arrows. */
static enum fm_viewer_work work(struct fm_viewer_job *job)
{
    struct fm_viewer_timeline *timeline = (struct fm_viewer_timeline *)job;
    if (timeline->busy != NULL && timeline->counting < job->set->count)
        return fm_viewer_busy_work(timeline);
    if (!timeline->is_chosen) {
        timeline->is_chosen = true;
        choose(timeline);
    } else if (!draw_next(timeline)) {
        return fm_viewer_arrows_are_wanted(timeline) ? fm_viewer_arrows_work(timeline)
                                                     : FM_VIEWER_WORK_DONE;
    }
    return FM_VIEWER_WORK_MORE;
}

static bool begin_with(struct fm_viewer_timeline *timeline, fm_viewer_lane_test *test,
                       GError **error)
{
    struct fm_viewer_job *job = &timeline->job;
    const struct fm_viewer_set *set = job->set;
    timeline->test = test;
    fm_viewer_lanes_init(&timeline->lanes);
    timeline->boxes = g_new0(struct fm_viewer_boxes, set->count);
    timeline->marks = g_array_new(FALSE, FALSE, sizeof(struct fm_viewer_point));
    fm_viewer_arrows_init(&timeline->arrows);
    timeline->paintings = g_ptr_array_new_with_free_func(g_free);
    timeline->endings = g_ptr_array_new_with_free_func(g_free);
    if (job->query.dim != NULL && !fm_viewer_dims_new(timeline, error))
        return false;
    for (unsigned i = 0; i < set->count; i++)
        timeline->boxes[i].active = g_byte_array_new();
    if (job->query.busy_only || job->query.order == FM_TRACE_ORDER_BUSY) {
        timeline->busy = g_new0(GArray *, set->count);
        for (unsigned i = 0; i < set->count; i++)
            timeline->busy[i] = g_array_new(FALSE, TRUE, sizeof(uint64_t));
        fm_viewer_job_work(job, work);
        return true;
    }
    timeline->is_chosen = true;
    choose(timeline);
    if (timeline->drawing < 2 * set->count || fm_viewer_arrows_are_wanted(timeline))
        fm_viewer_job_work(job, work);
    return true;
}

static bool begin_lanes(struct fm_viewer_job *job, GError **error)
{
    struct fm_viewer_timeline *timeline = (struct fm_viewer_timeline *)job;
    timeline->activity = g_new0(struct fm_viewer_activity, job->set->count);
    for (unsigned i = 0; i < job->set->count; i++)
        fm_viewer_activity_init(&timeline->activity[i], job);
    return begin_with(timeline, fm_viewer_lane_is_timeline, error);
}

static bool begin_resources(struct fm_viewer_job *job, GError **error)
{
    struct fm_viewer_timeline *timeline = (struct fm_viewer_timeline *)job;
    timeline->usage = g_hash_table_new_full(fm_int64_hash, g_int64_equal, NULL, g_free);
    return begin_with(timeline, fm_viewer_lane_is_resource, error);
}

static void clear(struct fm_viewer_job *job)
{
    struct fm_viewer_timeline *timeline = (struct fm_viewer_timeline *)job;
    for (unsigned i = 0; timeline->paintings != NULL && i < timeline->paintings->len; i++)
        fm_painter_free(((struct painting *)timeline->paintings->pdata[i])->painter);
    g_clear_pointer(&timeline->paintings, g_ptr_array_unref);
    g_clear_pointer(&timeline->endings, g_ptr_array_unref);
    for (unsigned i = 0; timeline->boxes != NULL && i < job->set->count; i++) {
        if (timeline->boxes[i].filled)
            fm_picture_done(&timeline->boxes[i].picture);
        if (timeline->boxes[i].active != NULL)
            g_byte_array_unref(timeline->boxes[i].active);
    }
    g_free(timeline->boxes);
    for (unsigned i = 0; timeline->activity != NULL && i < job->set->count; i++)
        fm_viewer_activity_done(&timeline->activity[i]);
    g_free(timeline->activity);
    g_clear_pointer(&timeline->marks, g_array_unref);
    fm_viewer_arrows_done(&timeline->arrows);
    for (unsigned i = 0; timeline->busy != NULL && i < job->set->count; i++)
        g_array_unref(timeline->busy[i]);
    g_free(timeline->busy);
    fm_totals_free(timeline->totals);
    for (unsigned i = 0; timeline->dims != NULL && i < job->set->count; i++)
        fm_filter_free(timeline->dims[i]);
    g_free(timeline->dims);
    g_clear_pointer(&timeline->usage, g_hash_table_unref);
    fm_viewer_lanes_done(&timeline->lanes);
}

const struct fm_box *fm_viewer_timeline_boxes(const struct fm_viewer_timeline *timeline,
                                              const struct fm_viewer_lane *lane,
                                              unsigned *ret_count)
{
    g_assert(lane->part < timeline->job.set->count);
    *ret_count = 0;
    const struct fm_viewer_boxes *of = &timeline->boxes[lane->part];
    if (!of->filled)
        return NULL;
    const struct fm_box *boxes = (const struct fm_box *)(const void *)of->picture.boxes->data;
    unsigned low = 0, high = of->picture.boxes->len;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (boxes[middle].lane < lane->index)
            low = middle + 1;
        else
            high = middle;
    }
    unsigned end = low;
    while (end < of->picture.boxes->len && boxes[end].lane == lane->index)
        end++;
    *ret_count = end - low;
    return end > low ? &boxes[low] : NULL;
}

/* --- choice of what is shown --- */

void fm_viewer_timeline_arrange(struct fm_viewer_timeline *timeline, unsigned *ret_first,
                                unsigned *ret_end)
{
    const struct fm_trace_query *query = &timeline->job.query;
    select_lanes(timeline);
    unsigned count = query->lanes == 0 ? TRACE_LANES_DEFAULT : query->lanes;
    unsigned total = timeline->lanes.order->len;
    *ret_first = MIN(query->first, total);
    *ret_end = MIN(*ret_first + count, total);
    unsigned boxes = 0;
    timeline->clipped = false;
    for (unsigned i = *ret_first; i < *ret_end; i++) {
        unsigned of_lane;
        struct fm_viewer_lane *lane = timeline->lanes.order->pdata[i];
        const struct fm_box *all = fm_viewer_timeline_boxes(timeline, lane, &of_lane);
        lane->levels = 1;
        for (unsigned j = 0; j < of_lane; j++)
            lane->levels = MAX(lane->levels, all[j].depth + 1);
        boxes += of_lane;
        if (boxes > TRACE_BOXES_MAX && i > *ret_first) {
            *ret_end = i;
            timeline->clipped = true;
        }
    }
}

const struct fm_viewer fm_viewer_of_timeline = {"timeline", sizeof(struct fm_viewer_timeline),
                                                begin_lanes, clear};
const struct fm_viewer fm_viewer_of_resources = {"resources", sizeof(struct fm_viewer_timeline),
                                                 begin_resources, clear};

/* SPDX-License-Identifier: Apache-2.0 */
/* A picture made of events as they are read: the same boxes as a summary, of one window only, with
 * a pixel for the width of a cell. */
#include "trace/summary/picture.h"

/* All lanes are kept, those that are not shown too: as many boxes as the lanes on the screen may
 * show would leave one a lane where there are hundreds. */
enum { BUDGET_BYTES = 24 << 20 };

struct fm_painter {
    const struct fm_state *state;
    struct fm_state_observer observer;
    uint64_t start, end;
    unsigned columns, max_boxes;
    struct fm_box_store store;
    uint32_t *events; /* by column */
};

static void add(struct fm_painter *painter, struct fm_box_store *store, const struct fm_lane *lane,
                uint32_t depth, const struct fm_state_entry *entry, uint64_t end)
{
    if (entry->since >= painter->end || (end <= painter->start && entry->since < painter->start))
        return;
    fm_box_store_add(store, lane->index, depth, entry->since, end, entry->value, entry->detail);
}

static void on_segment(void *user, const struct fm_lane *lane, uint32_t depth,
                       const struct fm_state_entry *entry, uint64_t end)
{
    struct fm_painter *painter = user;
    add(painter, &painter->store, lane, depth, entry, end);
}

struct fm_painter *fm_painter_new(const struct fm_state *state, uint64_t start, uint64_t end,
                                  unsigned columns, unsigned max_boxes)
{
    struct fm_painter *painter = g_new0(struct fm_painter, 1);
    painter->state = state;
    painter->observer = (struct fm_state_observer){.user = painter, .segment = on_segment};
    painter->start = start;
    painter->end = MAX(end, start);
    painter->columns = MAX(columns, 1);
    painter->max_boxes = MIN(max_boxes, FM_PICTURE_BOXES_MAX);
    painter->events = g_new0(uint32_t, painter->columns);
    uint64_t pixel = (painter->end - start) / painter->columns;
    fm_box_store_init(&painter->store, BUDGET_BYTES, start, pixel > 1 ? pixel : 0);
    return painter;
}

void fm_painter_free(struct fm_painter *painter)
{
    if (painter == NULL)
        return;
    fm_box_store_done(&painter->store);
    g_free(painter->events);
    g_free(painter);
}

const struct fm_state_observer *fm_painter_observer(struct fm_painter *painter)
{
    return &painter->observer;
}

bool fm_painter_hook(void *hook_data, void *call_data)
{
    struct fm_painter *painter = hook_data;
    const struct fm_tracefile_context *at = call_data;
    uint64_t time = at->event.time;
    if (time >= painter->start && time < painter->end) {
        double part = (double)(time - painter->start) / (double)(painter->end - painter->start);
        unsigned column = (unsigned)(part * painter->columns);
        painter->events[MIN(column, painter->columns - 1)]++;
    }
    fm_box_store_tend(&painter->store);
    return false;
}

/* Writes the open entries of the state's lanes, and painted ones, into one store; each track's open
 * entries come after all that ended on it. */
struct flushing {
    struct fm_painter *painter;
    struct fm_box_store *store;
};

static void flush_entry(void *user, const struct fm_lane *lane, uint32_t depth,
                        const struct fm_state_entry *entry, uint64_t end)
{
    const struct flushing *flushing = user;
    add(flushing->painter, flushing->store, lane, depth, entry, end);
}

struct copying {
    struct fm_box_store *to;
    uint32_t lane, depth;
};

static bool copy_box(void *user, const struct fm_stored_box *box)
{
    const struct copying *copying = user;
    fm_box_store_put(copying->to, copying->lane, copying->depth, box);
    return true;
}

static void copy_store(struct fm_box_store *to, const struct fm_box_store *from,
                       const uint32_t *lanes, unsigned lane_count)
{
    unsigned count = lanes != NULL ? lane_count : from->lane_count;
    for (unsigned k = 0; k < count; k++) {
        uint32_t i = lanes != NULL ? lanes[k] : k;
        if (i >= from->lane_count)
            continue;
        for (uint32_t depth = 0; depth < from->lanes[i].count; depth++) {
            struct copying copying = {to, i, depth};
            fm_box_track_visit(&from->lanes[i].tracks[depth], 0, FM_TIME_INF, 0, copy_box,
                               &copying);
        }
    }
}

void fm_painter_picture(struct fm_painter *painter, uint64_t time, const uint32_t *lanes,
                        unsigned lane_count, struct fm_picture *ret)
{
    *ret = (struct fm_picture){.start = painter->start,
                               .end = painter->end,
                               .columns = painter->columns,
                               .boxes = g_array_new(FALSE, FALSE, sizeof(struct fm_box)),
                               .events = g_array_new(FALSE, TRUE, sizeof(uint32_t))};
    g_array_append_vals(ret->events, painter->events, painter->columns);
    if (painter->end <= painter->start)
        return;
    struct fm_box_store all;
    fm_box_store_init(&all, SIZE_MAX, painter->start, painter->store.resolution);
    copy_store(&all, &painter->store, lanes, lane_count);
    struct flushing flushing = {painter, &all};
    const struct fm_state_observer flush = {.user = &flushing, .segment = flush_entry};
    fm_state_flush((struct fm_state *)(uintptr_t)painter->state, MIN(time, painter->end), &flush);
    fm_picture_draw(&all, fm_state_trace(painter->state), lanes, lane_count, ret,
                    painter->max_boxes);
    fm_box_store_done(&all);
}

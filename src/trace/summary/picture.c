/* SPDX-License-Identifier: Apache-2.0 */
/* A picture shows at most so many boxes. Boxes that lie in one column are merged; when there are
 * still too many, columns are taken together, twice as many each time; when even broad columns do
 * not help, there are too many lanes, and the last ones are left out. */
#include "trace/summary/picture.h"

enum { BROADEST = 8 }; /* columns of the window at least */

struct drawing {
    struct fm_picture *picture;
    const struct fm_trace *trace;
    unsigned max_boxes;
    uint64_t width; /* width of a column: ns */
    uint32_t lane, depth;
    struct fm_stored_box open; /* being merged */
    uint64_t open_column;
    bool has_open;
};

static float part_of(double time, uint64_t length)
{
    return length == 0 ? 1 : MIN((float)(time / (double)length), 1.0F);
}

/* A box of several segments shows what was at work in it, and how much of its time that was: not
 * one of them as if it had taken all. */
static void weigh(const struct drawing *drawing, const struct fm_stored_box *from,
                  struct fm_box *box)
{
    uint64_t length = from->end - from->start;
    unsigned known = from->count == 1 ? 1 : FM_BOX_VALUES, shown = 0;
    double work = 0, all = 0;
    for (unsigned i = 0; i < known; i++) {
        double time = (double)from->time[i];
        all += time;
        if (time == 0 ||
            !fm_state_class_is_busy(fm_trace_value_class(drawing->trace, from->value[i])))
            continue;
        shown = work == 0 ? i : shown;
        work += time;
    }
    box->value = from->value[shown];
    box->share = part_of((double)from->time[shown], length);
    box->load = part_of(work > 0 ? work : all, length);
}

static bool put(struct drawing *drawing)
{
    if (!drawing->has_open)
        return true;
    if (drawing->picture->boxes->len >= drawing->max_boxes)
        return false;
    const struct fm_stored_box *from = &drawing->open;
    struct fm_box box = {
        .lane = drawing->lane,
        .depth = drawing->depth,
        .count = from->count,
        .start = from->start,
        .end = from->end,
        .detail = from->count == 1 ? from->time[1] : 0,
        .cut = (from->start < drawing->picture->start ? FM_BOX_BEGINS_BEFORE : 0) |
               (from->end > drawing->picture->end ? FM_BOX_ENDS_AFTER : 0),
    };
    weigh(drawing, from, &box);
    g_array_append_val(drawing->picture->boxes, box);
    drawing->has_open = false;
    return true;
}

static bool take(void *user, const struct fm_stored_box *box)
{
    struct drawing *drawing = user;
    uint64_t start = MAX(box->start, drawing->picture->start) - drawing->picture->start;
    uint64_t column = start / drawing->width;
    bool narrow = box->end - box->start < drawing->width;
    if (drawing->has_open && narrow && column == drawing->open_column) {
        fm_box_merge(&drawing->open, box, false);
        return true;
    }
    if (!put(drawing))
        return false;
    drawing->open = *box;
    drawing->open_column = narrow ? column : UINT64_MAX;
    drawing->has_open = true;
    return true;
}

/* False when there are too many boxes. */
static bool draw_lane(struct drawing *drawing, const struct fm_box_store *store, uint32_t index)
{
    const struct fm_box_lane *lane = &store->lanes[index];
    if (lane->numbers)
        return true;
    drawing->lane = index;
    for (uint32_t depth = 0; depth < lane->count; depth++) {
        drawing->depth = depth;
        if (!fm_box_track_visit(&lane->tracks[depth], drawing->picture->start,
                                drawing->picture->end, drawing->width / 2, take, drawing) ||
            !put(drawing)) {
            drawing->has_open = false;
            return false;
        }
    }
    return true;
}

/* Draws as many lanes as fit; true when all did. */
static bool draw_lanes(struct drawing *drawing, const struct fm_box_store *store,
                       const uint32_t *lanes, unsigned lane_count)
{
    unsigned count = lanes != NULL ? lane_count : store->lane_count;
    g_array_set_size(drawing->picture->boxes, 0);
    for (unsigned i = 0; i < count; i++) {
        uint32_t lane = lanes != NULL ? lanes[i] : i;
        guint before = drawing->picture->boxes->len;
        if (lane < store->lane_count && !draw_lane(drawing, store, lane)) {
            g_array_set_size(drawing->picture->boxes, before);
            return false;
        }
    }
    return true;
}

void fm_picture_draw(const struct fm_box_store *store, const struct fm_trace *trace,
                     const uint32_t *lanes, unsigned lane_count, struct fm_picture *picture,
                     unsigned max_boxes)
{
    uint64_t window = picture->end - picture->start;
    struct drawing drawing = {
        .picture = picture,
        .trace = trace,
        .max_boxes = MIN(max_boxes, FM_PICTURE_BOXES_MAX),
        .width = MAX(window / picture->columns, 1),
    };
    picture->clipped = false;
    while (!draw_lanes(&drawing, store, lanes, lane_count)) {
        if (drawing.width >= window / BROADEST) {
            picture->clipped = true;
            return;
        }
        drawing.width *= 2;
    }
}

void fm_picture_done(struct fm_picture *picture)
{
    g_clear_pointer(&picture->boxes, g_array_unref);
    g_clear_pointer(&picture->events, g_array_unref);
}

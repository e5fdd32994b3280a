/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/segments/details.h"

struct fm_details {
    struct fm_segments_view view;
    uint32_t lane, next; /* next: block */
    uint64_t time, self;
    uint16_t depth;
    enum { DETAILS_FIND, DETAILS_INSIDE, DETAILS_ARROWS, DETAILS_DONE } stage;
    bool has_found;
    struct fm_segment found;
    GArray *around;    /* holds struct fm_segment: first all at that time */
    GArray *inside;    /* holds struct fm_details_part */
    GHashTable *parts; /* value -> place in `inside` + 1 */
    GArray *arrows[2]; /* holds struct fm_arrow: from, to */
    uint64_t arrow_counts[2];
};

struct fm_details *fm_details_new(struct fm_segments *segments, uint32_t lane, uint64_t time,
                                  uint16_t depth)
{
    struct fm_details *details = g_new0(struct fm_details, 1);
    fm_segments_view_init(&details->view, segments);
    details->lane = lane;
    details->time = time;
    details->depth = depth;
    details->around = g_array_new(false, false, sizeof(struct fm_segment));
    details->inside = g_array_new(false, false, sizeof(struct fm_details_part));
    details->parts = g_hash_table_new(NULL, NULL);
    for (unsigned i = 0; i < 2; i++)
        details->arrows[i] = g_array_new(false, false, sizeof(struct fm_arrow));
    return details;
}

void fm_details_free(struct fm_details *details)
{
    if (details == NULL)
        return;
    g_array_unref(details->around);
    g_array_unref(details->inside);
    g_hash_table_unref(details->parts);
    for (unsigned i = 0; i < 2; i++)
        g_array_unref(details->arrows[i]);
    fm_segments_view_clear(&details->view);
    g_free(details);
}

/* --- what is there at that time --- */

/* Two segments may touch at the time: the later one is read later. An instant counts as there. */
static void note_there(struct fm_details *details, const struct fm_segment *segment)
{
    if (segment->lane != details->lane || segment->start > details->time ||
        segment->end < details->time)
        return;
    for (guint i = 0; i < details->around->len; i++) {
        struct fm_segment *there = &g_array_index(details->around, struct fm_segment, i);
        if (there->depth == segment->depth) {
            *there = *segment;
            return;
        }
    }
    g_array_append_val(details->around, *segment);
}

static int compare_depths(const void *a, const void *b)
{
    const struct fm_segment *left = a, *right = b;
    return left->depth < right->depth ? -1 : left->depth > right->depth;
}

/* A segment that ended just then does not lie in one that begins. */
static bool lies_in(const struct fm_segment *inner, const struct fm_segment *outer)
{
    return inner->start >= outer->start && inner->end <= outer->end;
}

static void choose(struct fm_details *details)
{
    GArray *around = details->around;
    g_array_sort(around, compare_depths);
    guint count = 0;
    while (count < around->len) {
        const struct fm_segment *all = (const struct fm_segment *)(const void *)around->data;
        bool fits = all[count].depth == count &&
                    (count == 0 || lies_in(&all[count], &all[count - 1])) &&
                    (details->depth == FM_DETAILS_INNERMOST || count <= details->depth);
        bool over = details->depth == FM_DETAILS_INNERMOST && all[count].end == details->time &&
                    all[count].start < details->time;
        if (!fits || (over && count > 0))
            break;
        count++;
    }
    details->has_found =
        count > 0 && (details->depth == FM_DETAILS_INNERMOST || count == details->depth + 1u);
    if (details->has_found)
        details->found = g_array_index(around, struct fm_segment, count - 1);
    g_array_set_size(around, details->has_found ? count - 1 : 0);
}

/* --- what is nested in it --- */

static void note_inside(struct fm_details *details, const struct fm_segment *segment)
{
    if (segment->lane != details->lane || segment->depth != details->found.depth + 1u ||
        !lies_in(segment, &details->found))
        return;
    uint64_t duration = segment->end - segment->start;
    guint place =
        GPOINTER_TO_UINT(g_hash_table_lookup(details->parts, GUINT_TO_POINTER(segment->value)));
    if (place == 0) {
        const struct fm_details_part part = {.value = segment->value};
        g_array_append_val(details->inside, part);
        place = details->inside->len;
        g_hash_table_insert(details->parts, GUINT_TO_POINTER(segment->value),
                            GUINT_TO_POINTER(place));
    }
    struct fm_details_part *part =
        &g_array_index(details->inside, struct fm_details_part, place - 1);
    if (part->count == 0 || duration > part->longest) {
        part->longest = duration;
        part->longest_at = segment->start;
    }
    part->count++;
    part->total += duration;
    details->self -= MIN(duration, details->self);
}

static int compare_parts(const void *a, const void *b)
{
    const struct fm_details_part *left = a, *right = b;
    if (left->total != right->total)
        return left->total > right->total ? -1 : 1;
    return left->value < right->value ? -1 : left->value > right->value;
}

static void note_arrow(struct fm_details *details, const struct fm_arrow *arrow)
{
    const uint32_t lanes[2] = {arrow->from, arrow->to};
    const uint64_t times[2] = {arrow->from_time, arrow->to_time};
    for (unsigned i = 0; i < 2; i++) {
        if (lanes[i] != details->lane || times[i] < details->found.start ||
            times[i] > details->found.end)
            continue;
        if (details->arrow_counts[i]++ < FM_DETAILS_ARROWS_MAX)
            g_array_append_val(details->arrows[i], *arrow);
    }
}

/* --- steps --- */

static bool concerns(const struct fm_details *details, const struct fm_segments_span *span)
{
    if (details->stage == DETAILS_FIND)
        return span->first_start <= details->time && span->last_end >= details->time;
    return span->first_start <= details->found.end && span->last_end >= details->found.start;
}

/* False: no more than that to read of this stage. */
static bool read_some(struct fm_details *details, unsigned *blocks)
{
    bool arrows = details->stage == DETAILS_ARROWS;
    uint32_t all =
        arrows ? fm_segments_arrow_blocks(&details->view) : fm_segments_blocks(&details->view);
    for (; *blocks > 0 && details->next < all; details->next++) {
        struct fm_segments_span span = arrows
                                           ? fm_segments_arrow_span(&details->view, details->next)
                                           : fm_segments_span(&details->view, details->next);
        if (!concerns(details, &span))
            continue;
        --*blocks;
        if (arrows) {
            const struct fm_arrow *read = fm_segments_read_arrows(&details->view, details->next);
            for (uint32_t i = 0; i < span.count; i++)
                note_arrow(details, &read[i]);
            continue;
        }
        const struct fm_segment *read = fm_segments_read(&details->view, details->next);
        for (uint32_t i = 0; i < span.count; i++) {
            if (details->stage == DETAILS_FIND)
                note_there(details, &read[i]);
            else
                note_inside(details, &read[i]);
        }
    }
    return details->next < all;
}

bool fm_details_step(struct fm_details *details, unsigned blocks)
{
    while (details->stage != DETAILS_DONE && blocks > 0) {
        if (read_some(details, &blocks))
            continue;
        details->next = 0;
        if (details->stage == DETAILS_FIND) {
            choose(details);
            details->self = details->found.end - details->found.start;
            details->stage = details->has_found ? DETAILS_INSIDE : DETAILS_DONE;
        } else if (details->stage == DETAILS_INSIDE) {
            g_array_sort(details->inside, compare_parts);
            details->stage = DETAILS_ARROWS;
        } else {
            details->stage = DETAILS_DONE;
        }
    }
    return details->stage != DETAILS_DONE;
}

/* --- results --- */

struct fm_segments *fm_details_segments(const struct fm_details *details)
{
    return details->view.of;
}

const struct fm_segment *fm_details_found(const struct fm_details *details)
{
    return details->has_found ? &details->found : NULL;
}

const GArray *fm_details_around(const struct fm_details *details)
{
    return details->around;
}

const GArray *fm_details_inside(const struct fm_details *details)
{
    return details->inside;
}

uint64_t fm_details_self(const struct fm_details *details)
{
    return details->self;
}

const GArray *fm_details_arrows(const struct fm_details *details, bool to)
{
    return details->arrows[to];
}

uint64_t fm_details_arrow_count(const struct fm_details *details, bool to)
{
    return details->arrow_counts[to];
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/summary/boxes.h"

#include <string.h>

enum {
    CHUNK_BOXES = 512,
    GROUP = 8,
    MERGED_MAX = 1 + CHUNK_BOXES / 64 + CHUNK_BOXES / 8,
    FIRST_BOXES = 2,
    THIN_CHUNKS = 4, /* a step */
};
#define FIRST_RESOLUTION UINT64_C(256)

void fm_box_store_init(struct fm_box_store *store, size_t budget, uint64_t origin,
                       uint64_t resolution)
{
    *store = (struct fm_box_store){.budget = budget, .origin = origin, .resolution = resolution};
}

static void free_chunk(struct fm_box_chunk *chunk)
{
    g_free(chunk->boxes);
    g_free(chunk->merged);
}

void fm_box_store_done(struct fm_box_store *store)
{
    for (uint32_t i = 0; i < store->lane_count; i++) {
        struct fm_box_lane *lane = &store->lanes[i];
        for (uint32_t j = 0; j < lane->count; j++) {
            for (uint32_t k = 0; k < lane->tracks[j].count; k++)
                free_chunk(&lane->tracks[j].chunks[k]);
            g_free(lane->tracks[j].chunks);
        }
        g_free(lane->tracks);
    }
    g_free(store->lanes);
    *store = (struct fm_box_store){0};
}

/* --- merging --- */

/* The order of the values by time, after the one at place has become longer. */
static void sort_up(struct fm_stored_box *box, unsigned place)
{
    for (; place > 0 && box->time[place] > box->time[place - 1]; place--) {
        uint64_t time = box->time[place];
        uint32_t value = box->value[place];
        box->time[place] = box->time[place - 1];
        box->value[place] = box->value[place - 1];
        box->time[place - 1] = time;
        box->value[place - 1] = value;
    }
}

/* Drops the shortest value when not all fit. */
static void add_value(struct fm_stored_box *box, uint32_t value, uint64_t time)
{
    for (unsigned i = 0; i < FM_BOX_VALUES; i++) {
        if (box->value[i] == value && box->time[i] > 0) {
            box->time[i] += time;
            sort_up(box, i);
            return;
        }
    }
    if (time <= box->time[FM_BOX_VALUES - 1])
        return;
    box->value[FM_BOX_VALUES - 1] = value;
    box->time[FM_BOX_VALUES - 1] = time;
    sort_up(box, FM_BOX_VALUES - 1);
}

/* A single segment. */
static void merge_segment(struct fm_stored_box *a, uint32_t value, uint64_t time, uint64_t end)
{
    if (a->count == 1)
        a->time[1] = 0; /* it was the detail */
    if (a->value[0] == value && a->time[0] > 0)
        a->time[0] += time; /* stays the longest */
    else if (time > 0)
        add_value(a, value, time);
    if (a->time[0] == 0) /* segments without any length */
        a->value[0] = value;
    a->count += a->count < UINT32_MAX;
    a->end = MAX(a->end, end);
}

void fm_box_merge(struct fm_stored_box *a, const struct fm_stored_box *b, bool numbers)
{
    if (!numbers && b->count == 1) {
        merge_segment(a, b->value[0], b->time[0], b->end);
        return;
    }
    if (numbers) {
        a->number[0] = MIN(a->number[0], b->number[0]);
        a->number[1] = MAX(a->number[1], b->number[1]);
        a->number[2] = b->number[2];
    } else {
        if (a->count == 1)
            a->time[1] = 0; /* it was the detail */
        for (unsigned i = 0; i < FM_BOX_VALUES; i++) {
            if (b->time[i] > 0)
                add_value(a, b->value[i], b->time[i]);
        }
        if (a->time[0] == 0)
            a->value[0] = b->value[0];
    }
    a->count = a->count > UINT32_MAX - b->count ? UINT32_MAX : a->count + b->count;
    a->end = MAX(a->end, b->end);
}

static bool is_short(const struct fm_box_store *store, const struct fm_stored_box *box)
{
    return box->end - box->start < store->resolution;
}

/* Up to where a short box may begin to join this one, which is in the same cell then; 0 = none may.
 */
static uint64_t cell_end(const struct fm_box_store *store, const struct fm_stored_box *box)
{
    if (!is_short(store, box) || box->start < store->origin) /* it reaches into the first cell */
        return 0;
    uint64_t resolution = store->resolution, length;
    if ((resolution & (resolution - 1)) == 0) { /* a summary's: without a division */
        if (__builtin_add_overflow((box->start - store->origin) | (resolution - 1), 1, &length))
            return UINT64_MAX;
    } else {
        uint64_t cell = (box->start - store->origin) / resolution + 1;
        if (__builtin_mul_overflow(cell, resolution, &length))
            return UINT64_MAX;
    }
    return length > UINT64_MAX - store->origin ? UINT64_MAX : store->origin + length;
}

static struct fm_stored_box merge_range(const struct fm_stored_box *boxes, unsigned from,
                                        unsigned to, bool numbers)
{
    g_assert(from < to);
    struct fm_stored_box merged = boxes[from];
    for (unsigned i = from + 1; i < to; i++)
        fm_box_merge(&merged, &boxes[i], numbers);
    return merged;
}

static unsigned groups_of(unsigned count)
{
    return (count + GROUP - 1) / GROUP;
}

/* When it is first looked at: most chunks become denser before anybody does. */
static void make_merged(struct fm_box_chunk *chunk, bool numbers)
{
    unsigned eights = groups_of(chunk->count), all = groups_of(eights);
    struct fm_stored_box merged[MERGED_MAX];
    for (unsigned i = 0; i < eights; i++)
        merged[1 + all + i] =
            merge_range(chunk->boxes, i * GROUP, MIN((i + 1) * GROUP, chunk->count), numbers);
    for (unsigned i = 0; i < all; i++)
        merged[1 + i] =
            merge_range(merged + 1 + all, i * GROUP, MIN((i + 1) * GROUP, eights), numbers);
    merged[0] = merge_range(merged + 1, 0, all, numbers);
    chunk->merged = g_memdup2(merged, (1 + all + eights) * sizeof *merged);
}

/* A chunk that gets no more boxes: to its size. */
static void finish_chunk(struct fm_box_store *store, struct fm_box_chunk *chunk)
{
    unsigned eights = groups_of(chunk->count), all = groups_of(eights);
    g_assert(!chunk->finished && chunk->merged == NULL);
    store->memory += (1 + all + eights) * sizeof *chunk->merged;
    if (chunk->capacity > chunk->count) {
        store->memory -= (chunk->capacity - chunk->count) * sizeof *chunk->boxes;
        chunk->boxes = g_renew(struct fm_stored_box, chunk->boxes, chunk->count);
        chunk->capacity = chunk->count;
    }
    chunk->finished = true;
}

static void unfinish_chunk(struct fm_box_store *store, struct fm_box_chunk *chunk)
{
    unsigned eights = groups_of(chunk->count), all = groups_of(eights);
    if (chunk->finished)
        store->memory -= (1 + all + eights) * sizeof *chunk->merged;
    g_clear_pointer(&chunk->merged, g_free);
    chunk->finished = false;
}

/* --- adding --- */

static struct fm_box_lane *lane_of(struct fm_box_store *store, uint32_t index)
{
    if (index >= store->lane_count) {
        uint32_t count = MAX(index + 1, 2 * store->lane_count);
        store->lanes = g_renew(struct fm_box_lane, store->lanes, count);
        memset(store->lanes + store->lane_count, 0,
               (count - store->lane_count) * sizeof *store->lanes);
        store->memory += (count - store->lane_count) * sizeof *store->lanes;
        store->lane_count = count;
    }
    return &store->lanes[index];
}

static void add_tracks(struct fm_box_store *store, struct fm_box_lane *lane, uint32_t count)
{
    lane->tracks = g_renew(struct fm_box_track, lane->tracks, count);
    memset(lane->tracks + lane->count, 0, (count - lane->count) * sizeof *lane->tracks);
    for (uint32_t i = lane->count; i < count; i++)
        lane->tracks[i].numbers = lane->numbers;
    store->memory += (count - lane->count) * sizeof *lane->tracks;
    lane->count = count;
}

static struct fm_box_track *track_of(struct fm_box_store *store, struct fm_box_lane *lane,
                                     uint32_t depth)
{
    if (depth >= lane->count)
        add_tracks(store, lane, depth + 1);
    return &lane->tracks[depth];
}

static struct fm_box_chunk *add_chunk(struct fm_box_store *store, struct fm_box_track *track)
{
    if (track->count == track->capacity) {
        uint32_t capacity = MAX(1, 2 * track->capacity);
        track->chunks = g_renew(struct fm_box_chunk, track->chunks, capacity);
        store->memory += (capacity - track->capacity) * sizeof *track->chunks;
        track->capacity = capacity;
    }
    g_assert(track->chunks != NULL);
    struct fm_box_chunk *chunk = &track->chunks[track->count++];
    *chunk = (struct fm_box_chunk){0};
    return chunk;
}

/* A track that has filled a chunk will fill more. */
static void grow_chunk(struct fm_box_store *store, const struct fm_box_track *track,
                       struct fm_box_chunk *chunk)
{
    uint16_t capacity = track->count > 1
                            ? CHUNK_BOXES
                            : (uint16_t)MIN(MAX(FIRST_BOXES, 4 * chunk->capacity), CHUNK_BOXES);
    chunk->boxes = g_renew(struct fm_stored_box, chunk->boxes, capacity);
    store->memory += (size_t)(capacity - chunk->capacity) * sizeof *chunk->boxes;
    chunk->capacity = capacity;
}

static void store_open(struct fm_box_store *store, struct fm_box_track *track)
{
    struct fm_box_chunk *chunk = track->count == 0 ? NULL : &track->chunks[track->count - 1];
    if (chunk == NULL || chunk->count == CHUNK_BOXES || chunk->finished) {
        if (chunk != NULL && !chunk->finished)
            finish_chunk(store, chunk);
        chunk = add_chunk(store, track);
    }
    if (chunk->count == chunk->capacity)
        grow_chunk(store, track, chunk);
    struct fm_stored_box *box = &chunk->boxes[chunk->count++];
    *box = track->open;
    if (chunk->count < chunk->capacity) { /* the next one's cache lines */
        __builtin_prefetch(box + 1, 1);
        __builtin_prefetch(box + 2, 1);
    }
}

/* Whether what begins at start and takes so long may become part of the open box. */
static bool joins(const struct fm_box_store *store, struct fm_box_track *track, uint64_t start,
                  uint64_t length)
{
    if (!track->has_open || length >= store->resolution)
        return false;
    if (start >= track->cell_end) /* cells that have become wider hold those that they were */
        track->cell_end = cell_end(store, &track->open);
    return start < track->cell_end;
}

/* The box for what does not join the one before. */
static struct fm_stored_box *open_box(struct fm_box_store *store, struct fm_box_track *track)
{
    if (track->has_open)
        store_open(store, track);
    track->has_open = true;
    track->cell_end = 0;
    return &track->open;
}

static void append(struct fm_box_store *store, struct fm_box_track *track,
                   const struct fm_stored_box *box)
{
    if (joins(store, track, box->start, box->end - box->start))
        fm_box_merge(&track->open, box, track->numbers);
    else
        *open_box(store, track) = *box;
}

static void note_time(struct fm_box_lane *lane, uint64_t start, uint64_t end)
{
    bool first = lane->first == 0 && lane->last == 0;
    lane->first = first ? start : MIN(lane->first, start);
    lane->last = MAX(lane->last, end);
}

void fm_box_store_add(struct fm_box_store *store, uint32_t lane_index, uint32_t depth,
                      uint64_t start, uint64_t end, uint32_t value, uint64_t detail)
{
    if (depth >= FM_BOX_DEPTH_MAX)
        return;
    struct fm_box_lane *lane = lane_of(store, lane_index);
    note_time(lane, start, end);
    struct fm_box_track *track = track_of(store, lane, depth);
    if (joins(store, track, start, end - start))
        merge_segment(&track->open, value, end - start, end);
    else
        *open_box(store, track) = (struct fm_stored_box){.start = start,
                                                         .end = end,
                                                         .count = 1,
                                                         .value = {value},
                                                         .time = {end - start, detail}};
}

void fm_box_store_set_going_on(struct fm_box_store *store, uint32_t lane_index, uint32_t depth,
                               uint64_t start, uint64_t end, uint32_t value, uint64_t detail)
{
    if (depth >= FM_BOX_DEPTH_MAX)
        return;
    struct fm_box_lane *lane = lane_of(store, lane_index);
    note_time(lane, start, end);
    struct fm_box_track *track = track_of(store, lane, depth);
    track->has_going_on = true;
    track->going_on = (struct fm_stored_box){
        .start = start, .end = end, .count = 1, .value = {value}, .time = {end - start, detail}};
}

void fm_box_store_end_going_on(struct fm_box_store *store, uint32_t lane, uint32_t depth)
{
    if (depth < FM_BOX_DEPTH_MAX)
        store->lanes[lane].tracks[depth].has_going_on = false;
}

void fm_box_store_put(struct fm_box_store *store, uint32_t lane_index, uint32_t depth,
                      const struct fm_stored_box *box)
{
    struct fm_box_lane *lane = lane_of(store, lane_index);
    note_time(lane, box->start, box->end);
    append(store, track_of(store, lane, depth), box);
}

void fm_box_store_number(struct fm_box_store *store, uint32_t lane_index, uint64_t time,
                         double value)
{
    struct fm_box_lane *lane = lane_of(store, lane_index);
    struct fm_stored_box box = {
        .start = time, .end = time, .count = 1, .number = {value, value, value}};
    lane->numbers = true;
    note_time(lane, time, time);
    struct fm_box_track *track = track_of(store, lane, 0);
    track->numbers = true;
    append(store, track, &box);
}

/* --- keeping to the budget --- */

/* Merges what may join at the present resolution. */
static void thin_chunk(struct fm_box_store *store, struct fm_box_chunk *chunk, bool numbers)
{
    unsigned kept = 0;
    unfinish_chunk(store, chunk);
    uint64_t until = cell_end(store, &chunk->boxes[0]);
    for (unsigned i = 1; i < chunk->count; i++) {
        const struct fm_stored_box *box = &chunk->boxes[i];
        if (box->start < until && is_short(store, box)) {
            fm_box_merge(&chunk->boxes[kept], box, numbers);
            continue;
        }
        until = cell_end(store, box);
        if (++kept != i)
            chunk->boxes[kept] = *box;
    }
    chunk->count = (uint16_t)(kept + 1);
}

/* Appends the boxes of b to a, and empties b. */
static void join_chunks(struct fm_box_store *store, struct fm_box_chunk *a, struct fm_box_chunk *b)
{
    unsigned count = (unsigned)a->count + b->count;
    unfinish_chunk(store, a);
    store->memory -= (size_t)(a->capacity + b->capacity) * sizeof *a->boxes;
    a->boxes = g_renew(struct fm_stored_box, a->boxes, count);
    memcpy(a->boxes + a->count, b->boxes, b->count * sizeof *b->boxes);
    a->count = a->capacity = (uint16_t)count;
    store->memory += count * sizeof *a->boxes;
    free_chunk(b);
    *b = (struct fm_box_chunk){0};
}

/* The next chunk of a track becomes denser, and one with the chunk before it if both are small. The
 * headers between those kept and this one are empty until the track is done. */
static void thin_next(struct fm_box_store *store, struct fm_box_track *track, bool numbers)
{
    uint32_t at = store->chunk_at++, kept = store->kept;
    struct fm_box_chunk *chunk = &track->chunks[at], *before = &track->chunks[kept];
    if (chunk->count > 0)
        thin_chunk(store, chunk, numbers);
    if (at > 0 && before->count + chunk->count <= CHUNK_BOXES) {
        join_chunks(store, before, chunk);
        return;
    }
    if (at == 0)
        return;
    if (!before->finished)
        finish_chunk(store, before);
    if (++store->kept != at) {
        track->chunks[store->kept] = *chunk;
        *chunk = (struct fm_box_chunk){0};
    }
}

/* Makes a few chunks denser; false when all are. */
static bool thin_some(struct fm_box_store *store)
{
    for (unsigned done = 0; done < THIN_CHUNKS;) {
        if (store->lane_at >= store->lane_count)
            return false;
        struct fm_box_lane *lane = &store->lanes[store->lane_at];
        if (store->track_at >= lane->count) {
            store->lane_at++;
            store->track_at = store->chunk_at = store->kept = 0;
            done += lane->count == 0 ? 0 : 1;
            continue;
        }
        struct fm_box_track *track = &lane->tracks[store->track_at];
        if (track->count > 0) {
            thin_next(store, track, lane->numbers);
            done++;
        }
        /* At once after the last chunk: nothing may be added behind it while it may be empty. */
        if (store->chunk_at >= track->count) {
            track->count = track->count == 0 ? 0 : store->kept + 1;
            store->track_at++;
            store->chunk_at = store->kept = 0;
        }
    }
    return true;
}

void fm_box_store_tend(struct fm_box_store *store)
{
    if (!store->thinning) {
        if (store->memory <= store->budget)
            return;
        if (store->resolution > UINT64_MAX / 8)
            return; /* nothing is left to merge: lanes alone take more */
        store->resolution = MAX(FIRST_RESOLUTION, store->resolution * 4);
        store->thinning = true;
        store->lane_at = store->track_at = store->chunk_at = store->kept = 0;
    }
    store->thinning = thin_some(store);
}

/* --- visiting --- */

struct visiting {
    uint64_t start, end, width;
    fm_box_visitor *visit;
    void *user;
};

/* Whether anything of it is in the window; segments without length are where they stand. */
static bool touches(const struct visiting *at, const struct fm_stored_box *box)
{
    return box->start < at->end && (box->end > at->start || box->start >= at->start);
}

static bool visit_range(const struct visiting *at, const struct fm_stored_box *boxes, unsigned from,
                        unsigned to)
{
    for (unsigned i = from; i < to; i++) {
        if (touches(at, &boxes[i]) && !at->visit(at->user, &boxes[i]))
            return false;
    }
    return true;
}

static bool is_narrow(const struct visiting *at, const struct fm_stored_box *box)
{
    return box->end - box->start <= at->width;
}

static bool visit_finished(const struct visiting *at, struct fm_box_chunk *chunk, bool numbers)
{
    if (chunk->merged == NULL)
        make_merged(chunk, numbers);
    unsigned eights = groups_of(chunk->count), all = groups_of(eights);
    const struct fm_stored_box *of_64 = chunk->merged + 1, *of_8 = of_64 + all;
    if (!touches(at, &chunk->merged[0]))
        return true;
    if (is_narrow(at, &chunk->merged[0]))
        return at->visit(at->user, &chunk->merged[0]);
    for (unsigned i = 0; i < all; i++) {
        if (!touches(at, &of_64[i]))
            continue;
        if (is_narrow(at, &of_64[i])) {
            if (!at->visit(at->user, &of_64[i]))
                return false;
            continue;
        }
        for (unsigned j = i * GROUP; j < MIN((i + 1) * GROUP, eights); j++) {
            if (!touches(at, &of_8[j]))
                continue;
            bool on = is_narrow(at, &of_8[j]) ? at->visit(at->user, &of_8[j])
                                              : visit_range(at, chunk->boxes, j * GROUP,
                                                            MIN((j + 1) * GROUP, chunk->count));
            if (!on)
                return false;
        }
    }
    return true;
}

/* The first chunk that may reach the window. */
static uint32_t first_chunk(const struct fm_box_track *track, uint64_t start)
{
    uint32_t low = 0, high = track->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct fm_box_chunk *chunk = &track->chunks[middle];
        if (chunk->count > 0 && chunk->boxes[chunk->count - 1].end < start)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool fm_box_track_visit(const struct fm_box_track *track, uint64_t start, uint64_t end,
                        uint64_t width, fm_box_visitor *visit, void *user)
{
    const struct visiting at = {start, end, width, visit, user};
    for (uint32_t i = first_chunk(track, start); i < track->count; i++) {
        struct fm_box_chunk *chunk = &track->chunks[i];
        if (chunk->count == 0)
            continue;
        if (chunk->boxes[0].start >= end)
            return true; /* what goes on began later still */
        if (chunk->finished ? !visit_finished(&at, chunk, track->numbers)
                            : !visit_range(&at, chunk->boxes, 0, chunk->count))
            return false;
    }
    if (track->has_open && !visit_range(&at, &track->open, 0, 1))
        return false;
    return !track->has_going_on || visit_range(&at, &track->going_on, 0, 1);
}

void fm_box_track_last_before(const struct fm_box_track *track, uint64_t time, double *ret)
{
    uint32_t place = first_chunk(track, time), from = place;
    /* The first chunk that reaches the time, and the one before it that is not empty. */
    while (from > 0 && (from == place || track->chunks[from].count == 0))
        from--;
    for (uint32_t i = from; i <= place && i < track->count; i++) {
        const struct fm_box_chunk *chunk = &track->chunks[i];
        for (unsigned j = 0; j < chunk->count && chunk->boxes[j].start < time; j++)
            *ret = chunk->boxes[j].number[2];
    }
    if (track->has_open && track->open.start < time)
        *ret = track->open.number[2];
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A merge of runs, one a block, kept in a heap by their next event. A block joins when the time
 * reaches its least time stamp, which the pass over the file has found; so the order is exact, and
 * only blocks that overlap in time are open.
 *
 * Inside a block nearly all events stand in order. Those that do not (their time is less than one
 * before) are found in a pass of their own, only in blocks known to have any, and sorted aside. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "eventlog/run.h"

struct stray {
    uint64_t time_ns, offset;
};

struct lane {
    struct fm_eventlog_run *run;
    struct stray *strays; /* sorted by time, then offset */
    size_t stray_count, stray_next;
    uint64_t greatest; /* so far in the run */
    struct fm_eventlog_event plain;
    bool has_plain;
    /* The earlier of plain and the next stray. */
    uint64_t time_ns, offset;
    bool head_is_stray;
    int32_t capability;
};

struct fm_eventlog_merge {
    const struct fm_eventlog_log *log;
    const struct fm_eventlog_block **pending; /* by least time, then file order */
    size_t pending_count, pending_next;
    GPtrArray *heap;   /* of struct lane */
    struct lane *used; /* its head was given out; step it before going on */
    const struct fm_eventlog_header *header;
    uint8_t *stray_bytes; /* of the stray given out last */
};

static int compare_strays(const void *a, const void *b)
{
    const struct stray *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static int compare_pending(const void *a, const void *b)
{
    const struct fm_eventlog_block *x = *(const struct fm_eventlog_block *const *)a;
    const struct fm_eventlog_block *y = *(const struct fm_eventlog_block *const *)b;
    if (x->min_ns != y->min_ns)
        return x->min_ns < y->min_ns ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static bool before(const struct lane *a, const struct lane *b)
{
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns;
    if (a->capability != b->capability)
        return a->capability < b->capability;
    return a->offset < b->offset;
}

struct fm_eventlog_merge *fm_eventlog_merge_new(const struct fm_eventlog_log *log)
{
    struct fm_eventlog_merge *merge = g_new0(struct fm_eventlog_merge, 1);
    merge->log = log;
    merge->heap = g_ptr_array_new();
    merge->pending = g_new(const struct fm_eventlog_block *, log->blocks->len);
    for (guint i = 0; i < log->blocks->len; i++) {
        const struct fm_eventlog_block *block =
            &g_array_index(log->blocks, struct fm_eventlog_block, i);
        if (block->events > 0)
            merge->pending[merge->pending_count++] = block;
    }
    qsort(merge->pending, merge->pending_count, sizeof *merge->pending, compare_pending);
    return merge;
}

static void lane_free(struct lane *lane)
{
    fm_eventlog_run_free(lane->run);
    g_free(lane->strays);
    g_free(lane);
}

static void drop_lanes(struct fm_eventlog_merge *merge)
{
    for (guint i = 0; i < merge->heap->len; i++)
        lane_free(merge->heap->pdata[i]);
    g_ptr_array_set_size(merge->heap, 0);
    merge->used = NULL;
}

void fm_eventlog_merge_free(struct fm_eventlog_merge *merge)
{
    if (merge == NULL)
        return;
    drop_lanes(merge);
    g_ptr_array_unref(merge->heap);
    g_free(merge->pending);
    g_free(merge->stray_bytes);
    g_free(merge);
}

size_t fm_eventlog_merge_memory(const struct fm_eventlog_merge *merge)
{
    size_t sum = merge->pending_count * sizeof *merge->pending;
    for (guint i = 0; i < merge->heap->len; i++) {
        const struct lane *lane = merge->heap->pdata[i];
        sum += sizeof *lane + lane->run->window_size + lane->stray_count * sizeof *lane->strays;
    }
    return sum;
}

const struct fm_eventlog_header *fm_eventlog_merge_header(const struct fm_eventlog_merge *merge)
{
    return merge->header;
}

static bool find_strays(struct lane *lane, GError **error)
{
    GArray *strays = g_array_new(FALSE, FALSE, sizeof(struct stray));
    struct fm_eventlog_event event;
    GError *failure = NULL;
    uint64_t greatest = 0;
    while (fm_eventlog_run_next(lane->run, &event, &failure)) {
        if (event.time_ns < greatest) {
            struct stray stray = {event.time_ns, event.offset};
            g_array_append_val(strays, stray);
        }
        greatest = MAX(greatest, event.time_ns);
    }
    lane->stray_count = strays->len;
    lane->strays = (struct stray *)(void *)g_array_free(strays, FALSE);
    qsort(lane->strays, lane->stray_count, sizeof *lane->strays, compare_strays);
    fm_eventlog_run_rewind(lane->run);
    if (failure == NULL)
        return true;
    g_propagate_error(error, failure);
    return false;
}

/* Takes the next event that is in order from the run. */
static bool next_plain(struct lane *lane, GError **error)
{
    GError *failure = NULL;
    do {
        lane->has_plain = fm_eventlog_run_next(lane->run, &lane->plain, &failure);
    } while (lane->has_plain && lane->plain.time_ns < lane->greatest);
    if (failure != NULL) {
        g_propagate_error(error, failure);
        return false;
    }
    if (lane->has_plain)
        lane->greatest = lane->plain.time_ns;
    return true;
}

/* Sets the head; false when the lane is exhausted. */
static bool set_head(struct lane *lane)
{
    const struct stray *stray =
        lane->stray_next < lane->stray_count ? &lane->strays[lane->stray_next] : NULL;
    lane->head_is_stray =
        stray != NULL &&
        (!lane->has_plain || stray->time_ns < lane->plain.time_ns ||
         (stray->time_ns == lane->plain.time_ns && stray->offset < lane->plain.offset));
    if (!lane->head_is_stray && !lane->has_plain)
        return false;
    lane->time_ns = lane->head_is_stray ? stray->time_ns : lane->plain.time_ns;
    lane->offset = lane->head_is_stray ? stray->offset : lane->plain.offset;
    return true;
}

/* Goes past the head. Returns 1, 0 when the lane is exhausted, -1 with an error. */
static int step(struct lane *lane, GError **error)
{
    if (lane->head_is_stray)
        lane->stray_next++;
    else if (!next_plain(lane, error))
        return -1;
    return set_head(lane) ? 1 : 0;
}

static void sift_down(GPtrArray *heap, guint at)
{
    struct lane **lanes = (struct lane **)heap->pdata;
    for (;;) {
        guint child = 2 * at + 1;
        if (child >= heap->len)
            return;
        if (child + 1 < heap->len && before(lanes[child + 1], lanes[child]))
            child++;
        if (!before(lanes[child], lanes[at]))
            return;
        struct lane *moved = lanes[at];
        lanes[at] = lanes[child];
        lanes[child] = moved;
        at = child;
    }
}

static void push_lane(GPtrArray *heap, struct lane *lane)
{
    g_ptr_array_add(heap, lane);
    struct lane **lanes = (struct lane **)heap->pdata;
    for (guint at = heap->len - 1; at > 0 && before(lanes[at], lanes[(at - 1) / 2]);) {
        guint parent = (at - 1) / 2;
        struct lane *moved = lanes[at];
        lanes[at] = lanes[parent];
        lanes[parent] = moved;
        at = parent;
    }
}

static void pop_lane(GPtrArray *heap)
{
    lane_free(heap->pdata[0]);
    g_ptr_array_remove_index_fast(heap, 0);
    sift_down(heap, 0);
}

static bool open_lane(struct fm_eventlog_merge *merge, const struct fm_eventlog_block *block,
                      GError **error)
{
    struct lane *lane = g_new0(struct lane, 1);
    lane->capability = block->capability;
    lane->run = fm_eventlog_run_new(merge->log, block, 0);
    GError *failure = NULL;
    bool done = (block->backward_steps == 0 || find_strays(lane, &failure)) &&
                next_plain(lane, &failure) && set_head(lane);
    if (done) {
        push_lane(merge->heap, lane);
        return true;
    }
    lane_free(lane);
    if (failure != NULL)
        g_propagate_error(error, failure);
    return failure == NULL;
}

/* Opens what begins no later than the earliest open event; the first pending block if none is. */
static bool open_due(struct fm_eventlog_merge *merge, GError **error)
{
    while (merge->pending_next < merge->pending_count) {
        const struct fm_eventlog_block *block = merge->pending[merge->pending_next];
        if (merge->heap->len > 0 &&
            block->min_ns > ((const struct lane *)merge->heap->pdata[0])->time_ns)
            return true;
        merge->pending_next++;
        if (!open_lane(merge, block, error))
            return false;
    }
    return true;
}

/* Brings the earliest event to the top. */
static bool settle(struct fm_eventlog_merge *merge, GError **error)
{
    if (merge->used != NULL) {
        int stepped = step(merge->used, error);
        merge->used = NULL;
        if (stepped < 0)
            return false;
        if (stepped == 0)
            pop_lane(merge->heap);
        else
            sift_down(merge->heap, 0);
    }
    if (merge->pending_next == merge->pending_count)
        return true;
    return open_due(merge, error);
}

/* An event that stands elsewhere in the block than the run is now. */
static bool read_stray(struct fm_eventlog_merge *merge, const struct lane *lane,
                       struct fm_eventlog_event *ret, GError **error)
{
    const struct fm_eventlog_run *run = lane->run;
    uint8_t head[12] = {0};
    uint64_t left = run->limit - lane->offset;
    if (!fm_eventlog_pread(merge->log, head, MIN(left, sizeof head), lane->offset, error))
        return false;
    uint16_t number = fm_eventlog_get16(head);
    uint32_t length = 0;
    if (number < run->header->number_count && run->steps[number].length != 0) {
        length = run->steps[number].length;
        length += run->steps[number].variable ? fm_eventlog_get16(head + 10) : 0;
    }
    if (length == 0 || length > left || fm_eventlog_get64(head + 2) != lane->time_ns) {
        g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                    "%s: offset %" G_GUINT64_FORMAT ": the file changed while it was read",
                    merge->log->name, lane->offset);
        return false;
    }
    *ret = (struct fm_eventlog_event){
        .time_ns = lane->time_ns,
        .offset = lane->offset,
        .block = run->block->marked ? run->block->offset : FM_EVENTLOG_NO_BLOCK,
        .head_length = run->steps[number].variable ? 12 : 10,
        .capability = lane->capability,
        .number = number,
        .type = run->steps[number].type,
    };
    ret->payload_length = length - ret->head_length;
    if (merge->stray_bytes == NULL)
        merge->stray_bytes = g_malloc(65536);
    ret->payload = merge->stray_bytes;
    return fm_eventlog_pread(merge->log, merge->stray_bytes, ret->payload_length,
                             lane->offset + ret->head_length, error);
}

bool fm_eventlog_merge_next(struct fm_eventlog_merge *merge, struct fm_eventlog_event *ret,
                            GError **error)
{
    if (!settle(merge, error) || merge->heap->len == 0)
        return false;
    struct lane *lane = merge->heap->pdata[0];
    merge->header = lane->run->header;
    merge->used = lane;
    if (lane->head_is_stray)
        return read_stray(merge, lane, ret, error);
    *ret = lane->plain;
    return true;
}

bool fm_eventlog_merge_seek_event(struct fm_eventlog_merge *merge, uint64_t time_ns,
                                  int32_t capability, uint64_t offset, GError **error)
{
    drop_lanes(merge);
    struct lane target = {.time_ns = time_ns, .capability = capability, .offset = offset};
    for (merge->pending_next = 0; merge->pending_next < merge->pending_count;) {
        const struct fm_eventlog_block *block = merge->pending[merge->pending_next];
        if (block->min_ns > time_ns)
            break;
        merge->pending_next++;
        if (block->max_ns < time_ns)
            continue;
        if (!open_lane(merge, block, error))
            return false;
    }
    while (merge->heap->len > 0 && before(merge->heap->pdata[0], &target)) {
        int stepped = step(merge->heap->pdata[0], error);
        if (stepped < 0)
            return false;
        if (stepped == 0)
            pop_lane(merge->heap);
        else
            sift_down(merge->heap, 0);
    }
    return true;
}

bool fm_eventlog_merge_seek_time(struct fm_eventlog_merge *merge, uint64_t time_ns, GError **error)
{
    return fm_eventlog_merge_seek_event(merge, time_ns, INT32_MIN, 0, error);
}

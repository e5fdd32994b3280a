/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/log/reorder.h"

#include <string.h>

#include "base/priority_queue.h"
#include "eventlog/reader/internal.h"

enum { MARKER_BYTES = 24, BATCH_US = 10000 };

struct held {
    struct fm_eventlog_event event; /* payload points to bytes */
    uint64_t number;                /* order of arrival */
    uint8_t bytes[];
};

/* State of a capability's stream. */
struct stream {
    uint64_t reached_ns;
    uint64_t block, block_end, block_end_ns; /* the block that is arriving */
    bool known, ended;
};

/* Events that arrived within a hundredth of a second. */
struct batch {
    uint64_t came_us, max_ns;
};

struct fm_eventlog_reorder {
    uint64_t hold_us, first_us;
    size_t bytes, bytes_max;
    uint64_t number, late;
    GPtrArray *heap; /* elements: struct held, by time, capability, arrival */
    GArray *streams; /* elements: struct stream, by capability + 1 */
    GQueue batches;
    uint64_t free_ns; /* events up to this time may be delivered */
    uint64_t given_ns;
    struct held *given;
};

struct fm_eventlog_reorder *fm_eventlog_reorder_new(uint64_t hold_us, size_t bytes_max)
{
    struct fm_eventlog_reorder *reorder = g_new0(struct fm_eventlog_reorder, 1);
    reorder->hold_us = hold_us;
    reorder->bytes_max = bytes_max > 0 ? bytes_max : (size_t)64 << 20;
    reorder->heap = g_ptr_array_new_with_free_func(g_free);
    reorder->streams = g_array_new(FALSE, TRUE, sizeof(struct stream));
    g_queue_init(&reorder->batches);
    return reorder;
}

void fm_eventlog_reorder_free(struct fm_eventlog_reorder *reorder)
{
    if (reorder == NULL)
        return;
    g_ptr_array_unref(reorder->heap);
    g_array_unref(reorder->streams);
    g_queue_clear_full(&reorder->batches, g_free);
    g_free(reorder->given);
    g_free(reorder);
}

/* ---- The heap ---- */

static bool before(const void *first, const void *second)
{
    const struct held *a = first, *b = second;
    if (a->event.time_ns != b->event.time_ns)
        return a->event.time_ns < b->event.time_ns;
    if (a->event.capability != b->event.capability)
        return a->event.capability < b->event.capability;
    return a->number < b->number;
}

static const struct held *earliest(const struct fm_eventlog_reorder *reorder)
{
    return reorder->heap->len > 0 ? reorder->heap->pdata[0] : NULL;
}

/* ---- Lanes ---- */

static void note_marker(struct stream *stream, const struct fm_eventlog_event *event)
{
    if (event->payload_length < MARKER_BYTES - 10)
        return;
    stream->block = event->offset;
    stream->block_end = event->offset + fm_eventlog_get32(event->payload);
    stream->block_end_ns = fm_eventlog_get64(event->payload + 4);
}

static struct stream *stream_of(struct fm_eventlog_reorder *reorder, int32_t capability)
{
    g_assert(capability >= FM_EVENTLOG_NO_CAPABILITY && capability <= UINT16_MAX);
    guint index = (guint)(capability + 1);
    if (index >= reorder->streams->len)
        g_array_set_size(reorder->streams, index + 1);
    return &g_array_index(reorder->streams, struct stream, index);
}

static void note_stream(struct fm_eventlog_reorder *reorder, const struct fm_eventlog_event *event)
{
    struct stream *stream = stream_of(reorder, event->capability);
    stream->known = true;
    if (event->number == FM_EVENTLOG_BLOCK_MARKER) {
        note_marker(stream, event);
    } else {
        stream->ended = false;
        /* inside a block, events are not strictly in order of time */
        if (event->block == FM_EVENTLOG_NO_BLOCK)
            stream->reached_ns = MAX(stream->reached_ns, event->time_ns);
    }
    uint64_t end = event->offset + event->head_length + event->payload_length;
    if (event->block == stream->block && end == stream->block_end)
        stream->reached_ns = MAX(stream->reached_ns, stream->block_end_ns);
    /* For capability created, deleted, disabled, enabled the payload names the capability,
     * whichever capability logs the event. */
    if (event->number >= 45 && event->number <= 48 && event->payload_length >= 2) {
        stream = stream_of(reorder, fm_eventlog_get16(event->payload));
        stream->known = true;
        stream->ended = event->number == 46 || event->number == 47;
    }
}

/* The time that every live stream has passed. At first the streams themselves are not known. */
static uint64_t passed_by_all(const struct fm_eventlog_reorder *reorder, uint64_t now_us)
{
    if (now_us - reorder->first_us < reorder->hold_us)
        return 0;
    uint64_t least = UINT64_MAX;
    bool any = false;
    for (guint i = 1; i < reorder->streams->len; i++) {
        const struct stream *stream = &g_array_index(reorder->streams, struct stream, i);
        if (!stream->known || stream->ended)
            continue;
        least = MIN(least, stream->reached_ns);
        any = true;
    }
    return any ? least : 0;
}

/* ---- In and out ---- */

static void note_batch(struct fm_eventlog_reorder *reorder, uint64_t time_ns, uint64_t now_us)
{
    struct batch *last = g_queue_peek_tail(&reorder->batches);
    if (last == NULL || now_us - last->came_us > BATCH_US) {
        last = g_new(struct batch, 1);
        *last = (struct batch){now_us, time_ns};
        g_queue_push_tail(&reorder->batches, last);
    }
    g_assert(now_us >= last->came_us);
    last->max_ns = MAX(last->max_ns, time_ns);
}

void fm_eventlog_reorder_push(struct fm_eventlog_reorder *reorder,
                              const struct fm_eventlog_event *event, uint64_t now_us)
{
    struct held *held = g_malloc(sizeof *held + event->payload_length);
    held->event = *event;
    if (reorder->number == 0)
        reorder->first_us = now_us;
    held->number = reorder->number++;
    if (event->payload_length > 0)
        memcpy(held->bytes, event->payload, event->payload_length);
    held->event.payload = held->bytes;
    g_ptr_array_add(reorder->heap, held);
    fm_queue_sift_up(reorder->heap->pdata, reorder->heap->len - 1, before);
    reorder->bytes += sizeof *held + event->payload_length;
    reorder->late += event->time_ns < reorder->given_ns;
    note_stream(reorder, event);
    note_batch(reorder, event->time_ns, now_us);
}

static bool has_its_turn(struct fm_eventlog_reorder *reorder, uint64_t now_us)
{
    struct batch *batch;
    const struct held *first = earliest(reorder);
    if (first == NULL)
        return false;
    if (first->event.time_ns <= reorder->free_ns || reorder->bytes > reorder->bytes_max)
        return true;
    while ((batch = g_queue_peek_head(&reorder->batches)) != NULL &&
           now_us - batch->came_us >= reorder->hold_us) {
        reorder->free_ns = MAX(reorder->free_ns, batch->max_ns);
        g_free(g_queue_pop_head(&reorder->batches));
    }
    reorder->free_ns = MAX(reorder->free_ns, passed_by_all(reorder, now_us));
    return first->event.time_ns <= reorder->free_ns;
}

bool fm_eventlog_reorder_pop(struct fm_eventlog_reorder *reorder, uint64_t now_us,
                             struct fm_eventlog_event *ret)
{
    g_clear_pointer(&reorder->given, g_free);
    if (!has_its_turn(reorder, now_us))
        return false;
    GPtrArray *heap = reorder->heap;
    size_t count = heap->len;
    struct held *first = fm_queue_pop(heap->pdata, &count, before);
    heap->pdata[count] = NULL; /* otherwise the array frees the element */
    g_ptr_array_set_size(heap, (gint)count);
    g_assert(reorder->bytes >= sizeof *first + first->event.payload_length);
    reorder->bytes -= sizeof *first + first->event.payload_length;
    reorder->given = first;
    reorder->given_ns = MAX(reorder->given_ns, first->event.time_ns);
    *ret = first->event;
    return true;
}

void fm_eventlog_reorder_release(struct fm_eventlog_reorder *reorder)
{
    g_queue_clear_full(&reorder->batches, g_free);
    for (guint i = 0; i < reorder->heap->len; i++) {
        const struct held *held = reorder->heap->pdata[i];
        reorder->free_ns = MAX(reorder->free_ns, held->event.time_ns);
    }
}

int64_t fm_eventlog_reorder_wait_us(const struct fm_eventlog_reorder *reorder, uint64_t now_us)
{
    const struct batch *batch = g_queue_peek_head((GQueue *)(uintptr_t)&reorder->batches);
    if (reorder->heap->len == 0 || batch == NULL)
        return -1;
    uint64_t due = batch->came_us + reorder->hold_us;
    return due > now_us ? (int64_t)(due - now_us) : 0;
}

size_t fm_eventlog_reorder_bytes(const struct fm_eventlog_reorder *reorder)
{
    return reorder->bytes;
}

uint64_t fm_eventlog_reorder_late(const struct fm_eventlog_reorder *reorder)
{
    return reorder->late;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/reader/count.h"

#include <string.h>

#include "eventlog/reader/internal.h"

enum { CELLS_MAX = 256 << 10 }; /* limit of the table "type by capability" */

/* Fields of a type that the loop needs. length 0 sends the event to the slow path: undeclared
 * numbers and block markers. mask selects the length field of a variable event, or nothing. */
struct hot {
    uint32_t length;
    uint16_t mask;
    uint16_t slot;
};

/* One capability. */
struct stream {
    uint64_t *row; /* a count for each slot; NULL = none yet, or beyond the limit: then see spill */
    uint64_t events;
    bool seen, spilled;
};

struct fm_eventlog_counts_inner {
    struct hot *hot;
    uint32_t hot_count;
    int32_t *slot_of; /* by event number, -1 = none yet; slots outlive headers */
    uint32_t number_count, slot_count;
    struct stream *streams; /* by capability + 1 */
    size_t stream_count;
    uint64_t *spill;
    uint64_t cells;
    uint64_t *row; /* row of the current block */
    struct fm_eventlog_block block;
    bool block_open;
    uint64_t block_key; /* offset of the reader's block that `block` describes */
};

struct fm_eventlog_counts *fm_eventlog_counts_new(void)
{
    struct fm_eventlog_counts *counts = g_new0(struct fm_eventlog_counts, 1);
    counts->inner = g_new0(struct fm_eventlog_counts_inner, 1);
    return counts;
}

void fm_eventlog_counts_free(struct fm_eventlog_counts *counts)
{
    if (counts == NULL)
        return;
    struct fm_eventlog_counts_inner *inner = counts->inner;
    for (size_t i = 0; i < inner->stream_count; i++)
        g_free(inner->streams[i].row);
    g_free(inner->streams);
    g_free(inner->hot);
    g_free(inner->slot_of);
    g_free(inner->spill);
    g_free(inner);
    g_free(counts);
}

static uint64_t *grow_row(uint64_t *row, uint32_t from, uint32_t to)
{
    row = g_renew(uint64_t, row, to);
    memset(row + from, 0, (to - from) * sizeof *row);
    return row;
}

/* A new header: assigns slots to its numbers and rebuilds the loop's table. */
void fm_eventlog_counts_take_header(struct fm_eventlog_counts *counts,
                                    const struct fm_eventlog_header *header)
{
    struct fm_eventlog_counts_inner *inner = counts->inner;
    uint32_t before = inner->slot_count;
    counts->headers++;
    g_free(inner->hot);
    inner->hot_count = header->number_count;
    inner->hot = g_new0(struct hot, inner->hot_count);
    if (inner->number_count < header->number_count) {
        inner->slot_of = g_renew(int32_t, inner->slot_of, header->number_count);
        for (uint32_t i = inner->number_count; i < header->number_count; i++)
            inner->slot_of[i] = -1;
        inner->number_count = header->number_count;
    }
    for (uint32_t number = 0; number < header->number_count; number++) {
        const struct fm_eventlog_declared *declared = fm_eventlog_header_find(header, number);
        if (declared == NULL)
            continue;
        if (inner->slot_of[number] < 0)
            inner->slot_of[number] = (int32_t)inner->slot_count++;
        struct hot *hot = &inner->hot[number];
        hot->slot = (uint16_t)inner->slot_of[number];
        if (number == FM_EVENTLOG_BLOCK_MARKER || number == FM_EVENTLOG_END_MARK ||
            number == FM_EVENTLOG_WALL_CLOCK_TIME) /* its payload is looked at */
            continue;
        hot->length = declared->size < 0 ? 12 : 10 + (uint32_t)declared->size;
        hot->mask = declared->size < 0 ? 0xFFFF : 0;
    }
    counts->declared_types = inner->slot_count;
    if (inner->slot_count == before && inner->spill != NULL)
        return;
    uint32_t slots = MAX(inner->slot_count, 1);
    inner->spill = grow_row(inner->spill, before, slots);
    for (size_t i = 0; i < inner->stream_count; i++) {
        if (inner->streams[i].row != NULL)
            inner->streams[i].row = grow_row(inner->streams[i].row, before, slots);
    }
    inner->cells += (uint64_t)(inner->slot_count - before);
}

static struct stream *stream_of(struct fm_eventlog_counts_inner *inner, int32_t capability)
{
    size_t index = (size_t)capability + 1;
    if (index >= inner->stream_count) {
        size_t count = MAX(index + 1, inner->stream_count * 2);
        inner->streams = g_renew(struct stream, inner->streams, count);
        memset(inner->streams + inner->stream_count, 0,
               (count - inner->stream_count) * sizeof *inner->streams);
        inner->stream_count = count;
    }
    return &inner->streams[index];
}

static uint64_t *row_of(struct fm_eventlog_counts_inner *inner, struct stream *stream)
{
    if (stream->row == NULL) {
        if (stream->spilled || inner->cells + inner->slot_count > CELLS_MAX) {
            stream->spilled = true;
            return inner->spill;
        }
        stream->row = g_new0(uint64_t, MAX(inner->slot_count, 1));
        inner->cells += inner->slot_count;
    }
    return stream->row;
}

static void close_block(struct fm_eventlog_counts *counts, uint64_t offset)
{
    struct fm_eventlog_counts_inner *inner = counts->inner;
    struct fm_eventlog_block *block = &inner->block;
    if (!inner->block_open)
        return;
    inner->block_open = false;
    block->length = offset - block->offset;
    stream_of(inner, block->capability)->events += block->events;
    if (block->events == 0) {
        block->min_ns = 0;
    } else {
        bool first = counts->events == 0;
        counts->backward_steps += block->backward_steps;
        counts->backward_steps += !first && block->first_ns < counts->last_ns;
        counts->first_ns = first ? block->first_ns : counts->first_ns;
        counts->min_ns = first ? block->min_ns : MIN(counts->min_ns, block->min_ns);
        counts->max_ns = MAX(counts->max_ns, block->max_ns);
        counts->last_ns = block->last_ns;
        counts->events += block->events;
    }
    if (counts->on_block != NULL)
        counts->on_block(counts->user, block);
}

static void open_block(struct fm_eventlog_counts *counts, const struct fm_eventlog_event *event)
{
    struct fm_eventlog_counts_inner *inner = counts->inner;
    struct stream *stream = stream_of(inner, event->capability);
    inner->block = (struct fm_eventlog_block){
        .offset = event->offset,
        .capability = event->capability,
        .header = (uint32_t)counts->headers - 1,
        .min_ns = UINT64_MAX,
    };
    if (event->number == FM_EVENTLOG_BLOCK_MARKER) {
        inner->block.marked = true;
        inner->block.begin_ns = event->time_ns;
        inner->block.end_ns = fm_eventlog_u64(event, 4);
    }
    inner->block_open = true;
    inner->block_key = event->block;
    stream->seen = true;
    inner->row = row_of(inner, stream);
}

/* The fast loop. Stops at anything but a plain event; returns the position reached. */
static size_t run(const uint8_t *data, size_t pos, size_t limit, const struct hot *hot,
                  uint32_t hot_count, uint64_t *row, struct fm_eventlog_block *block)
{
    uint64_t previous = block->events == 0 ? 0 : block->last_ns;
    uint64_t least = block->min_ns, greatest = block->max_ns;
    uint64_t backward = 0, events = 0, first = 0;
    while (limit - pos >= 12) {
        uint16_t number = fm_eventlog_get16(data + pos);
        if (FM_UNLIKELY(number >= hot_count))
            break;
        const struct hot entry = hot[number];
        size_t length = entry.length + (fm_eventlog_get16(data + pos + 10) & entry.mask);
        if (FM_UNLIKELY(entry.length == 0 || length > limit - pos))
            break;
        uint64_t time = fm_eventlog_get64(data + pos + 2);
        if (FM_UNLIKELY(events == 0))
            first = time;
        backward += time < previous;
        least = time < least ? time : least;
        greatest = time > greatest ? time : greatest;
        previous = time;
        row[entry.slot]++;
        events++;
        pos += length;
    }
    if (events == 0)
        return pos;
    block->first_ns = block->events == 0 ? first : block->first_ns;
    block->last_ns = previous;
    block->min_ns = least;
    block->max_ns = greatest;
    block->backward_steps += backward;
    block->events += events;
    return pos;
}

static void count_one(struct fm_eventlog_counts *counts, const struct fm_eventlog_event *event)
{
    struct fm_eventlog_counts_inner *inner = counts->inner;
    struct fm_eventlog_block *block = &inner->block;
    block->backward_steps += block->events != 0 && event->time_ns < block->last_ns;
    block->first_ns = block->events == 0 ? event->time_ns : block->first_ns;
    block->last_ns = event->time_ns;
    block->min_ns = MIN(block->min_ns, event->time_ns);
    block->max_ns = MAX(block->max_ns, event->time_ns);
    block->events++;
    inner->row[inner->slot_of[event->number]]++;
    if (event->number == FM_EVENTLOG_WALL_CLOCK_TIME && !counts->has_wall)
        counts->has_wall = fm_eventlog_wall_clock(event->payload, event->payload_length,
                                                  event->time_ns, &counts->wall_ns);
}

static void count_plain(struct fm_eventlog_reader *reader, struct fm_eventlog_counts *counts)
{
    struct fm_eventlog_counts_inner *inner = counts->inner;
    if (reader->state != READER_EVENTS || !inner->block_open || inner->block_key != reader->block)
        return;
    size_t limit = reader->end;
    if (reader->block_end != 0) {
        if (reader->block_end <= fm_eventlog_reader_offset(reader))
            return;
        if (reader->block_end - reader->base < limit)
            limit = (size_t)(reader->block_end - reader->base);
    }
    reader->pos = run(reader->data, reader->pos, limit, inner->hot, inner->hot_count, inner->row,
                      &inner->block);
    if (inner->block.events != 0)
        reader->last_time = inner->block.last_ns;
}

enum fm_eventlog_status fm_eventlog_count(struct fm_eventlog_reader *reader,
                                          struct fm_eventlog_counts *counts, GError **error)
{
    struct fm_eventlog_counts_inner *inner = counts->inner;
    for (;;) {
        if (counts->cut_bytes > 0 && inner->block_open && !inner->block.marked &&
            fm_eventlog_reader_offset(reader) - inner->block.offset >= counts->cut_bytes)
            close_block(counts, fm_eventlog_reader_offset(reader));
        count_plain(reader, counts);
        struct fm_eventlog_event event;
        enum fm_eventlog_status status = fm_eventlog_reader_next(reader, &event, error);
        if (status == FM_EVENTLOG_HAS_EVENT) {
            bool marker = event.number == FM_EVENTLOG_BLOCK_MARKER;
            if (marker || !inner->block_open || inner->block_key != event.block) {
                close_block(counts, event.offset);
                open_block(counts, &event);
            }
            if (marker)
                counts->markers++;
            else
                count_one(counts, &event);
            continue;
        }
        counts->bytes = fm_eventlog_reader_offset(reader);
        if (status == FM_EVENTLOG_HAS_HEADER) {
            close_block(counts, counts->bytes - reader->header->bytes->len);
            fm_eventlog_counts_take_header(counts, reader->header);
        } else if (status == FM_EVENTLOG_HAS_GAP) {
            close_block(counts, reader->gap.offset);
        } else if (status == FM_EVENTLOG_HAS_END) {
            close_block(counts, counts->bytes - 2);
        } else if (status != FM_EVENTLOG_MORE) {
            close_block(counts, reader->tail.length > 0 && !reader->tail.end_mark
                                    ? reader->tail.offset
                                    : counts->bytes);
        }
        return status;
    }
}

uint64_t fm_eventlog_counts_type(const struct fm_eventlog_counts *counts, uint16_t number)
{
    const struct fm_eventlog_counts_inner *inner = counts->inner;
    if (number >= inner->number_count || inner->slot_of[number] < 0)
        return 0;
    int32_t slot = inner->slot_of[number];
    uint64_t sum = inner->spill[slot];
    for (size_t i = 0; i < inner->stream_count; i++) {
        if (inner->streams[i].row != NULL)
            sum += inner->streams[i].row[slot];
    }
    return sum;
}

static const struct stream *find_stream(const struct fm_eventlog_counts_inner *inner,
                                        int32_t capability)
{
    size_t index = capability < -1 ? SIZE_MAX : (size_t)capability + 1;
    return index < inner->stream_count ? &inner->streams[index] : NULL;
}

uint64_t fm_eventlog_counts_capability(const struct fm_eventlog_counts *counts, int32_t capability,
                                       bool *ret_seen)
{
    const struct stream *stream = find_stream(counts->inner, capability);
    if (ret_seen != NULL)
        *ret_seen = stream != NULL && stream->seen;
    return stream != NULL ? stream->events : 0;
}

bool fm_eventlog_counts_cell(const struct fm_eventlog_counts *counts, uint16_t number,
                             int32_t capability, uint64_t *ret)
{
    const struct fm_eventlog_counts_inner *inner = counts->inner;
    const struct stream *stream = find_stream(inner, capability);
    *ret = 0;
    if (stream == NULL || number >= inner->number_count || inner->slot_of[number] < 0)
        return true;
    if (stream->row != NULL)
        *ret = stream->row[inner->slot_of[number]];
    return !stream->spilled;
}

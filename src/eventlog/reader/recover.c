/* SPDX-License-Identifier: Apache-2.0 */
/* Resynchronises after damage. The current block says where the next one begins. If that fails,
 * every later byte pair 00 12 is tried as a marker: its fields must be plausible, and the end
 * that it names must be followed by another marker, the end mark or the end of input.
 *
 * Every decision waits for the bytes that it needs (or for the end of input), so it does not
 * depend on how the input was split. */
#include <string.h>

#include "eventlog/reader/internal.h"

enum {
    WALK_MAX = 256, /* events read to judge a block that the input does not hold wholly */
    /* a plausible capability is at most this much above the maximum so far */
    CAPABILITIES_NEW = 64,
};

bool fm_eventlog_marker_plausible(int32_t capability_max, const uint8_t *bytes)
{
    if (fm_eventlog_get16(bytes) != FM_EVENTLOG_BLOCK_MARKER)
        return false;
    uint32_t size = fm_eventlog_get32(bytes + 10);
    uint64_t end_time = fm_eventlog_get64(bytes + 14);
    uint16_t capability = fm_eventlog_get16(bytes + 22);
    return size >= FM_EVENTLOG_MARKER_LENGTH && size <= FM_EVENTLOG_BLOCK_MAX &&
           end_time >= fm_eventlog_get64(bytes + 2) &&
           (capability == FM_EVENTLOG_NO_CAPABILITY_16 ||
            capability <= capability_max + CAPABILITIES_NEW);
}

enum verdict { NO, YES, UNKNOWN_YET };

/* Whether a block can begin, or the log end, at this offset of the stream. */
static enum verdict boundary(const struct fm_eventlog_reader *reader, uint64_t offset)
{
    uint64_t end = fm_eventlog_reader_at(reader, reader->end);
    if (offset > end)
        return reader->final ? NO : UNKNOWN_YET;
    size_t left = (size_t)(end - offset);
    const uint8_t *at = reader->data + (offset - reader->base);
    if (left >= 2 && fm_eventlog_get16(at) == FM_EVENTLOG_END_MARK)
        return YES;
    if (left >= FM_EVENTLOG_MARKER_LENGTH) {
        /* A marker whose size and end time were never filled in may follow a block. */
        bool open = fm_eventlog_get16(at) == FM_EVENTLOG_BLOCK_MARKER &&
                    fm_eventlog_get32(at + 10) == 0 && fm_eventlog_get64(at + 14) == 0;
        return open || fm_eventlog_marker_plausible(reader->capability_max, at) ? YES : NO;
    }
    if (!reader->final)
        return UNKNOWN_YET;
    return left == 0 || (left >= 2 && fm_eventlog_get16(at) == FM_EVENTLOG_BLOCK_MARKER) ? YES : NO;
}

/* The input ends inside the block that begins at pos: checks its first events. */
static bool walk(const struct fm_eventlog_reader *reader, size_t pos)
{
    pos += FM_EVENTLOG_MARKER_LENGTH;
    for (int i = 0; i < WALK_MAX && reader->end - pos >= 2; i++) {
        uint16_t number = fm_eventlog_get16(reader->data + pos);
        if (number >= reader->step_count || reader->steps[number].length == 0 ||
            number == FM_EVENTLOG_BLOCK_MARKER)
            return false;
        size_t length = reader->steps[number].length;
        if (reader->steps[number].variable) {
            if (reader->end - pos < 12)
                return true;
            length += fm_eventlog_get16(reader->data + pos + 10);
        }
        if (reader->end - pos < length)
            return true;
        pos += length;
    }
    return true;
}

static enum verdict judge_marker(const struct fm_eventlog_reader *reader, size_t pos)
{
    if (reader->end - pos < FM_EVENTLOG_MARKER_LENGTH)
        return reader->final ? NO : UNKNOWN_YET;
    const uint8_t *at = reader->data + pos;
    if (!fm_eventlog_marker_plausible(reader->capability_max, at))
        return NO;
    uint64_t next = fm_eventlog_reader_at(reader, pos) + fm_eventlog_get32(at + 10);
    enum verdict verdict = boundary(reader, next);
    if (verdict == NO && next > fm_eventlog_reader_at(reader, reader->end))
        return walk(reader, pos) ? YES : NO;
    return verdict;
}

static enum fm_eventlog_status found(struct fm_eventlog_reader *reader, size_t pos,
                                     enum reader_state state)
{
    g_assert(pos <= reader->end && fm_eventlog_reader_at(reader, pos) >= reader->gap.offset);
    reader->pos = pos;
    reader->gap.length = fm_eventlog_reader_at(reader, pos) - reader->gap.offset;
    reader->block = FM_EVENTLOG_NO_BLOCK;
    reader->block_end = 0;
    reader->capability = FM_EVENTLOG_NO_CAPABILITY;
    reader->state = state;
    return FM_EVENTLOG_HAS_GAP;
}

/* Moves to the next place where a marker or another log could begin. */
static size_t next_candidate(const struct fm_eventlog_reader *reader, size_t pos)
{
    for (; pos < reader->end; pos++) {
        uint8_t first = reader->data[pos];
        if (first != 0x00 && first != 'h')
            continue;
        if (pos + 1 == reader->end)
            return pos;
        uint8_t second = reader->data[pos + 1];
        if (first == 0x00 ? second == FM_EVENTLOG_BLOCK_MARKER : second == 'd')
            return pos;
    }
    return reader->end;
}

static enum fm_eventlog_status search(struct fm_eventlog_reader *reader)
{
    g_assert(reader->search_from >= reader->base && reader->search_from > reader->gap.offset);
    size_t pos = (size_t)(reader->search_from - reader->base);
    while ((pos = next_candidate(reader, pos)) < reader->end) {
        size_t left = reader->end - pos;
        enum verdict verdict;
        if (reader->data[pos] == 'h') {
            verdict = left >= 8 ? (memcmp(reader->data + pos, "hdrbhetb", 8) == 0 ? YES : NO)
                                : (reader->final ? NO : UNKNOWN_YET);
            if (verdict == YES)
                return found(reader, pos, READER_HEADER);
        } else {
            verdict = judge_marker(reader, pos);
            if (verdict == YES)
                return found(reader, pos, READER_EVENTS);
        }
        if (verdict == UNKNOWN_YET)
            break;
        pos++;
    }
    if (!reader->final) {
        /* Keeps two bytes: they may be the end mark, if nothing else comes. */
        reader->search_from = fm_eventlog_reader_at(reader, pos);
        reader->pos = MAX(reader->pos, MIN(pos, reader->end - MIN(reader->end, 2)));
        return FM_EVENTLOG_MORE;
    }
    size_t last = reader->end >= 2 ? reader->end - 2 : 0;
    bool end_mark = reader->end >= 2 && last >= reader->pos &&
                    fm_eventlog_reader_at(reader, last) > reader->gap.offset &&
                    fm_eventlog_get16(reader->data + last) == FM_EVENTLOG_END_MARK;
    return found(reader, end_mark ? last : reader->end, READER_EVENTS);
}

enum fm_eventlog_status fm_eventlog_recover(struct fm_eventlog_reader *reader)
{
    if (reader->state == READER_TO_BLOCK_END) {
        enum verdict verdict = boundary(reader, reader->block_end);
        if (verdict == UNKNOWN_YET)
            return FM_EVENTLOG_MORE;
        if (verdict == YES)
            return found(reader, (size_t)(reader->block_end - reader->base), READER_EVENTS);
        reader->state = READER_SEARCH;
    }
    return search(reader);
}

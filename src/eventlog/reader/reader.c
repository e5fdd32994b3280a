/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/error.h"
#include "eventlog/reader/internal.h"
#include "eventlog/transport/transport.h"

struct fm_eventlog_reader *fm_eventlog_reader_new(const char *name)
{
    struct fm_eventlog_reader *reader = g_new0(struct fm_eventlog_reader, 1);
    reader->name = g_strdup(name);
    reader->data = (const uint8_t *)"";
    reader->block = FM_EVENTLOG_NO_BLOCK;
    reader->capability = FM_EVENTLOG_NO_CAPABILITY;
    return reader;
}

struct fm_eventlog_reader *
fm_eventlog_reader_new_at(const char *name, struct fm_eventlog_header *header, uint64_t offset)
{
    struct fm_eventlog_reader *reader = fm_eventlog_reader_new(name);
    reader->base = offset;
    if (header != NULL) {
        reader->header = fm_eventlog_header_ref(header);
        reader->steps = fm_eventlog_header_steps(header);
        reader->step_count = header->number_count;
        reader->state = READER_EVENTS;
    }
    return reader;
}

void fm_eventlog_reader_free(struct fm_eventlog_reader *reader)
{
    if (reader == NULL)
        return;
    fm_eventlog_header_unref(reader->header);
    fm_eventlog_header_unref(reader->reading);
    g_clear_error(&reader->failure);
    g_free(reader->steps);
    g_free(reader->buffer);
    g_free(reader->name);
    g_free(reader);
}

uint8_t *fm_eventlog_reader_space(struct fm_eventlog_reader *reader, size_t wanted,
                                  size_t *ret_length)
{
    size_t kept = reader->end - reader->pos;
    if (reader->buffer_size - reader->end < wanted && reader->pos > 0 &&
        (reader->pos >= kept || reader->buffer_size - kept >= 2 * wanted)) {
        memmove(reader->buffer, reader->buffer + reader->pos, kept);
        reader->base += reader->pos;
        reader->pos = 0;
        reader->end = kept;
    }
    if (reader->buffer_size - reader->end < wanted) {
        size_t size = MAX(reader->buffer_size, 4096);
        while (size - reader->end < wanted)
            size *= 2;
        reader->buffer = g_realloc(reader->buffer, size);
        reader->buffer_size = size;
    }
    reader->data = reader->buffer;
    g_assert(reader->pos <= reader->end && reader->buffer_size - reader->end >= wanted);
    *ret_length = reader->buffer_size - reader->end;
    return reader->buffer + reader->end;
}

void fm_eventlog_reader_commit(struct fm_eventlog_reader *reader, size_t length)
{
    g_assert(length <= reader->buffer_size - reader->end && !reader->final);
    reader->end += length;
}

void fm_eventlog_reader_push(struct fm_eventlog_reader *reader, const void *bytes, size_t length)
{
    if (length == 0)
        return;
    size_t space;
    memcpy(fm_eventlog_reader_space(reader, length, &space), bytes, length);
    fm_eventlog_reader_commit(reader, length);
}

void fm_eventlog_reader_view(struct fm_eventlog_reader *reader, const uint8_t *bytes, size_t length)
{
    reader->data = bytes;
    reader->end = length;
}

void fm_eventlog_reader_expect_answers(struct fm_eventlog_reader *reader,
                                       fm_eventlog_answer_callback *callback, void *user)
{
    reader->on_answer = callback;
    reader->answer_user = user;
}

void fm_eventlog_reader_finish(struct fm_eventlog_reader *reader)
{
    reader->final = true;
}

struct fm_eventlog_header *fm_eventlog_reader_header(const struct fm_eventlog_reader *reader)
{
    return reader->header;
}

const struct fm_eventlog_gap *fm_eventlog_reader_gap(const struct fm_eventlog_reader *reader)
{
    return &reader->gap;
}

const struct fm_eventlog_tail *fm_eventlog_reader_tail(const struct fm_eventlog_reader *reader)
{
    return &reader->tail;
}

uint64_t fm_eventlog_reader_offset(const struct fm_eventlog_reader *reader)
{
    return fm_eventlog_reader_at(reader, reader->pos);
}

size_t fm_eventlog_reader_memory(const struct fm_eventlog_reader *reader)
{
    return reader->buffer_size;
}

/* Handles an answer to a control message in the place of an event. Returns 1 when it took one, 0
 * when there is none, -1 when it needs more bytes. */
static int take_answer(struct fm_eventlog_reader *reader)
{
    struct fm_control_parser parser = {.answers = true};
    struct fm_control_message answer;
    bool found;
    size_t left = reader->end - reader->pos;
    size_t taken = fm_control_parse(&parser, reader->data + reader->pos,
                                    MIN(left, FM_CONTROL_LENGTH_MAX), &answer, &found);
    if (parser.skipped > 0)
        return 0;
    if (!found)
        return reader->final ? 0 : -1;
    g_assert(taken > 0 && taken <= left);
    reader->pos += taken;
    reader->on_answer(reader->answer_user, &answer);
    return 1;
}

static enum fm_eventlog_status read_header(struct fm_eventlog_reader *reader, GError **error)
{
    /* A program may answer before the header of its log. */
    while (reader->on_answer != NULL && reader->header_at == 0 && reader->pos < reader->end &&
           reader->data[reader->pos] == 0xF0) {
        int answer = take_answer(reader);
        if (answer < 0)
            return FM_EVENTLOG_MORE;
        if (answer == 0)
            break;
    }
    if (reader->reading == NULL) {
        reader->reading = fm_eventlog_header_new();
        reader->header_at = 0;
    }
    int got = fm_eventlog_header_scan(
        reader->reading, reader->data + reader->pos, reader->end - reader->pos, &reader->header_at,
        fm_eventlog_reader_offset(reader), reader->final, reader->name, &reader->failure);
    if (got == 0)
        return FM_EVENTLOG_MORE;
    if (got < 0) {
        reader->state = READER_FAILED;
        g_propagate_error(error, g_error_copy(reader->failure));
        return FM_EVENTLOG_FAILED;
    }
    fm_eventlog_header_complete(reader->reading, reader->data + reader->pos, reader->header_at);
    g_assert(reader->header_at <= reader->end - reader->pos);
    reader->pos += reader->header_at;
    fm_eventlog_header_unref(reader->header);
    reader->header = g_steal_pointer(&reader->reading);
    g_free(reader->steps);
    reader->steps = fm_eventlog_header_steps(reader->header);
    reader->step_count = reader->header->number_count;
    reader->block = FM_EVENTLOG_NO_BLOCK;
    reader->block_end = 0;
    reader->capability = FM_EVENTLOG_NO_CAPABILITY;
    reader->capability_max = 0;
    reader->tail.end_mark = false;
    reader->state = READER_EVENTS;
    return FM_EVENTLOG_HAS_HEADER;
}

static enum fm_eventlog_status damage(struct fm_eventlog_reader *reader, const char *format, ...)
    G_GNUC_PRINTF(2, 3);

static enum fm_eventlog_status damage(struct fm_eventlog_reader *reader, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_vsnprintf(reader->gap.reason, sizeof reader->gap.reason, format, arguments);
    va_end(arguments);
    reader->gap.offset = fm_eventlog_reader_offset(reader);
    reader->gap.length = 0;
    reader->gap.capability = reader->capability;
    reader->gap.time_ns = reader->last_time;
    reader->search_from = reader->gap.offset + 1;
    bool block_known = reader->block_end > reader->gap.offset &&
                       reader->block_end - reader->gap.offset <= FM_EVENTLOG_BLOCK_MAX;
    reader->state = block_known ? READER_TO_BLOCK_END : READER_SEARCH;
    return fm_eventlog_recover(reader);
}

static enum fm_eventlog_status finished(struct fm_eventlog_reader *reader)
{
    reader->tail.offset = fm_eventlog_reader_offset(reader);
    reader->tail.length = reader->end - reader->pos;
    reader->tail.bytes = fm_eventlog_reader_at(reader, reader->end);
    reader->tail.block_cut = reader->block_end > reader->tail.bytes;
    g_assert(reader->final && reader->tail.offset <= reader->tail.bytes);
    reader->state = READER_FINISHED;
    return FM_EVENTLOG_FINISHED;
}

static enum fm_eventlog_status more_or_finished(struct fm_eventlog_reader *reader)
{
    return reader->final ? finished(reader) : FM_EVENTLOG_MORE;
}

/* After FF FF: reads another log, or ignores trailing bytes. */
static enum fm_eventlog_status after_end(struct fm_eventlog_reader *reader)
{
    size_t left = reader->end - reader->pos;
    if (reader->state == READER_AFTER_END) {
        if (left < 4 && !reader->final)
            return FM_EVENTLOG_MORE;
        if (left >= 4 && memcmp(reader->data + reader->pos, "hdrb", 4) == 0) {
            reader->state = READER_HEADER;
            return FM_EVENTLOG_MORE;
        }
        reader->state = READER_TRAILING;
        reader->tail.offset = fm_eventlog_reader_offset(reader);
    }
    reader->pos = reader->end;
    if (!reader->final)
        return FM_EVENTLOG_MORE;
    reader->tail.bytes = fm_eventlog_reader_offset(reader);
    reader->tail.length = reader->tail.bytes - reader->tail.offset;
    reader->state = READER_FINISHED;
    return FM_EVENTLOG_FINISHED;
}

static void begin_block(struct fm_eventlog_reader *reader, const struct fm_eventlog_event *event)
{
    uint32_t size = fm_eventlog_get32(event->payload);
    g_assert(event->payload_length >= 14);
    uint16_t capability = fm_eventlog_get16(event->payload + 12);
    reader->block = event->offset;
    /* Size and end time of 0: the writer died before it could set them; the block ends at the next
     * marker. */
    reader->block_end = size == 0 ? 0 : event->offset + size;
    reader->capability =
        capability == FM_EVENTLOG_NO_CAPABILITY_16 ? FM_EVENTLOG_NO_CAPABILITY : capability;
    reader->capability_max = MAX(reader->capability_max, reader->capability);
}

/* Whether the marker has an impossible size, or is implausible in the middle of a block. */
static bool marker_damaged(const struct fm_eventlog_reader *reader, const uint8_t *bytes,
                           uint32_t length)
{
    uint32_t size = fm_eventlog_get32(bytes + 10);
    uint64_t end_time = fm_eventlog_get64(bytes + 14);
    if (size < length && (size != 0 || end_time != 0))
        return true;
    return reader->block_end > fm_eventlog_reader_offset(reader) &&
           !fm_eventlog_marker_plausible(reader->capability_max, bytes);
}

static enum fm_eventlog_status take_event(struct fm_eventlog_reader *reader,
                                          struct fm_eventlog_event *ret,
                                          const struct fm_eventlog_step *step, uint32_t length)
{
    const uint8_t *at = reader->data + reader->pos;
    g_assert(length >= (step->variable ? 12u : 10u) && length <= reader->end - reader->pos);
    ret->number = fm_eventlog_get16(at);
    ret->time_ns = fm_eventlog_get64(at + 2);
    ret->head_length = step->variable ? 12 : 10;
    ret->payload = at + ret->head_length;
    ret->payload_length = length - ret->head_length;
    ret->offset = fm_eventlog_reader_offset(reader);
    ret->type = step->type;
    if (ret->number == FM_EVENTLOG_BLOCK_MARKER && ret->payload_length >= 14) {
        if (marker_damaged(reader, at, length))
            return damage(reader, "a block marker with an impossible size of %u bytes",
                          fm_eventlog_get32(ret->payload));
        begin_block(reader, ret);
    }
    ret->capability = reader->capability;
    ret->block = reader->block;
    reader->last_time = ret->time_ns;
    reader->pos += length;
    return FM_EVENTLOG_HAS_EVENT;
}

static bool end_mark_possible(const struct fm_eventlog_reader *reader)
{
    uint64_t at = fm_eventlog_reader_offset(reader);
    return reader->block_end <= at || reader->block_end - at == 2;
}

static enum fm_eventlog_status next_event(struct fm_eventlog_reader *reader,
                                          struct fm_eventlog_event *ret)
{
    uint64_t offset = fm_eventlog_reader_offset(reader);
    if (reader->block_end != 0 && offset >= reader->block_end) {
        reader->block = FM_EVENTLOG_NO_BLOCK;
        reader->block_end = 0;
        reader->capability = FM_EVENTLOG_NO_CAPABILITY;
    }
    size_t left = reader->end - reader->pos;
    if (left < 2)
        return more_or_finished(reader);
    const uint8_t *at = reader->data + reader->pos;
    uint16_t number = fm_eventlog_get16(at);
    if (number == FM_EVENTLOG_END_MARK && end_mark_possible(reader)) {
        reader->pos += 2;
        reader->state = READER_AFTER_END;
        reader->block_end = 0;
        reader->tail.end_mark = true;
        return FM_EVENTLOG_HAS_END;
    }
    if (number >= reader->step_count || reader->steps[number].length == 0) {
        if (memcmp(at, "hdrbhetb", MIN(left, 8)) == 0 && (left >= 8 || !reader->final)) {
            /* The log before was not finished, and another one was appended. */
            if (left < 8)
                return FM_EVENTLOG_MORE;
            reader->state = READER_HEADER;
            return FM_EVENTLOG_MORE;
        }
        int answer = reader->on_answer != NULL && reader->block_end == 0 ? take_answer(reader) : 0;
        if (answer < 0)
            return FM_EVENTLOG_MORE;
        if (answer > 0)
            return next_event(reader, ret);
        return damage(reader, "event number %u is not declared in the header", number);
    }
    const struct fm_eventlog_step *step = &reader->steps[number];
    uint32_t length = step->length;
    if (step->variable) {
        if (left < 12)
            return more_or_finished(reader);
        length += fm_eventlog_get16(at + 10);
    }
    if (reader->block_end != 0 && reader->block_end - offset < length) {
        /* A marker there shows that the block's size is wrong, and where the next block begins. */
        bool marker = number == FM_EVENTLOG_BLOCK_MARKER && length == FM_EVENTLOG_MARKER_LENGTH;
        if (marker && left < length && !reader->final)
            return FM_EVENTLOG_MORE;
        if (marker && left >= length && fm_eventlog_marker_plausible(reader->capability_max, at))
            return take_event(reader, ret, step, length);
        return damage(reader,
                      "event %u of %u bytes crosses the end of its block at %" G_GUINT64_FORMAT,
                      number, length, reader->block_end);
    }
    if (left < length)
        return more_or_finished(reader);
    return take_event(reader, ret, step, length);
}

enum fm_eventlog_status fm_eventlog_reader_next(struct fm_eventlog_reader *reader,
                                                struct fm_eventlog_event *ret, GError **error)
{
    switch (reader->state) {
    case READER_EVENTS: {
        enum fm_eventlog_status status = next_event(reader, ret);
        return reader->state == READER_HEADER && status == FM_EVENTLOG_MORE
                   ? read_header(reader, error)
                   : status;
    }
    case READER_HEADER:
        return read_header(reader, error);
    case READER_TO_BLOCK_END:
    case READER_SEARCH:
        return fm_eventlog_recover(reader);
    case READER_AFTER_END:
    case READER_TRAILING: {
        enum fm_eventlog_status status = after_end(reader);
        return reader->state == READER_HEADER ? read_header(reader, error) : status;
    }
    case READER_FINISHED:
        return FM_EVENTLOG_FINISHED;
    case READER_FAILED:
        break;
    }
    g_propagate_error(error, g_error_copy(reader->failure));
    return FM_EVENTLOG_FAILED;
}

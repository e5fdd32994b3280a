/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/output/writer.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "eventlog/reader/internal.h"

enum { HEAD_BYTES_MAX = 12, HELD_BYTES = 64 << 10, BLOCK_BYTES = 2 << 20 };

struct fm_eventlog_writer {
    fm_eventlog_write *write;
    void *user;
    GByteArray *held;
    struct fm_eventlog_step *steps;
    uint32_t step_count;
    GByteArray *block; /* after room for its marker; empty = no open block */
    int32_t capability;
    uint64_t begin_ns, end_ns;
};

bool fm_eventlog_write_fd(void *user, const uint8_t *bytes, size_t length, GError **error)
{
    int fd = *(const int *)user;
    while (length > 0) {
        ssize_t wrote = write(fd, bytes, length);
        if (wrote < 0 && errno == EINTR)
            continue;
        if (wrote < 0) {
            g_set_error(error, FM_ERROR, FM_ERROR_IO, "cannot write: %s", g_strerror(errno));
            return false;
        }
        bytes += wrote;
        length -= (size_t)wrote;
    }
    return true;
}

bool fm_eventlog_write_bytes(void *user, const uint8_t *bytes, size_t length, GError **error)
{
    (void)error;
    g_byte_array_append(user, bytes, (guint)length);
    return true;
}

struct fm_eventlog_writer *fm_eventlog_writer_new(fm_eventlog_write *write, void *user)
{
    struct fm_eventlog_writer *writer = g_new0(struct fm_eventlog_writer, 1);
    writer->write = write;
    writer->user = user;
    writer->held = g_byte_array_new();
    writer->block = g_byte_array_new();
    return writer;
}

void fm_eventlog_writer_free(struct fm_eventlog_writer *writer)
{
    if (writer == NULL)
        return;
    g_byte_array_unref(writer->held);
    g_byte_array_unref(writer->block);
    g_free(writer->steps);
    g_free(writer);
}

bool fm_eventlog_writer_flush(struct fm_eventlog_writer *writer, GError **error)
{
    size_t length = writer->held->len;
    if (length == 0)
        return true;
    bool written = writer->write(writer->user, writer->held->data, length, error);
    g_byte_array_set_size(writer->held, 0);
    return written;
}

static bool hold(struct fm_eventlog_writer *writer, const void *bytes, size_t length,
                 GError **error)
{
    if (writer->held->len + length > HELD_BYTES && !fm_eventlog_writer_flush(writer, error))
        return false;
    if (length > HELD_BYTES)
        return writer->write(writer->user, bytes, length, error);
    g_byte_array_append(writer->held, bytes, (guint)length);
    g_assert(writer->held->len <= HELD_BYTES);
    return true;
}

bool fm_eventlog_writer_header(struct fm_eventlog_writer *writer,
                               const struct fm_eventlog_header *header, GError **error)
{
    g_free(writer->steps);
    writer->steps = fm_eventlog_header_steps(header);
    g_assert(header->slots != NULL); /* the header is complete */
    writer->step_count = header->number_count;
    return fm_eventlog_writer_end_block(writer, error) &&
           hold(writer, header->bytes->data, header->bytes->len, error);
}

/* head has HEAD_BYTES_MAX bytes. Returns how many were used. */
static uint32_t put_head(uint8_t *head, uint16_t number, uint64_t time_ns, bool variable,
                         uint32_t payload_length)
{
    g_assert(payload_length <= UINT16_MAX);
    uint16_t number_be = GUINT16_TO_BE(number);
    uint64_t time_be = GUINT64_TO_BE(time_ns);
    uint16_t length_be = GUINT16_TO_BE((uint16_t)payload_length);
    memcpy(head, &number_be, 2);
    memcpy(head + 2, &time_be, 8);
    memcpy(head + 10, &length_be, 2);
    return variable ? 12 : 10;
}

/* Makes an event's head, if the event fits the header's declaration. */
static bool put_declared(const struct fm_eventlog_writer *writer,
                         const struct fm_eventlog_event *event, uint8_t *head, uint32_t *ret_length,
                         GError **error)
{
    const struct fm_eventlog_step *step =
        event->number < writer->step_count ? &writer->steps[event->number] : NULL;
    if (step != NULL && step->length != 0 && event->payload_length <= 65535 &&
        (step->variable || step->length == 10 + event->payload_length)) {
        *ret_length =
            put_head(head, event->number, event->time_ns, step->variable, event->payload_length);
        return true;
    }
    g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                "event %u with %u bytes is not what the header declares", event->number,
                event->payload_length);
    return false;
}

bool fm_eventlog_writer_raw(struct fm_eventlog_writer *writer,
                            const struct fm_eventlog_event *event, GError **error)
{
    uint8_t head[HEAD_BYTES_MAX];
    uint32_t length;
    if (!put_declared(writer, event, head, &length, error))
        return false;
    return hold(writer, head, length, error) &&
           hold(writer, event->payload, event->payload_length, error);
}

bool fm_eventlog_writer_end_block(struct fm_eventlog_writer *writer, GError **error)
{
    GByteArray *block = writer->block;
    if (block->len == 0)
        return true;
    uint32_t size = GUINT32_TO_BE(block->len);
    uint64_t end = GUINT64_TO_BE(writer->end_ns);
    uint16_t capability = GUINT16_TO_BE(writer->capability < 0 ? FM_EVENTLOG_NO_CAPABILITY_16
                                                               : (uint16_t)writer->capability);
    put_head(block->data, FM_EVENTLOG_BLOCK_MARKER, writer->begin_ns, false, 14);
    memcpy(block->data + 10, &size, 4);
    memcpy(block->data + 14, &end, 8);
    memcpy(block->data + 22, &capability, 2);
    bool written = hold(writer, block->data, block->len, error);
    g_byte_array_set_size(block, 0);
    return written;
}

bool fm_eventlog_writer_event(struct fm_eventlog_writer *writer,
                              const struct fm_eventlog_event *event, GError **error)
{
    uint8_t head[HEAD_BYTES_MAX];
    uint32_t length;
    if (!put_declared(writer, event, head, &length, error))
        return false;
    GByteArray *block = writer->block;
    bool full = block->len + length + event->payload_length > BLOCK_BYTES;
    if (block->len > 0 && (full || writer->capability != event->capability) &&
        !fm_eventlog_writer_end_block(writer, error))
        return false;
    if (block->len == 0) {
        g_byte_array_set_size(block, FM_EVENTLOG_MARKER_LENGTH);
        writer->capability = event->capability;
        writer->begin_ns = writer->end_ns = event->time_ns;
    }
    writer->begin_ns = MIN(writer->begin_ns, event->time_ns);
    writer->end_ns = MAX(writer->end_ns, event->time_ns);
    g_byte_array_append(block, head, length);
    g_byte_array_append(block, event->payload, event->payload_length);
    return true;
}

bool fm_eventlog_writer_end(struct fm_eventlog_writer *writer, GError **error)
{
    static const uint8_t end[2] = {0xFF, 0xFF};
    return fm_eventlog_writer_end_block(writer, error) && hold(writer, end, 2, error) &&
           fm_eventlog_writer_flush(writer, error);
}

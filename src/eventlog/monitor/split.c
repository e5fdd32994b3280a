/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/reader/internal.h"
#include "eventlog/monitor/monitor.h"

void fm_monitor_splitter_init(struct fm_monitor_splitter *splitter, size_t payload_max,
                              fm_monitor_send *send, void *user)
{
    *splitter = (struct fm_monitor_splitter){
        .send = send,
        .user = user,
        .payload_max = payload_max,
        .events = g_byte_array_new(),
        .lengths = g_array_new(FALSE, FALSE, sizeof(uint32_t)),
    };
}

void fm_monitor_splitter_done(struct fm_monitor_splitter *splitter)
{
    g_clear_pointer(&splitter->events, g_byte_array_unref);
    g_clear_pointer(&splitter->lengths, g_array_unref);
}

/* Sends bytes whole, or as a first message and pieces. */
static bool send_partial(struct fm_monitor_splitter *splitter, enum fm_monitor_kind kind,
                         uint64_t block_id, const uint8_t *bytes, size_t length, GError **error)
{
    struct fm_monitor_message message = {
        .kind = kind,
        .block_id = block_id,
        .bytes = bytes,
        .length = length,
    };
    size_t most = splitter->payload_max;
    if (most == 0 || length <= most)
        return splitter->send(splitter->user, &message, error);
    uint64_t pieces = (length + most - 1) / most;
    g_assert(pieces > 1 && (pieces - 1) * most < length);
    message.form = FM_MONITOR_FIRST;
    message.message_id = splitter->next_message++;
    message.number = pieces;
    bool sent = splitter->send(splitter->user, &message, error);
    message.form = FM_MONITOR_PIECE;
    for (uint64_t i = 0; sent && i < pieces; i++) {
        message.number = i;
        message.bytes = bytes + i * most;
        message.length = MIN(most, length - (size_t)i * most);
        sent = splitter->send(splitter->user, &message, error);
    }
    return sent;
}

bool fm_monitor_split_state(struct fm_monitor_splitter *splitter, const uint8_t *bytes,
                            size_t length, GError **error)
{
    return send_partial(splitter, FM_MONITOR_STATE, 0, bytes, length, error);
}

bool fm_monitor_split_header(struct fm_monitor_splitter *splitter,
                             const struct fm_eventlog_header *header, GError **error)
{
    struct fm_monitor_message message = {
        .kind = FM_MONITOR_HEADER_LENGTH,
        .number = header->declared->len,
    };
    bool sent =
        fm_monitor_split_flush(splitter, error) && splitter->send(splitter->user, &message, error);
    message.kind = FM_MONITOR_HEADER_TYPE;
    for (guint i = 0; sent && i < header->declared->len; i++) {
        const struct fm_eventlog_declared *declared =
            &g_array_index(header->declared, struct fm_eventlog_declared, i);
        message.bytes = header->bytes->data + declared->name_at - 12;
        message.length = (size_t)20 + declared->name_length + declared->extra_length;
        sent = splitter->send(splitter->user, &message, error);
    }
    return sent;
}

bool fm_monitor_split_flush(struct fm_monitor_splitter *splitter, GError **error)
{
    if (!splitter->in_block)
        return true;
    splitter->in_block = false;
    struct fm_monitor_message head = {.kind = FM_MONITOR_BLOCK_HEAD, .block = splitter->block};
    head.block.id = splitter->next_block++;
    head.block.count = splitter->single_events ? splitter->events->len : splitter->lengths->len;
    bool sent = splitter->send(splitter->user, &head, error);
    const uint8_t *at = splitter->events->data;
    for (guint i = 0; sent && i < splitter->lengths->len; i++) {
        uint32_t length = g_array_index(splitter->lengths, uint32_t, i);
        sent = send_partial(splitter,
                            splitter->single_events ? FM_MONITOR_EVENT : FM_MONITOR_BLOCK_PART,
                            head.block.id, at, length, error);
        at += length;
    }
    g_assert(!sent || at == splitter->events->data + splitter->events->len);
    g_byte_array_set_size(splitter->events, 0);
    g_array_set_size(splitter->lengths, 0);
    return sent;
}

bool fm_monitor_split_event(struct fm_monitor_splitter *splitter,
                            const struct fm_eventlog_event *event, GError **error)
{
    bool marker = event->number == FM_EVENTLOG_BLOCK_MARKER && event->payload_length >= 14;
    if (splitter->in_block && (marker || event->block != splitter->block_key) &&
        !fm_monitor_split_flush(splitter, error))
        return false;
    if (marker) {
        splitter->in_block = true;
        splitter->block_key = event->block;
        splitter->block = (struct fm_monitor_block){
            .begin_ns = event->time_ns,
            .end_ns = fm_eventlog_u64(event, 4),
            .capability = (uint32_t)(event->capability + 1),
        };
        return true;
    }
    /* The reader keeps the event's head directly before its payload. */
    const uint8_t *bytes = event->payload - event->head_length;
    uint32_t length = event->head_length + event->payload_length;
    if (!splitter->in_block)
        return send_partial(splitter, FM_MONITOR_EVENT, 0, bytes, length, error);
    g_byte_array_append(splitter->events, bytes, length);
    g_array_append_val(splitter->lengths, length);
    return true;
}

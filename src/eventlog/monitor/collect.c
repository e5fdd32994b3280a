/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "eventlog/reader/internal.h"
#include "eventlog/monitor/monitor.h"

enum {
    BYTES_MAX = 16 << 20,
    PENDING_MAX = 4096,
    TIMEOUT_MS = 360000,
    TYPES_MAX = 65536,
    PIECE_COST = 96, /* memory counted for a piece besides its bytes */
};

/* A message that lacks pieces. */
struct pending {
    uint64_t id;
    enum fm_monitor_kind kind;
    uint64_t block_id;
    bool has_first;
    uint64_t count;
    GHashTable *pieces; /* number (gpointer) -> GBytes */
    size_t bytes;
    uint64_t born_ms;
};

/* A block that lacks events. */
struct open_block {
    uint64_t id;
    struct fm_monitor_block head;
    bool has_head, has_parts;
    GByteArray *bytes; /* with room for the marker */
    uint32_t events;
    uint64_t born_ms;
};

struct fm_monitor_collector {
    struct fm_monitor_limits limits;
    struct fm_monitor_collected counts;
    bool has_length, complete, broken;
    bool with_blocks; /* the header declares block markers as the collector writes them */
    uint64_t type_count, types_got;
    GByteArray *header_bytes;
    struct fm_eventlog_header *header;
    struct fm_eventlog_step *steps;
    /* Incomplete messages and blocks; each list is in order of arrival. */
    GHashTable *pending; /* id (gpointer) -> GList link of pending_order */
    GQueue pending_order;
    GHashTable *blocks; /* id (gpointer) -> GList link of block_order */
    GQueue block_order;
    struct open_block *current; /* the block announced last: single events belong to it */
    GByteArray *state;
};

struct fm_monitor_collector *fm_monitor_collector_new(const struct fm_monitor_limits *limits)
{
    struct fm_monitor_collector *collector = g_new0(struct fm_monitor_collector, 1);
    if (limits != NULL)
        collector->limits = *limits;
    if (collector->limits.bytes_max == 0)
        collector->limits.bytes_max = BYTES_MAX;
    if (collector->limits.pending_max == 0)
        collector->limits.pending_max = PENDING_MAX;
    if (collector->limits.timeout_ms == 0)
        collector->limits.timeout_ms = TIMEOUT_MS;
    collector->header_bytes = g_byte_array_new();
    g_byte_array_append(collector->header_bytes, (const uint8_t *)"hdrbhetb", 8);
    collector->pending = g_hash_table_new(NULL, NULL);
    collector->blocks = g_hash_table_new(NULL, NULL);
    return collector;
}

static size_t pending_cost(const struct pending *pending)
{
    return sizeof *pending + pending->bytes +
           g_hash_table_size(pending->pieces) * (size_t)PIECE_COST;
}

static size_t block_cost(const struct open_block *block)
{
    return sizeof *block + block->bytes->len;
}

static void drop_pending(struct fm_monitor_collector *collector, struct pending *pending)
{
    GList *link = g_hash_table_lookup(collector->pending, (gpointer)(uintptr_t)pending->id);
    g_assert(link != NULL && collector->counts.pending_bytes >= pending_cost(pending));
    collector->counts.pending_bytes -= pending_cost(pending);
    g_hash_table_remove(collector->pending, (gpointer)(uintptr_t)pending->id);
    g_queue_delete_link(&collector->pending_order, link);
    g_hash_table_unref(pending->pieces);
    g_free(pending);
}

static void drop_block(struct fm_monitor_collector *collector, struct open_block *block)
{
    GList *link = g_hash_table_lookup(collector->blocks, (gpointer)(uintptr_t)block->id);
    g_assert(link != NULL && collector->counts.pending_bytes >= block_cost(block));
    collector->counts.pending_bytes -= block_cost(block);
    g_hash_table_remove(collector->blocks, (gpointer)(uintptr_t)block->id);
    g_queue_delete_link(&collector->block_order, link);
    if (collector->current == block)
        collector->current = NULL;
    g_byte_array_unref(block->bytes);
    g_free(block);
}

void fm_monitor_collector_free(struct fm_monitor_collector *collector)
{
    if (collector == NULL)
        return;
    while (collector->pending_order.head != NULL)
        drop_pending(collector, collector->pending_order.head->data);
    while (collector->block_order.head != NULL)
        drop_block(collector, collector->block_order.head->data);
    g_assert(collector->counts.pending_bytes == 0);
    g_hash_table_unref(collector->pending);
    g_hash_table_unref(collector->blocks);
    g_byte_array_unref(collector->header_bytes);
    if (collector->state != NULL)
        g_byte_array_unref(collector->state);
    fm_eventlog_header_unref(collector->header);
    g_free(collector->steps);
    g_free(collector);
}

const GByteArray *fm_monitor_collector_state(const struct fm_monitor_collector *collector)
{
    return collector->state;
}

void fm_monitor_collector_counts(const struct fm_monitor_collector *collector,
                                 struct fm_monitor_collected *ret)
{
    *ret = collector->counts;
}

static void put_big_endian(uint8_t *at, uint64_t value, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--, value >>= 8)
        at[i] = (uint8_t)value;
}

/* Puts the marker in front and appends the block to the log. */
static void emit_block(struct fm_monitor_collector *collector, struct open_block *block,
                       bool complete, GByteArray *log)
{
    g_assert(block->bytes->len >= FM_EVENTLOG_MARKER_LENGTH);
    uint8_t *at = block->bytes->data;
    uint16_t capability = block->has_head && block->head.capability > 0
                              ? (uint16_t)(block->head.capability - 1)
                              : FM_EVENTLOG_NO_CAPABILITY_16;
    uint64_t begin = block->head.begin_ns, end = block->head.end_ns;
    if (!block->has_head && block->events > 0)
        begin = end = fm_eventlog_get64(at + FM_EVENTLOG_MARKER_LENGTH + 2);
    put_big_endian(at, FM_EVENTLOG_BLOCK_MARKER, 2);
    put_big_endian(at + 2, begin, 8);
    put_big_endian(at + 10, block->bytes->len, 4);
    put_big_endian(at + 14, MAX(begin, end), 8);
    put_big_endian(at + 22, capability, 2);
    g_byte_array_append(log, at, block->bytes->len);
    collector->counts.blocks++;
    collector->counts.lost_blocks += !complete;
    drop_block(collector, block);
}

static bool block_complete(const struct open_block *block)
{
    if (!block->has_head)
        return false;
    /* Old monitors announce a number of bytes and send the events singly. */
    return block->has_parts ? block->events >= block->head.count
                            : block->bytes->len - FM_EVENTLOG_MARKER_LENGTH >= block->head.count;
}

static struct open_block *block_of(struct fm_monitor_collector *collector, uint64_t id,
                                   uint64_t now_ms)
{
    GList *link = g_hash_table_lookup(collector->blocks, (gpointer)(uintptr_t)id);
    if (link != NULL)
        return link->data;
    struct open_block *block = g_new0(struct open_block, 1);
    block->id = id;
    block->born_ms = now_ms;
    block->bytes = g_byte_array_new();
    g_byte_array_set_size(block->bytes, FM_EVENTLOG_MARKER_LENGTH);
    g_queue_push_tail(&collector->block_order, block);
    g_hash_table_insert(collector->blocks, (gpointer)(uintptr_t)id, collector->block_order.tail);
    collector->counts.pending_bytes += block_cost(block);
    return block;
}

/* Keeps memory within the limits: drops the oldest incomplete messages and blocks. */
static void make_room(struct fm_monitor_collector *collector, GByteArray *log)
{
    const struct fm_monitor_limits *limits = &collector->limits;
    while (collector->counts.pending_bytes > limits->bytes_max ||
           collector->pending_order.length > limits->pending_max ||
           collector->block_order.length > limits->pending_max) {
        if (collector->pending_order.length > 0 &&
            collector->block_order.length <= limits->pending_max) {
            collector->counts.lost_messages++;
            drop_pending(collector, collector->pending_order.head->data);
        } else if (collector->block_order.length > 0) {
            emit_block(collector, collector->block_order.head->data, false, log);
        } else {
            return;
        }
    }
}

/* Whether the bytes are exactly one event as the header declares it, and not a marker: the
 * collector writes markers itself. */
static bool is_event(const struct fm_monitor_collector *collector, const uint8_t *bytes,
                     size_t length)
{
    if (!collector->complete || length < 10)
        return false;
    uint16_t number = fm_eventlog_get16(bytes);
    g_assert(collector->header != NULL && collector->steps != NULL);
    if (number >= collector->header->number_count || number == FM_EVENTLOG_BLOCK_MARKER ||
        number == FM_EVENTLOG_END_MARK || collector->steps[number].length == 0)
        return false;
    size_t whole = collector->steps[number].length;
    if (collector->steps[number].variable && length >= 12)
        whole += fm_eventlog_get16(bytes + 10);
    return whole == length;
}

static void take_event(struct fm_monitor_collector *collector, struct open_block *block,
                       const uint8_t *bytes, size_t length, GByteArray *log)
{
    if (!is_event(collector, bytes, length)) {
        collector->counts.ignored++;
        return;
    }
    collector->counts.events++;
    if (block == NULL) {
        g_byte_array_append(log, bytes, (guint)length);
        return;
    }
    g_byte_array_append(block->bytes, bytes, (guint)length);
    block->events++;
    collector->counts.pending_bytes += length;
    if (block_complete(block))
        emit_block(collector, block, true, log);
}

/* Handles a complete payload. */
static void deliver(struct fm_monitor_collector *collector, enum fm_monitor_kind kind,
                    uint64_t block_id, const uint8_t *bytes, size_t length, uint64_t now_ms,
                    GByteArray *log)
{
    if (kind == FM_MONITOR_STATE) {
        if (collector->state != NULL)
            g_byte_array_unref(collector->state);
        collector->state = g_byte_array_new();
        g_byte_array_append(collector->state, bytes, (guint)length);
        collector->counts.states++;
    } else if (kind == FM_MONITOR_BLOCK_PART && collector->with_blocks) {
        struct open_block *block = block_of(collector, block_id, now_ms);
        block->has_parts = true;
        take_event(collector, block, bytes, length, log);
    } else {
        struct open_block *block = collector->current;
        take_event(collector, block != NULL && !block->has_parts ? block : NULL, bytes, length,
                   log);
    }
}

static struct pending *pending_of(struct fm_monitor_collector *collector,
                                  const struct fm_monitor_message *message, uint64_t now_ms)
{
    GList *link = g_hash_table_lookup(collector->pending, (gpointer)(uintptr_t)message->message_id);
    if (link != NULL)
        return link->data;
    struct pending *pending = g_new0(struct pending, 1);
    pending->id = message->message_id;
    pending->kind = message->kind;
    pending->block_id = message->block_id;
    pending->born_ms = now_ms;
    pending->pieces =
        g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)(void *)g_bytes_unref);
    g_queue_push_tail(&collector->pending_order, pending);
    g_hash_table_insert(collector->pending, (gpointer)(uintptr_t)pending->id,
                        collector->pending_order.tail);
    collector->counts.pending_bytes += pending_cost(pending);
    return pending;
}

/* Joins the pieces when all have arrived. */
static void try_join(struct fm_monitor_collector *collector, struct pending *pending,
                     uint64_t now_ms, GByteArray *log)
{
    if (!pending->has_first || g_hash_table_size(pending->pieces) < pending->count)
        return;
    g_autoptr(GByteArray) joined = g_byte_array_new();
    bool whole = true;
    for (uint64_t i = 0; i < pending->count && whole; i++) {
        GBytes *piece = g_hash_table_lookup(pending->pieces, (gpointer)(uintptr_t)i);
        gsize length = 0;
        const uint8_t *bytes = piece == NULL ? NULL : g_bytes_get_data(piece, &length);
        whole = piece != NULL;
        if (length > 0)
            g_byte_array_append(joined, bytes, (guint)length);
    }
    enum fm_monitor_kind kind = pending->kind;
    uint64_t block_id = pending->block_id;
    drop_pending(collector, pending);
    if (whole)
        deliver(collector, kind, block_id, joined->data, joined->len, now_ms, log);
    else
        collector->counts.lost_messages++; /* impossible numbers */
}

static void take_partial(struct fm_monitor_collector *collector,
                         const struct fm_monitor_message *message, uint64_t now_ms, GByteArray *log)
{
    if (message->form == FM_MONITOR_FULL) {
        deliver(collector, message->kind, message->block_id, message->bytes, message->length,
                now_ms, log);
        return;
    }
    struct pending *pending = pending_of(collector, message, now_ms);
    if (message->form == FM_MONITOR_FIRST) {
        pending->has_first = true;
        pending->count = message->number;
    } else if (g_hash_table_contains(pending->pieces, (gpointer)(uintptr_t)message->number)) {
        collector->counts.duplicates++;
    } else {
        collector->counts.pending_bytes -= pending_cost(pending);
        g_hash_table_insert(pending->pieces, (gpointer)(uintptr_t)message->number,
                            g_bytes_new(message->bytes, message->length));
        pending->bytes += message->length;
        collector->counts.pending_bytes += pending_cost(pending);
    }
    try_join(collector, pending, now_ms, log);
}

static void try_header(struct fm_monitor_collector *collector, GByteArray *log)
{
    if (!collector->has_length || collector->types_got < collector->type_count)
        return;
    g_byte_array_append(collector->header_bytes, (const uint8_t *)"hetehdredatb", 12);
    collector->header = fm_eventlog_header_parse(collector->header_bytes->data,
                                                 collector->header_bytes->len, "monitor", NULL);
    collector->broken = collector->header == NULL;
    if (collector->broken)
        return;
    collector->complete = true;
    const struct fm_eventlog_declared *marker =
        fm_eventlog_header_find(collector->header, FM_EVENTLOG_BLOCK_MARKER);
    collector->with_blocks = marker != NULL && marker->size == 14;
    collector->steps = fm_eventlog_header_steps(collector->header);
    g_byte_array_append(log, collector->header_bytes->data, collector->header_bytes->len);
}

static void take_header(struct fm_monitor_collector *collector,
                        const struct fm_monitor_message *message, GByteArray *log)
{
    bool length = message->kind == FM_MONITOR_HEADER_LENGTH;
    if (collector->complete || collector->broken || (length && collector->has_length) ||
        (length ? message->number : collector->types_got + 1) > TYPES_MAX ||
        (!length && collector->header_bytes->len > collector->limits.bytes_max)) {
        collector->counts.ignored++;
        return;
    }
    if (length) {
        collector->has_length = true;
        collector->type_count = message->number;
    } else {
        g_byte_array_append(collector->header_bytes, message->bytes, (guint)message->length);
        collector->types_got++;
    }
    try_header(collector, log);
}

static void take_block_head(struct fm_monitor_collector *collector,
                            const struct fm_monitor_message *message, uint64_t now_ms,
                            GByteArray *log)
{
    if (!collector->with_blocks) {
        collector->counts.ignored++;
        return;
    }
    /* Single events that arrived after the previous head belong to the previous block. */
    if (collector->current != NULL && !collector->current->has_parts &&
        collector->current->events > 0)
        emit_block(collector, collector->current, false, log);
    struct open_block *block = block_of(collector, message->block.id, now_ms);
    if (block->has_head) {
        collector->counts.duplicates++;
        return;
    }
    block->has_head = true;
    block->head = message->block;
    collector->current = block;
    if (block_complete(block))
        emit_block(collector, block, true, log);
}

void fm_monitor_collect(struct fm_monitor_collector *collector,
                        const struct fm_monitor_message *message, uint64_t now_ms, GByteArray *log)
{
    fm_monitor_collector_expire(collector, now_ms, log);
    switch (message->kind) {
    case FM_MONITOR_SERVICE:
        break;
    case FM_MONITOR_HEADER_LENGTH:
    case FM_MONITOR_HEADER_TYPE:
        take_header(collector, message, log);
        break;
    case FM_MONITOR_BLOCK_HEAD:
        take_block_head(collector, message, now_ms, log);
        break;
    case FM_MONITOR_BLOCK_PART:
    case FM_MONITOR_EVENT:
    case FM_MONITOR_STATE:
        take_partial(collector, message, now_ms, log);
        break;
    }
    make_room(collector, log);
}

void fm_monitor_collector_expire(struct fm_monitor_collector *collector, uint64_t now_ms,
                                 GByteArray *log)
{
    uint64_t timeout = collector->limits.timeout_ms;
    while (collector->pending_order.head != NULL) {
        struct pending *pending = collector->pending_order.head->data;
        if (now_ms - pending->born_ms < timeout)
            break;
        collector->counts.lost_messages++;
        drop_pending(collector, pending);
    }
    while (collector->block_order.head != NULL) {
        struct open_block *block = collector->block_order.head->data;
        if (now_ms - block->born_ms < timeout)
            break;
        emit_block(collector, block, false, log);
    }
}

void fm_monitor_collector_finish(struct fm_monitor_collector *collector, bool whole,
                                 GByteArray *log)
{
    while (collector->pending_order.head != NULL) {
        collector->counts.lost_messages++;
        drop_pending(collector, collector->pending_order.head->data);
    }
    while (collector->block_order.head != NULL) {
        struct open_block *block = collector->block_order.head->data;
        emit_block(collector, block, block_complete(block), log);
    }
    if (whole && collector->complete)
        g_byte_array_append(log, (const uint8_t *)"\xFF\xFF", 2);
}

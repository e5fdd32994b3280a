/* SPDX-License-Identifier: Apache-2.0 */
/* Perfetto's format: a track for each lane below one for its kind, a sequence of packets for each
 * lane, in order of time. Segments are told when they end, so those of a lane are kept until the
 * whole trace has been read. */
#include <string.h>

#include "exchange/trace/internal.h"
#include "perfetto.pb-c.h"

/* Types of events, flags of sequences, in the format's numbers. */
enum { SLICE_BEGIN = 1, SLICE_END = 2, INSTANT = 3, COUNTER = 4 };
enum { STATE_CLEARED = 1, NEEDS_STATE = 2 };
#define GROUP_UUID 1u     /* the tracks of kinds: this and the kind */
#define LANE_UUID 0x1000u /* the tracks of lanes: this and the index */
#define FIELD_PACKET 0x0a /* field of Trace: number 1, with a length */

enum item_kind { ITEM_SEGMENT, ITEM_NUMBER, ITEM_MARK, ITEM_FLOW_OUT, ITEM_FLOW_IN };
struct item {
    uint64_t time, end; /* end: of a segment */
    union {
        double number;
        uint64_t flow;
    };
    uint32_t value;
    uint16_t depth;
    uint8_t kind;
};

static GArray *items_of(struct fm_trace_export *x, const struct fm_lane *lane)
{
    while (x->lanes->len <= lane->index)
        g_ptr_array_add(x->lanes, NULL);
    GArray *items = g_ptr_array_index(x->lanes, lane->index);
    if (items == NULL) {
        items = g_array_new(FALSE, TRUE, sizeof(struct item));
        x->lanes->pdata[lane->index] = items;
    }
    return items;
}

static void on_segment(void *user, const struct fm_lane *lane, uint32_t depth,
                       const struct fm_state_entry *entry, uint64_t end)
{
    g_assert(depth <= UINT16_MAX);
    struct item item = {.kind = ITEM_SEGMENT,
                        .time = entry->since,
                        .end = MAX(end, entry->since),
                        .value = entry->value,
                        .depth = (uint16_t)depth};
    g_array_append_val(items_of(user, lane), item);
}

static void on_number(void *user, const struct fm_lane *lane, uint64_t time, double value)
{
    struct item item = {.kind = ITEM_NUMBER, .time = time, .number = value};
    g_array_append_val(items_of(user, lane), item);
}

static void on_mark(void *user, const struct fm_lane *lane, uint64_t time, uint32_t value)
{
    struct item item = {.kind = ITEM_MARK, .time = time, .value = value};
    g_array_append_val(items_of(user, lane), item);
}

static void on_arrow(void *user, const struct fm_lane *from, uint64_t from_time,
                     const struct fm_lane *to, uint64_t to_time)
{
    struct fm_trace_export *x = user;
    struct item item = {.kind = ITEM_FLOW_OUT, .time = from_time, .flow = ++x->arrows};
    g_array_append_val(items_of(x, from), item);
    item.kind = ITEM_FLOW_IN;
    item.time = to_time;
    g_array_append_val(items_of(x, to), item);
}

const struct fm_state_observer fm_perfetto_observer = {
    .segment = on_segment, .number = on_number, .mark = on_mark, .arrow = on_arrow};

/* --- writing --- */

static void write_packet(struct fm_trace_export *x, const FathomPerfetto__TracePacket *packet)
{
    size_t size = fathom_perfetto__trace_packet__get_packed_size(packet);
    uint8_t length[10];
    unsigned count = 0;
    g_string_set_size(x->text, size);
    fathom_perfetto__trace_packet__pack(packet, (uint8_t *)x->text->str);
    fm_writer_byte(x->out, FIELD_PACKET);
    size_t rest = size;
    for (; rest >= 0x80; rest >>= 7)
        length[count++] = (uint8_t)(rest | 0x80);
    length[count++] = (uint8_t)rest;
    fm_writer_bytes(x->out, length, count);
    fm_writer_bytes(x->out, x->text->str, size);
}

static void write_track(struct fm_trace_export *x, uint64_t uuid, uint64_t parent, const char *name,
                        bool is_counter)
{
    g_assert(uuid != 0 && uuid != parent);
    FathomPerfetto__CounterDescriptor counter = FATHOM_PERFETTO__COUNTER_DESCRIPTOR__INIT;
    FathomPerfetto__TrackDescriptor track = FATHOM_PERFETTO__TRACK_DESCRIPTOR__INIT;
    FathomPerfetto__TracePacket packet = FATHOM_PERFETTO__TRACE_PACKET__INIT;
    track.has_uuid = true;
    track.uuid = uuid;
    track.name = (char *)(uintptr_t)name;
    track.has_parent_uuid = parent != 0;
    track.parent_uuid = parent;
    track.counter = is_counter ? &counter : NULL;
    packet.has_sequence = true;
    packet.sequence = 1;
    packet.track_descriptor = &track;
    write_packet(x, &packet);
}

/* Names that a sequence has defined. */
struct sequence {
    struct fm_trace_export *x;
    uint32_t number;
    uint64_t track;
    GHashTable *values, *classes; /* already told */
    bool begun;
};

static void intern(GHashTable *told, uint32_t id, const char *text,
                   FathomPerfetto__InternedName *name, FathomPerfetto__InternedName **list,
                   size_t *count)
{
    if (!g_hash_table_add(told, GUINT_TO_POINTER(id + 1)))
        return;
    fathom_perfetto__interned_name__init(name);
    name->has_iid = true;
    name->iid = (uint64_t)id + 1;
    name->name = (char *)(uintptr_t)text;
    *list = name;
    *count = 1;
}

static void write_event(struct sequence *s, uint64_t time, int type, const struct item *item)
{
    FathomPerfetto__TracePacket packet = FATHOM_PERFETTO__TRACE_PACKET__INIT;
    FathomPerfetto__TrackEvent event = FATHOM_PERFETTO__TRACK_EVENT__INIT;
    FathomPerfetto__InternedData data = FATHOM_PERFETTO__INTERNED_DATA__INIT;
    FathomPerfetto__InternedName name, category, *names[1], *categories[1];
    struct fm_trace *trace = s->x->trace;
    uint64_t class_iid, flow = item->flow;
    packet.has_timestamp = packet.has_sequence = packet.has_sequence_flags = true;
    packet.timestamp = time;
    packet.sequence = s->number;
    packet.sequence_flags = NEEDS_STATE | (s->begun ? 0 : STATE_CLEARED);
    packet.has_first_on_sequence = packet.first_on_sequence = !s->begun;
    packet.has_previous_dropped = packet.previous_dropped = !s->begun;
    packet.track_event = &event;
    s->begun = true;
    event.has_type = event.has_track_uuid = true;
    event.type = type;
    event.track_uuid = s->track;
    if (item->kind == ITEM_NUMBER) {
        event.has_double_counter_value = true;
        event.double_counter_value = item->number;
    } else if (item->kind == ITEM_FLOW_OUT) {
        event.n_flow_ids = 1;
        event.flow_ids = &flow;
    } else if (item->kind == ITEM_FLOW_IN) {
        event.n_terminating_flow_ids = 1;
        event.terminating_flow_ids = &flow;
    } else if (type != SLICE_END) {
        enum fm_state_class state_class = fm_trace_value_class(trace, item->value);
        class_iid = (uint64_t)state_class + 1;
        event.has_name_iid = true;
        event.name_iid = (uint64_t)item->value + 1;
        event.n_category_iids = 1;
        event.category_iids = &class_iid;
        data.event_names = names;
        data.event_categories = categories;
        intern(s->values, item->value, fm_trace_value_name(trace, item->value), &name, names,
               &data.n_event_names);
        intern(s->classes, (uint32_t)state_class, fm_state_class_name(state_class), &category,
               categories, &data.n_event_categories);
        if (data.n_event_names + data.n_event_categories > 0)
            packet.interned_data = &data;
    }
    write_packet(s->x, &packet);
}

/* Outer segments first; what has no length begins behind what begins there. */
static int by_begin(const void *left, const void *right)
{
    const struct item *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    bool one = a->kind == ITEM_SEGMENT, other = b->kind == ITEM_SEGMENT;
    if (!one || !other)
        return (int)other - (int)one;
    if (a->end != b->end && (a->end == a->time || b->end == b->time))
        return a->depth != b->depth ? (int)a->depth - (int)b->depth : a->end < b->end ? -1 : 1;
    return (int)a->depth - (int)b->depth;
}

static void write_items(struct sequence *s, GArray *items)
{
    g_autoptr(GArray) open = g_array_new(FALSE, FALSE, sizeof(struct item));
    g_array_sort(items, by_begin);
    for (guint i = 0; i <= items->len; i++) {
        const struct item *item = i < items->len ? &g_array_index(items, struct item, i) : NULL;
        while (open->len > 0) {
            struct item *last = &g_array_index(open, struct item, open->len - 1);
            bool ends = item == NULL || last->end < item->time ||
                        (last->end == item->time && item->kind == ITEM_SEGMENT &&
                         last->depth >= item->depth);
            if (!ends)
                break;
            write_event(s, last->end, SLICE_END, last);
            g_array_set_size(open, open->len - 1);
        }
        if (item == NULL)
            break;
        write_event(s, item->time,
                    item->kind == ITEM_SEGMENT  ? SLICE_BEGIN
                    : item->kind == ITEM_NUMBER ? COUNTER
                                                : INSTANT,
                    item);
        if (item->kind == ITEM_SEGMENT)
            g_array_append_val(open, *item);
    }
}

static void free_items(void *items)
{
    if (items != NULL)
        g_array_unref(items);
}

void fm_perfetto_begin(struct fm_trace_export *x)
{
    x->lanes = g_ptr_array_new_with_free_func(free_items);
}

static bool is_counter(const GArray *items)
{
    return items->len > 0 && g_array_index(items, struct item, 0).kind == ITEM_NUMBER;
}

void fm_perfetto_end(struct fm_trace_export *x)
{
    bool named[FM_LANE_KIND_COUNT] = {false};
    for (uint32_t i = 0; i < x->lanes->len; i++) {
        const struct fm_lane *lane = fm_state_lane(x->state, i);
        GArray *items = g_ptr_array_index(x->lanes, i);
        if (items == NULL)
            continue;
        g_autofree char *label = fm_state_lane_label(x->state, lane);
        struct sequence sequence = {.x = x,
                                    .number = i + 2,
                                    .track = LANE_UUID + i,
                                    .values = g_hash_table_new(NULL, NULL),
                                    .classes = g_hash_table_new(NULL, NULL)};
        if (!named[lane->kind])
            write_track(x, GROUP_UUID + lane->kind, 0, fm_trace_export_group(lane->kind), false);
        named[lane->kind] = true;
        write_track(x, sequence.track, GROUP_UUID + lane->kind, label, is_counter(items));
        write_items(&sequence, items);
        g_hash_table_unref(sequence.values);
        g_hash_table_unref(sequence.classes);
        g_array_set_size(items, 0);
    }
    g_ptr_array_unref(x->lanes);
}

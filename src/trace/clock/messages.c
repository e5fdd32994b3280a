/* SPDX-License-Identifier: Apache-2.0 */
/* Reads messages from text, or from the events of traces. */
#include "trace/clock/messages.h"

#include <string.h>

#include "base/error.h"
#include "base/hash.h"

enum { TRACES_MAX = 10000, CHUNK = 20000 };

/* --- text --- */

/* Seconds with a fraction, exact to the nanosecond; false when there is no number. */
static bool read_seconds(char **at, uint64_t *ret)
{
    char *end;
    while (g_ascii_isspace(**at))
        ++*at;
    if (!g_ascii_isdigit(**at))
        return false;
    uint64_t whole = g_ascii_strtoull(*at, &end, 10), fraction = 0, unit = 1000000000;
    if (*end == '.') {
        for (end++; g_ascii_isdigit(*end); end++) {
            if (unit > 1) {
                unit /= 10;
                fraction += (uint64_t)(*end - '0') * unit;
            }
        }
    }
    *at = end;
    return !__builtin_mul_overflow(whole, UINT64_C(1000000000), ret) &&
           !__builtin_add_overflow(*ret, fraction, ret);
}

static bool read_trace(char **at, unsigned count, unsigned *ret)
{
    char *end;
    while (g_ascii_isspace(**at))
        ++*at;
    if (!g_ascii_isdigit(**at))
        return false;
    uint64_t number = g_ascii_strtoull(*at, &end, 10);
    *at = end;
    *ret = (unsigned)number;
    return number < count;
}

static bool bad_line(GError **error, unsigned line, const char *expected)
{
    g_set_error(error, FM_ERROR, FM_ERROR_FORMAT, "messages: line %u: expected %s", line, expected);
    return false;
}

bool fm_messages_of_text(const char *text, const struct fm_message_sink *sink, unsigned *ret_traces,
                         GError **error)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    bool has_count = false;
    for (unsigned i = 0; lines[i] != NULL; i++) {
        char *at = g_strstrip(lines[i]);
        unsigned from, to;
        uint64_t sent, received;
        if (at[0] == '\0' || at[0] == '#')
            continue;
        if (!has_count) {
            if (!read_trace(&at, TRACES_MAX, ret_traces) || *at != '\0')
                return bad_line(error, i + 1, "the number of traces, under 10,000");
            has_count = true;
            if (sink == NULL)
                return true;
            continue;
        }
        if (!read_trace(&at, *ret_traces, &from) || !read_trace(&at, *ret_traces, &to) ||
            !read_seconds(&at, &sent) || !read_seconds(&at, &received) || *at != '\0')
            return bad_line(error, i + 1,
                            "\"SENDER RECEIVER SENT RECEIVED\", times in seconds, senders and "
                            "receivers under the number of traces");
        sink->message(sink->user, from, sent, to, received);
    }
    return has_count || bad_line(error, 1, "the number of traces");
}

/* --- events --- */

enum kind {
    KIND_UNKNOWN,
    KIND_OTHER,
    KIND_ASYNC_BEGIN,
    KIND_ASYNC_END,
    KIND_DEVICE_RECEIVE,
    KIND_TCP_RECEIVE,
    KIND_TCP_SEND,
    KIND_UDP_RECEIVE,
    KIND_SOCKET_IN,
    KIND_SOCKET_OUT,
};

struct reading {
    struct fm_trace *const *traces;
    struct matcher *matcher;
    struct fm_message_counts *counts;
    GByteArray **kinds;   /* by trace: a byte an event id */
    GHashTable **pending; /* by trace: packet buffer -> time of its reception */
    struct fm_event_value values[FM_EVENT_VALUES_MAX];
    unsigned value_count;
};

static enum kind kind_of(const char *name)
{
    static const struct {
        const char *name;
        enum kind kind;
    } names[] = {
        {"AsyncBegin", KIND_ASYNC_BEGIN},       {"AsyncEnd", KIND_ASYNC_END},
        {"dev_receive", KIND_DEVICE_RECEIVE},   {"tcpv4_rcv_extended", KIND_TCP_RECEIVE},
        {"dev_xmit_extended", KIND_TCP_SEND},   {"udpv4_rcv_extended", KIND_UDP_RECEIVE},
        {"inet_sock_local_in", KIND_SOCKET_IN}, {"inet_sock_local_out", KIND_SOCKET_OUT},
    };
    const char *dot = name == NULL ? NULL : strrchr(name, '.');
    const char *plain = dot == NULL ? name : dot + 1;
    for (size_t i = 0; name != NULL && i < G_N_ELEMENTS(names); i++) {
        if (strcmp(plain, names[i].name) == 0)
            return names[i].kind;
    }
    return KIND_OTHER;
}

static enum kind known_kind(struct reading *reading, const struct fm_tracefile_context *at)
{
    const struct fm_tracefile_class *class_ = at->tracefile->class_;
    GByteArray *kinds = reading->kinds[at->trace_context->index];
    uint32_t id = at->event.id;
    if (id > UINT16_MAX || class_->event_name == NULL)
        return KIND_OTHER;
    while (kinds->len <= id)
        g_byte_array_append(kinds, (const uint8_t *)"", 1);
    g_assert(id < kinds->len && at->event.id == id);
    if (kinds->data[id] == KIND_UNKNOWN)
        kinds->data[id] = (uint8_t)kind_of(class_->event_name(at->tracefile, id));
    return kinds->data[id];
}

static const struct fm_event_value *field(const struct reading *reading, const char *name)
{
    for (unsigned i = 0; i < reading->value_count; i++) {
        if (strcmp(reading->values[i].name, name) == 0)
            return &reading->values[i];
    }
    return NULL;
}

static uint64_t number(const struct reading *reading, const char *name)
{
    const struct fm_event_value *value = field(reading, name);
    return value == NULL || value->kind == FM_VALUE_TEXT ? 0 : value->number;
}

static void read_async(struct reading *reading, const struct fm_tracefile_context *at,
                       bool received)
{
    const struct fm_event_value *name = field(reading, "name");
    uint64_t id = number(reading, "id");
    if (name == NULL || name->text == NULL)
        return;
    GByteArray *key = g_byte_array_new();
    g_byte_array_append(key, (const uint8_t *)&id, sizeof id);
    g_byte_array_append(key, (const uint8_t *)name->text, name->text_length);
    fm_matcher_named(reading->matcher, key->data, key->len, received, at->trace_context->index,
                     at->event.time);
    g_byte_array_unref(key);
}

static struct segment read_segment(const struct reading *reading)
{
    struct segment segment;
    memset(&segment, 0, sizeof segment);
    segment.saddr = (uint32_t)number(reading, "saddr");
    segment.daddr = (uint32_t)number(reading, "daddr");
    segment.seq = (uint32_t)number(reading, "seq");
    segment.ack_seq = (uint32_t)number(reading, "ack_seq");
    segment.source = (uint16_t)number(reading, "source");
    segment.dest = (uint16_t)number(reading, "dest");
    segment.total_length = (uint16_t)number(reading, "tot_len");
    segment.ihl = (uint8_t)number(reading, "ihl");
    segment.doff = (uint8_t)number(reading, "doff");
    segment.flags = (uint8_t)((number(reading, "ack") != 0 ? FLAG_ACK : 0) |
                              (number(reading, "rst") != 0 ? FLAG_RST : 0) |
                              (number(reading, "syn") != 0 ? FLAG_SYN : 0) |
                              (number(reading, "fin") != 0 ? FLAG_FIN : 0));
    return segment;
}

/* The time at which the packet's buffer came from the device; false when that event is lost. */
static bool take_pending(struct reading *reading, const struct fm_tracefile_context *at,
                         uint64_t *ret)
{
    GHashTable *pending = reading->pending[at->trace_context->index];
    uint64_t buffer = number(reading, "skb");
    const uint64_t *time = g_hash_table_lookup(pending, &buffer);
    if (time == NULL) {
        reading->counts->lost++;
        return false;
    }
    *ret = *time;
    g_hash_table_remove(pending, &buffer);
    return true;
}

static void read_device(struct reading *reading, const struct fm_tracefile_context *at)
{
    enum { IPV4 = 0x0800 };
    uint64_t buffer = number(reading, "skb");
    if (number(reading, "protocol") == IPV4)
        g_hash_table_replace(reading->pending[at->trace_context->index],
                             g_memdup2(&buffer, sizeof buffer),
                             g_memdup2(&at->event.time, sizeof at->event.time));
}

static void read_datagram(struct reading *reading, const struct fm_tracefile_context *at,
                          uint64_t time)
{
    struct datagram datagram;
    const struct fm_event_value *data = field(reading, "data_start");
    memset(&datagram, 0, sizeof datagram);
    datagram.saddr = (uint32_t)number(reading, "saddr");
    datagram.daddr = (uint32_t)number(reading, "daddr");
    datagram.source = (uint16_t)number(reading, "source");
    datagram.dest = (uint16_t)number(reading, "dest");
    datagram.length = (uint16_t)number(reading, "ulen");
    uint64_t start = data == NULL ? 0 : data->number;
    if (data != NULL && data->kind == FM_VALUE_TEXT)
        memcpy(datagram.data, data->text, MIN(data->text_length, sizeof datagram.data));
    else
        memcpy(datagram.data, &start, sizeof start);
    if (number(reading, "unicast") == 0)
        fm_matcher_broadcast(reading->matcher, &datagram, at->trace_context->index, time);
}

/* Sockets tell no addresses: the numbers of the segment must do. */
static void read_socket(struct reading *reading, const struct fm_tracefile_context *at,
                        bool received)
{
    const struct {
        uint64_t seq, ack_seq, check, window;
    } key = {number(reading, "seq"), number(reading, "ack_seq"), number(reading, "check"),
             number(reading, "window")};
    fm_matcher_named(reading->matcher, &key, sizeof key, received, at->trace_context->index,
                     at->event.time);
}

static bool read_event(void *user, void *context)
{
    struct reading *reading = user;
    const struct fm_tracefile_context *at = context;
    enum kind kind = known_kind(reading, at);
    unsigned trace = at->trace_context->index;
    uint64_t time;
    reading->counts->events++;
    if (kind == KIND_OTHER || at->tracefile->class_->event_values == NULL)
        return false;
    reading->value_count =
        at->tracefile->class_->event_values(at->tracefile, &at->event, reading->values);
    struct segment segment = read_segment(reading);
    switch (kind) {
    case KIND_ASYNC_BEGIN:
    case KIND_ASYNC_END:
        read_async(reading, at, kind == KIND_ASYNC_END);
        break;
    case KIND_DEVICE_RECEIVE:
        read_device(reading, at);
        break;
    case KIND_TCP_RECEIVE:
        if (take_pending(reading, at, &time))
            fm_matcher_segment(reading->matcher, &segment, true, trace, time);
        break;
    case KIND_TCP_SEND:
        fm_matcher_segment(reading->matcher, &segment, false, trace, at->event.time);
        break;
    case KIND_UDP_RECEIVE:
        if (take_pending(reading, at, &time))
            read_datagram(reading, at, time);
        break;
    case KIND_SOCKET_IN:
    case KIND_SOCKET_OUT:
        read_socket(reading, at, kind == KIND_SOCKET_IN);
        break;
    case KIND_UNKNOWN:
    case KIND_OTHER:
        break;
    }
    return false;
}

static bool read_all(struct reading *reading, unsigned count, bool (*cancelled)(void *user),
                     void *user)
{
    struct fm_hooks *hooks = fm_hooks_new();
    const struct fm_chunk_hooks chunk = {.event = hooks};
    struct fm_context *context = fm_context_new(reading->traces, count);
    bool stop = false;
    fm_hooks_add(hooks, read_event, reading, FM_HOOK_DEFAULT);
    fm_context_seek_time(context, 0);
    fm_context_begin(context, &chunk, -1);
    while (!stop && fm_context_middle(context, FM_TIME_INF, CHUNK, NULL) == CHUNK)
        stop = cancelled != NULL && cancelled(user);
    fm_context_detach(context, &chunk, -1);
    fm_context_free(context);
    fm_hooks_free(hooks);
    return !stop;
}

bool fm_messages_of_traces(struct fm_trace *const *traces, unsigned count,
                           const struct fm_message_sink *sink, bool (*cancelled)(void *user),
                           void *user, struct fm_message_counts *ret_counts)
{
    *ret_counts = (struct fm_message_counts){0};
    struct reading reading = {
        .traces = traces,
        .counts = ret_counts,
        .matcher = fm_matcher_new(count, sink, ret_counts),
        .kinds = g_new(GByteArray *, count),
        .pending = g_new(GHashTable *, count),
    };
    for (unsigned i = 0; i < count; i++) {
        reading.kinds[i] = g_byte_array_new();
        reading.pending[i] = g_hash_table_new_full(fm_int64_hash, g_int64_equal, g_free, g_free);
    }
    bool whole = read_all(&reading, count, cancelled, user);
    for (unsigned i = 0; i < count; i++) {
        g_byte_array_unref(reading.kinds[i]);
        g_hash_table_unref(reading.pending[i]);
    }
    fm_matcher_free(reading.matcher);
    g_free(reading.kinds);
    g_free(reading.pending);
    return whole;
}

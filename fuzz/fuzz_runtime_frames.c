/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes from a monitor's client: the runtime answers each frame and each command once, and
 * finds the same pauses as the reading side. Any payloads as events that the runtime encodes into
 * the monitor's messages: the reading side's collector gets the same payloads. */
#include <string.h>

#include "eventlog/monitor/monitor.h"
#include "eventlog/transport/transport.h"
#include "runtime/runtime_side.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void take(void *user, enum side_said said, uint8_t version, const char *name,
                 size_t name_bytes, uint8_t number)
{
    (void)name;
    uint8_t what[4] = {(uint8_t)said, version, (uint8_t)name_bytes, number};
    g_byte_array_append(user, what, sizeof what);
}

static enum side_said frame_says(const uint8_t *frame, size_t length)
{
    struct fm_monitor_message m;
    if (!fm_monitor_decode(frame, length, &m, NULL) || m.kind != FM_MONITOR_SERVICE)
        return SIDE_NONSENSE;
    return m.pause ? SIDE_PAUSE : SIDE_RESUME;
}

/* The same result, computed from the whole input at once. */
static void expect(const uint8_t *data, size_t size, GByteArray *out)
{
    struct fm_control_parser control = {0};
    for (size_t at = 0; at < size;) {
        if (control.held_length > 0 || data[at] == 0xF0) {
            struct fm_control_message m;
            bool found;
            fm_control_parse(&control, data + at++, 1, &m, &found);
            if (found)
                take(out, SIDE_COMMAND, m.version, m.space, m.space_length, m.number);
            continue;
        }
        if (size - at < 4)
            return;
        size_t length = (size_t)data[at] << 24 | (size_t)data[at + 1] << 16 |
                        (size_t)data[at + 2] << 8 | data[at + 3];
        at += 4;
        if (length == 0 || length > FM_FRAME_MAX) {
            take(out, SIDE_TOO_LONG, 0, NULL, 0, 0);
            continue;
        }
        if (length > size - at)
            return;
        take(out, frame_says(data + at, length), 0, NULL, 0, 0);
        at += length;
    }
}

/* The runtime accepts pauses only in their shortest encoding, since it does not implement all of
 * CBOR. */
static void compare(const GByteArray *got, const GByteArray *wanted)
{
    if (got->len != wanted->len)
        g_error("%u answers, expected %u", got->len / 4, wanted->len / 4);
    for (guint i = 0; i < got->len; i += 4)
        if (memcmp(got->data + i, wanted->data + i, 4) != 0 && got->data[i] != SIDE_NONSENSE)
            g_error("said %d, expected %d", got->data[i], wanted->data[i]);
}

/* The payloads of the binary messages in a log, one after the other. */
static void payloads_of(const GByteArray *log, GByteArray *out)
{
    struct fm_eventlog_reader *reader = fm_eventlog_reader_new("fuzz");
    struct fm_eventlog_event event;
    enum fm_eventlog_status status;
    fm_eventlog_reader_push(reader, log->data, log->len);
    fm_eventlog_reader_finish(reader);
    while ((status = fm_eventlog_reader_next(reader, &event, NULL)) != FM_EVENTLOG_FINISHED) {
        if (status == FM_EVENTLOG_FAILED || status == FM_EVENTLOG_HAS_GAP)
            g_error("the collected log is damaged");
        if (status == FM_EVENTLOG_HAS_EVENT && event.number == 181)
            g_byte_array_append(out, event.payload, event.payload_length);
    }
    fm_eventlog_reader_free(reader);
}

static void collect(const uint8_t *frames, size_t size, GByteArray *log)
{
    struct fm_frame_parser parser;
    struct fm_monitor_collector *collector = fm_monitor_collector_new(NULL);
    const uint8_t *frame;
    size_t length;
    fm_frame_parser_init(&parser);
    fm_frame_parser_push(&parser, frames, size);
    while (fm_frame_parser_next(&parser, &frame, &length, NULL) == 1) {
        struct fm_monitor_message message;
        if (!fm_monitor_decode(frame, length, &message, NULL))
            g_error("the runtime makes a message that is none");
        fm_monitor_collect(collector, &message, 0, log);
    }
    if (fm_frame_parser_inside(&parser))
        g_error("the runtime makes half a frame");
    fm_monitor_collector_finish(collector, true, log);
    fm_monitor_collector_free(collector);
    fm_frame_parser_done(&parser);
}

static void check_events(const uint8_t *data, size_t size)
{
    enum { EVENTS_MAX = 64 };
    uint16_t sizes[EVENTS_MAX];
    unsigned count = 0;
    if (size < 2)
        return;
    size_t datagram_max = data[0];
    int singles = data[1] & 1;
    data += 2;
    size -= 2;
    for (size_t at = 0; at < size && count < EVENTS_MAX; count++) {
        size_t wanted = (size_t)data[at] * 5;
        sizes[count] = (uint16_t)MIN(wanted, size - at);
        at += MAX(sizes[count], 1);
        if (sizes[count] == 0)
            sizes[count] = 1;
    }
    size_t total = 0, bytes;
    for (unsigned i = 0; i < count; i++)
        total += sizes[i];
    uint8_t *frames = side_monitor(data, sizes, count, datagram_max, singles, &bytes);
    g_autoptr(GByteArray) log = g_byte_array_new();
    g_autoptr(GByteArray) payloads = g_byte_array_new();
    collect(frames, bytes, log);
    payloads_of(log, payloads);
    if (payloads->len != total || (total > 0 && memcmp(payloads->data, data, total) != 0))
        g_error("%u payload bytes came through, sent %zu", payloads->len, total);
    side_free(frames);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(GByteArray) got = g_byte_array_new();
    g_autoptr(GByteArray) wanted = g_byte_array_new();
    side_frames(data, size, take, got);
    expect(data, size, wanted);
    compare(got, wanted);
    check_events(data, size);
    return 0;
}

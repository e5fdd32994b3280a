/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as frames of the monitor: limits hold, what decodes encodes to a message that decodes
 * the same, what the collector lets through is a log without damage, states read back. */
#include <string.h>

#include "eventlog/monitor/monitor.h"
#include "eventlog/transport/transport.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_message(const struct fm_monitor_message *message)
{
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    struct fm_monitor_message back;
    fm_monitor_encode(bytes, message);
    if (!fm_monitor_decode(bytes->data, bytes->len, &back, NULL) || back.kind != message->kind ||
        back.form != message->form || back.number != message->number ||
        back.message_id != message->message_id || back.length != message->length ||
        (back.length > 0 && memcmp(back.bytes, message->bytes, back.length) != 0))
        g_error("a message does not come back");
}

static void check_log(const GByteArray *log)
{
    struct fm_eventlog_reader *reader = fm_eventlog_reader_new("fuzz");
    struct fm_eventlog_event event;
    enum fm_eventlog_status status;
    if (log->len > 0)
        fm_eventlog_reader_push(reader, log->data, log->len);
    fm_eventlog_reader_finish(reader);
    while ((status = fm_eventlog_reader_next(reader, &event, NULL)) != FM_EVENTLOG_FINISHED) {
        if (status == FM_EVENTLOG_FAILED && log->len > 0)
            g_error("the collected log is refused");
        if (status == FM_EVENTLOG_FAILED)
            break;
    }
    fm_eventlog_reader_free(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct fm_monitor_limits limits = {
        .bytes_max = 10000, .pending_max = 20, .timeout_ms = 50};
    struct fm_frame_parser parser;
    struct fm_monitor_collector *collector = fm_monitor_collector_new(&limits);
    g_autoptr(GByteArray) log = g_byte_array_new();
    const uint8_t *frame;
    size_t length;
    uint64_t now = 0;
    GError *error = NULL;
    fm_frame_parser_init(&parser);
    fm_frame_parser_push(&parser, data, size);
    while (fm_frame_parser_next(&parser, &frame, &length, &error) == 1) {
        struct fm_monitor_message message;
        struct fm_monitor_collected counts;
        if (!fm_monitor_decode(frame, length, &message, NULL))
            continue;
        check_message(&message);
        fm_monitor_collect(collector, &message, now++, log);
        fm_monitor_collector_counts(collector, &counts);
        if (counts.pending_bytes > limits.bytes_max)
            g_error("over the limit");
    }
    g_clear_error(&error);
    fm_monitor_collector_finish(collector, true, log);
    check_log(log);
    const GByteArray *state = fm_monitor_collector_state(collector);
    struct fm_monitor_state *decoded =
        state == NULL ? NULL : fm_monitor_state_decode(state->data, state->len, NULL);
    if (decoded != NULL) {
        g_autoptr(GByteArray) encoded = g_byte_array_new();
        fm_monitor_state_encode(decoded, encoded);
        struct fm_monitor_state *again = fm_monitor_state_decode(encoded->data, encoded->len, NULL);
        if (again == NULL)
            g_error("a state does not come back");
        fm_monitor_state_free(again);
    }
    fm_monitor_state_free(decoded);
    fm_monitor_collector_free(collector);
    fm_frame_parser_done(&parser);
    return 0;
}

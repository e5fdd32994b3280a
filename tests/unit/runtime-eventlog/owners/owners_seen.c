/* SPDX-License-Identifier: Apache-2.0 */
#include "owners_seen.h"

#include <string.h>

#include "eventlog/output/writer.h"
#include "trace/format/open.h"
#include "trace/state/state.h"

struct seen {
    struct fm_trace *trace;
    bool gaps;
    uint64_t messages;
};

static bool is_stand_in(const struct fm_lane *lane)
{
    return g_str_has_prefix(lane->name, "thread on lane");
}

static void mark(void *user, const struct fm_lane *lane, uint64_t time, uint32_t value)
{
    struct seen *seen = user;
    const char *text = fm_trace_value_name(seen->trace, value);
    if (lane->kind != FM_LANE_THREAD || g_str_has_prefix(text, "fathom: "))
        return; /* what the library says: "replay begins", missing events */
    if (seen->gaps && is_stand_in(lane))
        return;
    if (strcmp(text, lane->name) != 0)
        g_error("%" G_GUINT64_FORMAT " ns: a message of '%s' on the lane '%s'", time, text,
                lane->name);
    seen->messages++;
}

uint64_t owners_check(const char *path, bool gaps)
{
    GError *error = NULL;
    g_autofree char *identity = fm_trace_identity(path, &error);
    g_assert_no_error(error);
    struct seen seen = {.trace = fm_trace_open(path, identity, &error), .gaps = gaps};
    g_assert_no_error(error);
    for (bool ended = false; !ended;) {
        fm_trace_grow(seen.trace, &ended, &error);
        g_assert_no_error(error);
    }
    struct fm_state *state = fm_state_new(seen.trace);
    struct fm_state_observer observer = {.user = &seen, .mark = mark};
    struct fm_hooks *hooks = fm_hooks_new();
    fm_state_add_observer(state, &observer);
    fm_hooks_add(hooks, fm_state_hook, state, FM_HOOK_STATE);
    fm_trace_each_event(seen.trace, 0, FM_TIME_INF, hooks);
    for (uint32_t i = 0; i < fm_state_lane_count(state) && !gaps; i++)
        if (is_stand_in(fm_state_lane(state, i)))
            g_error("%s has '%s'", path, fm_state_lane(state, i)->name);
    fm_state_free(state);
    fm_trace_free(seen.trace);
    return seen.messages;
}

/* --- a log of earlier versions --- */

struct log {
    struct fm_eventlog_writer *writer;
    const struct fm_eventlog_header *header;
};

static void add(struct log *log, uint64_t time, int32_t lane, uint16_t number, const void *payload,
                uint32_t length)
{
    GError *error = NULL;
    bool variable = fm_eventlog_header_find(log->header, number)->size < 0;
    struct fm_eventlog_event event = {.number = number,
                                      .time_ns = time,
                                      .capability = lane,
                                      .head_length = variable ? 12 : 10,
                                      .payload = payload,
                                      .payload_length = length};
    fm_eventlog_writer_event(log->writer, &event, &error);
    g_assert_no_error(error);
}

void owners_write_late(const char *path)
{
    static const struct {
        uint16_t number;
        int32_t size;
    } types[] = {{FM_EVENTLOG_CREATE_THREAD, 4},  {FM_EVENTLOG_RUN_THREAD, 4},
                 {FM_EVENTLOG_MIGRATE_THREAD, 6}, {FM_EVENTLOG_BLOCK_MARKER, 14},
                 {FM_EVENTLOG_USER_MESSAGE, -1},  {FM_EVENTLOG_RTS_IDENTIFIER, -1},
                 {FM_EVENTLOG_OS_PROCESS_PID, 8}, {FM_EVENTLOG_THREAD_LABEL, -1},
                 {FM_EVENTLOG_TASK_CREATE, 18}};
    GError *error = NULL;
    struct fm_eventlog_header *header = fm_eventlog_header_begin();
    for (unsigned i = 0; i < G_N_ELEMENTS(types); i++)
        fm_eventlog_header_add(header, types[i].number, types[i].size, "a type");
    fm_eventlog_header_end(header);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    struct log log = {fm_eventlog_writer_new(fm_eventlog_write_bytes, bytes), header};
    fm_eventlog_writer_header(log.writer, header, &error);
    g_assert_no_error(error);
    const int32_t none = FM_EVENTLOG_NO_CAPABILITY;
    add(&log, 0, none, FM_EVENTLOG_RTS_IDENTIFIER, "\0\0\0\0fathom-0.1.0 C event log", 28);
    add(&log, 0, none, FM_EVENTLOG_OS_PROCESS_PID, "\0\0\0\0\0\0\0\x4d", 8);
    add(&log, 50, none, FM_EVENTLOG_CREATE_THREAD, "\0\0\0\7", 4);
    add(&log, 1000, none, FM_EVENTLOG_TASK_CREATE, "\0\0\0\0\0\0\0\x4d\0\0\0\0\0\0\0\0\0\x4d", 18);
    add(&log, 1000, none, FM_EVENTLOG_THREAD_LABEL, "\0\0\0\7worker", 10);
    add(&log, 1000, none, FM_EVENTLOG_MIGRATE_THREAD, "\0\0\0\7\0\0", 6);
    add(&log, 1000, none, FM_EVENTLOG_RUN_THREAD, "\0\0\0\7", 4);
    for (unsigned i = 0; i < 20; i++) {
        const char *text = i < 9 ? "thread 7" : "worker"; /* its label has the time 1000 ns */
        add(&log, 100 * (i + 1), 0, FM_EVENTLOG_USER_MESSAGE, text, (uint32_t)strlen(text));
    }
    fm_eventlog_writer_end(log.writer, &error);
    g_assert_no_error(error);
    fm_eventlog_writer_flush(log.writer, &error);
    g_assert_no_error(error);
    fm_eventlog_writer_free(log.writer);
    fm_eventlog_header_unref(header);
    g_file_set_contents(path, (const char *)bytes->data, (gssize)bytes->len, &error);
    g_assert_no_error(error);
}

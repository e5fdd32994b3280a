/* SPDX-License-Identifier: Apache-2.0 */
/* fathom log stat --by state: the statistics tree in the terminal. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cmd_log.h"
#include "cli/cmd_log_trace.h"
#include "trace/statistics.h"

enum { DEPTH_SHOWN = 64 };

struct states {
    struct fm_statistics *statistics;
    bool json;
    GString *out;
};

static bool take_event(void *user, const struct fm_tracefile_context *at)
{
    struct states *states = user;
    return fm_statistics_hook(states->statistics, (void *)(uintptr_t)at);
}

static void print_node(struct states *states, const struct fm_statistics_node *node, unsigned depth)
{
    GString *out = states->out;
    if (states->json) {
        g_string_append(out, "{\"name\": ");
        fm_eventlog_format_json_text(out, (const uint8_t *)node->name, strlen(node->name));
        g_string_append_printf(
            out,
            ", \"count\": %" PRIu64 ", \"time_ns\": %" PRIu64 ", \"self_ns\": %" PRIu64
            ", \"longest_ns\": %" PRIu64 ", \"events\": %" PRIu64,
            node->count, node->time, node->self_time, node->longest, node->all_events);
    } else {
        g_string_append_printf(out, "%14.6f %14.6f %10" PRIu64 " %10" PRIu64 "  %*s",
                               (double)node->time / 1e9, (double)node->self_time / 1e9, node->count,
                               node->all_events, (int)depth * 2, "");
        fm_eventlog_format_text(out, (const uint8_t *)node->name, strlen(node->name), 0);
        g_string_append_c(out, '\n');
    }
    guint count = node->children == NULL || depth >= DEPTH_SHOWN ? 0 : node->children->len;
    if (states->json && count > 0)
        g_string_append(out, ", \"children\": [");
    for (guint i = 0; i < count; i++) {
        g_string_append(out, states->json && i > 0 ? ",\n" : "");
        print_node(states, node->children->pdata[i], depth + 1);
    }
    if (states->json)
        g_string_append(out, count > 0 ? "]}" : "}");
}

int fm_cmd_log_stat_states(const char *path, bool json)
{
    GError *error = NULL;
    struct states states = {.json = json, .out = g_string_new(NULL)};
    struct fm_cmd_log_trace reading = {
        .event = take_event, .user = &states, .to_ns = UINT64_MAX, .wants_state = true};
    int status = FM_EXIT_DONE;
    if (fm_cmd_log_trace_open(&reading, path, NULL, &error)) {
        states.statistics = fm_statistics_new(reading.state);
        const struct fm_state_observer *observer = fm_statistics_observer(states.statistics);
        fm_state_add_observer(reading.state, observer);
        fm_cmd_log_trace_read(&reading);
        fm_state_flush(reading.state, reading.trace->end_time, observer);
        fm_state_remove_observer(reading.state, observer);
        if (!json)
            g_string_append_printf(states.out, "%14s %14s %10s %10s  %s\n", "time (s)", "self (s)",
                                   "count", "events", "lane, states");
        print_node(&states, fm_statistics_root(states.statistics), 0);
        g_string_append(states.out, json ? "\n" : "");
        fputs(states.out->str, stdout);
    } else {
        status = fm_cli_fail("log stat", error);
    }
    fm_statistics_free(states.statistics);
    g_string_free(states.out, TRUE);
    int read_status = fm_cmd_log_trace_done(&reading, "log stat");
    return status != FM_EXIT_DONE ? status : read_status;
}

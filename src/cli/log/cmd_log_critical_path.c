/* SPDX-License-Identifier: Apache-2.0 */
/* `fathom log critical-path`: why an interval of a thread took as long as it did. */
#include <string.h>

#include "base/error.h"
#include "cli/log/cmd_log_segments.h"
#include "pages/trace/totals.h"

enum { PIECES_DEFAULT = 40, ITEMS_A_STEP = 65536, TOLD_MAX = 5 };

struct wanted {
    char *thread, *from, *to;
    gboolean json, csv, all;
};

static bool is_meant(const struct fm_cmd_log_segments *reading, uint32_t index, const char *thread)
{
    const struct fm_segments_lane *lane = fm_segments_lane(reading->segments, index);
    if (lane->kind != FM_LANE_THREAD)
        return false;
    g_autofree char *number = g_strdup_printf("%" G_GUINT64_FORMAT, lane->number);
    g_autofree char *label = fm_segments_lane_label(reading->segments, index);
    return strcmp(number, thread) == 0 || strcmp(label, thread) == 0 ||
           g_pattern_match_simple(thread, fm_trace_value_name(reading->trace, lane->name));
}

/* The one thread of that number or name. */
static bool find_thread(const struct fm_cmd_log_segments *reading, const char *thread,
                        uint32_t *ret_lane, GError **error)
{
    g_autoptr(GString) found = g_string_new(NULL);
    unsigned count = 0;
    for (uint32_t i = 0; i < fm_segments_lane_count(reading->segments); i++) {
        if (!is_meant(reading, i, thread))
            continue;
        *ret_lane = i;
        g_autofree char *label = fm_segments_lane_label(reading->segments, i);
        if (count++ < TOLD_MAX)
            g_string_append_printf(found, "%s%s", count > 1 ? ", " : "", label);
    }
    if (count == 1)
        return true;
    if (count == 0)
        g_set_error(error, FM_ERROR, FM_ERROR_NOT_FOUND,
                    "no thread has the number or name '%s'; `fathom log stat --by thread` lists "
                    "them",
                    thread);
    else
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                    "%u threads are '%s', expected one; by their numbers: %s%s", count, thread,
                    found->str, count > TOLD_MAX ? ", ..." : "");
    return false;
}

/* The part of the interval that the trace has. */
static bool clip(const struct fm_cmd_log_segments *reading, const char *name, uint64_t *start,
                 uint64_t *end, GError **error)
{
    const struct fm_trace *trace = reading->trace;
    *start = MAX(*start, trace->start_time);
    *end = MIN(*end, trace->end_time);
    if (*start < *end)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                "%s: nothing lies between these times, expected times from %.9f s to %.9f s", name,
                (double)trace->start_time / 1e9, (double)trace->end_time / 1e9);
    return false;
}

static void print(const struct fm_cmd_log_segments *reading, const struct wanted *wanted,
                  uint32_t lane, uint64_t start, uint64_t end)
{
    struct fm_path *path = fm_path_new(reading->segments, lane, start, end);
    while (fm_path_step(path, ITEMS_A_STEP))
        continue;
    g_autofree char *label = fm_segments_lane_label(reading->segments, lane);
    struct fm_display *display = fm_display_new(NULL);
    fm_display_set_name(display, "critical_path");
    fm_display_fact_string(display, "thread", label);
    fm_display_fact_int(display, "start_ns", (int64_t)start);
    fm_display_fact_int(display, "end_ns", (int64_t)end);
    bool all = wanted->all || wanted->json || wanted->csv;
    fm_trace_page_add_path(fm_display_body(display), reading->segments, path,
                           all ? UINT_MAX : PIECES_DEFAULT, 0, NULL, NULL);
    fm_cmd_log_print_display(display, wanted->json, wanted->csv);
    fm_path_free(path);
}

static int critical_path(const char *name, const struct wanted *wanted)
{
    GError *error = NULL;
    uint64_t start = 0, end = UINT64_MAX;
    uint32_t lane = 0;
    if (!fm_cmd_log_parse_range(wanted->from, wanted->to, &start, &end, &error))
        return fm_console_fail("log critical-path", error);
    struct fm_cmd_log_segments reading;
    bool good = fm_cmd_log_segments_open(&reading, name, &error) &&
                find_thread(&reading, wanted->thread, &lane, &error) &&
                clip(&reading, name, &start, &end, &error);
    if (good)
        print(&reading, wanted, lane, start, end);
    int status = fm_cmd_log_segments_done(&reading);
    return good ? status : fm_console_fail("log critical-path", error);
}

int fm_cmd_log_critical_path(int argc, char **argv)
{
    struct wanted wanted = {0};
    const GOptionEntry options[] = {
        {"thread", 0, 0, G_OPTION_ARG_STRING, &wanted.thread, "The thread, by number or name",
         "THREAD"},
        {"from", 0, 0, G_OPTION_ARG_STRING, &wanted.from, "Begin of the interval", "TIME"},
        {"to", 0, 0, G_OPTION_ARG_STRING, &wanted.to, "End of the interval", "TIME"},
        {"all", 0, 0, G_OPTION_ARG_NONE, &wanted.all, "Print all pieces as text", NULL},
        {"json", 0, 0, G_OPTION_ARG_NONE, &wanted.json, "Print one JSON object", NULL},
        {"csv", 0, 0, G_OPTION_ARG_NONE, &wanted.csv, "Print tables as CSV", NULL},
        {NULL},
    };
    int status =
        fm_cli_parse(&argc, &argv, options, "TRACE",
                     "Prints why an interval of a thread took as long as it did: its own work, "
                     "that of those it waited for while it waited, waits for a CPU, for "
                     "interrupts, and those that nothing is known of.",
                     "fathom log critical-path --thread=main --from=1.5s --to=2s program.eventlog");
    const bool ours = status < 0; /* and no option has answered */
    if (ours && argc != 2)
        status =
            fm_console_usage("log critical-path", "expected one TRACE, got %d arguments", argc - 1);
    else if (ours && wanted.thread == NULL)
        status = fm_console_usage("log critical-path", "--thread is missing");
    else if (ours && wanted.json && wanted.csv)
        status = fm_console_usage("log critical-path", "choose one of --json and --csv");
    else if (ours)
        status = critical_path(argv[1], &wanted);
    g_free(wanted.thread);
    g_free(wanted.from);
    g_free(wanted.to);
    return status;
}

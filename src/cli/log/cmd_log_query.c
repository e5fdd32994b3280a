/* SPDX-License-Identifier: Apache-2.0 */
/* `fathom log query`: segments or events of a trace, put together as a query asks. */
#include "base/error.h"
#include "cli/log/cmd_log_segments.h"
#include "cli/log/cmd_log_trace.h"
#include "pages/trace/totals.h"

enum { BLOCKS_A_STEP = 64 };

struct wanted {
    char *from, *to;
    char **lanes;
    gboolean json, csv;
};

static void print(const struct fm_grouping *grouping, struct fm_groups *groups,
                  const struct wanted *wanted)
{
    struct fm_display *display = fm_display_new(NULL);
    fm_display_set_name(display, "query");
    fm_display_fact_string(display, "of",
                           grouping->of == FM_FILTER_OF_EVENTS ? "events" : "segments");
    fm_display_fact_int(display, "counted", (int64_t)fm_groups_counted(groups));
    fm_display_fact_int(display, "groups", fm_groups_all(groups));
    fm_trace_page_add_groups(fm_display_body(display), grouping, groups, NULL, NULL);
    fm_cmd_log_print_display(display, wanted->json, wanted->csv);
    if (fm_groups_counted(groups) == 0)
        fm_console_print_error("nothing passes the query");
}

static int query_segments(struct fm_grouping *grouping, const char *path,
                          const struct wanted *wanted, struct fm_totals_area *area)
{
    GError *error = NULL;
    struct fm_cmd_log_segments reading;
    g_autoptr(GByteArray) lanes = NULL;
    bool good = fm_cmd_log_segments_open(&reading, path, &error);
    if (good && wanted->lanes != NULL) {
        area->lanes = lanes = fm_cmd_log_segments_lanes(&reading, wanted->lanes, &error);
        good = lanes != NULL;
    }
    if (good) {
        struct fm_groups *groups = fm_groups_new(grouping, reading.segments, area);
        while (fm_groups_step(groups, BLOCKS_A_STEP))
            continue;
        print(grouping, groups, wanted);
        fm_groups_free(groups);
    }
    int status = fm_cmd_log_segments_done(&reading);
    return good ? status : fm_console_fail("log query", error);
}

struct counting {
    struct fm_cmd_log_trace reading;
    struct fm_groups *groups;
};

static bool count_event(void *user, const struct fm_tracefile_context *at)
{
    struct counting *counting = user;
    fm_groups_take_event(counting->groups, at, counting->reading.state);
    return false;
}

static int query_events(struct fm_grouping *grouping, const char *path, const struct wanted *wanted,
                        const struct fm_totals_area *area)
{
    GError *error = NULL;
    struct counting counting = {.groups = fm_groups_new(grouping, NULL, NULL)};
    counting.reading = (struct fm_cmd_log_trace){.wants_state = grouping->needs_state,
                                                 .from_ns = area->start,
                                                 .to_ns = area->end,
                                                 .event = count_event,
                                                 .user = &counting};
    bool good = fm_cmd_log_trace_open(&counting.reading, path, NULL, &error);
    if (good) {
        fm_cmd_log_trace_read(&counting.reading);
        print(grouping, counting.groups, wanted);
    }
    fm_groups_free(counting.groups);
    int status = fm_cmd_log_trace_done(&counting.reading, "log query");
    return good ? status : fm_console_fail("log query", error);
}

static int query(const char *text, const char *path, const struct wanted *wanted)
{
    GError *error = NULL;
    struct fm_totals_area area = {.end = UINT64_MAX};
    if (!fm_cmd_log_parse_range(wanted->from, wanted->to, &area.start, &area.end, &error))
        return fm_console_fail("log query", error);
    struct fm_grouping *grouping = fm_grouping_new(text, &error);
    if (grouping == NULL)
        return fm_console_fail("log query", error);
    int status;
    if (grouping->of == FM_FILTER_OF_SEGMENTS)
        status = query_segments(grouping, path, wanted, &area);
    else if (wanted->lanes != NULL)
        status = fm_console_usage("log query", "--lane is for segments; of events, test lane.name");
    else
        status = query_events(grouping, path, wanted, &area);
    fm_grouping_free(grouping);
    return status;
}

int fm_cmd_log_query(int argc, char **argv)
{
    struct wanted wanted = {0};
    const GOptionEntry options[] = {
        {"lane", 0, 0, G_OPTION_ARG_STRING_ARRAY, &wanted.lanes,
         "Only segments on lanes with such a name: 'worker*'; may be repeated", "PATTERN"},
        {"from", 0, 0, G_OPTION_ARG_STRING, &wanted.from, "Only what reaches behind TIME", "TIME"},
        {"to", 0, 0, G_OPTION_ARG_STRING, &wanted.to, "Only what begins before TIME", "TIME"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &wanted.json, "Print one JSON object", NULL},
        {"csv", 0, 0, G_OPTION_ARG_NONE, &wanted.csv, "Print a table as CSV", NULL},
        {NULL},
    };
    int status = fm_cli_parse(
        &argc, &argv, options, "QUERY TRACE",
        "Puts the spans and states of a trace, or its events, together as QUERY asks:\n"
        "  [where] FILTER | group by FIELD, ... | show count, sum, p99(FIELD), ... |\n"
        "  order by COLUMN [asc|desc] | limit N",
        "fathom log query 'segment.state = waiting | group by lane.name, segment.name' kernel\n"
        "  fathom log query 'events | group by event.name, event.time every 100ms' "
        "program.eventlog");
    if (status < 0 && argc != 3)
        status =
            fm_console_usage("log query", "expected QUERY and TRACE, got %d arguments", argc - 1);
    if (status < 0 && wanted.json && wanted.csv)
        status = fm_console_usage("log query", "choose one of --json and --csv");
    if (status < 0)
        status = query(argv[1], argv[2], &wanted);
    g_free(wanted.from);
    g_free(wanted.to);
    g_strfreev(wanted.lanes);
    return status;
}

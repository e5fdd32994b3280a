/* SPDX-License-Identifier: Apache-2.0 */
/* `fathom log latency`: how often and how long, of the segments of an area. */
#include <string.h>

#include "base/error.h"
#include "cli/log/cmd_log_segments.h"
#include "pages/trace/totals.h"

enum { ROWS_DEFAULT = 50, BLOCKS_A_STEP = 64 };

struct wanted {
    char *by, *from, *to, *least, *most;
    char **lanes;
    gboolean json, csv, all;
};

static bool parse(const struct wanted *wanted, struct fm_totals_area *area, GError **error)
{
    *area = (struct fm_totals_area){.end = UINT64_MAX, .by = FM_TOTALS_BY_COUNT};
    for (unsigned i = 0; i < FM_TOTALS_BY_COUNT; i++) {
        const char *name = fm_totals_by_name((enum fm_totals_by)i);
        if (strcmp(wanted->by == NULL ? "name" : wanted->by, name) == 0)
            area->by = (enum fm_totals_by)i;
    }
    bool by_stack = g_strcmp0(wanted->by, "stack") == 0;
    if (area->by == FM_TOTALS_BY_COUNT && !by_stack) {
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                    "--by %s: expected one of name, state, lane, kind, stack", wanted->by);
        return false;
    }
    if (by_stack && (wanted->least != NULL || wanted->most != NULL)) {
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE, "--by stack takes neither --least nor --most");
        return false;
    }
    if ((wanted->least != NULL && !fm_cmd_log_parse_time(wanted->least, &area->least, error)) ||
        (wanted->most != NULL && !fm_cmd_log_parse_time(wanted->most, &area->most, error)))
        return false;
    return fm_cmd_log_parse_range(wanted->from, wanted->to, &area->start, &area->end, error);
}

/* Returns how many rows were left out. */
static unsigned add_rows(struct fm_display *display, const struct fm_cmd_log_segments *reading,
                         const struct fm_totals_area *area, unsigned rows)
{
    unsigned left_out;
    if (area->by == FM_TOTALS_BY_COUNT) {
        struct fm_flame *flame = fm_flame_new(reading->segments, area);
        while (fm_flame_step(flame, BLOCKS_A_STEP))
            continue;
        left_out = fm_trace_page_add_flame(fm_display_body(display), flame, rows);
        fm_flame_free(flame);
        return left_out;
    }
    struct fm_totals *totals = fm_totals_new(reading->segments, area);
    while (fm_totals_step(totals, BLOCKS_A_STEP))
        continue;
    left_out = fm_trace_page_add_totals(fm_display_body(display), totals, rows, 0, NULL, NULL);
    fm_totals_free(totals);
    return left_out;
}

static void print(struct fm_cmd_log_segments *reading, const struct wanted *wanted,
                  const struct fm_totals_area *area)
{
    struct fm_display *display = fm_display_new(NULL);
    fm_display_set_name(display, "latency");
    fm_display_fact_string(display, "by",
                           area->by == FM_TOTALS_BY_COUNT ? "stack" : fm_totals_by_name(area->by));
    fm_display_fact_int(display, "start_ns", (int64_t)MAX(area->start, reading->trace->start_time));
    fm_display_fact_int(display, "end_ns", (int64_t)MIN(area->end, reading->trace->end_time));
    unsigned rows = wanted->all || wanted->json || wanted->csv ? UINT_MAX : ROWS_DEFAULT;
    unsigned left_out = add_rows(display, reading, area, rows);
    g_autofree char *more = g_strdup_printf("and %u more; --all prints them", left_out);
    if (left_out > 0)
        fm_add_text(fm_display_body(display), more);
    fm_cmd_log_print_display(display, wanted->json, wanted->csv);
}

static int latency(const char *path, const struct wanted *wanted)
{
    GError *error = NULL;
    struct fm_totals_area area;
    if (!parse(wanted, &area, &error))
        return fm_console_fail("log latency", error);
    struct fm_cmd_log_segments reading;
    g_autoptr(GByteArray) lanes = NULL;
    bool good = fm_cmd_log_segments_open(&reading, path, &error);
    if (good && wanted->lanes != NULL) {
        area.lanes = lanes = fm_cmd_log_segments_lanes(&reading, wanted->lanes, &error);
        good = lanes != NULL;
    }
    if (good)
        print(&reading, wanted, &area);
    int status = fm_cmd_log_segments_done(&reading);
    return good ? status : fm_console_fail("log latency", error);
}

int fm_cmd_log_latency(int argc, char **argv)
{
    struct wanted wanted = {0};
    const GOptionEntry options[] = {
        {"by", 0, 0, G_OPTION_ARG_STRING, &wanted.by,
         "Put together by name (the default), state, lane, kind of lane, or stack: what they lie "
         "in",
         "WORD"},
        {"lane", 0, 0, G_OPTION_ARG_STRING_ARRAY, &wanted.lanes,
         "Only lanes with such a name: 'worker*'; may be repeated", "PATTERN"},
        {"from", 0, 0, G_OPTION_ARG_STRING, &wanted.from, "Only what reaches behind TIME", "TIME"},
        {"to", 0, 0, G_OPTION_ARG_STRING, &wanted.to, "Only what begins before TIME", "TIME"},
        {"least", 0, 0, G_OPTION_ARG_STRING, &wanted.least, "Only what lasts so long or longer",
         "TIME"},
        {"most", 0, 0, G_OPTION_ARG_STRING, &wanted.most, "Only what lasts at most so long",
         "TIME"},
        {"all", 0, 0, G_OPTION_ARG_NONE, &wanted.all, "Print all rows as text", NULL},
        {"json", 0, 0, G_OPTION_ARG_NONE, &wanted.json, "Print one JSON object", NULL},
        {"csv", 0, 0, G_OPTION_ARG_NONE, &wanted.csv, "Print a table as CSV", NULL},
        {NULL},
    };
    int status = fm_cli_parse(&argc, &argv, options, "TRACE",
                              "Prints for the spans and states of a trace how often they occurred "
                              "and how long they took: total, self, mean, percentiles, longest.",
                              "fathom log latency program.eventlog\n"
                              "  fathom log latency --by lane --lane 'worker*' --from 1.5s --to 2s "
                              "program.eventlog");
    if (status < 0 && argc != 2)
        status = fm_console_usage("log latency", "expected one TRACE, got %d arguments", argc - 1);
    if (status < 0 && wanted.json && wanted.csv)
        status = fm_console_usage("log latency", "choose one of --json and --csv");
    if (status < 0)
        status = latency(argv[1], &wanted);
    g_free(wanted.by);
    g_free(wanted.from);
    g_free(wanted.to);
    g_free(wanted.least);
    g_free(wanted.most);
    g_strfreev(wanted.lanes);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/text/json.h"
#include "base/text/number.h"
#include "cli/log/cmd_log.h"
#include "exchange/hint/hint.h"
#include "cli/log/cmd_log_trace.h"
#include "eventlog/reader/count.h"
#include "eventlog/output/format.h"

struct named_count {
    char *name;
    uint16_t number;
    uint64_t count;
};

struct stat {
    const char *path;
    struct fm_eventlog_counts *counts;
    GArray *types; /* elements: struct named_count: those that occur, by name */
    GArray *gaps;  /* elements: struct fm_eventlog_gap */
    struct fm_eventlog_tail tail;
    GError *trailing; /* a later log in the same file could not be read */
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct named_count *)a)->name, ((const struct named_count *)b)->name);
}

static void list_types(struct stat *stat)
{
    for (int number = 0; number < 65536; number++) {
        uint64_t count = fm_eventlog_counts_type(stat->counts, (uint16_t)number);
        if (count == 0)
            continue;
        struct named_count named = {fm_eventlog_type_label((uint16_t)number), (uint16_t)number,
                                    count};
        g_array_append_val(stat->types, named);
    }
    g_array_sort(stat->types, compare_names);
}

/* Reads all; false with an error when not even a header could be read. */
static bool read_all(struct stat *stat, struct fm_eventlog_source *source, GError **error)
{
    struct fm_progress progress;
    fm_console_progress_begin(&progress);
    struct fm_eventlog_reader *reader = fm_eventlog_source_reader(source);
    uint64_t size = fm_eventlog_source_size(source);
    GError *failure = NULL;
    enum fm_eventlog_status status;
    do {
        status = fm_eventlog_count(reader, stat->counts, &failure);
        if (status == FM_EVENTLOG_HAS_GAP)
            g_array_append_val(stat->gaps, *fm_eventlog_reader_gap(reader));
        if (status == FM_EVENTLOG_MORE) {
            if (progress.report != NULL)
                progress.report(progress.user, "counting", fm_eventlog_reader_offset(reader), size);
            if (fm_eventlog_source_fill(source, -1, NULL, &failure) == FM_EVENTLOG_FILL_FAILED)
                status = FM_EVENTLOG_FAILED;
        }
    } while (status != FM_EVENTLOG_FINISHED && status != FM_EVENTLOG_FAILED);
    fm_console_progress_end(&progress);
    if (failure != NULL &&
        (stat->counts->headers == 0 || g_error_matches(failure, FM_ERROR, FM_ERROR_IO))) {
        g_propagate_error(error, failure);
        return false;
    }
    stat->trailing = failure;
    stat->tail = *fm_eventlog_reader_tail(reader);
    list_types(stat);
    return true;
}

static double span_seconds(const struct stat *stat)
{
    return (double)(stat->counts->max_ns - stat->counts->min_ns) / 1e9;
}

static double rate(const struct stat *stat, uint64_t count)
{
    double seconds = span_seconds(stat);
    return seconds > 0 ? (double)count / seconds : 0;
}

/* A real number with the given decimals, with a point in every locale. */
static void append_real(GString *out, const char *before, double value, int decimals)
{
    g_assert(decimals == 0 || decimals == 1);
    char text[G_ASCII_DTOSTR_BUF_SIZE + 320];
    g_string_append(out, before);
    g_string_append(out,
                    g_ascii_formatd(text, sizeof text, decimals == 0 ? "%.0f" : "%.1f", value));
}

static void append_tail_text(GString *out, const struct stat *stat)
{
    const struct fm_eventlog_tail *tail = &stat->tail;
    for (guint i = 0; i < stat->gaps->len; i++) {
        const struct fm_eventlog_gap *gap = &g_array_index(stat->gaps, struct fm_eventlog_gap, i);
        g_string_append_printf(out, "gap offset %" PRIu64 " bytes %" PRIu64 ": %s\n", gap->offset,
                               gap->length, gap->reason);
    }
    g_string_append_printf(out, "finished %s\n", tail->end_mark ? "yes" : "no");
    if (tail->length > 0)
        g_string_append_printf(out, "%s offset %" PRIu64 " bytes %" PRIu64 "\n",
                               tail->end_mark ? "after_end" : "incomplete_event", tail->offset,
                               tail->length);
    if (stat->trailing != NULL)
        g_string_append_printf(out, "trailing_error %s\n", stat->trailing->message);
}

static void append_text(GString *out, const struct stat *stat, bool by_capability)
{
    const struct fm_eventlog_counts *counts = stat->counts;
    g_string_append_printf(out, "declared_types %" PRIu64 "\nevents %" PRIu64 "\n",
                           counts->declared_types, counts->events);
    g_string_append_printf(out, "first_in_file_ns %" PRIu64 "\nlast_in_file_ns %" PRIu64 "\n",
                           counts->first_ns, counts->last_ns);
    g_string_append_printf(out, "min_ns %" PRIu64 "\nmax_ns %" PRIu64 "\n", counts->min_ns,
                           counts->max_ns);
    g_string_append_printf(out, "backward_steps_in_file_order %" PRIu64 "\n",
                           counts->backward_steps);
    for (int32_t capability = -1; capability < 65535; capability++) {
        uint64_t events = fm_eventlog_counts_capability(counts, capability, NULL);
        if (events > 0 && capability < 0)
            g_string_append_printf(out, "cap none %" PRIu64 "\n", events);
        else if (events > 0)
            g_string_append_printf(out, "cap %d %" PRIu64 "\n", capability, events);
    }
    for (guint i = 0; i < stat->types->len; i++) {
        const struct named_count *type = &g_array_index(stat->types, struct named_count, i);
        g_string_append_printf(out, "type %s %" PRIu64 "\n", type->name, type->count);
    }
    g_string_append_printf(out, "blocks %" PRIu64 "\nbytes %" PRIu64 "\nspan_ns %" PRIu64 "\n",
                           counts->markers, counts->bytes, counts->max_ns - counts->min_ns);
    append_real(out, "events_per_second ", rate(stat, counts->events), 0);
    append_real(out, "\nbytes_per_second ", rate(stat, counts->bytes), 0);
    g_string_append_c(out, '\n');
    if (counts->has_wall) {
        g_autofree char *utc = fm_number_utc(counts->wall_ns);
        g_string_append_printf(out, "time_0_utc %s\n", utc);
    }
    for (guint i = 0; by_capability && i < stat->types->len; i++) {
        const struct named_count *type = &g_array_index(stat->types, struct named_count, i);
        for (int32_t capability = -1; capability < 65535; capability++) {
            uint64_t cell;
            if (!fm_eventlog_counts_cell(counts, type->number, capability, &cell) || cell == 0)
                continue;
            g_autofree char *name =
                capability < 0 ? g_strdup("none") : g_strdup_printf("%d", capability);
            g_string_append_printf(out, "cell %s %s %" PRIu64, name, type->name, cell);
            append_real(out, " rate ", rate(stat, cell), 1);
            g_string_append_c(out, '\n');
        }
    }
    append_tail_text(out, stat);
}

static void write_types(struct fm_json *json, const struct stat *stat)
{
    fm_json_line(json, 1);
    fm_json_object(json, "types");
    for (guint i = 0; i < stat->types->len; i++) {
        const struct named_count *type = &g_array_index(stat->types, struct named_count, i);
        fm_json_uint(json, type->name, type->count);
    }
    fm_json_end(json);
    fm_json_line(json, 1);
    fm_json_object(json, "rates");
    for (guint i = 0; i < stat->types->len; i++) {
        const struct named_count *type = &g_array_index(stat->types, struct named_count, i);
        fm_json_fixed(json, type->name, rate(stat, type->count), 1);
    }
    fm_json_end(json);
}

/* The types that the capability has, with their counts; null where it has none. */
static void write_cells(struct fm_json *json, const struct stat *stat, int32_t capability,
                        const char *name)
{
    bool any = false;
    for (guint i = 0; i < stat->types->len; i++) {
        const struct named_count *type = &g_array_index(stat->types, struct named_count, i);
        uint64_t cell;
        if (!fm_eventlog_counts_cell(stat->counts, type->number, capability, &cell) || cell == 0)
            continue;
        if (!any)
            fm_json_object(json, name);
        any = true;
        fm_json_uint(json, type->name, cell);
    }
    if (any)
        fm_json_end(json);
    else
        fm_json_null(json, name);
}

static void write_capabilities(struct fm_json *json, const struct stat *stat, bool cells)
{
    fm_json_line(json, 1);
    fm_json_object(json, cells ? "types_by_capability" : "capabilities");
    for (int32_t capability = -1; capability < 65535; capability++) {
        uint64_t events = fm_eventlog_counts_capability(stat->counts, capability, NULL);
        if (events == 0)
            continue;
        g_autofree char *name =
            capability < 0 ? g_strdup("none") : g_strdup_printf("%d", capability);
        if (cells)
            write_cells(json, stat, capability, name);
        else
            fm_json_uint(json, name, events);
    }
    fm_json_end(json);
}

static void write_tail(struct fm_json *json, const struct stat *stat)
{
    const struct fm_eventlog_tail *tail = &stat->tail;
    fm_json_line(json, 1);
    fm_json_array(json, "gaps");
    for (guint i = 0; i < stat->gaps->len; i++) {
        const struct fm_eventlog_gap *gap = &g_array_index(stat->gaps, struct fm_eventlog_gap, i);
        fm_json_object(json, NULL);
        fm_json_uint(json, "offset", gap->offset);
        fm_json_uint(json, "bytes", gap->length);
        fm_json_text(json, "reason", gap->reason);
        fm_json_end(json);
    }
    fm_json_end(json);
    fm_json_line(json, 1);
    fm_json_bool(json, "finished", tail->end_mark);
    fm_json_uint(json, "tail_offset", tail->offset);
    fm_json_uint(json, "tail_bytes", tail->length);
    fm_json_line(json, 1);
    fm_json_text(json, "trailing_error", stat->trailing == NULL ? NULL : stat->trailing->message);
}

static void append_json(GString *out, const struct stat *stat, bool by_capability)
{
    const struct fm_eventlog_counts *counts = stat->counts;
    struct fm_json json;
    fm_json_init(&json, out);
    json.spaced = true;
    fm_json_object(&json, NULL);
    fm_json_text(&json, "file", stat->path);
    fm_json_line(&json, 1);
    fm_json_uint(&json, "events", counts->events);
    write_types(&json, stat);
    write_capabilities(&json, stat, false);
    if (by_capability)
        write_capabilities(&json, stat, true);
    fm_json_line(&json, 1);
    fm_json_uint(&json, "declared_types", counts->declared_types);
    fm_json_uint(&json, "first_in_file_ns", counts->first_ns);
    fm_json_uint(&json, "last_in_file_ns", counts->last_ns);
    fm_json_line(&json, 1);
    fm_json_uint(&json, "min_ns", counts->min_ns);
    fm_json_uint(&json, "max_ns", counts->max_ns);
    fm_json_uint(&json, "span_ns", counts->max_ns - counts->min_ns);
    fm_json_uint(&json, "backward_steps_in_file_order", counts->backward_steps);
    if (counts->has_wall) {
        g_autofree char *utc = fm_number_utc(counts->wall_ns);
        fm_json_text(&json, "time_0_utc", utc);
    }
    fm_json_line(&json, 1);
    fm_json_uint(&json, "blocks", counts->markers);
    fm_json_uint(&json, "bytes", counts->bytes);
    fm_json_fixed(&json, "events_per_second", rate(stat, counts->events), 1);
    fm_json_fixed(&json, "bytes_per_second", rate(stat, counts->bytes), 1);
    write_tail(&json, stat);
    fm_json_end(&json);
    g_string_append_c(out, '\n');
}

static int stat_file(const char *path, bool json, bool by_capability)
{
    GError *error = NULL;
    struct fm_eventlog_source *source = fm_eventlog_source_open(path, &error);
    if (source == NULL)
        return fm_hint_fail_file("log stat", path, FM_FILE_EVENT_LOG, error);
    struct stat stat = {
        .path = path,
        .counts = fm_eventlog_counts_new(),
        .types = g_array_new(FALSE, FALSE, sizeof(struct named_count)),
        .gaps = g_array_new(FALSE, FALSE, sizeof(struct fm_eventlog_gap)),
    };
    int status = FM_EXIT_DONE;
    if (!read_all(&stat, source, &error)) {
        status = fm_hint_fail_file("log stat", path, FM_FILE_EVENT_LOG, error);
    } else {
        g_autoptr(GString) out = g_string_new(NULL);
        if (json)
            append_json(out, &stat, by_capability);
        else
            append_text(out, &stat, by_capability);
        fwrite(out->str, 1, out->len, stdout);
        if (stat.gaps->len > 0 || stat.trailing != NULL)
            status = FM_EXIT_FAILED;
    }
    for (guint i = 0; i < stat.types->len; i++)
        g_free(g_array_index(stat.types, struct named_count, i).name);
    g_array_unref(stat.types);
    g_array_unref(stat.gaps);
    g_clear_error(&stat.trailing);
    fm_eventlog_counts_free(stat.counts);
    fm_eventlog_source_free(source);
    return status;
}

/* How much of what; NULL words where nothing was said. */
struct wanted {
    char *by, *from, *to;
    char **filters;
    gboolean json, csv, by_capability;
};

/* -1 = they go together. */
static int check_wanted(const struct wanted *wanted)
{
    if (wanted->by == NULL && (wanted->from != NULL || wanted->to != NULL || wanted->csv))
        return fm_console_usage("log stat", "--from, --to and --csv need --by");
    if (wanted->json && wanted->csv)
        return fm_console_usage("log stat", "choose one of --json and --csv");
    if (wanted->filters != NULL && wanted->by != NULL)
        return fm_console_usage("log stat", "--filter cannot be used with --by");
    return -1;
}

static int stat_path(const char *path, const struct wanted *wanted)
{
    if (wanted->by == NULL && (wanted->filters != NULL || fm_cmd_log_is_folder(path)))
        return fm_cmd_log_stat_trace(path, wanted->filters, wanted->json);
    if (wanted->by == NULL)
        return stat_file(path, wanted->json, wanted->by_capability);
    struct fm_log_stat_by by = {
        .by = wanted->by, .to_ns = UINT64_MAX, .json = wanted->json, .csv = wanted->csv};
    GError *error = NULL;
    if (!fm_cmd_log_parse_range(wanted->from, wanted->to, &by.from_ns, &by.to_ns, &error))
        return fm_console_fail("log stat", error);
    return fm_cmd_log_stat_by(path, &by);
}

int fm_cmd_log_stat(int argc, char **argv)
{
    struct wanted wanted = {0};
    const GOptionEntry options[] = {
        {"json", 0, 0, G_OPTION_ARG_NONE, &wanted.json, "Print one JSON object", NULL},
        {"csv", 0, 0, G_OPTION_ARG_NONE, &wanted.csv, "Print a table as CSV, with --by", NULL},
        {"by-capability", 0, 0, G_OPTION_ARG_NONE, &wanted.by_capability,
         "Also count each type on each capability", NULL},
        {"by", 0, 0, G_OPTION_ARG_STRING, &wanted.by,
         "Print time and counts by WORD: state, type, tree, thread, lock, counter, ...", "WORD"},
        {"from", 0, 0, G_OPTION_ARG_STRING, &wanted.from, "With --by: count from TIME on", "TIME"},
        {"to", 0, 0, G_OPTION_ARG_STRING, &wanted.to, "With --by: count before TIME", "TIME"},
        {"filter", 0, 0, G_OPTION_ARG_STRING_ARRAY, &wanted.filters,
         "Count only events that match EXPR; if repeated, all must match", "EXPR"},
        {NULL},
    };
    int status =
        fm_cli_parse(&argc, &argv, options, "FILE",
                     "Counts the events of a log by type and by capability; block markers "
                     "are not counted. FILE may be - for standard input, or a folder with "
                     "CTF traces.\n"
                     "With --by: prints the statistics of a trace, time and events by WORD.",
                     "fathom log stat --json program.eventlog\n"
                     "  fathom log stat --by thread --from 1.5s --to 2s program.eventlog");
    if (status < 0 && argc != 2)
        status = fm_console_usage("log stat", "expected one FILE, got %d arguments", argc - 1);
    if (status < 0)
        status = check_wanted(&wanted);
    if (status < 0)
        status = stat_path(argv[1], &wanted);
    g_free(wanted.by);
    g_free(wanted.from);
    g_free(wanted.to);
    g_strfreev(wanted.filters);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/text/json.h"
#include "cli/log/cmd_log.h"
#include "cli/log/cmd_log_print.h"
#include "cli/log/cmd_log_trace.h"
#include "eventlog/log/log.h"

static int cat_in_file_order(struct fm_cmd_log_printer *printer, struct fm_eventlog_source *source)
{
    int result = FM_EXIT_DONE;
    GError *error = NULL;
    struct fm_eventlog_reader *reader = fm_eventlog_source_reader(source);
    while (!printer->failed) {
        struct fm_eventlog_event event;
        enum fm_eventlog_status status = fm_eventlog_source_next(source, &event, &error);
        if (status == FM_EVENTLOG_HAS_EVENT) {
            fm_cmd_log_printer_event(printer, &event, fm_eventlog_reader_header(reader));
        } else if (status == FM_EVENTLOG_HAS_GAP) {
            fm_cmd_log_printer_flush(printer);
            fm_cmd_log_report_gap("log cat", fm_eventlog_source_name(source),
                                  fm_eventlog_reader_gap(reader));
            result = FM_EXIT_FAILED;
        } else if (status == FM_EVENTLOG_FAILED) {
            fm_cmd_log_printer_flush(printer);
            return fm_console_fail("log cat", error);
        } else if (status == FM_EVENTLOG_FINISHED) {
            break;
        }
    }
    return result;
}

static int cat_by_time(struct fm_cmd_log_printer *printer, const char *path)
{
    GError *error = NULL;
    struct fm_progress progress;
    fm_console_progress_begin(&progress);
    struct fm_eventlog_log *log = fm_eventlog_log_open(path, &progress, &error);
    fm_console_progress_end(&progress);
    if (log == NULL)
        return fm_console_fail("log cat", error);
    struct fm_eventlog_merge *merge = fm_eventlog_merge_new(log);
    struct fm_eventlog_event event;
    bool sought =
        printer->from_ns == 0 || fm_eventlog_merge_seek_time(merge, printer->from_ns, &error);
    while (sought && !printer->failed && fm_eventlog_merge_next(merge, &event, &error) &&
           event.time_ns <= printer->to_ns)
        fm_cmd_log_printer_event(printer, &event, fm_eventlog_merge_header(merge));
    fm_cmd_log_printer_flush(printer);
    for (guint i = 0; i < log->gaps->len; i++)
        fm_cmd_log_report_gap("log cat", path,
                              &g_array_index(log->gaps, struct fm_eventlog_gap, i));
    int status = log->gaps->len > 0 ? FM_EXIT_FAILED : FM_EXIT_DONE;
    if (error != NULL)
        status = fm_console_fail("log cat", error);
    fm_eventlog_merge_free(merge);
    fm_eventlog_log_free(log);
    return status;
}

static int cat_file(struct fm_cmd_log_printer *printer, const char *path, bool sort)
{
    GError *error = NULL;
    if (!fm_cmd_log_printer_begin(printer, &error))
        return fm_console_fail("log cat", error);
    if (sort)
        return cat_by_time(printer, path);
    struct fm_eventlog_source *source = fm_eventlog_source_open(path, &error);
    if (source == NULL)
        return fm_console_fail("log cat", error);
    int status = cat_in_file_order(printer, source);
    fm_cmd_log_printer_flush(printer);
    fm_eventlog_source_free(source);
    return status;
}

int fm_cmd_log_cat(int argc, char **argv)
{
    struct fm_cmd_log_printer printer = {0};
    gboolean sort = FALSE;
    g_auto(GStrv) filters = NULL;
    const GOptionEntry own[] = {
        {"filter", 0, 0, G_OPTION_ARG_STRING_ARRAY, &filters,
         "Print only events that match EXPR ('event.name = Run* & state.thread = 3'), in time "
         "order; if repeated, all must match",
         "EXPR"},
        {"sort", 0, 0, G_OPTION_ARG_NONE, &sort,
         "Print in time order over all capabilities; needs a regular file", NULL},
        {NULL},
    };
    g_autofree GOptionEntry *options = fm_cmd_log_printer_options(&printer, own);
    int status =
        fm_cli_parse(&argc, &argv, options, "FILE",
                     "Prints the events of a log, in file order (the order of flushed blocks) "
                     "unless --sort is given. FILE may be - for "
                     "standard input, or a folder with CTF traces.",
                     "fathom log cat --type UserMarker --from 1.5 program.eventlog");
    if (status < 0 && argc != 2)
        status = fm_console_usage("log cat", "expected one FILE, got %d arguments", argc - 1);
    if (status < 0)
        status = filters != NULL || fm_cmd_log_is_folder(argv[1])
                     ? fm_cmd_log_cat_trace(&printer, argv[1], filters)
                     : cat_file(&printer, argv[1], sort);
    fm_cmd_log_printer_done(&printer);
    return status;
}

static void append_type(GString *out, const struct fm_eventlog_type *type)
{
    g_string_append_printf(out, "%3u %-26s %s %u\n", type->number, type->name,
                           type->variable ? "variable" : "fixed", type->fixed_size);
    for (size_t i = 0; i < type->field_count; i++) {
        const struct fm_eventlog_field *field = &type->fields[i];
        g_string_append_printf(
            out, "      %-22s %-10s %s%s\n", field->name, fm_eventlog_kind_name(field->kind),
            fm_eventlog_unit_name(field->unit), field->optional ? " (newer producers)" : "");
    }
}

static void write_type(struct fm_json *json, const struct fm_eventlog_type *type)
{
    fm_json_object(json, NULL);
    fm_json_uint(json, "number", type->number);
    fm_json_text(json, "name", type->name);
    fm_json_int(json, "size", type->variable ? -1 : (int)type->fixed_size);
    fm_json_array(json, "fields");
    for (size_t i = 0; i < type->field_count; i++) {
        const struct fm_eventlog_field *field = &type->fields[i];
        fm_json_object(json, NULL);
        fm_json_text(json, "name", field->name);
        fm_json_text(json, "kind", fm_eventlog_kind_name(field->kind));
        fm_json_text(json, "unit", fm_eventlog_unit_name(field->unit));
        fm_json_bool(json, "optional", field->optional);
        fm_json_end(json);
    }
    fm_json_end(json);
    fm_json_end(json);
}

static void write_types(GString *out, const struct fm_eventlog_type *types, size_t count)
{
    struct fm_json json;
    fm_json_init(&json, out);
    json.spaced = true;
    fm_json_array(&json, NULL);
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            fm_json_line(&json, 1);
        write_type(&json, &types[i]);
    }
    fm_json_end(&json);
    g_string_append_c(out, '\n');
}

int fm_cmd_log_types(int argc, char **argv)
{
    gboolean json = FALSE;
    const GOptionEntry options[] = {
        {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print a JSON array", NULL},
        {NULL},
    };
    int status = fm_cli_parse(&argc, &argv, options, "",
                              "Lists the known event types, with their fields, the fields' "
                              "kinds and units, and the minimum payload size.",
                              "fathom log types");
    if (status >= 0)
        return status;
    if (argc != 1)
        return fm_console_usage("log types", "expected no arguments, got %d", argc - 1);
    size_t count;
    const struct fm_eventlog_type *types = fm_eventlog_types(&count);
    g_autoptr(GString) out = g_string_new(NULL);
    if (json)
        write_types(out, types, count);
    for (size_t i = 0; !json && i < count; i++)
        append_type(out, &types[i]);
    fputs(out->str, stdout);
    return FM_EXIT_DONE;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/log/cmd_log_print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/log/cmd_log.h"

enum { HELD_BYTES = 64 << 10 };

GOptionEntry *fm_cmd_log_printer_options(struct fm_cmd_log_printer *printer,
                                         const GOptionEntry *more)
{
    const GOptionEntry own[] = {
        {"type", 0, 0, G_OPTION_ARG_STRING_ARRAY, &printer->types,
         "Print only events of TYPE (name or number); may be repeated", "TYPE"},
        {"cap", 0, 0, G_OPTION_ARG_STRING_ARRAY, &printer->capabilities,
         "Print only events of capability N (a number, or none); may be repeated", "N"},
        {"from", 0, 0, G_OPTION_ARG_STRING, &printer->from,
         "Print only events at or after TIME since the log's begin", "TIME"},
        {"to", 0, 0, G_OPTION_ARG_STRING, &printer->to,
         "Print only events at or before TIME since the log's begin", "TIME"},
        {"format", 0, 0, G_OPTION_ARG_STRING, &printer->format,
         "Print as text (default), json or csv", "FORMAT"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &printer->json, "Print JSON, as --format json", NULL},
        {"csv", 0, 0, G_OPTION_ARG_NONE, &printer->csv, "Print CSV, as --format csv", NULL},
        {"markers", 0, 0, G_OPTION_ARG_NONE, &printer->markers, "Print block markers too", NULL},
    };
    size_t count = 0;
    while (more[count].long_name != NULL)
        count++;
    GOptionEntry *all = g_new0(GOptionEntry, G_N_ELEMENTS(own) + count + 1);
    memcpy(all, own, sizeof own);
    memcpy(all + G_N_ELEMENTS(own), more, count * sizeof *more);
    return all;
}

static bool choose_types(struct fm_cmd_log_printer *printer, GError **error)
{
    printer->type_chosen = g_new0(uint8_t, 65536);
    for (char **name = printer->types; name != NULL && *name != NULL; name++) {
        const struct fm_eventlog_type *type = fm_eventlog_type_named(*name);
        char *end;
        const char *digits = g_str_has_prefix(*name, "Unknown") ? *name + 7 : *name;
        unsigned long number = strtoul(digits, &end, 10);
        if (type != NULL) {
            number = type->number;
        } else if (printer->own_types != NULL && end == digits) {
            g_hash_table_replace(printer->own_types, *name, GUINT_TO_POINTER(false));
            printer->by_type = true;
            continue;
        } else if (end == digits || *end != '\0' || number > 65535) {
            g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                        "'%s' is not an event type; `fathom log types` lists them", *name);
            return false;
        }
        printer->type_chosen[number] = 1;
        printer->by_type = true;
    }
    return true;
}

static bool choose_capabilities(struct fm_cmd_log_printer *printer, GError **error)
{
    printer->capability_chosen = g_new0(uint8_t, 65536);
    for (char **name = printer->capabilities; name != NULL && *name != NULL; name++) {
        char *end;
        unsigned long number = strtoul(*name, &end, 10);
        if (strcmp(*name, "none") == 0) {
            printer->capability_chosen[0] = 1;
        } else if (end == *name || *end != '\0' || number > 65534) {
            g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                        "'%s' is not a capability; expected a number up to 65534, or none", *name);
            return false;
        } else {
            printer->capability_chosen[number + 1] = 1;
        }
        printer->by_capability = true;
    }
    return true;
}

bool fm_cmd_log_printer_begin(struct fm_cmd_log_printer *printer, GError **error)
{
    const char *format = printer->format;
    if (format == NULL)
        format = printer->json ? "json" : (printer->csv ? "csv" : "text");
    if (strcmp(format, "text") == 0) {
        printer->as = FM_EVENTLOG_AS_TEXT;
    } else if (strcmp(format, "json") == 0) {
        printer->as = FM_EVENTLOG_AS_JSON;
    } else if (strcmp(format, "csv") == 0) {
        printer->as = FM_EVENTLOG_AS_CSV;
    } else {
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                    "the format '%s' is not known; expected text, json or csv", format);
        return false;
    }
    printer->to_ns = UINT64_MAX;
    if (!fm_cmd_log_parse_range(printer->from, printer->to, &printer->from_ns, &printer->to_ns,
                                error) ||
        !choose_types(printer, error) || !choose_capabilities(printer, error))
        return false;
    printer->out = g_string_new(NULL);
    printer->names = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    printer->in_columns = printer->as == FM_EVENTLOG_AS_CSV && printer->types != NULL &&
                          g_strv_length(printer->types) == 1;
    if (!printer->in_columns)
        fm_eventlog_format_head(printer->out, printer->as);
    return true;
}

void fm_cmd_log_printer_event(struct fm_cmd_log_printer *printer,
                              const struct fm_eventlog_event *event,
                              const struct fm_eventlog_header *header)
{
    g_assert(event->capability >= FM_EVENTLOG_NO_CAPABILITY && event->capability <= 65534);
    fm_eventlog_names_learn(printer->names, event);
    if ((event->number == FM_EVENTLOG_BLOCK_MARKER && !printer->markers) ||
        event->time_ns < printer->from_ns || event->time_ns > printer->to_ns ||
        (printer->by_type && !printer->type_chosen[event->number]) ||
        (printer->by_capability && !printer->capability_chosen[event->capability + 1]))
        return;
    if (printer->in_columns && printer->columns == NULL) {
        const struct fm_eventlog_type *type = event->type;
        printer->columns = g_ptr_array_new_with_free_func(g_free);
        for (size_t i = 0; type != NULL && i < type->field_count; i++)
            g_ptr_array_add(printer->columns, g_strdup(type->fields[i].name));
        fm_eventlog_format_column_names(printer->out, printer->columns);
    }
    if (printer->in_columns)
        printer->beside +=
            !fm_eventlog_format_columns(printer->out, event, printer->names, printer->columns);
    else
        fm_eventlog_format_event(printer->out, printer->as, event, header, printer->names);
    printer->printed++;
    if (printer->out->len >= HELD_BYTES)
        fm_cmd_log_printer_flush(printer);
}

void fm_cmd_log_printer_flush(struct fm_cmd_log_printer *printer)
{
    g_assert(printer->out != NULL); /* it has begun */
    size_t length = printer->out->len;
    if (fwrite(printer->out->str, 1, length, stdout) != length || fflush(stdout) != 0)
        printer->failed = true;
    g_string_truncate(printer->out, 0);
}

void fm_cmd_log_printer_done(struct fm_cmd_log_printer *printer)
{
    if (printer->out != NULL)
        g_string_free(printer->out, TRUE);
    if (printer->beside > 0)
        fm_console_print_error("fathom log: note: %" PRIu64 " events have fields that the first "
                               "one lacks: these have no column; JSON has them",
                               printer->beside);
    g_clear_pointer(&printer->columns, g_ptr_array_unref);
    g_clear_pointer(&printer->names, g_hash_table_unref);
    g_clear_pointer(&printer->own_types, g_hash_table_unref);
    g_strfreev(printer->types);
    g_strfreev(printer->capabilities);
    g_free(printer->from);
    g_free(printer->to);
    g_free(printer->format);
    g_free(printer->type_chosen);
    g_free(printer->capability_chosen);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/json.h"
#include "base/text/number.h"
#include "cli/log/cmd_log_trace.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/text/csv.h"
#include "cli/log/cmd_log.h"

enum { HELD_BYTES = 64 << 10 };

bool fm_cmd_log_is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

bool fm_cmd_log_trace_read_whole(struct fm_trace *trace, GError **error)
{
    bool ended = !fm_trace_grows(trace);
    while (!ended) {
        GError *failure = NULL;
        bool grown = fm_trace_grow(trace, &ended, &failure);
        struct pollfd wait = {.fd = fm_trace_poll_fd(trace), .events = POLLIN};
        if (failure != NULL) {
            g_propagate_error(error, failure);
            return false;
        }
        enum fm_trace_growth growth = fm_trace_growth(trace);
        if (!grown && wait.fd < 0 && growth == FM_TRACE_LIVE)
            return true;
        if (!grown && !ended && growth != FM_TRACE_SEARCHED)
            poll(&wait, 1, 200);
    }
    return true;
}

/* All of them together; each has to be a filter by itself. */
static bool begin_filter(struct fm_cmd_log_trace *reading, char **filters, GError **error)
{
    if (filters == NULL)
        return true;
    reading->filter = fm_filter_new(filters[0], error);
    for (unsigned i = 1; reading->filter != NULL && filters[i] != NULL; i++) {
        if (!fm_filter_add(reading->filter, filters[i], error))
            return false;
    }
    return reading->filter != NULL;
}

bool fm_cmd_log_trace_open(struct fm_cmd_log_trace *reading, const char *path, char **filters,
                           GError **error)
{
    g_autofree char *identity = NULL;
    if (!begin_filter(reading, filters, error) ||
        (identity = fm_trace_identity(path, error)) == NULL ||
        (reading->trace = fm_trace_open(path, identity, error)) == NULL ||
        !fm_cmd_log_trace_read_whole(reading->trace, error))
        return false;
    if (reading->wants_state || (reading->filter != NULL && fm_filter_needs_state(reading->filter)))
        reading->state = fm_state_new(reading->trace);
    return true;
}

static bool on_event(void *user, void *context)
{
    struct fm_cmd_log_trace *reading = user;
    const struct fm_tracefile_context *at = context;
    if (at->event.time < reading->from_ns ||
        (reading->filter != NULL && !fm_filter_accepts(reading->filter, at, reading->state)))
        return false;
    reading->accepted = true;
    return reading->event(reading->user, at);
}

void fm_cmd_log_trace_read(struct fm_cmd_log_trace *reading)
{
    struct fm_hooks *hooks = fm_hooks_new();
    if (reading->state != NULL)
        fm_hooks_add(hooks, fm_state_hook, reading->state, FM_HOOK_STATE);
    fm_hooks_add(hooks, on_event, reading, FM_HOOK_DEFAULT);
    /* The state must be read from the begin. */
    uint64_t begin = reading->state == NULL ? reading->from_ns : 0;
    uint64_t end = reading->to_ns == UINT64_MAX ? FM_TIME_INF : reading->to_ns + 1;
    g_assert(begin <= end);
    fm_trace_each_event(reading->trace, begin, end, hooks);
    reading->read = true;
}

static void tell_of_nothing(const struct fm_cmd_log_trace *reading, const char *command)
{
    /* Without a state the filter asks for no lanes. */
    struct fm_state *own = reading->state == NULL ? fm_state_new(reading->trace) : NULL;
    const struct fm_state *state = own != NULL ? own : reading->state;
    g_autofree char *text = fm_filter_explain_nothing(reading->filter, &state, 1);
    fm_console_print_error("fathom %s: %s", command, text);
    fm_state_free(own);
}

int fm_cmd_log_trace_done(struct fm_cmd_log_trace *reading, const char *command)
{
    int status = FM_EXIT_DONE;
    if (reading->trace != NULL) {
        g_autofree char *damage = fm_trace_damage(reading->trace);
        g_auto(GStrv) lines = g_strsplit(damage, "\n", -1);
        for (unsigned i = 0; lines[i] != NULL; i++) {
            if (lines[i][0] == '\0')
                continue;
            fm_console_print_error("fathom %s: %s", command, lines[i]);
            /* A log that is only unfinished has been read whole. */
            if (strstr(lines[i], "no end mark") == NULL)
                status = FM_EXIT_FAILED;
        }
    }
    if (reading->filter != NULL && reading->read && !reading->accepted)
        tell_of_nothing(reading, command);
    fm_state_free(reading->state);
    fm_filter_free(reading->filter);
    fm_trace_free(reading->trace);
    return status;
}

/* --- cat --- */

static const char *name_of(const struct fm_tracefile_context *at)
{
    const struct fm_tracefile_class *class_ = at->tracefile->class_;
    const char *name =
        class_->event_name == NULL ? NULL : class_->event_name(at->tracefile, at->event.id);
    return name == NULL ? "unknown" : name;
}

static void append_value(GString *out, const struct fm_event_value *value)
{
    char real[G_ASCII_DTOSTR_BUF_SIZE];
    switch (value->kind) {
    case FM_VALUE_UNSIGNED:
        g_string_append_printf(out, "%" PRIu64, value->number);
        if (value->text != NULL) {
            g_string_append(out, " (");
            fm_eventlog_format_text(out, (const uint8_t *)value->text, value->text_length, ')');
            g_string_append_c(out, ')');
        }
        break;
    case FM_VALUE_SIGNED:
        g_string_append_printf(out, "%" PRId64, (int64_t)value->number);
        break;
    case FM_VALUE_ADDRESS:
        g_string_append_printf(out, "0x%" PRIx64, value->number);
        break;
    case FM_VALUE_REAL:
        g_string_append(out, g_ascii_dtostr(real, sizeof real, value->real));
        break;
    case FM_VALUE_TEXT:
        g_string_append_c(out, '"');
        fm_eventlog_format_text(out, (const uint8_t *)value->text, value->text_length, '"');
        g_string_append_c(out, '"');
        break;
    }
}

static void write_value(struct fm_json *json, const struct fm_event_value *value)
{
    switch (value->kind) {
    case FM_VALUE_UNSIGNED:
    case FM_VALUE_ADDRESS:
        fm_json_uint(json, value->name, value->number);
        break;
    case FM_VALUE_SIGNED:
        fm_json_int(json, value->name, (int64_t)value->number);
        break;
    case FM_VALUE_REAL:
        fm_json_digits(json, value->name, value->real, 17);
        break;
    case FM_VALUE_TEXT:
        if (value->structured)
            fm_json_structured(json, value->name, value->text, value->text_length);
        else
            fm_json_bytes(json, value->name, value->text, value->text_length);
        break;
    }
}

/* At most FM_EVENT_VALUES_MAX. */
static unsigned values_of(const struct fm_tracefile_context *at, struct fm_event_value *ret)
{
    const struct fm_tracefile_class *class_ = at->tracefile->class_;
    unsigned count =
        class_->event_values == NULL ? 0 : class_->event_values(at->tracefile, &at->event, ret);
    g_assert(count <= FM_EVENT_VALUES_MAX);
    return count;
}

static void write_event(GString *out, const struct fm_tracefile_context *at)
{
    struct fm_event_value values[FM_EVENT_VALUES_MAX];
    unsigned count = values_of(at, values);
    struct fm_json json;
    fm_json_init(&json, out);
    fm_json_object(&json, NULL);
    fm_json_uint(&json, "time_ns", at->event.time);
    if (at->event.cpu >= 0)
        fm_json_int(&json, "cap", at->event.cpu);
    else
        fm_json_null(&json, "cap");
    fm_json_text(&json, "type", name_of(at));
    fm_json_object(&json, "fields");
    for (unsigned i = 0; i < count; i++)
        write_value(&json, &values[i]);
    fm_json_end(&json);
    fm_json_end(&json);
    g_string_append_c(out, '\n');
}

static void append_event(GString *out, const struct fm_tracefile_context *at,
                         enum fm_eventlog_format as)
{
    struct fm_event_value values[FM_EVENT_VALUES_MAX];
    if (as == FM_EVENTLOG_AS_JSON) {
        write_event(out, at);
        return;
    }
    const char *name = name_of(at);
    uint64_t time = at->event.time;
    g_autofree char *lane = at->event.cpu < 0 ? NULL : g_strdup_printf("%d", at->event.cpu);
    g_autoptr(GString) fields = g_string_new(NULL);
    unsigned count = values_of(at, values);
    for (unsigned i = 0; i < count; i++) {
        g_string_append_printf(fields, "%s%s=", i == 0 ? "" : " ", values[i].name);
        append_value(fields, &values[i]);
    }
    if (as == FM_EVENTLOG_AS_TEXT) {
        g_string_append_printf(out, "%4" PRIu64 ".%09" PRIu64 " %4s ", time / 1000000000,
                               time % 1000000000, lane == NULL ? "-" : lane);
        fm_eventlog_format_text(out, (const uint8_t *)name, strlen(name), 0);
        g_string_append_printf(out, "%s%s\n", fields->len == 0 ? "" : " ", fields->str);
    } else {
        g_string_append_printf(out, "%" PRIu64 ",%s,", time, lane == NULL ? "none" : lane);
        fm_csv_append_text(out, name);
        g_string_append_c(out, ',');
        fm_csv_append_text(out, fields->str);
        g_string_append(out, "\r\n");
    }
}

/* The text of a CSV cell: without quotes, a number without its word. */
static void append_cell(GString *out, const struct fm_event_value *value)
{
    struct fm_event_value bare = *value;
    g_autoptr(GString) cell = g_string_new(NULL);
    bare.text = value->kind == FM_VALUE_TEXT ? value->text : NULL;
    if (value->kind == FM_VALUE_TEXT)
        fm_eventlog_format_text(cell, (const uint8_t *)value->text, value->text_length, 0);
    else
        append_value(cell, &bare);
    fm_csv_append_text(out, cell->str);
}

static void append_columns(struct fm_cmd_log_printer *printer,
                           const struct fm_tracefile_context *at)
{
    struct fm_event_value values[FM_EVENT_VALUES_MAX];
    unsigned count = values_of(at, values), shown = 0;
    if (printer->columns == NULL) {
        printer->columns = g_ptr_array_new_with_free_func(g_free);
        for (unsigned i = 0; i < count; i++)
            g_ptr_array_add(printer->columns, g_strdup(values[i].name));
        fm_eventlog_format_column_names(printer->out, printer->columns);
    }
    g_autofree char *lane = at->event.cpu < 0 ? NULL : g_strdup_printf("%d", at->event.cpu);
    g_string_append_printf(printer->out, "%" PRIu64 ",%s,", at->event.time,
                           lane == NULL ? "none" : lane);
    fm_csv_append_text(printer->out, name_of(at));
    for (guint i = 0; i < printer->columns->len; i++) {
        unsigned found = 0;
        while (found < count && strcmp(values[found].name, printer->columns->pdata[i]) != 0)
            found++;
        g_string_append_c(printer->out, ',');
        if (found < count)
            append_cell(printer->out, &values[found]);
        shown += found < count;
    }
    g_string_append(printer->out, "\r\n");
    printer->beside += shown < count;
}

static bool is_of_type(const struct fm_cmd_log_printer *printer,
                       const struct fm_tracefile_context *at)
{
    uint32_t id = at->event.id;
    void *name;
    if (!printer->by_type || (id <= UINT16_MAX && printer->type_chosen[id]))
        return true;
    if (!g_hash_table_lookup_extended(printer->own_types, name_of(at), &name, NULL))
        return false;
    g_hash_table_replace(printer->own_types, name, GUINT_TO_POINTER(true));
    return true;
}

/* A name may be a slip: then there is nothing, which is to be said. */
static int tell_of_types_not_met(const struct fm_cmd_log_printer *printer, const char *path)
{
    int status = FM_EXIT_DONE;
    for (char **name = printer->types; name != NULL && *name != NULL; name++) {
        void *met;
        if (!g_hash_table_lookup_extended(printer->own_types, *name, NULL, &met) || met != NULL)
            continue;
        fm_console_print_error("fathom log cat: no event there has the type '%s'; "
                               "`fathom log stat %s` lists them",
                               *name, path);
        status = FM_EXIT_FAILED;
    }
    return status;
}

static bool is_chosen(const struct fm_cmd_log_printer *printer,
                      const struct fm_tracefile_context *at)
{
    return is_of_type(printer, at) &&
           (!printer->by_capability ||
            (at->event.cpu <= 65534 && printer->capability_chosen[at->event.cpu + 1]));
}

static bool print_event(void *user, const struct fm_tracefile_context *at)
{
    struct fm_cmd_log_printer *printer = user;
    if (!is_chosen(printer, at))
        return false;
    if (printer->in_columns)
        append_columns(printer, at);
    else
        append_event(printer->out, at, printer->as);
    printer->printed++;
    if (printer->out->len >= HELD_BYTES)
        fm_cmd_log_printer_flush(printer);
    return printer->failed;
}

int fm_cmd_log_cat_trace(struct fm_cmd_log_printer *printer, const char *path, char **filters)
{
    GError *error = NULL;
    struct fm_cmd_log_trace reading = {.event = print_event, .user = printer};
    int status = FM_EXIT_DONE;
    printer->own_types = g_hash_table_new(g_str_hash, g_str_equal);
    if (fm_cmd_log_printer_begin(printer, &error) &&
        fm_cmd_log_trace_open(&reading, path, filters, &error)) {
        reading.from_ns = printer->from_ns;
        reading.to_ns = printer->to_ns;
        fm_cmd_log_trace_read(&reading);
        fm_cmd_log_printer_flush(printer);
        status = tell_of_types_not_met(printer, path);
    } else {
        status = fm_console_fail("log cat", error);
    }
    int read_status = fm_cmd_log_trace_done(&reading, "log cat");
    return status != FM_EXIT_DONE ? status : read_status;
}

/* --- stat --- */

struct counted {
    uint64_t events, min_ns, max_ns;
    GHashTable *types; /* name -> uint64_t */
    GHashTable *lanes; /* number + 1 -> uint64_t */
    char *utc;         /* wall clock at time 0; NULL: not recorded */
};

static void count_one(GHashTable *table, void *key)
{
    uint64_t *count = g_hash_table_lookup(table, key);
    if (count == NULL) {
        count = g_new0(uint64_t, 1);
        g_hash_table_insert(table, key, count);
    }
    ++*count;
}

static bool count_event(void *user, const struct fm_tracefile_context *at)
{
    struct counted *counted = user;
    counted->min_ns = counted->events == 0 ? at->event.time : counted->min_ns;
    g_assert(at->event.time >= counted->min_ns); /* events come in order */
    counted->max_ns = at->event.time;
    counted->events++;
    /* Names live as long as the trace. */
    count_one(counted->types, (void *)(uintptr_t)name_of(at));
    count_one(counted->lanes, GINT_TO_POINTER(at->event.cpu + 1));
    return false;
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int compare_numbers(const void *a, const void *b)
{
    intptr_t x = (intptr_t) * (void *const *)a, y = (intptr_t) * (void *const *)b;
    return (x > y) - (x < y);
}

static void **sorted_keys(GHashTable *table, int (*compare)(const void *, const void *))
{
    guint count;
    void **keys = g_hash_table_get_keys_as_array(table, &count);
    qsort(keys, count, sizeof *keys, compare);
    return keys;
}

/* Returns the name of a lane, "none" or a number, of a key of counted.lanes; g_free(). */
static char *lane_name(const void *key)
{
    int lane = GPOINTER_TO_INT(key) - 1;
    return lane < 0 ? g_strdup("none") : g_strdup_printf("%d", lane);
}

static uint64_t count_of(GHashTable *counts, const void *key)
{
    const uint64_t *count = g_hash_table_lookup(counts, key);
    g_assert(count != NULL);
    return *count;
}

static void append_counts(GString *out, const struct counted *counted, void **types, void **lanes)
{
    g_string_append_printf(out, "events %" PRIu64 "\nmin_ns %" PRIu64 "\nmax_ns %" PRIu64 "\n",
                           counted->events, counted->min_ns, counted->max_ns);
    if (counted->utc != NULL)
        g_string_append_printf(out, "time_0_utc %s\n", counted->utc);
    for (guint i = 0; i < g_hash_table_size(counted->lanes); i++) {
        g_autofree char *name = lane_name(lanes[i]);
        g_string_append_printf(out, "cap %s %" PRIu64 "\n", name,
                               count_of(counted->lanes, lanes[i]));
    }
    for (guint i = 0; i < g_hash_table_size(counted->types); i++) {
        g_string_append(out, "type ");
        fm_eventlog_format_text(out, types[i], strlen(types[i]), 0);
        g_string_append_printf(out, " %" PRIu64 "\n", count_of(counted->types, types[i]));
    }
}

static void write_counts(GString *out, const struct counted *counted, void **types, void **lanes)
{
    struct fm_json json;
    fm_json_init(&json, out);
    json.spaced = true;
    fm_json_object(&json, NULL);
    fm_json_uint(&json, "events", counted->events);
    fm_json_uint(&json, "min_ns", counted->min_ns);
    fm_json_uint(&json, "max_ns", counted->max_ns);
    if (counted->utc != NULL)
        fm_json_text(&json, "time_0_utc", counted->utc);
    fm_json_line(&json, 1);
    fm_json_object(&json, "caps");
    for (guint i = 0; i < g_hash_table_size(counted->lanes); i++) {
        g_autofree char *name = lane_name(lanes[i]);
        fm_json_uint(&json, name, count_of(counted->lanes, lanes[i]));
    }
    fm_json_end(&json);
    fm_json_line(&json, 1);
    fm_json_object(&json, "types");
    for (guint i = 0; i < g_hash_table_size(counted->types); i++)
        fm_json_uint(&json, types[i], count_of(counted->types, types[i]));
    fm_json_end(&json);
    fm_json_end(&json);
    g_string_append_c(out, '\n');
}

static void print_counts(const struct counted *counted, bool json)
{
    g_autoptr(GString) out = g_string_new(NULL);
    g_autofree void **types = sorted_keys(counted->types, compare_texts);
    g_autofree void **lanes = sorted_keys(counted->lanes, compare_numbers);
    (json ? write_counts : append_counts)(out, counted, types, lanes);
    fputs(out->str, stdout);
}

int fm_cmd_log_stat_trace(const char *path, char **filters, bool json)
{
    GError *error = NULL;
    struct counted counted = {
        .types = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free),
        .lanes = g_hash_table_new_full(NULL, NULL, NULL, g_free),
    };
    struct fm_cmd_log_trace reading = {.event = count_event, .user = &counted, .to_ns = UINT64_MAX};
    int status = FM_EXIT_DONE;
    if (fm_cmd_log_trace_open(&reading, path, filters, &error)) {
        int64_t wall;
        fm_cmd_log_trace_read(&reading);
        counted.utc = fm_trace_epoch(reading.trace, &wall) ? fm_number_utc(wall) : NULL;
        print_counts(&counted, json);
    } else {
        status = fm_console_fail("log stat", error);
    }
    g_hash_table_unref(counted.types);
    g_hash_table_unref(counted.lanes);
    g_free(counted.utc);
    int read_status = fm_cmd_log_trace_done(&reading, "log stat");
    return status != FM_EXIT_DONE ? status : read_status;
}

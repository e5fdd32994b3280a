/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/browser/firefox_tables.h"

#include <math.h>
#include <string.h>

/* --- columns --- */

static GArray *values_of(struct fm_json_value array)
{
    GArray *values = g_array_new(FALSE, FALSE, sizeof(struct fm_json_value));
    struct fm_json_items items = fm_json_items(array);
    struct fm_json_value value;
    while (fm_json_is_array(array) && fm_json_next(&items, NULL, &value))
        g_array_append_val(values, value);
    return values;
}

static void append_number(GArray *column, struct fm_json_value value)
{
    double number;
    if (!fm_json_number(value, &number))
        number = NAN;
    g_array_append_val(column, number);
}

/* Of rows whose schema says which item it is. Rows may end early: what is missing is null. */
static GArray *column_of_rows(struct fm_json_value schema, struct fm_json_value rows,
                              const char *name)
{
    uint64_t place;
    struct fm_json_items items = fm_json_items(rows);
    struct fm_json_value row, value;
    if (!fm_json_whole(fm_json_member(schema, name), &place))
        return NULL;
    GArray *column = g_array_new(FALSE, FALSE, sizeof(double));
    while (fm_json_next(&items, NULL, &row)) {
        struct fm_json_items cells = fm_json_items(row);
        bool found = fm_json_is_array(row);
        for (uint64_t i = 0; found && i <= place; i++)
            found = fm_json_next(&cells, NULL, &value);
        append_number(column, found ? value : (struct fm_json_value){NULL, NULL});
    }
    return column;
}

static GArray *column(struct fm_json_value table, const char *name)
{
    struct fm_json_value schema = fm_json_member(table, "schema");
    if (fm_json_is_object(schema))
        return column_of_rows(schema, fm_json_member(table, "data"), name);
    struct fm_json_value array = fm_json_member(table, name), value;
    struct fm_json_items items = fm_json_items(array);
    if (!fm_json_is_array(array))
        return NULL;
    GArray *ret = g_array_new(FALSE, FALSE, sizeof(double));
    while (fm_json_next(&items, NULL, &value))
        append_number(ret, value);
    return ret;
}

static double number_at(const GArray *column, size_t index)
{
    return column == NULL || index >= column->len ? NAN : g_array_index(column, double, index);
}

/* A row's number; SIZE_MAX: there is none. */
static size_t index_at(const GArray *column, size_t index)
{
    double number = number_at(column, index);
    return number >= 0 && number < 0x1p52 ? (size_t)number : SIZE_MAX;
}

static size_t size_of(const GArray *column)
{
    return column == NULL ? 0 : column->len;
}

/* --- threads --- */

/* From the thread itself, else from what its profile shares. */
static struct fm_json_value table(struct fm_json_value thread, struct fm_json_value shared,
                                  const char *name)
{
    struct fm_json_value own = fm_json_member(thread, name);
    return own.at != NULL ? own : fm_json_member(shared, name);
}

static void read_strings(struct fm_firefox_thread *t, struct fm_json_value shared)
{
    struct fm_json_value strings = table(t->value, shared, "stringArray");
    if (!fm_json_is_array(strings))
        strings = fm_json_member(t->value, "stringTable");
    t->strings = values_of(strings);
    t->sources = values_of(fm_json_member(table(t->value, shared, "sources"), "filename"));
}

static void read_samples(struct fm_firefox_thread *t, struct fm_json_value meta)
{
    struct fm_json_value samples = fm_json_member(t->value, "samples");
    struct fm_json_value kind = fm_json_member(samples, "weightType");
    struct fm_json_value units = fm_json_member(meta, "sampleUnits");
    struct fm_json_value unit = fm_json_member(units, "threadCPUDelta");
    t->sampled = column(samples, "stack");
    t->weights = column(samples, "weight");
    t->cpu = column(samples, "threadCPUDelta");
    t->sample_count = size_of(t->sampled);
    t->weight_unit = fm_json_equals(kind, "tracing-ms") ? FM_FIREFOX_MILLISECONDS
                     : fm_json_equals(kind, "bytes")    ? FM_FIREFOX_BYTES
                                                        : FM_FIREFOX_SAMPLES;
    if (t->cpu != NULL)
        t->cpu_scale = fm_json_equals(unit, "ns")                             ? 1e-9
                       : unit.at == NULL || fm_json_equals(unit, "\xc2\xb5s") ? 1e-6
                                                                              : 0; /* cycles */
}

static void read_tables(struct fm_firefox_thread *t, struct fm_json_value shared)
{
    struct fm_json_value stacks = table(t->value, shared, "stackTable");
    struct fm_json_value frames = table(t->value, shared, "frameTable");
    struct fm_json_value functions = table(t->value, shared, "funcTable");
    t->prefixes = column(stacks, "prefix");
    t->offsets = column(stacks, "prefixOffset");
    t->stack_frames = column(stacks, "frame");
    t->locations = column(frames, "location");
    t->funcs = column(frames, "func");
    t->frame_libs = column(frames, "lib");
    t->func_names = column(functions, "name");
    t->func_files = column(functions, "fileName");
    t->func_lines = column(functions, "lineNumber");
    t->func_sources = column(functions, "source");
    t->func_resources = column(functions, "resource");
    t->resource_libs = column(table(t->value, shared, "resourceTable"), "lib");
    t->stack_count = size_of(t->stack_frames);
    t->frame_count = MAX(size_of(t->locations), size_of(t->funcs));
}

struct fm_firefox_thread *fm_firefox_thread_new(struct fm_json_value value,
                                                struct fm_json_value shared,
                                                struct fm_json_value libs,
                                                struct fm_json_value meta)
{
    static const char *const names[] = {"name", "pid", "libs"};
    struct fm_json_value of[G_N_ELEMENTS(names)];
    struct fm_firefox_thread *t = g_new0(struct fm_firefox_thread, 1);
    t->value = value;
    fm_json_members(value, names, G_N_ELEMENTS(names), of);
    g_autofree char *name = fm_json_string(of[0]);
    g_autofree char *process = of[1].at == NULL ? g_strdup("") : fm_import_json_text(of[1]);
    const char *told = name[0] == '\0' ? "thread" : name;
    t->name = process[0] == '\0' ? g_strdup(told) : g_strdup_printf("%s (%s)", told, process);
    t->libs = values_of(of[2].at != NULL ? of[2] : libs);
    read_strings(t, shared);
    read_samples(t, meta);
    read_tables(t, shared);
    return t;
}

void fm_firefox_thread_free(gpointer thread)
{
    struct fm_firefox_thread *t = thread;
    GArray *all[] = {t->strings,        t->libs,         t->sources,    t->sampled,
                     t->weights,        t->cpu,          t->prefixes,   t->offsets,
                     t->stack_frames,   t->locations,    t->funcs,      t->frame_libs,
                     t->func_names,     t->func_files,   t->func_lines, t->func_sources,
                     t->func_resources, t->resource_libs};
    for (unsigned i = 0; i < G_N_ELEMENTS(all); i++) {
        if (all[i] != NULL)
            g_array_unref(all[i]);
    }
    g_free(t->name);
    g_free(t);
}

/* --- rows --- */

size_t fm_firefox_sampled(const struct fm_firefox_thread *thread, size_t sample)
{
    return index_at(thread->sampled, sample);
}

double fm_firefox_weight(const struct fm_firefox_thread *thread, size_t sample)
{
    double weight = number_at(thread->weights, sample);
    return isnan(weight) ? 1 : weight;
}

double fm_firefox_cpu(const struct fm_firefox_thread *thread, size_t sample)
{
    return number_at(thread->cpu, sample);
}

bool fm_firefox_stack(const struct fm_firefox_thread *thread, size_t stack, size_t *ret_frame,
                      size_t *ret_parent)
{
    *ret_frame = index_at(thread->stack_frames, stack);
    *ret_parent = index_at(thread->prefixes, stack);
    if (thread->prefixes == NULL && thread->offsets != NULL) {
        size_t offset = index_at(thread->offsets, stack);
        *ret_parent = offset == 0 ? SIZE_MAX : offset > stack ? stack : stack - offset;
    }
    return stack < thread->stack_count && *ret_frame < thread->frame_count &&
           (*ret_parent == SIZE_MAX || *ret_parent < stack);
}

static char *string_at(const GArray *strings, size_t index)
{
    return index < strings->len
               ? fm_json_string(g_array_index(strings, struct fm_json_value, index))
               : g_strdup("");
}

void fm_firefox_function(const struct fm_firefox_thread *thread, size_t frame,
                         struct fm_firefox_function *ret)
{
    *ret = (struct fm_firefox_function){0};
    if (thread->funcs == NULL) {
        ret->name = string_at(thread->strings, index_at(thread->locations, frame));
        ret->file = g_strdup("");
        return;
    }
    size_t function = index_at(thread->funcs, frame);
    size_t source = index_at(thread->func_sources, function);
    double line = number_at(thread->func_lines, function);
    ret->name = string_at(thread->strings, index_at(thread->func_names, function));
    if (source < thread->sources->len) { /* a text, or its number */
        struct fm_json_value file = g_array_index(thread->sources, struct fm_json_value, source);
        uint64_t number;
        ret->file = fm_json_whole(file, &number) ? string_at(thread->strings, number)
                                                 : fm_json_string(file);
    } else {
        ret->file = string_at(thread->strings, index_at(thread->func_files, function));
    }
    ret->line = line >= 1 && line < UINT32_MAX ? (uint32_t)line : 0;
}

void fm_firefox_function_done(struct fm_firefox_function *function)
{
    g_free(function->name);
    g_free(function->file);
}

static char *name_of_library(struct fm_json_value library)
{
    g_autofree char *name = fm_json_string(fm_json_member(library, "name"));
    return g_path_get_basename(name[0] == '\0' ? "[unknown]" : name);
}

char *fm_firefox_library(const struct fm_firefox_thread *thread, size_t frame, const char *address)
{
    size_t number = index_at(thread->frame_libs, frame);
    if (thread->frame_libs == NULL)
        number = index_at(thread->resource_libs,
                          index_at(thread->func_resources, index_at(thread->funcs, frame)));
    if (number < thread->libs->len)
        return name_of_library(g_array_index(thread->libs, struct fm_json_value, number));
    uint64_t at = g_ascii_strtoull(address, NULL, 16);
    for (guint i = 0; at != 0 && i < thread->libs->len; i++) {
        struct fm_json_value library = g_array_index(thread->libs, struct fm_json_value, i);
        uint64_t start, end;
        if (fm_json_whole(fm_json_member(library, "start"), &start) &&
            fm_json_whole(fm_json_member(library, "end"), &end) && at >= start && at < end)
            return name_of_library(library);
    }
    return g_strdup("");
}

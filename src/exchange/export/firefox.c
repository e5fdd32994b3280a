/* SPDX-License-Identifier: Apache-2.0 */
/* The Firefox Profiler's processed profile, version 57: a table of stacks (a row a context, each
 * with the row above it), one track a thread and measure. Times are not known: samples stand in
 * the order of contexts, each as long as its weight. */
#include <math.h>

#include "base/text/json.h"
#include "exchange/export/internal.h"
#include "exchange/figures.h"
#include "exchange/gzip.h"

#define PREPROCESSED_VERSION 57
#define GECKO_VERSION 28
#define PIECE 65536u
#define NS_PER_MS 1e6

struct firefox {
    const struct fm_exchange_nodes *nodes;
    const struct fm_profile *profile;
    struct fm_exchange_names names;
    struct fm_gzip *gzip;
    struct fm_json json;
    GHashTable *string_ids;
    GPtrArray *strings;    /* borrowed keys */
    uint32_t *row;         /* [node] in the thread's stack table */
    uint32_t *function_of; /* [ps] + 1 in the thread's function table; 0 = not there */
    GArray *functions;     /* uint32_t ps, of the thread */
};

static void flush(struct firefox *x, gsize least)
{
    if (x->json.out->len < least)
        return;
    fm_gzip_write(x->gzip, x->json.out->str, x->json.out->len);
    g_string_truncate(x->json.out, 0);
}

static uint32_t string_id(struct firefox *x, const char *text)
{
    gpointer id;
    if (g_hash_table_lookup_extended(x->string_ids, text, NULL, &id))
        return GPOINTER_TO_UINT(id);
    char *key = g_strdup(text);
    g_ptr_array_add(x->strings, key);
    g_hash_table_insert(x->string_ids, key, GUINT_TO_POINTER(x->strings->len - 1));
    return x->strings->len - 1;
}

static void empty_arrays(struct firefox *x, const char *const *names)
{
    for (; *names != NULL; names++) {
        fm_json_array(&x->json, *names);
        fm_json_end(&x->json);
    }
    fm_json_uint(&x->json, "length", 0);
}

static void same(struct firefox *x, const char *name, uint32_t count, const char *kind)
{
    fm_json_array(&x->json, name);
    for (uint32_t i = 0; i < count; i++) {
        if (*kind == 'n')
            fm_json_null(&x->json, NULL);
        else if (*kind == 'f')
            fm_json_bool(&x->json, NULL, false);
        else
            fm_json_int(&x->json, NULL, *kind == '0' ? 0 : -1);
        flush(x, PIECE);
    }
    fm_json_end(&x->json);
}

static void write_meta(struct firefox *x)
{
    struct fm_json *json = &x->json;
    uint64_t ticks = x->profile->ticks_per_second;
    fm_json_object(json, "meta");
    fm_json_double(json, "interval", ticks != 0 ? 1e3 / (double)ticks : 1);
    fm_json_double(json, "startTime", (double)x->profile->run_info.process.start_ns / NS_PER_MS);
    fm_json_int(json, "processType", 0);
    fm_json_text(json, "product", x->profile->program_name);
    fm_json_int(json, "preprocessedProfileVersion", PREPROCESSED_VERSION);
    fm_json_int(json, "version", GECKO_VERSION);
    fm_json_array(json, "categories");
    fm_json_object(json, NULL);
    fm_json_text(json, "name", "Other");
    fm_json_text(json, "color", "grey");
    fm_json_array(json, "subcategories");
    fm_json_text(json, NULL, "Other");
    fm_json_end(json);
    fm_json_end(json);
    fm_json_end(json);
    fm_json_array(json, "markerSchema");
    fm_json_end(json);
    fm_json_object(json, "sampleUnits");
    fm_json_text(json, "time", "ms");
    fm_json_text(json, "eventDelay", "ms");
    fm_json_text(json, "threadCPUDelta", "µs");
    fm_json_end(json);
    fm_json_object(json, "extensions");
    empty_arrays(x, (const char *const[]){"baseURL", "id", "name", NULL});
    fm_json_end(json);
    fm_json_bool(json, "debug", false);
    fm_json_bool(json, "symbolicated", true);
    fm_json_array(json, "pausedRanges");
    fm_json_end(json);
    fm_json_bool(json, "usesOnlyOneStackType", true);
    fm_json_bool(json, "sourceCodeIsNotOnSearchfox", true);
    fm_json_text(json, "importedFrom", "fathom");
    g_autofree char *figures = fm_figures_text(x->nodes);
    fm_json_text(json, "fathom", figures);
    fm_json_end(json);
}

/* The number of a function in the thread's tables, which has it from now on. */
static uint32_t function_row(struct firefox *x, uint32_t ps)
{
    if (x->function_of[ps] == 0) {
        g_array_append_val(x->functions, ps);
        x->function_of[ps] = x->functions->len;
    }
    return x->function_of[ps] - 1;
}

/* The thread's nodes are first to end - 1, its stack table's rows in that order. */
static void write_stacks(struct firefox *x, uint32_t first, uint32_t end)
{
    g_assert(first <= end);
    struct fm_json *json = &x->json;
    fm_json_object(json, "stackTable");
    fm_json_array(json, "frame");
    for (uint32_t i = first; i < end; i++, flush(x, PIECE))
        fm_json_uint(json, NULL, function_row(x, x->nodes->nodes[i].ps));
    fm_json_end(json);
    fm_json_array(json, "prefix");
    for (uint32_t i = first; i < end; i++, flush(x, PIECE)) {
        uint32_t parent = x->nodes->nodes[i].parent;
        if (parent == 0)
            fm_json_null(json, NULL);
        else
            fm_json_uint(json, NULL, x->row[parent]);
    }
    fm_json_end(json);
    fm_json_uint(json, "length", end - first);
    fm_json_end(json);
}

/* Writes the line at which each of the thread's functions begins. */
static void write_lines(struct firefox *x, const char *name)
{
    fm_json_array(&x->json, name);
    for (guint i = 0; i < x->functions->len; i++, flush(x, PIECE)) {
        uint32_t ps = g_array_index(x->functions, uint32_t, i);
        if (ps == 0 || x->profile->ps[ps].line == 0)
            fm_json_null(&x->json, NULL);
        else
            fm_json_uint(&x->json, NULL, x->profile->ps[ps].line);
    }
    fm_json_end(&x->json);
}

/* A frame is a function: what else a frame may say is the same in all contexts. */
static void write_frames(struct firefox *x)
{
    struct fm_json *json = &x->json;
    uint32_t count = x->functions->len;
    fm_json_object(json, "frameTable");
    fm_json_array(json, "func");
    for (uint32_t i = 0; i < count; i++, flush(x, PIECE))
        fm_json_uint(json, NULL, i);
    fm_json_end(json);
    write_lines(x, "line");
    same(x, "column", count, "null");
    same(x, "address", count, "-1");
    same(x, "inlineDepth", count, "0");
    same(x, "category", count, "0");
    same(x, "subcategory", count, "0");
    same(x, "nativeSymbol", count, "null");
    same(x, "innerWindowID", count, "null");
    fm_json_uint(json, "length", count);
    fm_json_end(json);
}

static const char *function_name(const struct firefox *x, uint32_t ps)
{
    return ps == 0 ? "(small contexts)" : x->names.name[ps];
}

static void write_functions(struct firefox *x)
{
    struct fm_json *json = &x->json;
    uint32_t count = x->functions->len;
    fm_json_object(json, "funcTable");
    fm_json_array(json, "name");
    for (uint32_t i = 0; i < count; i++, flush(x, PIECE))
        fm_json_uint(json, NULL,
                     string_id(x, function_name(x, g_array_index(x->functions, uint32_t, i))));
    fm_json_end(json);
    same(x, "isJS", count, "false");
    same(x, "relevantForJS", count, "false");
    same(x, "resource", count, "-1");
    fm_json_array(json, "fileName");
    for (uint32_t i = 0; i < count; i++, flush(x, PIECE)) {
        uint32_t ps = g_array_index(x->functions, uint32_t, i);
        if (ps == 0 || *x->names.file[ps] == '\0')
            fm_json_null(json, NULL);
        else
            fm_json_uint(json, NULL, string_id(x, x->names.file[ps]));
    }
    fm_json_end(json);
    write_lines(x, "lineNumber");
    same(x, "columnNumber", count, "null");
    fm_json_uint(json, "length", count);
    fm_json_end(json);
}

/* In the unit of the track: milliseconds of time. */
static double weight_of(const struct firefox *x, unsigned column, uint32_t node)
{
    double own = (double)fm_exchange_own(x->nodes, column, node);
    return g_str_equal(x->nodes->columns[column].unit, "nanoseconds") ? own / NS_PER_MS : own;
}

/* Whole numbers, which most are, without the search for the shortest digits. */
static void put_number(struct firefox *x, double value)
{
    if (fabs(value) < 1e15 && floor(value) == value)
        fm_json_int(&x->json, NULL, (int64_t)value);
    else
        fm_json_double(&x->json, NULL, value);
}

static void write_samples(struct firefox *x, uint32_t first, uint32_t end, unsigned column)
{
    g_assert(first <= end && column < x->nodes->column_count);
    struct fm_json *json = &x->json;
    const char *unit = x->nodes->columns[column].unit;
    uint32_t count = 0;
    double time = 0;
    fm_json_object(json, "samples");
    fm_json_array(json, "stack");
    for (uint32_t i = first; i < end; i++, flush(x, PIECE)) {
        if (fm_exchange_own(x->nodes, column, i) > 0)
            fm_json_uint(json, NULL, x->row[i]), count++;
    }
    fm_json_end(json);
    fm_json_array(json, "time");
    for (uint32_t i = first; i < end; i++, flush(x, PIECE)) {
        if (fm_exchange_own(x->nodes, column, i) > 0) {
            put_number(x, time);
            time += weight_of(x, column, i);
        }
    }
    fm_json_end(json);
    fm_json_array(json, "weight");
    for (uint32_t i = first; i < end; i++, flush(x, PIECE)) {
        if (fm_exchange_own(x->nodes, column, i) > 0)
            put_number(x, weight_of(x, column, i));
    }
    fm_json_end(json);
    fm_json_text(json, "weightType",
                 g_str_equal(unit, "nanoseconds") ? "tracing-ms"
                 : g_str_equal(unit, "bytes")     ? "bytes"
                                                  : "samples");
    fm_json_uint(json, "length", count);
    fm_json_end(json);
}

static void write_thread(struct firefox *x, uint32_t first, uint32_t end, unsigned column,
                         unsigned number)
{
    struct fm_json *json = &x->json;
    uint32_t ps = fm_exchange_thread_ps(x->nodes, first);
    const char *thread = ps == 0 ? x->profile->program_name : function_name(x, ps);
    g_autofree char *name = g_strdup_printf("%s: %s", thread, x->nodes->columns[column].name);
    g_autofree char *pid = g_strdup_printf("%u", x->profile->run_info.process.pid);
    fm_json_object(json, NULL);
    fm_json_text(json, "name", name);
    fm_json_object(json, "fathom"); /* for our own import: others know no columns */
    fm_json_text(json, "column", x->nodes->columns[column].name);
    if (ps != 0)
        fm_json_text(json, "thread", thread);
    fm_json_end(json);
    fm_json_bool(json, "isMainThread", number == 0);
    fm_json_text(json, "processType", "default");
    fm_json_text(json, "processName", x->profile->program_name);
    fm_json_int(json, "processStartupTime", 0);
    fm_json_null(json, "processShutdownTime");
    fm_json_int(json, "registerTime", 0);
    fm_json_null(json, "unregisterTime");
    fm_json_array(json, "pausedRanges");
    fm_json_end(json);
    fm_json_text(json, "pid", pid);
    fm_json_uint(json, "tid", number + 1);
    for (uint32_t i = first; i < end; i++)
        x->row[i] = i - first;
    g_array_set_size(x->functions, 0);
    write_samples(x, first, end, column);
    write_stacks(x, first, end);
    write_frames(x);
    write_functions(x);
    for (guint i = 0; i < x->functions->len; i++)
        x->function_of[g_array_index(x->functions, uint32_t, i)] = 0;
    fm_json_object(json, "markers");
    empty_arrays(x, (const char *const[]){"name", "data", "startTime", "endTime", "phase",
                                          "category", NULL});
    fm_json_end(json);
    fm_json_object(json, "nativeSymbols");
    empty_arrays(x, (const char *const[]){"libIndex", "address", "name", "functionSize", NULL});
    fm_json_end(json);
    fm_json_object(json, "resourceTable");
    empty_arrays(x, (const char *const[]){"lib", "name", "host", "type", NULL});
    fm_json_end(json);
    fm_json_end(json);
}

static bool has_any(const struct firefox *x, uint32_t first, uint32_t end, unsigned column)
{
    for (uint32_t i = first; i < end; i++) {
        if (fm_exchange_own(x->nodes, column, i) > 0)
            return true;
    }
    return false;
}

static void write_threads(struct firefox *x)
{
    unsigned number = 0;
    fm_json_array(&x->json, "threads");
    for (unsigned turn = 0; turn < x->nodes->column_count; turn++) {
        unsigned column = fm_exchange_column_in_turn(x->nodes, turn);
        for (uint32_t first = 1, end; first < x->nodes->count; first = end) {
            end = fm_exchange_thread_end(x->nodes, first);
            if (has_any(x, first, end, column))
                write_thread(x, first, end, column, number++);
        }
    }
    fm_json_end(&x->json);
}

static void write_all(struct firefox *x)
{
    fm_json_object(&x->json, NULL);
    write_meta(x);
    fm_json_array(&x->json, "libs");
    fm_json_end(&x->json);
    write_threads(x);
    fm_json_object(&x->json, "shared"); /* last: by then all strings are known */
    fm_json_array(&x->json, "stringArray");
    for (guint i = 0; i < x->strings->len; i++, flush(x, PIECE))
        fm_json_text(&x->json, NULL, g_ptr_array_index(x->strings, i));
    fm_json_end(&x->json);
    fm_json_end(&x->json);
    fm_json_end(&x->json);
    flush(x, 0);
}

bool fm_export_firefox(const struct fm_analysis *a, const struct fm_export_options *options,
                       struct fm_writer *out, GPtrArray *notes, GError **error)
{
    struct fm_exchange_nodes nodes;
    if (!fm_exchange_nodes_init(&nodes, a, options->min_share, error))
        return false;
    g_autoptr(GString) text = g_string_new(NULL);
    struct firefox x = {.nodes = &nodes, .profile = a->profile, .gzip = fm_gzip_new(out, 1)};
    x.string_ids = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    x.strings = g_ptr_array_new();
    x.row = g_new0(uint32_t, nodes.count);
    x.function_of = g_new0(uint32_t, a->profile->ps_count + 1);
    x.functions = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    fm_exchange_names_init(&x.names, a->profile, false, options->strip_path);
    fm_json_init(&x.json, text);
    write_all(&x);
    fm_gzip_finish(x.gzip);
    fm_export_note_folding(notes, &nodes);
    fm_export_note(notes, "the time axis is the sum of the weights: when a context ran is not "
                          "recorded");
    fm_exchange_names_done(&x.names);
    g_array_free(x.functions, TRUE);
    g_free(x.row);
    g_free(x.function_of);
    g_ptr_array_free(x.strings, TRUE);
    g_hash_table_destroy(x.string_ids);
    fm_exchange_nodes_done(&nodes);
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* pprof: one message Profile in gzip. Written piece by piece, since messages one behind the other
 * are one whose lists are joined: memory goes by locations and strings, not by samples. */
#include <string.h>

#include "exchange/export/internal.h"
#include "exchange/export/tables.h"
#include "exchange/figures.h"
#include "exchange/gzip.h"
#include "pprof.pb-c.h"

#define NANOSECONDS 1000000000u

struct pprof {
    const struct fm_exchange_nodes *nodes;
    const struct fm_profile *profile;
    struct fm_export_tables tables;
    struct fm_gzip *gzip;
    GByteArray *packed;
};

static int64_t string_id(struct pprof *x, const char *text)
{
    return fm_export_string(&x->tables, text);
}

static void put(struct pprof *x, const FathomPprof__Profile *part)
{
    g_byte_array_set_size(x->packed, (guint)fathom_pprof__profile__get_packed_size(part));
    fm_gzip_write(x->gzip, x->packed->data, fathom_pprof__profile__pack(part, x->packed->data));
}

/* Average quanta of a sample, weighted by its quanta; one tick if it is not recorded. */
static uint64_t quanta_a_sample(const struct fm_profile *p)
{
    const struct fm_run_info *run = &p->run_info;
    if (run->sample_count == 0 || p->user_quanta == 0)
        return 1;
    bool known = run->sample_squares > 0 && run->sample_squares < UINT64_MAX;
    uint64_t each =
        known ? run->sample_squares / p->user_quanta : p->user_quanta / run->sample_count;
    return MAX(each, 1);
}

/* False: there is none. */
static bool set_period(struct pprof *x, FathomPprof__ValueType *type, int64_t *ret)
{
    const struct fm_profile *p = x->profile;
    bool heap = p->ticks_per_second == 0 && fm_profile_is(p, FM_NATURE_HEAP_SAMPLED);
    if (heap && p->run_info.heap_period <= INT64_MAX) {
        type->type = string_id(x, "space");
        type->unit = string_id(x, "bytes");
        *ret = (int64_t)p->run_info.heap_period;
        return true;
    }
    if (p->ticks_per_second == 0 || !fm_profile_knows(p, FM_QUANTA))
        return false;
    const char *name = p->measures[FM_QUANTA].name;
    bool clock = fm_profile_is(p, FM_NATURE_CLOCK);
    type->type = string_id(x, !clock ? "cpu" : strcmp(name, "quanta") == 0 ? "time" : name);
    type->unit = string_id(x, "nanoseconds");
    __int128 period = (__int128)quanta_a_sample(p) * NANOSECONDS / (__int128)p->ticks_per_second;
    *ret = period > INT64_MAX ? INT64_MAX : (int64_t)period;
    return true;
}

static void put_types(struct pprof *x)
{
    FathomPprof__Profile part = FATHOM_PPROF__PROFILE__INIT;
    FathomPprof__ValueType types[FM_EXCHANGE_COLUMNS_MAX], *list[FM_EXCHANGE_COLUMNS_MAX];
    FathomPprof__ValueType period = FATHOM_PPROF__VALUE_TYPE__INIT;
    unsigned count = x->nodes->column_count;
    for (unsigned i = 0; i < count; i++) {
        fathom_pprof__value_type__init(&types[i]);
        types[i].type = string_id(x, x->nodes->columns[i].name);
        types[i].unit = string_id(x, x->nodes->columns[i].unit);
        list[i] = &types[i];
    }
    part.n_sample_type = count;
    part.sample_type = list;
    part.default_sample_type =
        string_id(x, x->nodes->columns[fm_exchange_main_column(x->nodes)].name);
    if (set_period(x, &period, &part.period))
        part.period_type = &period;
    part.time_nanos = (int64_t)x->profile->run_info.process.start_ns;
    part.duration_nanos = (int64_t)x->profile->run_info.duration_ns;
    put(x, &part);
}

static void put_sample(struct pprof *x, uint32_t index, GArray *stack)
{
    FathomPprof__Profile part = FATHOM_PPROF__PROFILE__INIT;
    FathomPprof__Sample sample = FATHOM_PPROF__SAMPLE__INIT, *one = &sample;
    FathomPprof__Label label = FATHOM_PPROF__LABEL__INIT, *labels = &label;
    int64_t values[FM_EXCHANGE_COLUMNS_MAX];
    fm_export_stack(&x->tables, x->nodes, index, stack);
    for (unsigned i = 0; i < x->nodes->column_count; i++)
        values[i] = fm_exchange_own(x->nodes, i, index);
    sample.n_location_id = stack->len;
    sample.location_id = (uint64_t *)(void *)stack->data;
    sample.n_value = x->nodes->column_count;
    sample.value = values;
    uint32_t thread = fm_exchange_thread_ps(x->nodes, index);
    if (thread != 0) {
        label.key = string_id(x, "thread");
        label.str = string_id(x, x->tables.names.name[thread]);
        sample.n_label = 1;
        sample.label = &labels;
    }
    part.n_sample = 1;
    part.sample = &one;
    put(x, &part);
}

static void put_locations(struct pprof *x)
{
    for (guint i = 0; i < x->tables.locations->len; i++) {
        guint64 key = g_array_index(x->tables.locations, guint64, i);
        FathomPprof__Profile part = FATHOM_PPROF__PROFILE__INIT;
        FathomPprof__Location location = FATHOM_PPROF__LOCATION__INIT, *one = &location;
        FathomPprof__Line line = FATHOM_PPROF__LINE__INIT, *lines = &line;
        line.function_id = key >> 32;
        line.line = (int64_t)(key & UINT32_MAX);
        location.id = i + 1;
        location.mapping_id = 1;
        location.n_line = 1;
        location.line = &lines;
        part.n_location = 1;
        part.location = &one;
        put(x, &part);
    }
}

static void put_function(struct pprof *x, uint64_t id, const char *name, const char *system,
                         const char *file, uint32_t line)
{
    FathomPprof__Profile part = FATHOM_PPROF__PROFILE__INIT;
    FathomPprof__Function function = FATHOM_PPROF__FUNCTION__INIT, *one = &function;
    function.id = id;
    function.name = string_id(x, name);
    function.system_name = string_id(x, *system != '\0' ? system : name);
    function.filename = string_id(x, file);
    function.start_line = line;
    part.n_function = 1;
    part.function = &one;
    put(x, &part);
}

/* Writes the functions that occur in some stack. */
static void put_functions(struct pprof *x)
{
    uint32_t count = x->profile->ps_count;
    g_autofree bool *used = g_new0(bool, count + 1);
    for (guint i = 0; i < x->tables.locations->len; i++) {
        guint64 function = g_array_index(x->tables.locations, guint64, i) >> 32;
        if (function <= count)
            used[function] = true;
    }
    for (uint32_t ps = 1; ps <= count; ps++) {
        if (used[ps])
            put_function(x, ps, x->tables.names.name[ps], x->tables.names.system[ps],
                         x->tables.names.file[ps], x->profile->ps[ps].line);
    }
    for (guint i = 0; i < x->tables.joined->len; i++)
        put_function(x, count + 1 + i, g_ptr_array_index(x->tables.joined, i), "", "", 0);
}

/* The program, the comments, and the strings: last, when all are known. */
static void put_rest(struct pprof *x, const GPtrArray *notes)
{
    FathomPprof__Profile part = FATHOM_PPROF__PROFILE__INIT;
    FathomPprof__Mapping mapping = FATHOM_PPROF__MAPPING__INIT, *one = &mapping;
    g_autoptr(GArray) comments = g_array_new(FALSE, FALSE, sizeof(int64_t));
    mapping.id = 1;
    mapping.filename = string_id(x, x->profile->program_name);
    mapping.has_functions = mapping.has_filenames = true;
    mapping.has_line_numbers = mapping.has_inline_frames = true;
    g_autofree char *figures = fm_figures_text(x->nodes);
    int64_t told = string_id(x, figures);
    g_array_append_val(comments, told);
    for (guint i = 0; i < notes->len; i++) {
        int64_t id = string_id(x, g_ptr_array_index(notes, i));
        g_array_append_val(comments, id);
    }
    part.n_mapping = 1;
    part.mapping = &one;
    part.n_comment = comments->len;
    part.comment = (int64_t *)(void *)comments->data;
    part.n_string_table = x->tables.strings->len;
    part.string_table = (char **)x->tables.strings->pdata;
    put(x, &part);
}

bool fm_export_pprof(const struct fm_analysis *a, const struct fm_export_options *options,
                     struct fm_writer *out, GPtrArray *notes, GError **error)
{
    struct fm_exchange_nodes nodes;
    if (!fm_exchange_nodes_init(&nodes, a, options->min_share, error))
        return false;
    struct pprof x = {.nodes = &nodes, .profile = a->profile, .gzip = fm_gzip_new(out, 6)};
    g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    fm_export_note_folding(notes, &nodes);
    fm_export_tables_init(&x.tables, a->profile, options->strip_path);
    x.packed = g_byte_array_new();
    put_types(&x);
    for (uint32_t i = 1; i < nodes.count; i++) {
        if (fm_exchange_has_own(&nodes, i))
            put_sample(&x, i, stack);
    }
    put_locations(&x);
    put_functions(&x);
    put_rest(&x, notes);
    fm_gzip_finish(x.gzip);
    g_byte_array_free(x.packed, TRUE);
    fm_export_tables_done(&x.tables);
    fm_exchange_nodes_done(&nodes);
    return true;
}

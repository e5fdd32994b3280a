/* SPDX-License-Identifier: Apache-2.0 */
/* pprof's protobuf: samples with stacks of locations, each with its inlined bodies. Samples are
 * read where they stand, so memory is that of the file, its tables and the profile. */
#include <string.h>

#include "base/error.h"
#include "exchange/import/internal.h"
#include "exchange/import/memo.h"
#include "exchange/import/protobuf/pprof_tables.h"
#include "exchange/import/protobuf/sample_types.h"

#define TELLING_FIELDS 4096u /* by which the format is recognised */
#define TYPE_BYTES_MAX 22u   /* two tags and numbers */
/* Memory of the tables: multiples of the bytes, and of the file, which may be packed. */
#define MEMORY_TIMES 32u
#define MEMORY_TIMES_OF_FILE 400u
#define MEMORY_ALWAYS ((uint64_t)1 << 20)
#define MEMORY_ALWAYS_OF_FILE ((uint64_t)64 << 20)
/* A location may stand for many inlined frames, and many samples for a location: frames are a
 * product. What compilers write has a few to a byte, and far fewer contexts, since stacks begin
 * alike. */
#define FRAMES_A_BYTE 64u
#define FRAMES_ALWAYS ((uint64_t)1 << 24)
#define CONTEXTS_ALWAYS ((uint64_t)1 << 20) /* and one a byte */
enum { FIELD_SAMPLE_TYPE = 1, FIELD_SAMPLE, FIELD_COMMENT = 13, FIELD_LAST = 15 };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABELS };
enum { LABEL_KEY = 1, LABEL_TEXT };

typedef struct fm_pprof_location Location;
typedef struct fm_pprof_line Line;

struct pprof {
    const struct fm_import_input *input;
    struct fm_pprof_tables tables;
    struct fm_stacks *stacks;
    char *texts[FM_MEASURES_MAX][2]; /* names and units of the sample types */
    struct fm_import_columns columns;
    struct fm_import_memo *memo;      /* of lists of locations, to fm_stacks_keep() */
    GArray *path;                     /* uint64_t: locations of the current sample */
    const Location *widest;           /* location with most inlined bodies */
    uint64_t frames;                  /* frames of all samples so far */
    uint64_t number;                  /* of the current sample, from 1 */
    struct fm_import_figures figures; /* for fathom's own exports */
    uint64_t thread;                  /* string: thread of the current sample, 0 = none */
};

/* Fields stand in any order: Go begins with the time. So all of the first have to be of the format,
 * and one of them a sample type, which no text looks like. The bytes may be a part of the file. */
bool fm_import_is_pprof(const struct fm_import_input *input)
{
    size_t at = 0;
    bool typed = false;
    for (unsigned i = 0; i < TELLING_FIELDS && at < input->size; i++) {
        uint64_t tag, value;
        if (!fm_fields_number(input->bytes, input->size, &at, &tag))
            break;
        uint64_t field = tag >> 3, wire = tag & 7;
        bool long_one = wire == 2, is_message = (field >= 1 && field <= 6) || field == 11;
        if (field == 0 || field > FIELD_LAST || (wire != 0 && !long_one) ||
            (is_message != long_one && field != FIELD_COMMENT))
            return false;
        if (!fm_fields_number(input->bytes, input->size, &at, &value))
            break;
        if (!long_one)
            continue;
        if (field == FIELD_SAMPLE_TYPE) {
            if (value > TYPE_BYTES_MAX || (value > 0 && at < input->size &&
                                           input->bytes[at] != 0x08 && input->bytes[at] != 0x10))
                return false;
            typed = true;
        }
        if (value > input->size - at)
            break;
        at += value;
    }
    return typed;
}

static bool fail_damaged(const struct pprof *in, GError **error)
{
    return fm_import_fail(in->input, error,
                          "the bytes, %zu when unpacked, are no whole message of pprof's format",
                          in->input->size);
}

static bool is_text(struct fm_pprof_text text, const char *other)
{
    return text.size == strlen(other) && memcmp(text.text, other, text.size) == 0;
}

static bool is_same(struct fm_pprof_text text, struct fm_pprof_text other)
{
    return text.size == other.size && memcmp(text.text, other.text, text.size) == 0;
}

static void find_figures(struct pprof *in)
{
    for (guint i = 0; i < in->tables.comments->len && !in->figures.told.told; i++) {
        struct fm_pprof_text comment =
            fm_pprof_string(&in->tables, g_array_index(in->tables.comments, uint64_t, i));
        fm_figures_parse(comment.text, comment.size, &in->figures.told);
    }
    if (in->figures.told.told)
        fm_import_figures_begin(&in->figures, in->stacks);
}

/* Go's heap and others: one allocation in so many bytes is seen, and stands for all. */
static void set_heap_period(struct pprof *in)
{
    const struct fm_pprof_tables *t = &in->tables;
    if (t->has_period_type && (int64_t)t->period > 1 &&
        is_text(fm_pprof_string(t, t->period_type.unit), "bytes"))
        fm_build_nature(fm_stacks_build(in->stacks), FM_NATURE_HEAP_SAMPLED, t->period);
}

/* Neither a time nor bytes is among the sample types. */
static bool counts_alone(const struct pprof *in)
{
    uint64_t per_second;
    for (size_t i = 0; i < in->columns.count; i++) {
        const char *unit = in->columns.types[i].unit;
        if (fm_import_time_unit(unit, &per_second) || strcmp(unit, "bytes") == 0)
            return false;
    }
    return true;
}

static void set_period(struct pprof *in)
{
    const struct fm_pprof_tables *t = &in->tables;
    g_autofree char *unit = fm_pprof_string_dup(t, t->period_type.unit);
    if (t->has_period_type && (int64_t)t->period > 0)
        fm_import_columns_period(&in->columns, t->period, unit);
    else if (counts_alone(in))
        fm_build_note(fm_stacks_build(in->stacks),
                      "the file does not say how long a sample stands for: samples are counted");
}

/* --- samples --- */

/* Makes the function of a line, once. */
static bool make_function(struct pprof *in, const Location *location, Line *line, GError **error)
{
    if (line->made != UINT32_MAX)
        return true;
    const struct fm_pprof_function *function = fm_pprof_function(&in->tables, line->function);
    if (function == NULL)
        return fm_import_fail(in->input, error,
                              "location %" G_GUINT64_FORMAT " names function %" G_GUINT64_FORMAT
                              ", which is not there",
                              (guint64)location->id, (guint64)line->function);
    struct fm_pprof_text name = fm_pprof_string(&in->tables, function->name),
                         file = fm_pprof_string(&in->tables, function->file),
                         unit =
                             file.size > 0 ? file : fm_pprof_file(&in->tables, location->mapping);
    line->made = fm_stacks_function(
        in->stacks, &(struct fm_stacks_name){
                        .name = name.text,
                        .size = name.size,
                        .unit = unit.text,
                        .unit_size = unit.size,
                        .file = file.text,
                        .file_size = file.size,
                        .line = function->line <= UINT32_MAX ? (uint32_t)function->line : 0,
                        .begins = true});
    return true;
}

/* Code that nobody named: its address does. */
static uint32_t address_of(struct pprof *in, const Location *location)
{
    char name[32];
    struct fm_pprof_text unit = fm_pprof_file(&in->tables, location->mapping);
    int size =
        g_snprintf(name, sizeof name, "0x%" G_GINT64_MODIFIER "x", (guint64)location->address);
    return fm_stacks_function(in->stacks, &(struct fm_stacks_name){.name = name,
                                                                   .size = (size_t)size,
                                                                   .unit = unit.text,
                                                                   .unit_size = unit.size});
}

/* Our own exports have the thread as the outermost function, too. */
static bool is_thread(const struct pprof *in, uint64_t id)
{
    if (in->thread == 0 || fm_stacks_depth(in->stacks) != 1)
        return false;
    const struct fm_pprof_function *function = fm_pprof_function(&in->tables, id);
    return function != NULL && is_same(fm_pprof_string(&in->tables, function->name),
                                       fm_pprof_string(&in->tables, in->thread));
}

static bool check_product(struct pprof *in, const Location *location, GError **error)
{
    uint64_t size = in->input->size;
    in->frames += MAX(location->count, 1);
    if (in->widest == NULL || location->count > in->widest->count)
        in->widest = location;
    bool few = fm_stacks_calls(in->stacks) <= size + CONTEXTS_ALWAYS;
    if (few && in->frames <= size * FRAMES_A_BYTE + FRAMES_ALWAYS)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_LIMIT,
                "%s: its samples have more than %" G_GUINT64_FORMAT
                " %s: location %" G_GUINT64_FORMAT " alone stands for %zu frames; expected no more "
                "than a profile of %zu bytes has",
                in->input->name, few ? in->frames : (guint64)fm_stacks_calls(in->stacks),
                few ? "frames" : "calls in context", (guint64)in->widest->id, in->widest->count,
                in->input->size);
    return false;
}

static bool push_location(struct pprof *in, uint64_t id, uint32_t *line, GError **error)
{
    const Location *location = fm_pprof_location(&in->tables, id);
    if (location == NULL)
        return fm_import_fail(in->input, error,
                              "a sample names location %" G_GUINT64_FORMAT ", which is not there",
                              (guint64)id);
    if (!check_product(in, location, error))
        return false;
    for (size_t i = location->count; i > 0; i--) {
        Line *at = &g_array_index(in->tables.lines, Line, location->first + i - 1);
        if (!is_thread(in, at->function)) {
            if (!make_function(in, location, at, error))
                return false;
            fm_stacks_push(in->stacks, at->made, *line);
        }
        *line = at->line;
    }
    if (location->count == 0) {
        fm_stacks_push(in->stacks, address_of(in, location), *line);
        *line = 0;
    }
    return true;
}

/* What a sample has, where it stands. */
struct sample {
    struct fm_field locations; /* the packed list of all; size 0 = there is none, or several */
    guint lists;               /* fields with locations */
    uint64_t values[FM_MEASURES_MAX];
    size_t count; /* of values, maybe more than fit */
};

static bool read_label(struct pprof *in, const struct fm_field *label, GError **error)
{
    struct fm_fields fields = fm_fields_in(label);
    struct fm_field field;
    uint64_t key = 0, text = 0;
    while (fm_fields_next(&fields, &field)) {
        if (field.number == LABEL_KEY)
            key = field.value;
        else if (field.number == LABEL_TEXT)
            text = field.value;
    }
    if (label->wire != FM_WIRE_BYTES || fields.at != fields.end)
        return fail_damaged(in, error);
    if (in->thread == 0 && fm_pprof_string(&in->tables, text).size > 0 &&
        is_text(fm_pprof_string(&in->tables, key), "thread"))
        in->thread = text;
    return true;
}

static bool read_sample(struct pprof *in, const struct fm_field *message, struct sample *ret,
                        GError **error)
{
    struct fm_fields fields = fm_fields_in(message);
    struct fm_field field;
    uint64_t value;
    ret->locations = (struct fm_field){.wire = FM_WIRE_BYTES};
    ret->lists = 0;
    ret->count = 0;
    in->thread = 0;
    while (fm_fields_next(&fields, &field)) {
        if (field.number == SAMPLE_LOCATIONS) {
            ret->locations = field;
            ret->lists++;
        } else if (field.number == SAMPLE_VALUES) {
            for (; fm_field_take(&field, &value); ret->count++) {
                if (ret->count < FM_MEASURES_MAX)
                    ret->values[ret->count] = value;
            }
            if (field.size > 0)
                return fail_damaged(in, error);
        } else if (field.number == SAMPLE_LABELS && !read_label(in, &field, error)) {
            return false;
        }
    }
    return fields.at == fields.end || fail_damaged(in, error);
}

static bool push_stack(struct pprof *in, const struct fm_field *message, GError **error)
{
    struct fm_field field;
    uint64_t location;
    uint32_t line = 0;
    g_array_set_size(in->path, 0);
    for (struct fm_fields fields = fm_fields_in(message); fm_fields_next(&fields, &field);) {
        while (field.number == SAMPLE_LOCATIONS && fm_field_take(&field, &location))
            g_array_append_val(in->path, location);
        if (field.number == SAMPLE_LOCATIONS && field.size > 0)
            return fail_damaged(in, error);
    }
    fm_stacks_cut(in->stacks, 0);
    if (in->thread != 0) {
        struct fm_pprof_text thread = fm_pprof_string(&in->tables, in->thread);
        fm_stacks_push_outside(in->stacks, thread.text, thread.size);
    }
    for (guint i = in->path->len; i > 0; i--) {
        if (!push_location(in, g_array_index(in->path, uint64_t, i - 1), &line, error))
            return false;
    }
    if (in->path->len == 0) /* its place is not known, but it happened */
        fm_stacks_push(in->stacks, fm_stacks_function(in->stacks, &(struct fm_stacks_name){0}), 0);
    return true;
}

static bool add_values(struct pprof *in, const struct sample *sample, GError **error)
{
    for (size_t i = 0; i < in->columns.count; i++) {
        if (sample->values[i] > INT64_MAX)
            return fm_import_fail(in->input, error,
                                  "a sample of %" G_GINT64_FORMAT ", expected none below 0 (a "
                                  "difference of two profiles is not imported)",
                                  (gint64)sample->values[i]);
        if (!fm_import_columns_add(&in->columns, i, sample->values[i])) {
            g_set_error(error, FM_ERROR, FM_ERROR_LIMIT,
                        "%s: its values are more than 2^63 together", in->input->name);
            return false;
        }
    }
    return true;
}

static bool add_sample(struct pprof *in, const struct fm_field *message, GError **error)
{
    struct sample sample;
    if (!read_sample(in, message, &sample, error))
        return false;
    in->number++;
    if (sample.count != in->columns.count)
        return fm_import_fail(in->input, error,
                              "sample %" G_GUINT64_FORMAT " has %zu values, expected %zu",
                              (guint64)in->number, sample.count, in->columns.count);
    bool one_list = sample.lists == 1 && sample.locations.wire == FM_WIRE_BYTES;
    uint32_t *call = !one_list ? NULL
                               : fm_import_memo_at(in->memo, (const char *)sample.locations.bytes,
                                                   sample.locations.size, (uint32_t)in->thread);
    in->columns.call = call != NULL ? *call : 0;
    if (in->columns.call == 0 && !push_stack(in, message, error))
        return false;
    if (in->columns.call == 0 && call != NULL)
        *call = fm_stacks_keep(in->stacks);
    return add_values(in, &sample, error);
}

static bool read_samples(struct pprof *in, GError **error)
{
    struct fm_field field;
    struct fm_fields fields = fm_fields_of(in->input->bytes, in->input->size);
    while (fm_fields_next(&fields, &field)) {
        if (field.number == FIELD_SAMPLE && !add_sample(in, &field, error))
            return false;
    }
    return in->number > 0 || fm_import_fail(in->input, error, "there is no sample in it");
}

static bool read_all(struct pprof *in, GError **error)
{
    const struct fm_pprof_tables *t = &in->tables;
    guint count = t->types->len;
    if (count == 0 || count > FM_MEASURES_MAX || fm_pprof_string(t, 0).size > 0)
        return fm_import_fail(in->input, error,
                              "%u sample types, expected 1 to %d, and an empty first string", count,
                              FM_MEASURES_MAX);
    find_figures(in);
    struct fm_import_type types[FM_MEASURES_MAX];
    struct fm_import_column columns[FM_MEASURES_MAX];
    g_autofree char *wanted = fm_pprof_string_dup(t, t->wanted);
    for (guint i = 0; i < count; i++) {
        struct fm_pprof_type type = g_array_index(t->types, struct fm_pprof_type, i);
        in->texts[i][0] = fm_pprof_string_dup(t, type.name);
        in->texts[i][1] = fm_pprof_string_dup(t, type.unit);
        types[i] = (struct fm_import_type){in->texts[i][0], in->texts[i][1]};
    }
    in->columns = (struct fm_import_columns){
        .stacks = in->stacks, .types = types, .count = count, .wanted = wanted, .columns = columns};
    fm_import_columns_choose(&in->columns, &in->figures);
    if (t->functions_are_numbered)
        fm_build_note(fm_stacks_build(in->stacks),
                      "the functions have no ids: their places in the file are taken as such");
    if (t->ids_repeat)
        return fm_import_fail(in->input, error, "two functions or two locations have the same id");
    if (!read_samples(in, error))
        return false;
    if (!in->figures.told.told) {
        set_period(in);
        set_heap_period(in);
        fm_import_columns_finish(&in->columns);
    }
    if ((int64_t)t->duration > 0)
        fm_build_header(fm_stacks_build(in->stacks))->duration_ns = t->duration;
    return true;
}

static bool read_tables(struct pprof *in, GError **error)
{
    const struct fm_import_input *input = in->input;
    uint64_t most = MIN(input->size * MEMORY_TIMES + MEMORY_ALWAYS,
                        input->file_size * MEMORY_TIMES_OF_FILE + MEMORY_ALWAYS_OF_FILE);
    enum fm_pprof_fault fault = fm_pprof_tables_read(&in->tables, input->bytes, input->size, most);
    if (fault == FM_PPROF_DAMAGED)
        return fail_damaged(in, error);
    if (fault == FM_PPROF_TOO_LARGE)
        g_set_error(error, FM_ERROR, FM_ERROR_LIMIT,
                    "%s: its messages would take more than %" G_GUINT64_FORMAT
                    " bytes of memory, which those of no profile of %zu bytes do",
                    input->name, (guint64)most, input->file_size);
    return fault == FM_PPROF_WHOLE;
}

bool fm_import_pprof(const struct fm_import_input *input, struct fm_profile **ret, GError **error)
{
    struct pprof in = {.input = input,
                       .stacks = fm_stacks_new(input->program, "pprof's protobuf"),
                       .memo = fm_import_memo_new(),
                       .path = g_array_new(FALSE, FALSE, sizeof(uint64_t))};
    bool done = read_tables(&in, error) && read_all(&in, error);
    if (done)
        done = fm_stacks_finish(g_steal_pointer(&in.stacks), ret, error);
    fm_stacks_free(in.stacks);
    fm_import_memo_free(in.memo);
    g_array_unref(in.path);
    fm_pprof_tables_done(&in.tables);
    for (unsigned i = 0; i < FM_MEASURES_MAX; i++) {
        g_free(in.texts[i][0]);
        g_free(in.texts[i][1]);
    }
    return done;
}

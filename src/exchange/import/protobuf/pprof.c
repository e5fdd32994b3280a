/* SPDX-License-Identifier: Apache-2.0 */
/* pprof's protobuf: samples with stacks of locations, each with its inlined bodies. */
#include <string.h>

#include "base/error.h"
#include "base/hash.h"
#include "exchange/import/protobuf/fields.h"
#include "exchange/import/internal.h"
#include "exchange/import/protobuf/pprof_size.h"
#include "exchange/import/protobuf/sample_types.h"
#include "pprof.pb-c.h"

#define TELLING_FIELDS 4096u /* by which the format is recognised */
#define TYPE_BYTES_MAX 22u   /* two tags and numbers */
/* Memory limits for unpacking: multiples of the unpacked size, and of the file size. */
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
enum { FIELD_SAMPLE_TYPE = 1, FIELD_COMMENT = 13, FIELD_LAST = 15 };

typedef FathomPprof__Profile Profile;
typedef FathomPprof__Sample Sample;
typedef FathomPprof__Location Location;
typedef FathomPprof__Function Function;
typedef FathomPprof__Mapping Mapping;

struct pprof {
    const struct fm_import_input *input;
    Profile *profile;
    struct fm_stacks *stacks;
    GHashTable *functions, *locations, *mappings; /* id -> index + 1 */
    struct fm_import_columns columns;
    uint32_t *made;         /* function of a location; UINT32_MAX: not yet, or it has several */
    const Location *widest; /* location with most of them */
    uint64_t frames;        /* frames of all samples so far */
    struct fm_import_figures figures; /* for fathom's own exports */
    const char *thread;               /* thread of the current sample, NULL = none */
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

static const char *string_at(const struct pprof *in, int64_t index)
{
    return index >= 0 && (uint64_t)index < in->profile->n_string_table
               ? in->profile->string_table[index]
               : "";
}

static GHashTable *index_new(void)
{
    return g_hash_table_new_full(fm_int64_hash, g_int64_equal, NULL, NULL);
}

/* A writer of .NET's left the ids of all functions out, and counts them from 1. */
static void number_functions(struct pprof *in)
{
    Profile *p = in->profile;
    for (size_t i = 0; i < p->n_function; i++) {
        if (p->function[i]->id != 0)
            return;
    }
    for (size_t i = 0; i < p->n_function; i++)
        p->function[i]->id = i + 1;
    if (p->n_function > 0)
        fm_build_note(fm_stacks_build(in->stacks),
                      "the functions have no ids: their places in the file are taken as such");
}

/* Ids are any numbers but 0. */
static bool index_all(struct pprof *in, GError **error)
{
    Profile *p = in->profile;
    number_functions(in);
    for (size_t i = 0; i < p->n_function; i++)
        g_hash_table_insert(in->functions, &p->function[i]->id, GSIZE_TO_POINTER(i + 1));
    for (size_t i = 0; i < p->n_location; i++)
        g_hash_table_insert(in->locations, &p->location[i]->id, GSIZE_TO_POINTER(i + 1));
    for (size_t i = 0; i < p->n_mapping; i++)
        g_hash_table_insert(in->mappings, &p->mapping[i]->id, GSIZE_TO_POINTER(i + 1));
    if (g_hash_table_size(in->functions) != p->n_function ||
        g_hash_table_size(in->locations) != p->n_location)
        return fm_import_fail(in->input, error, "two functions or two locations have the same id");
    return true;
}

static size_t index_find(GHashTable *index, uint64_t id)
{
    return GPOINTER_TO_SIZE(g_hash_table_lookup(index, &id));
}

/* Most writers count locations from 1. */
static size_t find_location(const struct pprof *in, uint64_t id)
{
    const Profile *p = in->profile;
    if (id > 0 && id <= p->n_location && p->location[id - 1]->id == id)
        return (size_t)id;
    return index_find(in->locations, id);
}

static void find_figures(struct pprof *in)
{
    for (size_t i = 0; i < in->profile->n_comment && !in->figures.told.told; i++) {
        const char *comment = string_at(in, in->profile->comment[i]);
        fm_figures_parse(comment, strlen(comment), &in->figures.told);
    }
    if (in->figures.told.told)
        fm_import_figures_begin(&in->figures, in->stacks);
}

/* Go's heap and others: one allocation in so many bytes is seen, and stands for all. */
static void set_heap_period(struct pprof *in)
{
    const Profile *p = in->profile;
    if (p->period_type != NULL && p->period > 1 &&
        strcmp(string_at(in, p->period_type->unit), "bytes") == 0)
        fm_build_nature(fm_stacks_build(in->stacks), FM_NATURE_HEAP_SAMPLED, (uint64_t)p->period);
}

/* Neither a time nor bytes is among the sample types. */
static bool counts_alone(const Profile *p, const struct pprof *in)
{
    uint64_t per_second;
    for (size_t i = 0; i < p->n_sample_type; i++) {
        const char *unit = string_at(in, p->sample_type[i]->unit);
        if (fm_import_time_unit(unit, &per_second) || strcmp(unit, "bytes") == 0)
            return false;
    }
    return true;
}

static void set_period(struct pprof *in)
{
    const Profile *p = in->profile;
    if (p->period_type != NULL && p->period > 0)
        fm_import_columns_period(&in->columns, (uint64_t)p->period,
                                 string_at(in, p->period_type->unit));
    else if (counts_alone(p, in))
        fm_build_note(fm_stacks_build(in->stacks),
                      "the file does not say how long a sample stands for: samples are counted");
}

/* --- samples --- */

static bool function_of(struct pprof *in, const Location *location, const FathomPprof__Line *line,
                        uint32_t *ret, GError **error)
{
    size_t found = index_find(in->functions, line->function_id);
    size_t mapped = index_find(in->mappings, location->mapping_id);
    if (found == 0)
        return fm_import_fail(in->input, error,
                              "location %" G_GUINT64_FORMAT " names function %" G_GUINT64_FORMAT
                              ", which is not there",
                              (guint64)location->id, (guint64)line->function_id);
    const Function *function = in->profile->function[found - 1];
    const char *name = string_at(in, function->name), *file = string_at(in, function->filename);
    const char *unit = file[0] != '\0' || mapped == 0
                           ? file
                           : string_at(in, in->profile->mapping[mapped - 1]->filename);
    *ret = fm_stacks_function(
        in->stacks, &(struct fm_stacks_name){.name = name,
                                             .size = strlen(name),
                                             .unit = unit,
                                             .unit_size = strlen(unit),
                                             .file = file,
                                             .file_size = strlen(file),
                                             .line = function->start_line > 0 &&
                                                             function->start_line <= UINT32_MAX
                                                         ? (uint32_t)function->start_line
                                                         : 0,
                                             .begins = true});
    return true;
}

/* As above; of a location without inlined bodies it is looked up once. */
static bool known_function(struct pprof *in, size_t number, const FathomPprof__Line *line,
                           uint32_t *ret, GError **error)
{
    const Location *location = in->profile->location[number];
    if (in->made == NULL) {
        in->made = g_new(uint32_t, in->profile->n_location);
        memset(in->made, 0xff, in->profile->n_location * sizeof in->made[0]);
    }
    if (location->n_line == 1 && in->made[number] != UINT32_MAX) {
        *ret = in->made[number];
        return true;
    }
    if (!function_of(in, location, line, ret, error))
        return false;
    if (location->n_line == 1)
        in->made[number] = *ret;
    return true;
}

/* Code that nobody named: its address does. */
static uint32_t address_of(struct pprof *in, const Location *location)
{
    char name[32];
    size_t mapped = index_find(in->mappings, location->mapping_id);
    const char *unit = mapped == 0 ? "" : string_at(in, in->profile->mapping[mapped - 1]->filename);
    int size =
        g_snprintf(name, sizeof name, "0x%" G_GINT64_MODIFIER "x", (guint64)location->address);
    return fm_stacks_function(in->stacks, &(struct fm_stacks_name){.name = name,
                                                                   .size = (size_t)size,
                                                                   .unit = unit,
                                                                   .unit_size = strlen(unit)});
}

/* Our own exports have the thread as the outermost function, too. */
static bool is_thread(const struct pprof *in, uint64_t function)
{
    if (in->thread == NULL || fm_stacks_depth(in->stacks) != 1)
        return false;
    size_t found = index_find(in->functions, function);
    return found != 0 &&
           strcmp(string_at(in, in->profile->function[found - 1]->name), in->thread) == 0;
}

static bool check_product(struct pprof *in, const Location *location, GError **error)
{
    uint64_t size = in->input->size;
    in->frames += MAX(location->n_line, 1);
    if (in->widest == NULL || location->n_line > in->widest->n_line)
        in->widest = location;
    bool few = fm_stacks_calls(in->stacks) <= size + CONTEXTS_ALWAYS;
    if (few && in->frames <= size * FRAMES_A_BYTE + FRAMES_ALWAYS)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_LIMIT,
                "%s: its samples have more than %" G_GUINT64_FORMAT
                " %s: location %" G_GUINT64_FORMAT " alone stands for %zu frames; expected no more "
                "than a profile of %zu bytes has",
                in->input->name, few ? in->frames : (guint64)fm_stacks_calls(in->stacks),
                few ? "frames" : "calls in context", (guint64)in->widest->id, in->widest->n_line,
                in->input->size);
    return false;
}

static bool push_location(struct pprof *in, uint64_t id, uint32_t *line, GError **error)
{
    size_t found = find_location(in, id);
    if (found == 0)
        return fm_import_fail(in->input, error,
                              "a sample names location %" G_GUINT64_FORMAT ", which is not there",
                              (guint64)id);
    const Location *location = in->profile->location[found - 1];
    if (!check_product(in, location, error))
        return false;
    for (size_t i = location->n_line; i > 0; i--) {
        const FathomPprof__Line *at = location->line[i - 1];
        uint32_t function = 0;
        if (!is_thread(in, at->function_id)) {
            if (!known_function(in, found - 1, at, &function, error))
                return false;
            fm_stacks_push(in->stacks, function, *line);
        }
        *line = at->line > 0 && at->line <= UINT32_MAX ? (uint32_t)at->line : 0;
    }
    if (location->n_line == 0) {
        fm_stacks_push(in->stacks, address_of(in, location), *line);
        *line = 0;
    }
    return true;
}

static void push_thread(struct pprof *in, const Sample *sample)
{
    for (size_t i = 0; i < sample->n_label; i++) {
        const char *thread = string_at(in, sample->label[i]->str);
        if (strcmp(string_at(in, sample->label[i]->key), "thread") != 0 || thread[0] == '\0')
            continue;
        in->thread = thread;
        fm_stacks_push_outside(in->stacks, thread, strlen(thread));
        return;
    }
}

static bool add_values(struct pprof *in, const Sample *sample, GError **error)
{
    for (size_t i = 0; i < in->profile->n_sample_type; i++) {
        if (sample->value[i] < 0)
            return fm_import_fail(in->input, error,
                                  "a sample of %" G_GINT64_FORMAT ", expected none below 0 (a "
                                  "difference of two profiles is not imported)",
                                  (gint64)sample->value[i]);
        if (!fm_import_columns_add(&in->columns, i, (uint64_t)sample->value[i])) {
            g_set_error(error, FM_ERROR, FM_ERROR_LIMIT,
                        "%s: its values are more than 2^63 together", in->input->name);
            return false;
        }
    }
    return true;
}

static bool read_samples(struct pprof *in, GError **error)
{
    const Profile *p = in->profile;
    for (size_t i = 0; i < p->n_sample; i++) {
        const Sample *sample = p->sample[i];
        uint32_t line = 0;
        if (sample->n_value != p->n_sample_type)
            return fm_import_fail(in->input, error, "sample %zu has %zu values, expected %zu",
                                  i + 1, sample->n_value, p->n_sample_type);
        fm_stacks_cut(in->stacks, 0);
        in->thread = NULL;
        push_thread(in, sample);
        for (size_t j = sample->n_location_id; j > 0; j--) {
            if (!push_location(in, sample->location_id[j - 1], &line, error))
                return false;
        }
        if (sample->n_location_id == 0) /* its place is not known, but it happened */
            fm_stacks_push(in->stacks, fm_stacks_function(in->stacks, &(struct fm_stacks_name){0}),
                           0);
        if (!add_values(in, sample, error))
            return false;
    }
    return p->n_sample > 0 || fm_import_fail(in->input, error, "there is no sample in it");
}

static bool read_all(struct pprof *in, GError **error)
{
    Profile *p = in->profile;
    if (p->n_sample_type == 0 || p->n_sample_type > FM_MEASURES_MAX || string_at(in, 0)[0] != '\0')
        return fm_import_fail(in->input, error,
                              "%zu sample types, expected 1 to %d, and an empty first string",
                              p->n_sample_type, FM_MEASURES_MAX);
    find_figures(in);
    struct fm_import_type types[FM_MEASURES_MAX];
    struct fm_import_column columns[FM_MEASURES_MAX];
    for (size_t i = 0; i < p->n_sample_type; i++)
        types[i] = (struct fm_import_type){string_at(in, p->sample_type[i]->type),
                                           string_at(in, p->sample_type[i]->unit)};
    in->columns = (struct fm_import_columns){.stacks = in->stacks,
                                             .types = types,
                                             .count = p->n_sample_type,
                                             .wanted = string_at(in, p->default_sample_type),
                                             .columns = columns};
    fm_import_columns_choose(&in->columns, &in->figures);
    if (!index_all(in, error) || !read_samples(in, error))
        return false;
    if (!in->figures.told.told) {
        set_period(in);
        set_heap_period(in);
        fm_import_columns_finish(&in->columns);
    }
    if (p->duration_nanos > 0)
        fm_build_header(fm_stacks_build(in->stacks))->duration_ns = (uint64_t)p->duration_nanos;
    return true;
}

static bool is_size_allowed(const struct fm_import_input *input, GError **error)
{
    uint64_t needed = fm_pprof_unpacked_size(input->bytes, input->size);
    if (needed <= input->size * MEMORY_TIMES + MEMORY_ALWAYS &&
        needed <= input->file_size * MEMORY_TIMES_OF_FILE + MEMORY_ALWAYS_OF_FILE)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_LIMIT,
                "%s: its messages would take %" G_GUINT64_FORMAT
                " bytes of memory, which those of no profile of %zu bytes do",
                input->name, (guint64)needed, input->file_size);
    return false;
}

bool fm_import_pprof(const struct fm_import_input *input, struct fm_profile **ret, GError **error)
{
    if (!is_size_allowed(input, error))
        return false;
    struct pprof in = {.input = input,
                       .profile = fathom_pprof__profile__unpack(NULL, input->size, input->bytes)};
    if (in.profile == NULL)
        return fm_import_fail(in.input, error,
                              "the bytes, %zu when unpacked, are no whole message of pprof's "
                              "format",
                              input->size);
    in.stacks = fm_stacks_new(input->program, "pprof's protobuf");
    in.functions = index_new();
    in.locations = index_new();
    in.mappings = index_new();
    bool done = read_all(&in, error);
    if (done)
        done = fm_stacks_finish(g_steal_pointer(&in.stacks), ret, error);
    fm_stacks_free(in.stacks);
    g_hash_table_unref(in.functions);
    g_hash_table_unref(in.locations);
    g_hash_table_unref(in.mappings);
    g_free(in.made);
    fathom_pprof__profile__free_unpacked(in.profile, NULL);
    return done;
}

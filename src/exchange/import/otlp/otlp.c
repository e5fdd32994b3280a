/* SPDX-License-Identifier: Apache-2.0 */
/* OpenTelemetry's profiles, since version 1.9 of their format: a dictionary of strings, functions
 * and stacks, and profiles of processes, of one measure each. A file is one message, or several
 * with their length in front, or JSON. */
#include <string.h>

#include "base/error.h"
#include "exchange/import/ids.h"
#include "exchange/import/otlp/dictionary.h"
#include "exchange/import/otlp/json.h"
#include "exchange/import/protobuf/sample_types.h"

#define LENGTH_BYTES 4u
enum { DATA_RESOURCE_PROFILES = 1, DATA_DICTIONARY };
enum { RESOURCE_PROFILES_RESOURCE = 1, RESOURCE_PROFILES_SCOPES, RESOURCE_PROFILES_URL };
enum { KEY_VALUE_KEY = 1, KEY_VALUE_VALUE };
enum {
    PROFILE_TYPE = 1,
    PROFILE_SAMPLES,
    PROFILE_TIME,
    PROFILE_DURATION,
    PROFILE_PERIOD_TYPE,
    PROFILE_PERIOD
};
enum { SAMPLE_STACK = 1, SAMPLE_ATTRIBUTES, SAMPLE_VALUES = 4, SAMPLE_TIMES };

struct otlp {
    const struct fm_import_input *input;
    struct fm_stacks *stacks;
    struct fm_otlp_dictionary *dictionary; /* for the message that is read */
    GPtrArray *texts;                      /* names and units of the sample types */
    struct fm_import_type types[FM_MEASURES_MAX];
    struct fm_import_column column[FM_MEASURES_MAX];
    struct fm_import_columns columns;
    struct fm_import_figures figures; /* fathom's own exports have it */
    unsigned resources;
    uint32_t base;     /* depth of the frame of the process */
    GHashTable *calls; /* within this process: thread's name -> table of calls_of() */
    bool adds;         /* the second pass: the first finds the sample types */
    /* Nanoseconds that a sample stands for, of a type; 0 = not known, or not always the same. */
    uint64_t periods[FM_MEASURES_MAX];
    uint64_t samples, frames, duration;
    struct fm_import_times times;
    unsigned left_out; /* profiles of types that there is no room for */
};

/* A profile's own description. */
struct profile {
    char *name, *unit;
    uint64_t period; /* a sample's CPU time in nanoseconds; 0: values are in the samples */
    uint64_t duration;
    bool has_values;
};

/* --- recognising --- */

/* All fields are messages or texts with these numbers; the last may go beyond the bytes. */
static bool holds_only(const uint8_t *bytes, size_t size, uint64_t last, bool whole)
{
    size_t at = 0;
    bool some = false;
    while (at < size) {
        uint64_t tag, length;
        if (!fm_fields_number(bytes, size, &at, &tag))
            return some && !whole;
        if ((tag & 7) != FM_WIRE_BYTES || tag >> 3 == 0 || tag >> 3 > last)
            return false;
        if (!fm_fields_number(bytes, size, &at, &length))
            return some && !whole;
        some = true;
        if (length > size - at)
            return !whole;
        at += length;
    }
    return some;
}

static bool is_message(const uint8_t *bytes, size_t size)
{
    size_t at = 0;
    uint64_t tag, length;
    if (!holds_only(bytes, size, DATA_DICTIONARY, false) ||
        !fm_fields_number(bytes, size, &at, &tag) || !fm_fields_number(bytes, size, &at, &length))
        return false;
    bool whole = length <= size - at;
    return holds_only(bytes + at, whole ? length : size - at,
                      tag >> 3 == DATA_DICTIONARY ? 7 : RESOURCE_PROFILES_URL, whole);
}

static size_t length_in_front(const uint8_t *bytes, size_t size)
{
    if (size < LENGTH_BYTES)
        return 0;
    return (size_t)bytes[0] << 24 | (size_t)bytes[1] << 16 | (size_t)bytes[2] << 8 | bytes[3];
}

static bool has_lengths(const struct fm_import_input *input)
{
    size_t length = length_in_front(input->bytes, input->size);
    return length > 0 && input->size > LENGTH_BYTES &&
           is_message(input->bytes + LENGTH_BYTES, MIN(length, input->size - LENGTH_BYTES));
}

static bool is_json(const struct fm_import_input *input)
{
    return fm_import_begins(input, FM_IMPORT_HEAD, "{") &&
           (fm_import_holds(input, FM_IMPORT_HEAD, "\"resourceProfiles\"") ||
            (fm_import_holds(input, FM_IMPORT_HEAD, "\"dictionary\"") &&
             (fm_import_holds(input, FM_IMPORT_HEAD, "\"stringTable\"") ||
              fm_import_holds(input, FM_IMPORT_HEAD, "\"locationTable\""))));
}

bool fm_import_is_otlp(const struct fm_import_input *input)
{
    return is_json(input) || is_message(input->bytes, input->size) || has_lengths(input);
}

/* --- measures --- */

static char *text_of(const struct otlp *in, uint64_t index)
{
    struct fm_otlp_text text = fm_otlp_string(in->dictionary, index);
    return g_strndup(text.text, text.size);
}

static void read_type(const struct otlp *in, const struct fm_field *message, char **ret_name,
                      char **ret_unit)
{
    struct fm_field field;
    uint64_t of[3] = {0};
    for (struct fm_fields fields = fm_fields_in(message); fm_fields_next(&fields, &field);) {
        if (field.number < G_N_ELEMENTS(of))
            of[field.number] = field.value;
    }
    *ret_name = text_of(in, of[1]);
    *ret_unit = text_of(in, of[2]);
}

static bool sample_has_values(const struct fm_field *sample)
{
    struct fm_field field;
    for (struct fm_fields fields = fm_fields_in(sample); fm_fields_next(&fields, &field);) {
        if (field.number == SAMPLE_VALUES && (field.wire != FM_WIRE_BYTES || field.size > 0))
            return true;
    }
    return false;
}

/* Samples without values have a time each: then the type is theirs, whatever is told, unless they
 * are known to be so much CPU time. */
static void name_counts(struct profile *profile, const char *period_name, const char *period_unit)
{
    bool cpu = strcmp(period_name, "cpu") == 0 && strcmp(period_unit, "nanoseconds") == 0 &&
               profile->period > 0 && profile->period <= INT64_MAX;
    g_free(profile->name);
    g_free(profile->unit);
    profile->name = g_strdup(cpu ? "cpu" : "samples");
    profile->unit = g_strdup(cpu ? "nanoseconds" : "count");
    if (!cpu)
        profile->period = 1;
}

static bool read_profile_head(const struct otlp *in, const struct fm_field *message,
                              struct profile *ret, GError **error)
{
    struct fm_fields fields = fm_fields_in(message);
    struct fm_field field, type = {0}, period_type = {0};
    g_autofree char *period_name = NULL, *period_unit = NULL;
    *ret = (struct profile){0};
    while (fm_fields_next(&fields, &field)) {
        if (field.number == PROFILE_TYPE)
            type = field;
        else if (field.number == PROFILE_PERIOD_TYPE)
            period_type = field;
        else if (field.number == PROFILE_PERIOD)
            ret->period = field.value;
        else if (field.number == PROFILE_DURATION && field.wire == FM_WIRE_NUMBER)
            ret->duration = field.value;
        else if (field.number == PROFILE_SAMPLES)
            ret->has_values = ret->has_values || sample_has_values(&field);
        if (field.number == PROFILE_TIME && field.wire != FM_WIRE_EIGHT)
            return fm_import_fail(in->input, error,
                                  "it is of OpenTelemetry's profiles before version 1.9, which had "
                                  "another form: expected a time as field 3 of a profile");
    }
    if (fields.at != fields.end)
        return fm_import_fail(in->input, error, "a profile is damaged, or cut off");
    read_type(in, &type, &ret->name, &ret->unit);
    read_type(in, &period_type, &period_name, &period_unit);
    if (!ret->has_values)
        name_counts(ret, period_name, period_unit);
    else if (strcmp(period_name, ret->name) != 0 || strcmp(period_unit, "nanoseconds") != 0)
        ret->period = 0;
    return true;
}

static void profile_clear(struct profile *profile)
{
    g_free(profile->name);
    g_free(profile->unit);
}

/* The profile's sample type; G_MAXSIZE: there is none yet. */
static size_t find_type(const struct otlp *in, const struct profile *profile)
{
    for (size_t i = 0; i < in->columns.count; i++) {
        if (g_strcmp0(in->types[i].name, profile->name) == 0 &&
            g_strcmp0(in->types[i].unit, profile->unit) == 0)
            return i;
    }
    return G_MAXSIZE;
}

static void find_types(struct otlp *in, struct profile *profile)
{
    size_t type = find_type(in, profile);
    in->duration = MAX(in->duration, profile->duration);
    if (type != G_MAXSIZE) {
        if (in->periods[type] != profile->period)
            in->periods[type] = 0;
        return;
    }
    if (in->columns.count == FM_MEASURES_MAX) {
        in->left_out++;
        return;
    }
    in->periods[in->columns.count] = profile->period;
    in->types[in->columns.count++] = (struct fm_import_type){profile->name, profile->unit};
    g_ptr_array_add(in->texts, g_steal_pointer(&profile->name));
    g_ptr_array_add(in->texts, g_steal_pointer(&profile->unit));
}

/* --- samples --- */

static uint64_t add_times(struct otlp *in, const struct fm_field *field)
{
    size_t count = fm_field_eights(field);
    for (size_t i = 0; i < count; i++)
        fm_import_times_add(&in->times, fm_field_eight(field, i));
    return count;
}

/* The sum of the values, or how many times there are. */
static bool read_sample(struct otlp *in, const struct fm_field *message, bool has_values,
                        uint64_t *ret_stack, char **ret_thread, uint64_t *ret, GError **error)
{
    struct fm_field field;
    uint64_t value, sum = 0, times = 0;
    *ret_stack = 0;
    for (struct fm_fields fields = fm_fields_in(message); fm_fields_next(&fields, &field);) {
        if (field.number == SAMPLE_STACK)
            *ret_stack = field.value;
        else if (field.number == SAMPLE_TIMES)
            times += add_times(in, &field);
        while (field.number == SAMPLE_ATTRIBUTES && fm_field_take(&field, &value)) {
            if (*ret_thread == NULL && fm_otlp_attribute_is(in->dictionary, value, "thread.name"))
                *ret_thread = fm_otlp_attribute(in->dictionary, value);
        }
        while (field.number == SAMPLE_VALUES && fm_field_take(&field, &value)) {
            if (value > INT64_MAX)
                return fm_import_fail(in->input, error,
                                      "a sample of %" G_GINT64_FORMAT ", expected none below 0 (a "
                                      "difference of two profiles is not imported)",
                                      (gint64)value);
            if (!fm_import_sum(&sum, value)) {
                g_set_error(error, FM_ERROR, FM_ERROR_LIMIT,
                            "%s: its values are more than 2^63 together", in->input->name);
                return false;
            }
        }
    }
    *ret = has_values ? sum : times;
    return true;
}

/* Stacks of a thread of this process that were built before: number -> call in context. */
static struct fm_import_ids *calls_of(struct otlp *in, const char *thread)
{
    struct fm_import_ids *calls = g_hash_table_lookup(in->calls, thread == NULL ? "" : thread);
    if (calls == NULL) {
        calls = fm_import_ids_new();
        g_hash_table_insert(in->calls, g_strdup(thread == NULL ? "" : thread), calls);
    }
    return calls;
}

static bool add_sample(struct otlp *in, const struct fm_field *message,
                       const struct profile *profile, size_t type, GError **error)
{
    g_autofree char *thread = NULL;
    uint64_t stack, value = 0;
    if (!read_sample(in, message, profile->has_values, &stack, &thread, &value, error))
        return false;
    struct fm_import_ids *calls = calls_of(in, thread);
    in->columns.call = fm_import_ids_find(calls, stack);
    if (in->columns.call == 0) {
        fm_stacks_cut(in->stacks, in->base);
        if (thread != NULL && thread[0] != '\0')
            fm_stacks_push_outside(in->stacks, thread, strlen(thread));
        if (!fm_otlp_push_stack(in->dictionary, stack, in->figures.told.told ? thread : NULL,
                                error))
            return false;
        uint32_t call = fm_stacks_keep(in->stacks);
        if (call != 0)
            fm_import_ids_put(calls, stack, call);
    }
    in->samples++;
    if ((profile->has_values || !__builtin_mul_overflow(value, profile->period, &value)) &&
        fm_import_columns_add(&in->columns, type, value))
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_LIMIT, "%s: its values are more than 2^63 together",
                in->input->name);
    return false;
}

static bool read_profile(struct otlp *in, const struct fm_field *message, GError **error)
{
    struct profile profile;
    struct fm_field field;
    bool done = read_profile_head(in, message, &profile, error);
    if (done && !in->adds) {
        find_types(in, &profile);
    } else if (done) {
        size_t type = find_type(in, &profile);
        struct fm_fields fields = fm_fields_in(message);
        while (done && type != G_MAXSIZE && fm_fields_next(&fields, &field)) {
            if (field.number == PROFILE_SAMPLES)
                done = add_sample(in, &field, &profile, type, error);
        }
    }
    profile_clear(&profile);
    return done;
}

/* --- resources --- */

/* A process's name, by its attributes; g_free. Also finds fathom's own line. */
static char *name_of_resource(struct otlp *in, const struct fm_field *resource)
{
    static const char *const keys[] = {"process.executable.name", "service.name", "container.id",
                                       "process.pid", FM_FIGURES_KEY};
    char *found[G_N_ELEMENTS(keys)] = {NULL};
    struct fm_field attribute, field;
    for (struct fm_fields all = fm_fields_in(resource); fm_fields_next(&all, &attribute);) {
        struct fm_field value = {0};
        size_t which = G_N_ELEMENTS(keys);
        for (struct fm_fields fields = fm_fields_in(&attribute); fm_fields_next(&fields, &field);) {
            for (size_t i = 0; i < G_N_ELEMENTS(keys) && field.number == KEY_VALUE_KEY; i++) {
                if (field.size == strlen(keys[i]) && memcmp(field.bytes, keys[i], field.size) == 0)
                    which = i;
            }
            if (field.number == KEY_VALUE_VALUE)
                value = field;
        }
        if (attribute.number == 1 && which < G_N_ELEMENTS(keys) && found[which] == NULL)
            found[which] = fm_otlp_value(fm_fields_in(&value));
    }
    if (found[4] != NULL && !in->figures.told.told &&
        fm_figures_parse(found[4], strlen(found[4]), &in->figures.told))
        fm_import_figures_begin(&in->figures, in->stacks);
    const char *name = found[0] != NULL ? found[0] : found[1] != NULL ? found[1] : found[2];
    char *told = name != NULL && found[3] != NULL ? g_strdup_printf("%s (%s)", name, found[3])
                 : found[3] != NULL               ? g_strdup_printf("process %s", found[3])
                                                  : g_strdup(name);
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
        g_free(found[i]);
    return told;
}

static bool read_scope(struct otlp *in, const struct fm_field *message, GError **error)
{
    struct fm_fields fields = fm_fields_in(message);
    struct fm_field field;
    while (fm_fields_next(&fields, &field)) {
        if (field.number == 2 && field.wire == FM_WIRE_BYTES && !read_profile(in, &field, error))
            return false;
    }
    return fields.at == fields.end ||
           fm_import_fail(in->input, error, "the profiles of a scope are damaged");
}

static bool read_resource(struct otlp *in, const struct fm_field *message, GError **error)
{
    struct fm_fields fields = fm_fields_in(message);
    struct fm_field field;
    g_autofree char *name = NULL;
    while (fm_fields_next(&fields, &field)) {
        if (field.number == RESOURCE_PROFILES_RESOURCE && name == NULL)
            name = name_of_resource(in, &field);
    }
    in->resources += !in->adds;
    fm_stacks_cut(in->stacks, 0);
    if (in->adds && in->resources > 1 && name != NULL && name[0] != '\0')
        fm_stacks_push_outside(in->stacks, name, strlen(name));
    in->base = fm_stacks_depth(in->stacks);
    g_hash_table_remove_all(in->calls);
    for (fields = fm_fields_in(message); fm_fields_next(&fields, &field);) {
        if (field.number == RESOURCE_PROFILES_SCOPES && !read_scope(in, &field, error))
            return false;
    }
    return fields.at == fields.end ||
           fm_import_fail(in->input, error, "the profiles of a process are damaged");
}

static bool read_message(struct otlp *in, GBytes *bytes, GError **error)
{
    gsize size;
    const uint8_t *data = g_bytes_get_data(bytes, &size);
    struct fm_fields fields = fm_fields_of(data, size);
    struct fm_field field, dictionary = {.wire = FM_WIRE_BYTES};
    bool done = true;
    while (fm_fields_next(&fields, &field)) {
        if (field.number == DATA_DICTIONARY)
            dictionary = field;
    }
    if (fields.at != fields.end)
        return fm_import_fail(in->input, error,
                              "offset %zu of a message of %zu bytes: expected a field, the file "
                              "is damaged or cut off",
                              (size_t)(fields.at - data), (size_t)size);
    in->dictionary = fm_otlp_dictionary_new(in->input, in->stacks, &dictionary, &in->frames, error);
    if (in->dictionary == NULL)
        return false;
    for (fields = fm_fields_of(data, size); done && fm_fields_next(&fields, &field);) {
        if (field.number == DATA_RESOURCE_PROFILES)
            done = fm_otlp_dictionary_has_stacks(in->dictionary)
                       ? read_resource(in, &field, error)
                       : fm_import_fail(in->input, error,
                                        "there is no table of stacks in it: expected one, as "
                                        "OpenTelemetry's profiles have since version 1.9");
    }
    g_clear_pointer(&in->dictionary, fm_otlp_dictionary_free);
    return done;
}

/* --- the file --- */

static bool split(const struct fm_import_input *input, GPtrArray *ret, GError **error)
{
    if (is_json(input))
        return fm_otlp_of_json(input, ret, error);
    if (is_message(input->bytes, input->size)) {
        g_ptr_array_add(ret, g_bytes_new_static(input->bytes, input->size));
        return true;
    }
    for (size_t at = 0; at < input->size;) {
        size_t length = length_in_front(input->bytes + at, input->size - at);
        if (input->size - at < LENGTH_BYTES || length > input->size - at - LENGTH_BYTES) {
            g_set_error(error, FM_ERROR, FM_ERROR_TRUNCATED,
                        "%s: offset %zu: expected a message of %zu bytes, there are %zu",
                        input->name, at, length, input->size - at);
            return false;
        }
        g_ptr_array_add(ret, g_bytes_new_static(input->bytes + at + LENGTH_BYTES, length));
        at += LENGTH_BYTES + length;
    }
    return true;
}

static void count_samples(struct otlp *in)
{
    size_t main = in->columns.main;
    struct fm_build_header *header = fm_build_header(fm_stacks_build(in->stacks));
    if (main == in->columns.count)
        return;
    if (strcmp(in->types[main].name, "samples") == 0 && strcmp(in->types[main].unit, "count") == 0)
        header->sample_count = header->sample_squares = in->column[main].sum;
    else
        fm_import_columns_period(&in->columns, in->periods[main], "nanoseconds");
}

static bool read_all(struct otlp *in, const GPtrArray *messages, GError **error)
{
    for (unsigned pass = 0; pass < 2; pass++) {
        in->adds = pass > 0;
        if (in->adds)
            fm_import_columns_choose(&in->columns, &in->figures);
        for (guint i = 0; i < messages->len; i++) {
            if (!read_message(in, g_ptr_array_index(messages, i), error))
                return false;
        }
    }
    if (in->samples == 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE, "%s: there is no sample in it",
                    in->input->name);
        return false;
    }
    fm_import_times_tell(&in->times, fm_stacks_build(in->stacks));
    if (!in->figures.told.told) {
        count_samples(in);
        in->columns.left_out += in->left_out;
        fm_import_columns_finish(&in->columns);
    }
    fm_build_header(fm_stacks_build(in->stacks))->duration_ns = in->duration;
    return true;
}

bool fm_import_otlp(const struct fm_import_input *input, struct fm_profile **ret, GError **error)
{
    g_autoptr(GPtrArray) messages = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    if (!split(input, messages, error))
        return false;
    struct otlp in = {.input = input,
                      .stacks = fm_stacks_new(input->program, "OpenTelemetry's profiles"),
                      .texts = g_ptr_array_new_with_free_func(g_free),
                      .calls = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
                                                     (GDestroyNotify)fm_import_ids_free)};
    in.columns = (struct fm_import_columns){
        .stacks = in.stacks, .types = in.types, .wanted = "cpu", .columns = in.column};
    bool done = read_all(&in, messages, error);
    if (done)
        done = fm_stacks_finish(g_steal_pointer(&in.stacks), ret, error);
    fm_stacks_free(in.stacks);
    g_ptr_array_unref(in.texts);
    g_hash_table_unref(in.calls);
    return done;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/otlp/dictionary.h"

#include <string.h>

#include "base/error.h"

/* A stack may stand for many places and each for many inlined frames, and many samples for a stack:
 * frames are a product. What collectors write has a few to a byte, and far fewer contexts. */
#define FRAMES_A_BYTE 64u
#define FRAMES_ALWAYS ((uint64_t)1 << 24)
#define CONTEXTS_ALWAYS ((uint64_t)1 << 20) /* and one a byte */

enum table { MAPPINGS = 1, LOCATIONS, FUNCTIONS, LINKS, STRINGS, ATTRIBUTES, STACKS, TABLES };
enum { MAPPING_FILE = 4 };
enum { LOCATION_MAPPING = 1, LOCATION_LINES = 3 };
enum { LINE_FUNCTION = 1, LINE_LINE };
enum { FUNCTION_NAME = 1, FUNCTION_SYSTEM_NAME, FUNCTION_FILE, FUNCTION_LINE };
enum { ATTRIBUTE_KEY = 1, ATTRIBUTE_VALUE };
enum { VALUE_STRING = 1, VALUE_INT = 3 };

#define NOT_READ UINT32_MAX
struct frame {
    uint32_t number; /* index of the function in its table, 0 = none */
    uint32_t file;   /* string: the mapping's file */
    uint32_t line;   /* line of the call in it */
    uint32_t made;   /* the function of the stacks; NOT_READ = none yet */
};
/* Frames of a location, outermost first. */
struct place {
    uint32_t first, count;
};

struct message {
    const uint8_t *bytes;
    size_t size;
};
/* The numbers of a mapping, function or attribute by their field, read once: many refer to one. */
#define NUMBERS 5u
struct row {
    uint32_t of[NUMBERS]; /* UINT32_MAX: it is larger */
};

struct fm_otlp_dictionary {
    const struct fm_import_input *input;
    struct fm_stacks *stacks;
    GArray *tables[TABLES]; /* struct message; of an attribute its value */
    GArray *rows[TABLES];   /* struct row, of those tables that have numbers */
    struct place *places;   /* [locations] */
    GArray *frames;         /* struct frame */
    uint64_t *pushed;       /* frames of all samples so far */
};

static void add_entry(struct fm_otlp_dictionary *d, enum table table, const struct fm_field *entry)
{
    struct message message = {entry->bytes, entry->size};
    struct row row = {0};
    struct fm_field field;
    if (table == MAPPINGS || table == FUNCTIONS || table == ATTRIBUTES) {
        for (struct fm_fields fields = fm_fields_in(entry); fm_fields_next(&fields, &field);) {
            if (table == ATTRIBUTES && field.number == ATTRIBUTE_VALUE)
                message = (struct message){field.bytes, field.size};
            else if (field.number < NUMBERS && field.wire == FM_WIRE_NUMBER)
                row.of[field.number] = (uint32_t)MIN(field.value, UINT32_MAX);
        }
        g_array_append_val(d->rows[table], row);
    }
    g_array_append_val(d->tables[table], message);
}

struct fm_otlp_dictionary *fm_otlp_dictionary_new(const struct fm_import_input *input,
                                                  struct fm_stacks *stacks,
                                                  const struct fm_field *message, uint64_t *frames,
                                                  GError **error)
{
    struct fm_otlp_dictionary *d = g_new0(struct fm_otlp_dictionary, 1);
    struct fm_fields fields = fm_fields_in(message);
    struct fm_field field;
    d->input = input;
    d->stacks = stacks;
    d->pushed = frames;
    d->frames = g_array_new(FALSE, FALSE, sizeof(struct frame));
    for (unsigned i = 0; i < TABLES; i++) {
        d->tables[i] = g_array_new(FALSE, FALSE, sizeof(struct message));
        d->rows[i] = g_array_new(FALSE, FALSE, sizeof(struct row));
    }
    while (fm_fields_next(&fields, &field)) {
        if (field.number > 0 && field.number < TABLES && field.wire == FM_WIRE_BYTES)
            add_entry(d, (enum table)field.number, &field);
    }
    d->places = g_new(struct place, d->tables[LOCATIONS]->len + 1);
    for (guint i = 0; i < d->tables[LOCATIONS]->len; i++)
        d->places[i] = (struct place){.first = NOT_READ};
    if (fields.at == fields.end)
        return d;
    fm_import_fail(d->input, error, "the dictionary is damaged behind %u strings and %u functions",
                   d->tables[STRINGS]->len, d->tables[FUNCTIONS]->len);
    fm_otlp_dictionary_free(d);
    return NULL;
}

void fm_otlp_dictionary_free(struct fm_otlp_dictionary *d)
{
    if (d == NULL)
        return;
    for (unsigned i = 0; i < TABLES; i++) {
        g_array_unref(d->tables[i]);
        g_array_unref(d->rows[i]);
    }
    g_array_unref(d->frames);
    g_free(d->places);
    g_free(d);
}

bool fm_otlp_dictionary_has_stacks(const struct fm_otlp_dictionary *d)
{
    return d->tables[STACKS]->len > 0;
}

/* NULL: there is no such entry, or it is the empty one. */
static const struct message *entry(const struct fm_otlp_dictionary *d, enum table table,
                                   uint64_t index)
{
    return index == 0 || index >= d->tables[table]->len
               ? NULL
               : &g_array_index(d->tables[table], struct message, index);
}

/* Zeros where there is no such entry. */
static struct row row_of(const struct fm_otlp_dictionary *d, enum table table, uint64_t index)
{
    return index == 0 || index >= d->rows[table]->len
               ? (struct row){0}
               : g_array_index(d->rows[table], struct row, index);
}

static struct fm_fields fields_of(const struct message *message)
{
    return message == NULL ? (struct fm_fields){0} : fm_fields_of(message->bytes, message->size);
}

struct fm_otlp_text fm_otlp_string(const struct fm_otlp_dictionary *d, uint64_t index)
{
    const struct message *string = entry(d, STRINGS, index);
    return string == NULL ? (struct fm_otlp_text){"", 0}
                          : (struct fm_otlp_text){(const char *)string->bytes, string->size};
}

/* --- attributes --- */

char *fm_otlp_value(struct fm_fields value)
{
    struct fm_field field;
    while (fm_fields_next(&value, &field)) {
        if (field.number == VALUE_STRING && field.wire == FM_WIRE_BYTES)
            return g_strndup((const char *)field.bytes, field.size);
        if (field.number == VALUE_INT && field.wire == FM_WIRE_NUMBER)
            return g_strdup_printf("%" G_GINT64_FORMAT, (gint64)field.value);
    }
    return g_strdup("");
}

bool fm_otlp_attribute_is(const struct fm_otlp_dictionary *d, uint64_t index, const char *key)
{
    struct fm_otlp_text told = fm_otlp_string(d, row_of(d, ATTRIBUTES, index).of[ATTRIBUTE_KEY]);
    return told.size == strlen(key) && memcmp(told.text, key, told.size) == 0;
}

char *fm_otlp_attribute(const struct fm_otlp_dictionary *d, uint64_t index)
{
    return fm_otlp_value(fields_of(entry(d, ATTRIBUTES, index)));
}

/* --- frames --- */

static uint32_t function_of(struct fm_otlp_dictionary *d, struct fm_otlp_text name,
                            struct fm_otlp_text unit, struct fm_otlp_text file, uint64_t line)
{
    return fm_stacks_function(
        d->stacks, &(struct fm_stacks_name){.name = name.text,
                                            .size = name.size,
                                            .unit = unit.text,
                                            .unit_size = unit.size,
                                            .file = file.text,
                                            .file_size = file.size,
                                            .line = line <= UINT32_MAX ? (uint32_t)line : 0,
                                            .begins = name.size > 0});
}

/* Code that nobody named: one function a program file. */
static uint32_t unnamed(struct fm_otlp_dictionary *d, struct fm_otlp_text unit)
{
    g_autofree char *name = fm_stacks_unnamed(unit.text, unit.size);
    return fm_stacks_function(d->stacks, &(struct fm_stacks_name){.name = name,
                                                                  .size = strlen(name),
                                                                  .unit = unit.text,
                                                                  .unit_size = unit.size});
}

static uint32_t make_function(struct fm_otlp_dictionary *d, const struct frame *frame)
{
    struct row of = row_of(d, FUNCTIONS, frame->number);
    struct fm_otlp_text name = fm_otlp_string(d, of.of[FUNCTION_NAME]),
                        file = fm_otlp_string(d, of.of[FUNCTION_FILE]),
                        mapped = fm_otlp_string(d, frame->file);
    if (name.size == 0)
        name = fm_otlp_string(d, of.of[FUNCTION_SYSTEM_NAME]);
    return name.size == 0
               ? unnamed(d, mapped)
               : function_of(d, name, file.size > 0 ? file : mapped, file, of.of[FUNCTION_LINE]);
}

static bool add_line(struct fm_otlp_dictionary *d, const struct fm_field *message, uint32_t file,
                     GError **error)
{
    struct fm_field field;
    struct frame frame = {.file = file, .made = NOT_READ};
    uint64_t number = 0;
    for (struct fm_fields fields = fm_fields_in(message); fm_fields_next(&fields, &field);) {
        if (field.number == LINE_FUNCTION)
            number = field.value;
        else if (field.number == LINE_LINE)
            frame.line = field.value <= UINT32_MAX ? (uint32_t)field.value : 0;
    }
    if (number != 0 && entry(d, FUNCTIONS, number) == NULL)
        return fm_import_fail(d->input, error,
                              "a location names function %" G_GUINT64_FORMAT ", expected one of %u",
                              (guint64)number, d->tables[FUNCTIONS]->len);
    frame.number = (uint32_t)number;
    g_array_append_val(d->frames, frame);
    return true;
}

/* The innermost inlined function stands first. */
static bool read_place(struct fm_otlp_dictionary *d, uint64_t index, GError **error)
{
    const struct message *location = entry(d, LOCATIONS, index);
    struct fm_field field;
    uint32_t file = 0;
    guint first = d->frames->len;
    for (struct fm_fields fields = fields_of(location); fm_fields_next(&fields, &field);) {
        if (field.number == LOCATION_MAPPING)
            file = row_of(d, MAPPINGS, field.value).of[MAPPING_FILE];
    }
    for (struct fm_fields fields = fields_of(location); fm_fields_next(&fields, &field);) {
        if (field.number == LOCATION_LINES && !add_line(d, &field, file, error))
            return false;
    }
    if (d->frames->len == first) {
        struct frame frame = {.file = file, .made = NOT_READ};
        g_array_append_val(d->frames, frame);
    }
    for (guint i = first, j = d->frames->len - 1; i < j; i++, j--) {
        struct frame *frames = (struct frame *)(void *)d->frames->data, kept = frames[i];
        frames[i] = frames[j];
        frames[j] = kept;
    }
    d->places[index] = (struct place){first, d->frames->len - first};
    return true;
}

static bool check_product(struct fm_otlp_dictionary *d, const struct place *place, GError **error)
{
    uint64_t size = d->input->size;
    *d->pushed += place->count;
    if (fm_stacks_calls(d->stacks) <= size + CONTEXTS_ALWAYS &&
        *d->pushed <= size * FRAMES_A_BYTE + FRAMES_ALWAYS)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_LIMIT,
                "%s: its samples have more than %" G_GUINT64_FORMAT
                " frames in %u contexts; expected no more than a profile of %zu bytes has",
                d->input->name, (guint64)*d->pushed, fm_stacks_calls(d->stacks), d->input->size);
    return false;
}

static bool is_thread(const struct fm_otlp_dictionary *d, const struct frame *frame,
                      const char *thread)
{
    struct fm_otlp_text name =
        fm_otlp_string(d, row_of(d, FUNCTIONS, frame->number).of[FUNCTION_NAME]);
    return thread != NULL && name.size == strlen(thread) &&
           memcmp(name.text, thread, name.size) == 0;
}

bool fm_otlp_push_stack(struct fm_otlp_dictionary *d, uint64_t index, const char *thread,
                        GError **error)
{
    const struct message *stack = entry(d, STACKS, index);
    g_autoptr(GArray) path = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    struct fm_fields fields = fields_of(stack);
    struct fm_field field;
    uint64_t location;
    uint32_t line = 0;
    if (stack == NULL && index != 0)
        return fm_import_fail(d->input, error,
                              "a sample names stack %" G_GUINT64_FORMAT ", expected one of %u",
                              (guint64)index, d->tables[STACKS]->len);
    while (fm_fields_next(&fields, &field)) {
        while (field.number == 1 && fm_field_take(&field, &location))
            g_array_append_val(path, location);
    }
    for (guint i = path->len; i-- > 0;) {
        location = g_array_index(path, uint64_t, i);
        if (entry(d, LOCATIONS, location) == NULL)
            return fm_import_fail(d->input, error,
                                  "stack %" G_GUINT64_FORMAT " names location %" G_GUINT64_FORMAT
                                  ", expected one of %u",
                                  (guint64)index, (guint64)location, d->tables[LOCATIONS]->len);
        struct place *place = &d->places[location];
        if ((place->first == NOT_READ && !read_place(d, location, error)) ||
            !check_product(d, place, error))
            return false;
        for (uint32_t j = 0; j < place->count; j++) {
            struct frame *frame = &g_array_index(d->frames, struct frame, place->first + j);
            bool repeats = i + 1 == path->len && j == 0 && is_thread(d, frame, thread);
            if (!repeats && frame->made == NOT_READ)
                frame->made = make_function(d, frame);
            if (!repeats)
                fm_stacks_push(d->stacks, frame->made, line);
            line = frame->line;
        }
    }
    if (path->len == 0) /* its place is not known, but it happened */
        fm_stacks_push(
            d->stacks,
            fm_stacks_function(
                d->stacks, &(struct fm_stacks_name){.name = "(no stack)", .size = 10, .unit = ""}),
            0);
    return true;
}

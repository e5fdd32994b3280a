/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/protobuf/pprof_tables.h"

#include <string.h>

#include "exchange/import/ids.h"

enum {
    PROFILE_TYPE = 1,
    PROFILE_SAMPLE,
    PROFILE_MAPPING,
    PROFILE_LOCATION,
    PROFILE_FUNCTION,
    PROFILE_STRING,
    PROFILE_DURATION = 10,
    PROFILE_PERIOD_TYPE,
    PROFILE_PERIOD,
    PROFILE_COMMENT,
    PROFILE_WANTED
};
enum { MAPPING_ID = 1, MAPPING_FILE = 5 };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_LINE };

#define NUMBERS 6u /* fields that are numbers in one message, and 0 */

/* Numbers by field; those that are missing stay. False: damaged, or one of these is no number. */
static bool read_numbers(const struct fm_field *message, uint64_t of[NUMBERS])
{
    struct fm_fields fields = fm_fields_in(message);
    struct fm_field field;
    if (message->wire != FM_WIRE_BYTES)
        return false;
    while (fm_fields_next(&fields, &field)) {
        if (field.number >= NUMBERS)
            continue;
        if (field.wire != FM_WIRE_NUMBER)
            return false;
        of[field.number] = field.value;
    }
    return fields.at == fields.end;
}

static bool read_type(const struct fm_field *message, struct fm_pprof_type *ret)
{
    uint64_t of[NUMBERS] = {[1] = ret->name, [2] = ret->unit};
    if (!read_numbers(message, of))
        return false;
    *ret = (struct fm_pprof_type){of[1], of[2]};
    return true;
}

static bool add_type(struct fm_pprof_tables *tables, const struct fm_field *message)
{
    struct fm_pprof_type type = {0};
    if (!read_type(message, &type))
        return false;
    g_array_append_val(tables->types, type);
    return true;
}

static bool add_mapping(struct fm_pprof_tables *tables, const struct fm_field *message)
{
    uint64_t of[NUMBERS] = {0};
    if (!read_numbers(message, of))
        return false;
    g_array_append_val(tables->files, of[MAPPING_FILE]);
    fm_import_ids_put(tables->by_mapping, of[MAPPING_ID], tables->files->len);
    return true;
}

static bool add_function(struct fm_pprof_tables *tables, const struct fm_field *message)
{
    uint64_t of[NUMBERS] = {0};
    if (!read_numbers(message, of))
        return false;
    struct fm_pprof_function function = {of[1], of[2], of[4], of[5]};
    g_array_append_val(tables->functions, function);
    return true;
}

static bool add_line(struct fm_pprof_tables *tables, const struct fm_field *message)
{
    uint64_t of[NUMBERS] = {0};
    if (!read_numbers(message, of))
        return false;
    struct fm_pprof_line line = {.function = of[LINE_FUNCTION],
                                 .line = of[LINE_LINE] <= UINT32_MAX ? (uint32_t)of[LINE_LINE] : 0,
                                 .made = UINT32_MAX};
    g_array_append_val(tables->lines, line);
    return true;
}

static bool add_location(struct fm_pprof_tables *tables, const struct fm_field *message)
{
    struct fm_pprof_location location = {.first = tables->lines->len};
    struct fm_fields fields = fm_fields_in(message);
    struct fm_field field;
    while (fm_fields_next(&fields, &field)) {
        if (field.number == LOCATION_LINE
                ? !add_line(tables, &field)
                : field.number < LOCATION_LINE && field.wire != FM_WIRE_NUMBER)
            return false;
        if (field.number == LOCATION_ID)
            location.id = field.value;
        else if (field.number == LOCATION_MAPPING)
            location.mapping = field.value;
        else if (field.number == LOCATION_ADDRESS)
            location.address = field.value;
    }
    location.count = tables->lines->len - location.first;
    g_array_append_val(tables->locations, location);
    return message->wire == FM_WIRE_BYTES && fields.at == fields.end;
}

static bool add_string(struct fm_pprof_tables *tables, const struct fm_field *field)
{
    struct fm_pprof_text text = {(const char *)field->bytes, field->size};
    if (field->wire != FM_WIRE_BYTES)
        return false;
    text.size = strnlen(text.text, text.size);
    g_array_append_val(tables->strings, text);
    return true;
}

static bool add_comments(struct fm_pprof_tables *tables, struct fm_field *field)
{
    uint64_t string;
    if (field->wire != FM_WIRE_BYTES && field->wire != FM_WIRE_NUMBER)
        return false;
    while (fm_field_take(field, &string))
        g_array_append_val(tables->comments, string);
    return field->size == 0;
}

static bool set_number(uint64_t *number, const struct fm_field *field)
{
    *number = field->value;
    return field->wire == FM_WIRE_NUMBER;
}

static bool take_field(struct fm_pprof_tables *tables, struct fm_field *field)
{
    switch (field->number) {
    case PROFILE_TYPE:
        return add_type(tables, field);
    case PROFILE_SAMPLE:
        tables->samples++;
        return field->wire == FM_WIRE_BYTES;
    case PROFILE_MAPPING:
        return add_mapping(tables, field);
    case PROFILE_LOCATION:
        return add_location(tables, field);
    case PROFILE_FUNCTION:
        return add_function(tables, field);
    case PROFILE_STRING:
        return add_string(tables, field);
    case PROFILE_DURATION:
        return set_number(&tables->duration, field);
    case PROFILE_PERIOD_TYPE:
        tables->has_period_type = true;
        return read_type(field, &tables->period_type);
    case PROFILE_PERIOD:
        return set_number(&tables->period, field);
    case PROFILE_COMMENT:
        return add_comments(tables, field);
    case PROFILE_WANTED:
        return set_number(&tables->wanted, field);
    default:
        return true;
    }
}

/* A writer of .NET's left the ids of all functions out, and counts them from 1. */
static void number_functions(struct fm_pprof_tables *tables)
{
    struct fm_pprof_function *functions =
        (struct fm_pprof_function *)(void *)tables->functions->data;
    for (guint i = 0; i < tables->functions->len; i++) {
        if (functions[i].id != 0)
            return;
    }
    for (guint i = 0; i < tables->functions->len; i++)
        functions[i].id = i + 1;
    tables->functions_are_numbered = tables->functions->len > 0;
}

/* Ids are any numbers but 0; most writers count locations from 1. */
static void index_all(struct fm_pprof_tables *tables)
{
    bool counted = true;
    number_functions(tables);
    for (guint i = 0; i < tables->functions->len; i++)
        fm_import_ids_put(tables->by_function,
                          g_array_index(tables->functions, struct fm_pprof_function, i).id, i + 1);
    for (guint i = 0; i < tables->locations->len && counted; i++)
        counted = g_array_index(tables->locations, struct fm_pprof_location, i).id == i + 1;
    if (!counted)
        tables->by_location = fm_import_ids_new();
    for (guint i = 0; i < tables->locations->len && !counted; i++)
        fm_import_ids_put(tables->by_location,
                          g_array_index(tables->locations, struct fm_pprof_location, i).id, i + 1);
    tables->ids_repeat =
        fm_import_ids_count(tables->by_function) != tables->functions->len ||
        (!counted && fm_import_ids_count(tables->by_location) != tables->locations->len);
}

#define ID_BYTES 64u /* of an index of ids, just after it has grown */

static uint64_t memory_of(const struct fm_pprof_tables *tables)
{
    return (uint64_t)tables->strings->len * sizeof(struct fm_pprof_text) +
           (uint64_t)tables->functions->len * (sizeof(struct fm_pprof_function) + ID_BYTES) +
           (uint64_t)tables->locations->len * (sizeof(struct fm_pprof_location) + ID_BYTES) +
           (uint64_t)tables->lines->len * sizeof(struct fm_pprof_line) +
           (uint64_t)tables->files->len * (sizeof(uint64_t) + ID_BYTES);
}

enum fm_pprof_fault fm_pprof_tables_read(struct fm_pprof_tables *tables, const uint8_t *bytes,
                                         size_t size, uint64_t memory_max)
{
    struct fm_fields fields = fm_fields_of(bytes, size);
    struct fm_field field;
    *tables = (struct fm_pprof_tables){
        .strings = g_array_new(FALSE, FALSE, sizeof(struct fm_pprof_text)),
        .functions = g_array_new(FALSE, FALSE, sizeof(struct fm_pprof_function)),
        .locations = g_array_new(FALSE, FALSE, sizeof(struct fm_pprof_location)),
        .lines = g_array_new(FALSE, FALSE, sizeof(struct fm_pprof_line)),
        .files = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
        .types = g_array_new(FALSE, FALSE, sizeof(struct fm_pprof_type)),
        .comments = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
        .by_function = fm_import_ids_new(),
        .by_mapping = fm_import_ids_new()};
    while (fm_fields_next(&fields, &field)) {
        if (!take_field(tables, &field))
            return FM_PPROF_DAMAGED;
        if (memory_of(tables) > memory_max)
            return FM_PPROF_TOO_LARGE;
    }
    index_all(tables);
    return fields.at == fields.end ? FM_PPROF_WHOLE : FM_PPROF_DAMAGED;
}

void fm_pprof_tables_done(struct fm_pprof_tables *tables)
{
    g_array_unref(tables->strings);
    g_array_unref(tables->functions);
    g_array_unref(tables->locations);
    g_array_unref(tables->lines);
    g_array_unref(tables->files);
    g_array_unref(tables->types);
    g_array_unref(tables->comments);
    fm_import_ids_free(tables->by_function);
    fm_import_ids_free(tables->by_mapping);
    fm_import_ids_free(tables->by_location);
}

struct fm_pprof_text fm_pprof_string(const struct fm_pprof_tables *tables, uint64_t index)
{
    return index < tables->strings->len
               ? g_array_index(tables->strings, struct fm_pprof_text, index)
               : (struct fm_pprof_text){"", 0};
}

char *fm_pprof_string_dup(const struct fm_pprof_tables *tables, uint64_t index)
{
    struct fm_pprof_text text = fm_pprof_string(tables, index);
    return text.size == 0 ? g_strdup("") : g_strndup(text.text, text.size);
}

const struct fm_pprof_function *fm_pprof_function(const struct fm_pprof_tables *tables, uint64_t id)
{
    uint32_t found = fm_import_ids_find(tables->by_function, id);
    return found == 0 ? NULL
                      : &g_array_index(tables->functions, struct fm_pprof_function, found - 1);
}

const struct fm_pprof_location *fm_pprof_location(const struct fm_pprof_tables *tables, uint64_t id)
{
    uint64_t found = tables->by_location != NULL    ? fm_import_ids_find(tables->by_location, id)
                     : id <= tables->locations->len ? id
                                                    : 0;
    return found == 0 ? NULL
                      : &g_array_index(tables->locations, struct fm_pprof_location, found - 1);
}

struct fm_pprof_text fm_pprof_file(const struct fm_pprof_tables *tables, uint64_t mapping)
{
    uint32_t found = fm_import_ids_find(tables->by_mapping, mapping);
    return fm_pprof_string(tables,
                           found == 0 ? 0 : g_array_index(tables->files, uint64_t, found - 1));
}

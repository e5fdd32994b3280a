/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON of protocol buffers, made the bytes that it stands for: so one reader does for both. */
#include "exchange/import/otlp/json.h"

#include <string.h>

enum type { NUMBER, FIXED, TEXT, MESSAGES };
struct member {
    const char *name;
    unsigned field;
    enum type type;
    const struct member *inside; /* of MESSAGES; ends with a NULL name */
};

static const struct member any_value[] = {
    {"stringValue", 1, TEXT, NULL}, {"intValue", 3, NUMBER, NULL}, {NULL}};
static const struct member key_value[] = {
    {"key", 1, TEXT, NULL}, {"value", 2, MESSAGES, any_value}, {NULL}};
static const struct member attribute[] = {
    {"keyStrindex", 1, NUMBER, NULL}, {"value", 2, MESSAGES, any_value}, {NULL}};
static const struct member mapping[] = {{"filenameStrindex", 4, NUMBER, NULL}, {NULL}};
static const struct member line[] = {
    {"functionIndex", 1, NUMBER, NULL}, {"line", 2, NUMBER, NULL}, {NULL}};
static const struct member location[] = {
    {"mappingIndex", 1, NUMBER, NULL}, {"lines", 3, MESSAGES, line}, {NULL}};
static const struct member function[] = {{"nameStrindex", 1, NUMBER, NULL},
                                         {"systemNameStrindex", 2, NUMBER, NULL},
                                         {"filenameStrindex", 3, NUMBER, NULL},
                                         {"startLine", 4, NUMBER, NULL},
                                         {NULL}};
static const struct member stack[] = {{"locationIndices", 1, NUMBER, NULL}, {NULL}};
static const struct member dictionary[] = {{"mappingTable", 1, MESSAGES, mapping},
                                           {"locationTable", 2, MESSAGES, location},
                                           {"functionTable", 3, MESSAGES, function},
                                           {"stringTable", 5, TEXT, NULL},
                                           {"attributeTable", 6, MESSAGES, attribute},
                                           {"stackTable", 7, MESSAGES, stack},
                                           {NULL}};
static const struct member value_type[] = {
    {"typeStrindex", 1, NUMBER, NULL}, {"unitStrindex", 2, NUMBER, NULL}, {NULL}};
static const struct member sample[] = {{"stackIndex", 1, NUMBER, NULL},
                                       {"attributeIndices", 2, NUMBER, NULL},
                                       {"values", 4, NUMBER, NULL},
                                       {"timestampsUnixNano", 5, FIXED, NULL},
                                       {NULL}};
static const struct member profile[] = {{"sampleType", 1, MESSAGES, value_type},
                                        {"samples", 2, MESSAGES, sample},
                                        {"timeUnixNano", 3, FIXED, NULL},
                                        {"durationNano", 4, NUMBER, NULL},
                                        {"periodType", 5, MESSAGES, value_type},
                                        {"period", 6, NUMBER, NULL},
                                        {NULL}};
static const struct member scope_profiles[] = {{"profiles", 2, MESSAGES, profile}, {NULL}};
static const struct member resource[] = {{"attributes", 1, MESSAGES, key_value}, {NULL}};
static const struct member resource_profiles[] = {
    {"resource", 1, MESSAGES, resource}, {"scopeProfiles", 2, MESSAGES, scope_profiles}, {NULL}};
static const struct member profiles_data[] = {{"resourceProfiles", 1, MESSAGES, resource_profiles},
                                              {"dictionary", 2, MESSAGES, dictionary},
                                              {NULL}};

#define LEVELS_MAX 10u /* of messages within one another: more than the tables above have */

static void put_number(GByteArray *to, uint64_t number)
{
    uint8_t bytes[10];
    guint size = 0;
    for (; number > 127; number >>= 7)
        bytes[size++] = (uint8_t)(number | 128);
    bytes[size++] = (uint8_t)number;
    g_byte_array_append(to, bytes, size);
}

static void put_field(GByteArray *to, unsigned field, const void *bytes, size_t size)
{
    put_number(to, field << 3 | FM_WIRE_BYTES);
    put_number(to, size);
    if (size > 0)
        g_byte_array_append(to, bytes, (guint)size);
}

/* Numbers of 64 bits are strings, since JSON's would be rounded. */
static bool read_number(struct fm_json_value value, uint64_t *ret)
{
    g_autofree char *text = fm_import_json_text(value);
    bool negative = text[0] == '-';
    if (!fm_import_number(text + negative, strlen(text + negative), ret))
        return false;
    if (negative)
        *ret = 0 - *ret;
    return true;
}

static const char *of_name(const struct member *members, struct fm_json_value name,
                           const struct member **ret)
{
    for (const struct member *member = members; member->name != NULL; member++) {
        if (fm_json_equals(name, member->name)) {
            *ret = member;
            return member->name;
        }
    }
    return NULL;
}

struct json {
    const struct fm_import_input *input;
    GByteArray *levels[LEVELS_MAX]; /* what is being put together at each */
};

static bool put_message(struct json *in, const struct member *members, unsigned level,
                        struct fm_json_value object, GError **error);

static bool put_value(struct json *in, const struct member *member, unsigned level,
                      struct fm_json_value value, GError **error)
{
    GByteArray *to = in->levels[level];
    uint64_t number;
    if (member->type == MESSAGES) {
        if (!put_message(in, member->inside, level + 1, value, error))
            return false;
        GByteArray *inside = in->levels[level + 1];
        put_field(to, member->field, inside->data, inside->len);
        return true;
    }
    if (member->type == TEXT) {
        g_autofree char *text = fm_json_string(value);
        put_field(to, member->field, text, strlen(text));
        return true;
    }
    if (!read_number(value, &number))
        return fm_import_json_fail(in->input, value, error, "expected a whole number as \"%s\"",
                                   member->name);
    put_number(to, member->field << 3 | (member->type == FIXED ? FM_WIRE_EIGHT : FM_WIRE_NUMBER));
    if (member->type == NUMBER) {
        put_number(to, number);
    } else {
        uint64_t little = GUINT64_TO_LE(number);
        g_byte_array_append(to, (const uint8_t *)&little, sizeof little);
    }
    return true;
}

/* The recursion is as deep as the tables. */
static bool put_message(struct json *in, const struct member *members, unsigned level,
                        struct fm_json_value object, GError **error)
{
    struct fm_json_items items = fm_json_items(object);
    struct fm_json_value name, value;
    const struct member *member = NULL;
    g_assert(level < LEVELS_MAX);
    g_byte_array_set_size(in->levels[level], 0);
    if (!fm_json_is_object(object))
        return fm_import_json_fail(in->input, object, error, "expected an object");
    while (fm_json_next(&items, &name, &value)) {
        if (of_name(members, name, &member) == NULL)
            continue;
        if (!fm_json_is_array(value)) {
            if (!put_value(in, member, level, value, error))
                return false;
            continue;
        }
        struct fm_json_items elements = fm_json_items(value);
        while (fm_json_next(&elements, NULL, &value)) {
            if (!put_value(in, member, level, value, error))
                return false;
        }
    }
    return true;
}

/* Collectors write an object a line: within one "}" and "{" have a comma between them. */
static size_t end_of_object(const uint8_t *bytes, size_t size)
{
    for (const uint8_t *at = bytes; (at = memchr(at, '\n', size - (size_t)(at - bytes))) != NULL;
         at++) {
        const uint8_t *end = at > bytes && at[-1] == '\r' ? at - 1 : at;
        if (end > bytes && end[-1] == '}' && at + 1 < bytes + size && at[1] == '{')
            return (size_t)(at + 1 - bytes);
    }
    return size;
}

bool fm_otlp_of_json(const struct fm_import_input *input, GPtrArray *ret, GError **error)
{
    struct json in = {.input = input};
    bool done = true;
    for (unsigned i = 0; i < LEVELS_MAX; i++)
        in.levels[i] = g_byte_array_new();
    for (size_t at = 0; done && at < input->size;) {
        struct fm_import_input one = *input;
        struct fm_json_value top;
        one.bytes += at;
        one.skipped += at;
        one.size = end_of_object(one.bytes, one.size - at);
        at += one.size;
        done = fm_import_json(&one, &top, error) && put_message(&in, profiles_data, 0, top, error);
        if (done)
            g_ptr_array_add(ret, g_byte_array_free_to_bytes(g_steal_pointer(&in.levels[0])));
        if (in.levels[0] == NULL)
            in.levels[0] = g_byte_array_new();
    }
    for (unsigned i = 0; i < LEVELS_MAX; i++)
        g_byte_array_unref(in.levels[i]);
    return done;
}

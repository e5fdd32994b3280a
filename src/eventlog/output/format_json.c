/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/text/json.h"
#include "eventlog/output/format.h"

static void write_hex(struct fm_json *json, const char *name, const uint8_t *bytes, size_t length)
{
    g_autoptr(GString) digits = g_string_sized_new(2 * length);
    for (size_t i = 0; i < length; i++)
        g_string_append_printf(digits, "%02x", bytes[i]);
    fm_json_bytes(json, name, digits->str, digits->len);
}

/* Writes the texts of a list, each ended by a zero byte; the last may lack it. */
static void write_texts(struct fm_json *json, const struct fm_eventlog_value *value)
{
    fm_json_array(json, value->field->name);
    for (uint32_t at = 0; at < value->length;) {
        const uint8_t *zero = memchr(value->bytes + at, 0, value->length - at);
        uint32_t end = zero == NULL ? value->length : (uint32_t)(zero - value->bytes);
        g_assert(end >= at && end <= value->length);
        fm_json_bytes(json, NULL, value->bytes + at, end - at);
        at = end + 1;
    }
    fm_json_end(json);
}

static void write_numbers(struct fm_json *json, const struct fm_eventlog_value *value)
{
    g_assert(value->number <= value->length / 4);
    fm_json_array(json, value->field->name);
    for (uint32_t i = 0; i < value->number; i++)
        fm_json_uint(json, NULL, fm_eventlog_get32(value->bytes + 4 * (size_t)i));
    fm_json_end(json);
}

/* Writes an interned name both as number and as text: "lock": 3, "lock_text": "queue". */
static void write_integer(struct fm_json *json, const struct fm_eventlog_value *value,
                          GHashTable *names)
{
    const char *field = value->field->name;
    uint8_t unit = value->field->unit;
    if (value->field->kind == FM_EVENTLOG_I64)
        fm_json_int(json, field, (int64_t)value->number);
    else if (unit == FM_EVENTLOG_UNIT_CAPABILITY && value->field->kind == FM_EVENTLOG_U16 &&
             value->number == 0xFFFF)
        fm_json_null(json, field);
    else
        fm_json_uint(json, field, value->number);
    const char *text = unit != FM_EVENTLOG_UNIT_STRING || names == NULL
                           ? NULL
                           : g_hash_table_lookup(names, GUINT_TO_POINTER((guint)value->number));
    if (text == NULL)
        return;
    g_autofree char *member = g_strconcat(field, "_text", NULL);
    fm_json_text(json, member, text);
}

static void write_value(struct fm_json *json, const struct fm_eventlog_value *value,
                        GHashTable *names)
{
    const char *field = value->field->name;
    switch ((enum fm_eventlog_kind)value->field->kind) {
    case FM_EVENTLOG_TEXT:
    case FM_EVENTLOG_TEXT_BEFORE_4:
    case FM_EVENTLOG_TEXTZ:
        if (value->field->unit == FM_EVENTLOG_UNIT_JSON)
            fm_json_structured(json, field, (const char *)value->bytes, value->length);
        else
            fm_json_bytes(json, field, value->bytes, value->length);
        break;
    case FM_EVENTLOG_TEXTZ_LIST:
        write_texts(json, value);
        break;
    case FM_EVENTLOG_U32_LIST:
        write_numbers(json, value);
        break;
    case FM_EVENTLOG_DATA:
        write_hex(json, field, value->bytes, value->length);
        break;
    case FM_EVENTLOG_F64:
        fm_json_digits(json, field, value->real, 17);
        break;
    case FM_EVENTLOG_U8:
    case FM_EVENTLOG_U16:
    case FM_EVENTLOG_U32:
    case FM_EVENTLOG_U64:
    case FM_EVENTLOG_I64:
        write_integer(json, value, names);
        break;
    }
}

static void write_fields(struct fm_json *json, const struct fm_eventlog_event *event,
                         GHashTable *names)
{
    struct fm_eventlog_value values[FM_EVENTLOG_FIELDS_MAX];
    bool malformed;
    size_t count = fm_eventlog_decode(event, values, &malformed);
    fm_json_object(json, "fields");
    for (size_t i = 0; i < count; i++)
        write_value(json, &values[i], names);
    if (malformed)
        fm_json_bool(json, "malformed", true);
    if (malformed || (event->type == NULL && event->payload_length > 0))
        write_hex(json, "payload", event->payload, event->payload_length);
    fm_json_end(json);
}

/* Writes the header's description of a type that is in no table. */
static void write_type(struct fm_json *json, const struct fm_eventlog_event *event,
                       const struct fm_eventlog_header *header)
{
    if (event->type != NULL) {
        fm_json_text(json, "type", event->type->name);
        return;
    }
    g_autofree char *label = fm_eventlog_type_label(event->number);
    fm_json_text(json, "type", label);
    const struct fm_eventlog_declared *declared =
        header == NULL ? NULL : fm_eventlog_header_find(header, event->number);
    if (declared != NULL && declared->name_length > 0)
        fm_json_bytes(json, "description", header->bytes->data + declared->name_at,
                      declared->name_length);
}

void fm_eventlog_format_json(GString *out, const struct fm_eventlog_event *event,
                             const struct fm_eventlog_header *header, GHashTable *names)
{
    struct fm_json json;
    fm_json_init(&json, out);
    fm_json_object(&json, NULL);
    fm_json_uint(&json, "time_ns", event->time_ns);
    if (event->capability >= 0)
        fm_json_int(&json, "cap", event->capability);
    else
        fm_json_null(&json, "cap");
    write_type(&json, event, header);
    write_fields(&json, event, names);
    fm_json_end(&json);
    g_string_append_c(out, '\n');
}

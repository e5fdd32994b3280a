/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/csv.h"
#include "eventlog/output/format.h"

#include <string.h>

/* Length of the UTF-8 character there; 0 when it is not valid. */
static size_t character(const uint8_t *bytes, size_t length)
{
    if (bytes[0] < 0x80)
        return 1;
    gunichar c = g_utf8_get_char_validated((const char *)bytes, (gssize)MIN(length, 6));
    if (c == (gunichar)-1 || c == (gunichar)-2)
        return 0;
    return (size_t)g_utf8_skip[bytes[0]];
}

void fm_eventlog_format_text(GString *out, const uint8_t *bytes, size_t length, char quote)
{
    for (size_t i = 0; i < length;) {
        size_t size = character(bytes + i, length - i);
        uint8_t c = bytes[i];
        if (c == '\n')
            g_string_append(out, "\\n");
        else if (c == '\t')
            g_string_append(out, "\\t");
        else if (c == '\\' || (quote != 0 && c == (uint8_t)quote))
            g_string_append_printf(out, "\\%c", c);
        else if (size == 0 || c < 0x20 || c == 0x7F)
            g_string_append_printf(out, "\\x%02x", c);
        else
            g_string_append_len(out, (const char *)bytes + i, (gssize)size);
        i += MAX(size, 1);
    }
}

static void append_hex(GString *out, const uint8_t *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++)
        g_string_append_printf(out, "%02x", bytes[i]);
}

static void append_real(GString *out, double real)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    g_string_append(out, g_ascii_dtostr(text, sizeof text, real));
}

/* Appends the texts of a list, each ended by a zero byte; the last may lack it. */
static void append_texts(GString *out, const struct fm_eventlog_value *value)
{
    g_string_append_c(out, '[');
    for (uint32_t at = 0; at < value->length;) {
        const uint8_t *zero = memchr(value->bytes + at, 0, value->length - at);
        uint32_t end = zero == NULL ? value->length : (uint32_t)(zero - value->bytes);
        if (at > 0)
            g_string_append(out, ", ");
        g_string_append_c(out, '"');
        fm_eventlog_format_text(out, value->bytes + at, end - at, '"');
        g_string_append_c(out, '"');
        at = end + 1;
    }
    g_string_append_c(out, ']');
}

static void append_numbers(GString *out, const struct fm_eventlog_value *value)
{
    g_string_append_c(out, '[');
    for (uint32_t i = 0; i < value->number; i++)
        g_string_append_printf(out, "%s%u", i == 0 ? "" : ",",
                               fm_eventlog_get32(value->bytes + 4 * (size_t)i));
    g_string_append_c(out, ']');
}

static void append_name(GString *out, const char *name)
{
    if (name == NULL)
        return;
    g_string_append(out, " \"");
    fm_eventlog_format_text(out, (const uint8_t *)name, strlen(name), '"');
    g_string_append_c(out, '"');
}

static void append_integer(GString *out, const struct fm_eventlog_value *value, GHashTable *names)
{
    uint64_t number = value->number;
    uint8_t unit = value->field->unit;
    bool none = unit == FM_EVENTLOG_UNIT_CAPABILITY && value->field->kind == FM_EVENTLOG_U16 &&
                number == 0xFFFF;
    if (value->field->kind == FM_EVENTLOG_I64)
        g_string_append_printf(out, "%" G_GINT64_FORMAT, (gint64)number);
    else if (none)
        g_string_append(out, "none");
    else if (unit == FM_EVENTLOG_UNIT_ADDRESS || unit == FM_EVENTLOG_UNIT_TASK)
        g_string_append_printf(out, "0x%" G_GINT64_MODIFIER "x", number);
    else
        g_string_append_printf(out, "%" G_GUINT64_FORMAT, number);
    const char *word = fm_eventlog_enum_name(unit, number);
    if (word != NULL)
        g_string_append_printf(out, " (%s)", word);
    const char *name = unit != FM_EVENTLOG_UNIT_STRING || names == NULL
                           ? NULL
                           : g_hash_table_lookup(names, GUINT_TO_POINTER((guint)number));
    append_name(out, name);
}

static void append_value(GString *out, const struct fm_eventlog_value *value, GHashTable *names)
{
    switch ((enum fm_eventlog_kind)value->field->kind) {
    case FM_EVENTLOG_TEXT:
    case FM_EVENTLOG_TEXT_BEFORE_4:
    case FM_EVENTLOG_TEXTZ:
        g_string_append_c(out, '"');
        fm_eventlog_format_text(out, value->bytes, value->length, '"');
        g_string_append_c(out, '"');
        break;
    case FM_EVENTLOG_TEXTZ_LIST:
        append_texts(out, value);
        break;
    case FM_EVENTLOG_U32_LIST:
        append_numbers(out, value);
        break;
    case FM_EVENTLOG_DATA:
        append_hex(out, value->bytes, value->length);
        break;
    case FM_EVENTLOG_F64:
        append_real(out, value->real);
        break;
    case FM_EVENTLOG_U8:
    case FM_EVENTLOG_U16:
    case FM_EVENTLOG_U32:
    case FM_EVENTLOG_U64:
    case FM_EVENTLOG_I64:
        append_integer(out, value, names);
        break;
    }
}

/* "name=value name=value" */
static void append_fields(GString *out, const struct fm_eventlog_event *event, GHashTable *names)
{
    struct fm_eventlog_value values[FM_EVENTLOG_FIELDS_MAX];
    bool malformed;
    size_t count = fm_eventlog_decode(event, values, &malformed);
    for (size_t i = 0; i < count; i++) {
        g_string_append(out, i == 0 ? "" : " ");
        g_string_append_printf(out, "%s=", values[i].field->name);
        append_value(out, &values[i], names);
    }
    if (!malformed && (event->type != NULL || event->payload_length == 0))
        return;
    g_string_append(out, count == 0 ? "" : " ");
    if (malformed)
        g_string_append(out, "malformed ");
    g_string_append(out, "payload=");
    append_hex(out, event->payload, event->payload_length);
}

static void append_label(GString *out, const struct fm_eventlog_event *event,
                         const struct fm_eventlog_header *header)
{
    if (event->type != NULL) {
        g_string_append(out, event->type->name);
        return;
    }
    g_autofree char *label = fm_eventlog_type_label(event->number);
    g_string_append(out, label);
    const struct fm_eventlog_declared *declared =
        header == NULL ? NULL : fm_eventlog_header_find(header, event->number);
    if (declared == NULL || declared->name_length == 0)
        return;
    const uint8_t *name = header->bytes->data + declared->name_at;
    g_string_append(out, " [");
    fm_eventlog_format_text(out, name, declared->name_length, ']');
    g_string_append_c(out, ']');
}

static void append_first_columns(GString *out, const struct fm_eventlog_event *event)
{
    if (event->capability >= 0)
        g_string_append_printf(out, "%" G_GUINT64_FORMAT ",%d,", event->time_ns, event->capability);
    else
        g_string_append_printf(out, "%" G_GUINT64_FORMAT ",none,", event->time_ns);
    g_autoptr(GString) text = g_string_new(NULL);
    append_label(text, event, NULL);
    fm_csv_append_text(out, text->str);
}

static void format_csv(GString *out, const struct fm_eventlog_event *event, GHashTable *names)
{
    append_first_columns(out, event);
    g_autoptr(GString) text = g_string_new(NULL);
    append_fields(text, event, names);
    g_string_append_c(out, ',');
    fm_csv_append_text(out, text->str);
    g_string_append(out, "\r\n");
}

/* A text without quotes, a number without its word; of an interned text the text. */
static void append_cell(GString *out, const struct fm_eventlog_value *value, GHashTable *names)
{
    const uint8_t kind = value->field->kind, unit = value->field->unit;
    const bool text =
        kind == FM_EVENTLOG_TEXT || kind == FM_EVENTLOG_TEXT_BEFORE_4 || kind == FM_EVENTLOG_TEXTZ;
    const bool number = kind == FM_EVENTLOG_U8 || kind == FM_EVENTLOG_U16 ||
                        kind == FM_EVENTLOG_U32 || kind == FM_EVENTLOG_U64;
    const char *name = unit != FM_EVENTLOG_UNIT_STRING || names == NULL
                           ? NULL
                           : g_hash_table_lookup(names, GUINT_TO_POINTER((guint)value->number));
    g_autoptr(GString) cell = g_string_new(name);
    if (text)
        fm_eventlog_format_text(cell, value->bytes, value->length, 0);
    else if (number && name == NULL && fm_eventlog_enum_name(unit, value->number) != NULL)
        g_string_append_printf(cell, "%" G_GUINT64_FORMAT, value->number);
    else if (name == NULL)
        append_value(cell, value, NULL);
    fm_csv_append_text(out, cell->str);
}

void fm_eventlog_format_column_names(GString *out, const GPtrArray *columns)
{
    g_string_append(out, "time_ns,capability,type");
    for (guint i = 0; i < columns->len; i++) {
        g_string_append_c(out, ',');
        fm_csv_append_text(out, columns->pdata[i]);
    }
    g_string_append(out, "\r\n");
}

bool fm_eventlog_format_columns(GString *out, const struct fm_eventlog_event *event,
                                GHashTable *names, const GPtrArray *columns)
{
    struct fm_eventlog_value values[FM_EVENTLOG_FIELDS_MAX];
    bool malformed;
    size_t count = fm_eventlog_decode(event, values, &malformed), shown = 0;
    append_first_columns(out, event);
    for (guint i = 0; i < columns->len; i++) {
        g_string_append_c(out, ',');
        size_t at = 0;
        while (at < count && strcmp(values[at].field->name, columns->pdata[i]) != 0)
            at++;
        if (at < count)
            append_cell(out, &values[at], names);
        shown += at < count;
    }
    g_string_append(out, "\r\n");
    return shown == count;
}

void fm_eventlog_format_head(GString *out, enum fm_eventlog_format format)
{
    if (format == FM_EVENTLOG_AS_CSV)
        g_string_append(out, "time_ns,capability,type,fields\r\n");
}

void fm_eventlog_format_event(GString *out, enum fm_eventlog_format format,
                              const struct fm_eventlog_event *event,
                              const struct fm_eventlog_header *header, GHashTable *names)
{
    uint64_t seconds = event->time_ns / G_GUINT64_CONSTANT(1000000000);
    uint64_t rest = event->time_ns % G_GUINT64_CONSTANT(1000000000);
    switch (format) {
    case FM_EVENTLOG_AS_TEXT:
        g_string_append_printf(out, "%4" G_GUINT64_FORMAT ".%09" G_GUINT64_FORMAT, seconds, rest);
        if (event->capability >= 0)
            g_string_append_printf(out, " %4d ", event->capability);
        else
            g_string_append(out, "    - ");
        append_label(out, event, header);
        g_string_append_c(out, ' ');
        append_fields(out, event, names);
        if (out->str[out->len - 1] == ' ')
            g_string_truncate(out, out->len - 1);
        g_string_append_c(out, '\n');
        break;
    case FM_EVENTLOG_AS_JSON:
        fm_eventlog_format_json(out, event, header, names);
        break;
    case FM_EVENTLOG_AS_CSV:
        format_csv(out, event, names);
        break;
    }
}

void fm_eventlog_names_learn(GHashTable *names, const struct fm_eventlog_event *event)
{
    enum { NAMES_MAX = 1000000 };
    struct fm_eventlog_value values[FM_EVENTLOG_FIELDS_MAX];
    bool malformed;
    if (event->number != FM_EVENTLOG_INTERN_STRING || g_hash_table_size(names) >= NAMES_MAX ||
        fm_eventlog_decode(event, values, &malformed) < 2)
        return;
    g_hash_table_replace(names, GUINT_TO_POINTER((guint)values[1].number),
                         g_strndup((const char *)values[0].bytes, values[0].length));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Names and values of a log's events, for people. */
#include <string.h>

#include "trace/format/eventlog_trace.h"

enum { TEXT_BYTES_MAX = 4096 };

void fm_eventlog_trace_take_text(void *user, uint32_t header, uint32_t id, const uint8_t *text,
                                 uint32_t length)
{
    struct fm_eventlog_trace *self = user;
    char *valid = g_utf8_make_valid((const char *)text, MIN(length, TEXT_BYTES_MAX));
    uint64_t key = (uint64_t)header << 32 | id;
    const char *known = g_hash_table_lookup(self->texts, &key);
    if (known != NULL && g_strcmp0(known, valid) == 0) {
        g_free(valid);
        return;
    }
    g_ptr_array_add(self->owned_texts, valid); /* a name that changes leaves its old one behind */
    g_hash_table_insert(self->texts, g_memdup2(&key, sizeof key), valid);
    g_hash_table_insert(self->any, GUINT_TO_POINTER(id), valid);
}

static const char *text_of(const struct fm_eventlog_trace *self, uint32_t id)
{
    uint64_t key = (uint64_t)fm_eventlog_merge_header_index(self->merge) << 32 | id;
    const char *text = g_hash_table_lookup(self->texts, &key);
    return text != NULL ? text : g_hash_table_lookup(self->any, GUINT_TO_POINTER(id));
}

/* The description that the log's header gives to a number in no table. */
static char *described(const struct fm_eventlog_trace *self, uint32_t id)
{
    for (guint i = self->log->headers->len; i-- > 0;) {
        const struct fm_eventlog_header *header = self->log->headers->pdata[i];
        const struct fm_eventlog_declared *declared = fm_eventlog_header_find(header, id);
        if (declared != NULL && declared->name_length > 0)
            return g_utf8_make_valid((const char *)header->bytes->data + declared->name_at,
                                     MIN(declared->name_length, 200));
    }
    return NULL;
}

const char *fm_eventlog_event_name(struct fm_tracefile *tracefile, uint32_t id)
{
    struct fm_eventlog_trace *self = tracefile->implementation;
    const char *known = g_hash_table_lookup(self->labels, GUINT_TO_POINTER(id));
    if (known != NULL || id > G_MAXUINT16)
        return known;
    const struct fm_eventlog_type *type = fm_eventlog_type_find((uint16_t)id, -1);
    char *label = type != NULL ? g_strdup(type->name) : described(self, id);
    if (label != NULL)
        g_hash_table_insert(self->labels, GUINT_TO_POINTER(id), label);
    return label;
}

static const char *unit_of(enum fm_eventlog_unit unit)
{
    switch (unit) {
    case FM_EVENTLOG_UNIT_BYTES:
    case FM_EVENTLOG_UNIT_MEGABLOCKS:
    case FM_EVENTLOG_UNIT_NS:
    case FM_EVENTLOG_UNIT_SECONDS:
        return fm_eventlog_unit_name(unit);
    default:
        return NULL;
    }
}

/* The word for a number, or NULL. */
static const char *word_for(const struct fm_eventlog_trace *self, enum fm_eventlog_unit unit,
                            uint64_t number)
{
    switch (unit) {
    case FM_EVENTLOG_UNIT_STRING:
        return number <= UINT32_MAX ? text_of(self, (uint32_t)number) : NULL;
    case FM_EVENTLOG_UNIT_CAPABILITY:
        return number == UINT16_MAX ? "none" : NULL;
    case FM_EVENTLOG_UNIT_CAPSET_TYPE:
    case FM_EVENTLOG_UNIT_STOP_STATUS:
    case FM_EVENTLOG_UNIT_BREAKDOWN:
        return fm_eventlog_enum_name(unit, number);
    default:
        return NULL;
    }
}

static void take_number(const struct fm_eventlog_trace *self, const struct fm_eventlog_value *value,
                        struct fm_event_value *ret)
{
    enum fm_eventlog_unit unit = value->field->unit;
    bool address = unit == FM_EVENTLOG_UNIT_ADDRESS;
    ret->kind = value->field->kind == FM_EVENTLOG_I64 ? FM_VALUE_SIGNED
                : address                             ? FM_VALUE_ADDRESS
                                                      : FM_VALUE_UNSIGNED;
    ret->number = value->number;
    ret->text = word_for(self, unit, value->number);
    ret->text_length = ret->text == NULL ? 0 : (uint32_t)strlen(ret->text);
}

static void take_text(const struct fm_eventlog_value *value, struct fm_event_value *ret)
{
    ret->kind = FM_VALUE_TEXT;
    ret->structured = value->field->unit == FM_EVENTLOG_UNIT_JSON;
    ret->text = (const char *)value->bytes;
    ret->text_length = value->length;
}

/* Bytes in hex, or a list of numbers. */
static void take_bytes(struct fm_eventlog_trace *self, const struct fm_eventlog_value *value,
                       struct fm_event_value *ret)
{
    gsize begin = self->scratch->len;
    bool list = value->field->kind == FM_EVENTLOG_U32_LIST;
    g_string_append(self->scratch, list ? "[" : "");
    for (uint32_t i = 0; list && i + 4 <= value->length; i += 4)
        g_string_append_printf(self->scratch, i == 0 ? "%u" : ",%u",
                               fm_eventlog_get32(value->bytes + i));
    g_string_append(self->scratch, list ? "]" : "");
    for (uint32_t i = 0; !list && i < value->length; i++)
        g_string_append_printf(self->scratch, "%02x", value->bytes[i]);
    ret->kind = FM_VALUE_TEXT;
    ret->structured = list;
    ret->number = begin; /* the place: the string may still move */
    g_assert(self->scratch->len >= begin);
    ret->text_length = (uint32_t)(self->scratch->len - begin);
}

/* Arguments with blanks for the zero bytes between them. */
static void take_text_list(struct fm_eventlog_trace *self, const struct fm_eventlog_value *value,
                           struct fm_event_value *ret)
{
    gsize begin = self->scratch->len;
    uint32_t length = value->length;
    while (length > 0 && value->bytes[length - 1] == 0)
        length--;
    for (uint32_t i = 0; i < length; i++)
        g_string_append_c(self->scratch, value->bytes[i] == 0 ? ' ' : (char)value->bytes[i]);
    ret->kind = FM_VALUE_TEXT;
    ret->number = begin;
    g_assert(length == self->scratch->len - begin);
    ret->text_length = length;
}

/* Decodes one; true when its text stands in the scratch string. */
static bool take_value(struct fm_eventlog_trace *self, const struct fm_eventlog_value *value,
                       struct fm_event_value *ret)
{
    *ret = (struct fm_event_value){.name = value->field->name, .unit = unit_of(value->field->unit)};
    switch ((enum fm_eventlog_kind)value->field->kind) {
    case FM_EVENTLOG_U8:
    case FM_EVENTLOG_U16:
    case FM_EVENTLOG_U32:
    case FM_EVENTLOG_U64:
    case FM_EVENTLOG_I64:
        take_number(self, value, ret);
        return false;
    case FM_EVENTLOG_F64:
        ret->kind = FM_VALUE_REAL;
        ret->real = value->real;
        return false;
    case FM_EVENTLOG_TEXT:
    case FM_EVENTLOG_TEXT_BEFORE_4:
    case FM_EVENTLOG_TEXTZ:
        take_text(value, ret);
        return false;
    case FM_EVENTLOG_TEXTZ_LIST:
        take_text_list(self, value, ret);
        return true;
    case FM_EVENTLOG_U32_LIST:
    case FM_EVENTLOG_DATA:
        take_bytes(self, value, ret);
        return true;
    }
    return false;
}

unsigned fm_eventlog_event_values(struct fm_tracefile *tracefile, const struct fm_event *event,
                                  struct fm_event_value *ret)
{
    struct fm_eventlog_trace *self = tracefile->implementation;
    struct fm_eventlog_event raw = {
        .time_ns = event->time,
        .payload = event->payload,
        .payload_length = event->payload_size,
        .number = (uint16_t)event->id,
    };
    guint index = fm_eventlog_merge_header_index(self->merge);
    const struct fm_eventlog_header *header =
        index < self->log->headers->len ? self->log->headers->pdata[index] : NULL;
    const struct fm_eventlog_declared *declared =
        header == NULL ? NULL : fm_eventlog_header_find(header, event->id);
    raw.type = declared == NULL ? NULL : declared->known;
    struct fm_eventlog_value values[FM_EVENTLOG_FIELDS_MAX];
    bool malformed;
    unsigned count = (unsigned)fm_eventlog_decode(&raw, values, &malformed);
    g_assert(count <= FM_EVENTLOG_FIELDS_MAX && count <= FM_EVENT_VALUES_MAX);
    bool in_scratch[FM_EVENTLOG_FIELDS_MAX];
    g_string_truncate(self->scratch, 0);
    for (unsigned i = 0; i < count; i++)
        in_scratch[i] = take_value(self, &values[i], &ret[i]);
    for (unsigned i = 0; i < count; i++) {
        if (!in_scratch[i])
            continue;
        g_assert(ret[i].number + ret[i].text_length <= self->scratch->len);
        ret[i].text = self->scratch->str + ret[i].number;
        ret[i].number = 0;
    }
    return count;
}

unsigned fm_eventlog_event_fields(struct fm_tracefile *tracefile, uint32_t id,
                                  const char **ret_names)
{
    struct fm_eventlog_trace *self = tracefile->implementation;
    const struct fm_eventlog_declared *declared = NULL;
    for (guint i = self->log->headers->len; i-- > 0 && declared == NULL;)
        declared = fm_eventlog_header_find(self->log->headers->pdata[i], id);
    if (declared == NULL || declared->known == NULL)
        return 0;
    for (unsigned i = 0; i < declared->known->field_count; i++)
        ret_names[i] = declared->known->fields[i].name;
    return declared->known->field_count;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog/reader/eventlog.h"

#include <string.h>

/* Size of a field at that offset of the payload; -1 when it does not fit. */
static int64_t field_size(const struct fm_eventlog_event *event, uint32_t at, uint8_t kind,
                          uint64_t number_before)
{
    uint32_t left = event->payload_length - at;
    switch ((enum fm_eventlog_kind)kind) {
    case FM_EVENTLOG_U8:
        return left >= 1 ? 1 : -1;
    case FM_EVENTLOG_U16:
        return left >= 2 ? 2 : -1;
    case FM_EVENTLOG_U32:
        return left >= 4 ? 4 : -1;
    case FM_EVENTLOG_U64:
    case FM_EVENTLOG_I64:
    case FM_EVENTLOG_F64:
        return left >= 8 ? 8 : -1;
    case FM_EVENTLOG_TEXT:
    case FM_EVENTLOG_TEXTZ_LIST:
    case FM_EVENTLOG_DATA:
        return left;
    case FM_EVENTLOG_TEXT_BEFORE_4:
        return left >= 4 ? (int64_t)left - 4 : -1;
    case FM_EVENTLOG_TEXTZ: {
        const uint8_t *end = left == 0 ? NULL : memchr(event->payload + at, 0, left);
        return end == NULL ? -1 : end - (event->payload + at) + 1;
    }
    case FM_EVENTLOG_U32_LIST:
        return number_before * 4 <= left ? (int64_t)(number_before * 4) : -1;
    }
    return -1;
}

static void take_field(struct fm_eventlog_value *value, const uint8_t *at, uint32_t size)
{
    value->number = 0;
    value->real = 0;
    value->bytes = at;
    value->length = size;
    switch ((enum fm_eventlog_kind)value->field->kind) {
    case FM_EVENTLOG_U8:
        value->number = at[0];
        break;
    case FM_EVENTLOG_U16:
        value->number = fm_eventlog_get16(at);
        break;
    case FM_EVENTLOG_U32:
        value->number = fm_eventlog_get32(at);
        break;
    case FM_EVENTLOG_U64:
    case FM_EVENTLOG_I64:
        value->number = fm_eventlog_get64(at);
        break;
    case FM_EVENTLOG_F64: {
        uint64_t bits = fm_eventlog_get64(at);
        memcpy(&value->real, &bits, sizeof bits);
        break;
    }
    case FM_EVENTLOG_TEXTZ:
        value->length = size - 1;
        break;
    case FM_EVENTLOG_U32_LIST:
        value->number = size / 4;
        break;
    case FM_EVENTLOG_TEXT:
    case FM_EVENTLOG_TEXT_BEFORE_4:
    case FM_EVENTLOG_TEXTZ_LIST:
    case FM_EVENTLOG_DATA:
        break;
    }
}

size_t fm_eventlog_decode(const struct fm_eventlog_event *event, struct fm_eventlog_value *values,
                          bool *ret_malformed)
{
    *ret_malformed = false;
    if (event->type == NULL)
        return 0;
    uint32_t at = 0;
    uint64_t number = 0;
    for (size_t i = 0; i < event->type->field_count; i++) {
        const struct fm_eventlog_field *field = &event->type->fields[i];
        if (field->optional && at == event->payload_length)
            return i;
        int64_t size = field_size(event, at, field->kind, number);
        if (size < 0) {
            /* A rest that is too short for an optional field is an extension that is not known
             * here. */
            *ret_malformed = !field->optional;
            return i;
        }
        values[i].field = field;
        take_field(&values[i], event->payload + at, (uint32_t)size);
        number = values[i].number;
        at += (uint32_t)size;
    }
    return event->type->field_count;
}

bool fm_eventlog_field(const struct fm_eventlog_event *event, const char *name,
                       struct fm_eventlog_value *ret)
{
    struct fm_eventlog_value values[FM_EVENTLOG_FIELDS_MAX];
    bool malformed;
    size_t count = fm_eventlog_decode(event, values, &malformed);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(values[i].field->name, name) == 0) {
            *ret = values[i];
            return true;
        }
    }
    return false;
}

bool fm_eventlog_wall_clock(const uint8_t *payload, uint32_t length, uint64_t time_ns,
                            int64_t *ret_ns)
{
    const uint64_t seconds_max = UINT64_C(1) << 32;
    uint64_t seconds;
    if (length < 16)
        return false;
    seconds = fm_eventlog_get64(payload + 4);
    if (seconds >= seconds_max || time_ns > INT64_MAX / 2)
        return false;
    *ret_ns = (int64_t)(seconds * 1000000000 + fm_eventlog_get32(payload + 12)) - (int64_t)time_ns;
    return true;
}

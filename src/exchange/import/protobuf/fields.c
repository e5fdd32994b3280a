/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/protobuf/fields.h"

static bool long_number(const uint8_t *bytes, size_t size, size_t *at, uint64_t *ret)
{
    *ret = 0;
    for (unsigned shift = 0; shift < 64 && *at < size; shift += 7) {
        uint8_t byte = bytes[(*at)++];
        *ret |= (uint64_t)(byte & 0x7f) << shift;
        if ((byte & 0x80) == 0)
            return true;
    }
    return false;
}

/* Most numbers, and nearly all tags and lengths, are one byte. */
static inline bool number_at(const uint8_t *bytes, size_t size, size_t *at, uint64_t *ret)
{
    if (*at >= size || bytes[*at] >= 0x80)
        return long_number(bytes, size, at, ret);
    *ret = bytes[(*at)++];
    return true;
}

bool fm_fields_number(const uint8_t *bytes, size_t size, size_t *at, uint64_t *ret)
{
    return number_at(bytes, size, at, ret);
}

struct fm_fields fm_fields_of(const uint8_t *bytes, size_t size)
{
    return size == 0 ? (struct fm_fields){0} : (struct fm_fields){bytes, bytes + size};
}

struct fm_fields fm_fields_in(const struct fm_field *field)
{
    return field->wire == FM_WIRE_BYTES ? fm_fields_of(field->bytes, field->size)
                                        : (struct fm_fields){0};
}

static uint64_t fixed(const uint8_t *bytes, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;)
        value = value << 8 | bytes[i];
    return value;
}

bool fm_fields_next(struct fm_fields *fields, struct fm_field *ret)
{
    size_t size = fields->at == fields->end ? 0 : (size_t)(fields->end - fields->at), at = 0;
    uint64_t tag;
    if (!number_at(fields->at, size, &at, &tag))
        return false;
    *ret = (struct fm_field){.number = tag >> 3, .wire = (unsigned)(tag & 7)};
    if (ret->wire == FM_WIRE_EIGHT || ret->wire == FM_WIRE_FOUR) {
        size_t length = ret->wire == FM_WIRE_EIGHT ? 8 : 4;
        if (length > size - at)
            return false;
        ret->value = fixed(fields->at + at, length);
        at += length;
    } else if (ret->wire == FM_WIRE_NUMBER) {
        if (!number_at(fields->at, size, &at, &ret->value))
            return false;
    } else {
        uint64_t length;
        if (ret->wire != FM_WIRE_BYTES || !number_at(fields->at, size, &at, &length) ||
            length > size - at)
            return false;
        ret->bytes = fields->at + at;
        ret->size = (size_t)length;
        at += ret->size;
    }
    fields->at += at;
    return true;
}

bool fm_field_take(struct fm_field *field, uint64_t *ret)
{
    size_t at = 0;
    if (field->wire != FM_WIRE_BYTES) {
        *ret = field->value;
        field->wire = FM_WIRE_BYTES; /* there is one alone */
        field->size = 0;
        return true;
    }
    if (!number_at(field->bytes, field->size, &at, ret))
        return false;
    field->bytes += at;
    field->size -= at;
    return true;
}

size_t fm_field_eights(const struct fm_field *field)
{
    return field->wire == FM_WIRE_BYTES ? field->size / 8 : field->wire == FM_WIRE_EIGHT;
}

uint64_t fm_field_eight(const struct fm_field *field, size_t index)
{
    return field->wire == FM_WIRE_BYTES ? fixed(field->bytes + 8 * index, 8) : field->value;
}

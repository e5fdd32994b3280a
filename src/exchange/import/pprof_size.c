/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory a message of pprof's takes once it is unpacked: a message of two bytes becomes a
 * structure of a hundred, so a small file may ask for all there is. */
#include "exchange/import/pprof_size.h"

#define MESSAGE_BYTES 120u /* structure, its place in a list, and what the library notes of it */
#define STRING_BYTES 48u
#define NUMBER_BYTES 8u
enum { FIELD_SAMPLE = 2, FIELD_LOCATION = 4, FIELD_STRING = 6 };
enum { WIRE_NUMBER = 0, WIRE_EIGHT = 1, WIRE_BYTES = 2, WIRE_FOUR = 5 };

bool fm_pprof_number(const uint8_t *bytes, size_t size, size_t *at, uint64_t *ret)
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

struct field {
    uint64_t number;
    unsigned wire;
    const uint8_t *bytes; /* WIRE_BYTES */
    size_t size;
};

/* False at the end, and where the bytes are no field: what unpacks them will say so. */
static bool next_field(const uint8_t *bytes, size_t size, size_t *at, struct field *ret)
{
    uint64_t tag, value;
    if (!fm_pprof_number(bytes, size, at, &tag))
        return false;
    *ret = (struct field){.number = tag >> 3, .wire = (unsigned)(tag & 7)};
    if (ret->wire == WIRE_EIGHT || ret->wire == WIRE_FOUR) {
        size_t fixed = ret->wire == WIRE_EIGHT ? 8 : 4;
        if (fixed > size - *at)
            return false;
        *at += fixed;
        return true;
    }
    if ((ret->wire != WIRE_NUMBER && ret->wire != WIRE_BYTES) ||
        !fm_pprof_number(bytes, size, at, &value))
        return false;
    if (ret->wire == WIRE_BYTES) {
        if (value > size - *at)
            return false;
        ret->bytes = bytes + *at;
        ret->size = (size_t)value;
        *at += (size_t)value;
    }
    return true;
}

/* Size of the unpacked parts of a sample or location: labels and lines are messages, the rest are
 * numbers. */
static uint64_t unpacked_inside(const struct field *message)
{
    static const unsigned nested[] = {[FIELD_SAMPLE] = 3, [FIELD_LOCATION] = 4};
    struct field field;
    uint64_t sum = 0;
    for (size_t at = 0; next_field(message->bytes, message->size, &at, &field);) {
        if (field.wire != WIRE_BYTES)
            sum += NUMBER_BYTES;
        else
            sum +=
                field.number == nested[message->number] ? MESSAGE_BYTES : field.size * NUMBER_BYTES;
    }
    return sum;
}

uint64_t fm_pprof_unpacked_size(const uint8_t *bytes, size_t size)
{
    struct field field;
    uint64_t sum = 0;
    for (size_t at = 0; next_field(bytes, size, &at, &field);) {
        if (field.wire != WIRE_BYTES)
            sum += NUMBER_BYTES;
        else if (field.number == FIELD_STRING)
            sum += STRING_BYTES + field.size;
        else
            sum += MESSAGE_BYTES;
        if (field.wire == WIRE_BYTES &&
            (field.number == FIELD_SAMPLE || field.number == FIELD_LOCATION))
            sum += unpacked_inside(&field);
    }
    return sum;
}

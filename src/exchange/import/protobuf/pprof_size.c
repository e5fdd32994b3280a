/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory a message of pprof's takes once it is unpacked: a message of two bytes becomes a
 * structure of a hundred, so a small file may ask for all there is. */
#include "exchange/import/protobuf/pprof_size.h"

#include "exchange/import/protobuf/fields.h"

#define MESSAGE_BYTES 120u /* structure, its place in a list, and what the library notes of it */
#define STRING_BYTES 48u
#define NUMBER_BYTES 8u
enum { FIELD_SAMPLE = 2, FIELD_LOCATION = 4, FIELD_STRING = 6 };

/* Size of the unpacked parts of a sample or location: labels and lines are messages, the rest are
 * numbers. */
static uint64_t unpacked_inside(const struct fm_field *message)
{
    static const unsigned nested[] = {[FIELD_SAMPLE] = 3, [FIELD_LOCATION] = 4};
    struct fm_field field;
    uint64_t sum = 0;
    for (struct fm_fields at = fm_fields_in(message); fm_fields_next(&at, &field);) {
        if (field.wire != FM_WIRE_BYTES)
            sum += NUMBER_BYTES;
        else
            sum +=
                field.number == nested[message->number] ? MESSAGE_BYTES : field.size * NUMBER_BYTES;
    }
    return sum;
}

uint64_t fm_pprof_unpacked_size(const uint8_t *bytes, size_t size)
{
    struct fm_field field;
    uint64_t sum = 0;
    for (struct fm_fields at = fm_fields_of(bytes, size); fm_fields_next(&at, &field);) {
        if (field.wire != FM_WIRE_BYTES)
            sum += NUMBER_BYTES;
        else if (field.number == FIELD_STRING)
            sum += STRING_BYTES + field.size;
        else
            sum += MESSAGE_BYTES;
        if (field.wire == FM_WIRE_BYTES &&
            (field.number == FIELD_SAMPLE || field.number == FIELD_LOCATION))
            sum += unpacked_inside(&field);
    }
    return sum;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the fields of a protobuf message in place: nothing is allocated, so a large file needs no
 * memory besides its bytes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

enum fm_wire { FM_WIRE_NUMBER = 0, FM_WIRE_EIGHT = 1, FM_WIRE_BYTES = 2, FM_WIRE_FOUR = 5 };

struct fm_fields {
    const uint8_t *at, *end;
};
struct fm_field {
    uint64_t number;
    unsigned wire;        /* enum fm_wire */
    uint64_t value;       /* of all but FM_WIRE_BYTES */
    const uint8_t *bytes; /* FM_WIRE_BYTES: borrowed */
    size_t size;
};

/* A number of 7 bits a byte. False: it does not end, and *at is anywhere up to size. */
bool fm_fields_number(const uint8_t *bytes, size_t size, size_t *at, uint64_t *ret);

struct fm_fields fm_fields_of(const uint8_t *bytes, size_t size);
/* The fields of a field that is a message; none of another. */
struct fm_fields fm_fields_in(const struct fm_field *field);
/* False at the end, and where the bytes are no field: then fields->at is not the end. */
bool fm_fields_next(struct fm_fields *fields, struct fm_field *ret);

/* The numbers of a repeated field, packed into one or standing alone: false when there are no more
 * (field is used up). */
bool fm_field_take(struct fm_field *field, uint64_t *ret);
/* How many numbers of 8 bytes it has. */
size_t fm_field_eights(const struct fm_field *field);
uint64_t fm_field_eight(const struct fm_field *field, size_t index);

/* SPDX-License-Identifier: Apache-2.0 */
/* The subset of CBOR (RFC 8949) that the monitor's messages use. Private to this folder. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fm_cbor_major {
    FM_CBOR_UNSIGNED = 0,
    FM_CBOR_NEGATIVE = 1, /* value n means -1 - n */
    FM_CBOR_BYTES = 2,
    FM_CBOR_TEXT = 3,
    FM_CBOR_ARRAY = 4,
    FM_CBOR_MAP = 5,
};

void fm_cbor_head(GByteArray *out, enum fm_cbor_major major, uint64_t value);
void fm_cbor_signed(GByteArray *out, int64_t value);
void fm_cbor_string(GByteArray *out, enum fm_cbor_major major, const void *bytes, size_t length);
void fm_cbor_bool(GByteArray *out, bool value);
void fm_cbor_begin_list(GByteArray *out); /* list of indefinite length; ends with end_list */
void fm_cbor_end_list(GByteArray *out);

/* Reading: after the first error every function returns false. */
struct fm_cbor {
    const uint8_t *at, *end;
    bool wrong;
};

bool fm_cbor_take_head(struct fm_cbor *cbor, enum fm_cbor_major major, uint64_t *ret);
bool fm_cbor_take_signed(struct fm_cbor *cbor, int64_t *ret);
bool fm_cbor_take_string(struct fm_cbor *cbor, enum fm_cbor_major major, const uint8_t **ret,
                         size_t *ret_length);
bool fm_cbor_take_bool(struct fm_cbor *cbor, bool *ret);

/* A list of definite or indefinite length: begin, then items while more(). */
struct fm_cbor_list {
    uint64_t left;
    bool open; /* ends with a break byte */
};

bool fm_cbor_take_list(struct fm_cbor *cbor, enum fm_cbor_major major, struct fm_cbor_list *ret);
bool fm_cbor_more(struct fm_cbor *cbor, struct fm_cbor_list *list);

/* SPDX-License-Identifier: Apache-2.0 */
/* As much of CBOR (RFC 8949) as the monitor's messages use; seen by this folder only. */
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
void fm_cbor_begin_list(GByteArray *out); /* of indefinite length; ends with end_list */
void fm_cbor_end_list(GByteArray *out);

/* Reading: every function answers false from the first mistake on. */
struct fm_cbor {
    const uint8_t *at, *end;
    bool wrong;
};

bool fm_cbor_take_head(struct fm_cbor *cbor, enum fm_cbor_major major, uint64_t *ret);
bool fm_cbor_take_signed(struct fm_cbor *cbor, int64_t *ret);
bool fm_cbor_take_string(struct fm_cbor *cbor, enum fm_cbor_major major, const uint8_t **ret,
                         size_t *ret_length);
bool fm_cbor_take_bool(struct fm_cbor *cbor, bool *ret);

/* A list of known or unknown length: begin, then items while more(). */
struct fm_cbor_list {
    uint64_t left;
    bool open; /* ends with a break byte */
};

bool fm_cbor_take_list(struct fm_cbor *cbor, enum fm_cbor_major major, struct fm_cbor_list *ret);
bool fm_cbor_more(struct fm_cbor *cbor, struct fm_cbor_list *list);

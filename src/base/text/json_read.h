/* SPDX-License-Identifier: Apache-2.0 */
/* Reads JSON (RFC 8259) in place: nothing is allocated but the values that are asked for, so a
 * large file needs no memory besides its text. All functions but fm_json_check() take values that
 * it has checked. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

/* The text of one value without blanks around it; borrowed. at NULL: no value. */
struct fm_json_value {
    const char *at, *end;
};

#define FM_JSON_NESTING_MAX 512u

/* Checks that the text is one JSON value. False: it is not, or it nests deeper than
 * FM_JSON_NESTING_MAX; *ret_offset and *ret_expected then say where, and what was expected.
 * O(size), no recursion. */
FM_MUST_USE bool fm_json_check(const char *text, size_t size, struct fm_json_value *ret,
                               size_t *ret_offset, const char **ret_expected);

bool fm_json_is_object(struct fm_json_value value);
bool fm_json_is_array(struct fm_json_value value);

/* Items of an object or an array, in order; none in other values. */
struct fm_json_items {
    const char *at, *end;
    bool named;
};
struct fm_json_items fm_json_items(struct fm_json_value value);
/* ret_name: name of the member, a string; may be NULL. False: no more items. */
bool fm_json_next(struct fm_json_items *items, struct fm_json_value *ret_name,
                  struct fm_json_value *ret);
/* The first member with that name; {NULL, NULL}: there is none, or the value is not an object. */
struct fm_json_value fm_json_member(struct fm_json_value object, const char *name);
/* Finds several names in one pass. */
void fm_json_members(struct fm_json_value object, const char *const *names, unsigned count,
                     struct fm_json_value *ret);

/* False: not a number, or not finite. */
bool fm_json_number(struct fm_json_value value, double *ret);
/* Reads a number that consists of digits only, exactly. False: another value, or at least 2^64. */
bool fm_json_whole(struct fm_json_value value, uint64_t *ret);
/* A string's bytes in UTF-8, g_free; "" for other values. NUL and lone surrogates become U+FFFD. */
char *fm_json_string(struct fm_json_value value);
/* it is a string with that text */
bool fm_json_equals(struct fm_json_value value, const char *text);

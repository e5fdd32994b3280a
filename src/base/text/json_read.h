/* SPDX-License-Identifier: Apache-2.0 */
/* JSON (RFC 8259) read where it stands: nothing is made of it but what is asked for, so that a
 * large file takes no memory beside its text. All but fm_json_check() is for values that it has
 * seen. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

/* The text of one value without blanks around it; borrows. at NULL: there is none. */
struct fm_json_value {
    const char *at, *end;
};

#define FM_JSON_NESTING_MAX 60u

/* The one value that the text is. False: it is no JSON, or nests deeper than FM_JSON_NESTING_MAX:
 * where, and what was expected. O(size), no recursion. */
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
/* ret_name: of a member, a string; may be NULL. False: there are no more. */
bool fm_json_next(struct fm_json_items *items, struct fm_json_value *ret_name,
                  struct fm_json_value *ret);
/* The first member of that name; {NULL, NULL}: there is none, or it is no object. */
struct fm_json_value fm_json_member(struct fm_json_value object, const char *name);
/* Finds several names in one pass. */
void fm_json_members(struct fm_json_value object, const char *const *names, unsigned count,
                     struct fm_json_value *ret);

/* False: it is no number, or none that is finite. */
bool fm_json_number(struct fm_json_value value, double *ret);
/* Reads a number that is written in digits only: exact. False: another value, or 2^64 and more. */
bool fm_json_whole(struct fm_json_value value, uint64_t *ret);
/* A string's bytes in UTF-8, g_free; "" of other values. NUL and lone surrogates: U+FFFD. */
char *fm_json_string(struct fm_json_value value);
bool fm_json_equals(struct fm_json_value value, const char *text); /* a string, that text */

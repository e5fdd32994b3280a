/* SPDX-License-Identifier: Apache-2.0 */
/* Builds all JSON (RFC 8259): it sets commas and escapes, so the output cannot be malformed.
 * Objects and arrays nest up to FM_JSON_DEPTH_MAX. The output is compact; fm_json_line puts the
 * next item on a new line, for output that people compare line by line.
 *
 * name: of a member; NULL for an item of an array and for the outermost value. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FM_JSON_DEPTH_MAX 63

struct fm_json {
    GString *out; /* borrowed; only appended to */
    unsigned depth;
    uint64_t filled; /* bit d: the object or array at depth d has an item */
    uint64_t object; /* bit d: it is an object */
    bool spaced;     /* write a blank after each comma and colon; may be set after fm_json_init */
    bool line;       /* the next item begins a line, after `indent` blanks */
    unsigned indent;
};

/* Begins to append to out, which is not read. */
void fm_json_init(struct fm_json *json, GString *out);

void fm_json_object(struct fm_json *json, const char *name);
void fm_json_array(struct fm_json *json, const char *name);
/* Ends the innermost object or array. */
void fm_json_end(struct fm_json *json);
/* Puts the next item, or the end of the open object or array, on a new line with that
 * indentation. */
void fm_json_line(struct fm_json *json, unsigned indent);

/* NULL gives null. Invalid UTF-8 becomes U+FFFD; control characters, and line separators of
 * JavaScript, are escaped. */
void fm_json_text(struct fm_json *json, const char *name, const char *text);
/* As fm_json_text(), for bytes without a final NUL. */
void fm_json_bytes(struct fm_json *json, const char *name, const void *bytes, size_t size);
/* Writes bytes that are a valid array or object as such, others as text. */
void fm_json_structured(struct fm_json *json, const char *name, const char *bytes, size_t size);
void fm_json_uint(struct fm_json *json, const char *name, uint64_t value);
void fm_json_int(struct fm_json *json, const char *name, int64_t value);
/* Writes the shortest digits that read back as the same double; null for values that JSON cannot
 * represent. */
void fm_json_double(struct fm_json *json, const char *name, double value);
/* As it, but whole numbers have a point, too (9.0): a typed reader sees one type in all rows. */
void fm_json_real(struct fm_json *json, const char *name, double value);
/* Writes at most that many significant digits (1 to 17), for figures that need no precision. */
void fm_json_digits(struct fm_json *json, const char *name, double value, unsigned digits);
/* Writes exactly that many decimals (0 to 9). */
void fm_json_fixed(struct fm_json *json, const char *name, double value, unsigned decimals);
void fm_json_bool(struct fm_json *json, const char *name, bool value);
void fm_json_null(struct fm_json *json, const char *name);

/* SPDX-License-Identifier: Apache-2.0 */
/* The declarations of a CTF 2 trace; seen by ctf2*.c alone. */
#pragma once

#include <stdint.h>

#include "base/text/json_read.h"
#include "trace/ctf/ctf2.h"

/* In the order in which they are decoded. */
enum ctf2_scope {
    CTF2_PACKET_HEADER,
    CTF2_PACKET_CONTEXT,
    CTF2_EVENT_HEADER,
    CTF2_COMMON_CONTEXT,
    CTF2_SPECIFIC_CONTEXT,
    CTF2_PAYLOAD,
    CTF2_SCOPES
};

/* Strings and blobs of a given length are arrays of bytes, optional fields are variants. */
enum ctf2_kind { CTF2_INTEGER, CTF2_REAL, CTF2_STRING, CTF2_ARRAY, CTF2_STRUCTURE, CTF2_VARIANT };

struct ctf2_field {
    enum ctf2_kind kind;
    enum ctf2_scope scope;
    unsigned number; /* in the order of declaration */
    char *name;      /* as in the metadata; "" for what has none */
    char *id;        /* in TSDL, unique in the structure or variant */
    struct ctf2_field *parent;
    GPtrArray *parts;              /* owned: members, options, or one element */
    struct fm_json_value class_;   /* its field class */
    unsigned bits, base;           /* base: 0 = as the reader likes */
    uint64_t alignment;            /* in bits */
    struct fm_json_value mappings; /* an enumeration's; at NULL: none */
    bool big_endian, is_signed, is_boolean, is_text, is_optional;
    bool timed;                    /* has the value of the default clock */
    uint64_t length;               /* an array's, without location */
    struct fm_json_value location; /* the length's or selector's; at NULL: none */
    struct ctf2_field *target;     /* the field at the location; borrowed */
    GString *labels;               /* further mappings, of a selector; NULL = none */
};

struct ctf2_clock {
    char *id;
    struct fm_json_value fragment;
};

struct ctf2_stream {
    uint64_t id;
    struct ctf2_field *scopes[CTF2_SCOPES]; /* up to the common context are owned; NULL = none */
    const struct ctf2_clock *clock;         /* NULL = none */
};

struct ctf2_event {
    uint64_t id;
    char *name; /* NULL = none */
    struct ctf2_stream *stream;
    struct ctf2_field *specific_context, *payload;
};

struct ctf2 {
    const char *text;
    GError *error;
    GHashTable *aliases; /* name -> struct fm_json_value of the field class */
    struct fm_json_value preamble, trace_class;
    struct ctf2_field *packet_header;
    GPtrArray *clocks, *streams, *events; /* owned */
    unsigned field_count, variant_count;
};

/* --- ctf2_values.c --- */

/* Sets the error unless there is one, with the place; returns false. */
bool fm_ctf2_fail(struct ctf2 *ctf2, struct fm_json_value at, const char *format, ...)
    G_GNUC_PRINTF(3, 4);
/* As fm_ctf2_fail(), for a field, which is named. */
bool fm_ctf2_fail_field(struct ctf2 *ctf2, const struct ctf2_field *field, const char *format, ...)
    G_GNUC_PRINTF(3, 4);
/* An unsigned number that may be missing; false with an error when it is another value. */
bool fm_ctf2_number(struct ctf2 *ctf2, struct fm_json_value object, const char *name,
                    uint64_t missing, uint64_t *ret);

/* A range of an integer's values. Biased: those of signed ones are XORed with CTF2_BIAS, so that
 * they sort as unsigned numbers. */
struct ctf2_range {
    uint64_t low, high;
};
#define CTF2_BIAS (UINT64_C(1) << 63)

/* Appends the ranges of a JSON array [[low, high], ...]. */
bool fm_ctf2_ranges(struct ctf2 *ctf2, const struct ctf2_field *integer, struct fm_json_value value,
                    GArray *ret);
/* Appends `"label" = low ... high, ` for each range. */
void fm_ctf2_append_label(GString *to, const char *label, const struct ctf2_field *integer,
                          const GArray *ranges);
/* Appends a text in quotes. */
void fm_ctf2_append_quoted(GString *to, const char *text);

/* --- ctf2_fields.c --- */

/* Reads the structure of a scope; NULL with an error. */
struct ctf2_field *fm_ctf2_field_new(struct ctf2 *ctf2, struct fm_json_value class_,
                                     enum ctf2_scope scope);
void fm_ctf2_field_free(void *field);

/* --- ctf2_locations.c --- */

/* Finds the targets of all locations in the field; selectors get labels. scopes: the others that
 * can be seen from it. */
bool fm_ctf2_link(struct ctf2 *ctf2, struct ctf2_field *field,
                  struct ctf2_field *const scopes[CTF2_SCOPES]);
/* Appends the absolute path of a field. */
void fm_ctf2_append_path(GString *to, const struct ctf2_field *field);

/* --- ctf2_write.c --- */

void fm_ctf2_write(const struct ctf2 *ctf2, GString *ret);

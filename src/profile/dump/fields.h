/* SPDX-License-Identifier: Apache-2.0 */
/* One walk writes both forms: structs by tables of their fields, and what is around them by calls
 * that each form takes or ignores. */
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "base/compiler.h"
#include "base/text/json.h"

struct fm_dump_out {
    FILE *to;
    GString *text;        /* JSON that is not written yet */
    struct fm_json *json; /* NULL: the form is text */
};

/* Text of files is written so that no byte of it steers a terminal. */
enum fm_dump_form {
    FM_FIELD_NAME,       /* char *, with \xNN for what is no letter */
    FM_FIELD_TEXT,       /* char *, escaped as in C; text: "not known" of an empty one */
    FM_FIELD_TEXT_KNOWN, /* likewise; empty or NULL: "not recorded", null */
    FM_FIELD_NUMBER,     /* uint64_t */
    FM_FIELD_NUMBER32,
    FM_FIELD_KNOWN, /* uint64_t; 0: "not recorded", null */
    FM_FIELD_KNOWN32,
    FM_FIELD_CSD,   /* uint32_t; text: "csd7", 0: "not known", null */
    FM_FIELD_FLAG,  /* bool; text: 1 or 0 */
    FM_FIELD_YESNO, /* bool; text: "yes" or "no" */
};

struct fm_dump_field {
    const char *text, *json; /* its name in each form; NULL: not in that */
    enum fm_dump_form form;
    size_t offset;
};
#define FM_DUMP_FIELD(type, text, json, form, member)       \
    {                                                       \
        text, json, FM_FIELD_##form, offsetof(type, member) \
    }

void fm_dump_fields(struct fm_dump_out *out, const struct fm_dump_field *fields, size_t count,
                    const void *of);
#define FM_DUMP_FIELDS(out, fields, of) fm_dump_fields(out, fields, G_N_ELEMENTS(fields), of)

/* For text; JSON ignores them. */
void fm_dump_print(struct fm_dump_out *out, const char *format, ...) FM_PRINTF(2, 3);
void fm_dump_print_name(struct fm_dump_out *out, const char *name);

/* For both forms. */
void fm_dump_uint(struct fm_dump_out *out, const char *text, const char *json, uint64_t value);
/* An id of a kind: text: "pd7". */
void fm_dump_id(struct fm_dump_out *out, const char *text, const char *json, const char *kind,
                uint32_t id);

/* For JSON; text ignores them. on_line: on a line of its own. */
void fm_dump_array(struct fm_dump_out *out, const char *name, bool on_line);
void fm_dump_object(struct fm_dump_out *out, const char *name, bool on_line);
void fm_dump_end(struct fm_dump_out *out);
void fm_dump_uints(struct fm_dump_out *out, const char *name, const uint64_t *values,
                   uint32_t count);

/* Writes what has gathered of JSON, if that is more than bytes_kept. */
void fm_dump_flush(struct fm_dump_out *out, size_t bytes_kept);

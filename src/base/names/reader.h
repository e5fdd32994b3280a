/* SPDX-License-Identifier: Apache-2.0 */
/* The reader of demangled text. C++ is its language; Rust and D differ in a few marks. */
#pragma once

#include "base/names/name.h"

struct fm_name_reader {
    struct fm_name_pool *pool;
    const char *text;
    size_t size;
    guint32 *close; /* behind each opening bracket: its closing one */
    enum fm_name_language language;
    const char *separator;
    bool second; /* operator< of <int> where the longest sign would be operator<< */
    bool wrong;  /* the text is not of this form */
    unsigned depth;
    GString *dropped;
    struct fm_name_type *type, *trait;
};

/* Texts longer than this are opaque. */
#define FM_NAME_TEXT_MAX ((size_t)64 << 10)

/* Finds the closing brackets; false: they do not match. */
bool fm_name_match_brackets(struct fm_name_reader *in);
/* Length of the operator's sign behind "operator"; 0 = none. */
size_t fm_name_sign_size(const struct fm_name_reader *in, size_t at);
/* Whether text stands at a place. */
bool fm_name_is_at(const struct fm_name_reader *in, size_t at, size_t end, const char *text);
bool fm_name_is_letter(char c);
/* The index behind a quoted text; at + 1 where none begins. */
size_t fm_name_behind_quote(const struct fm_name_reader *in, size_t at, size_t end);

/* Reads components up to what is none; returns where that is. */
size_t fm_name_read_scope(struct fm_name_reader *in, size_t at, size_t end,
                          struct fm_name_scope *scope);
bool fm_name_begins_scope(const struct fm_name_reader *in, size_t at, size_t end);
struct fm_name_type *fm_name_read_type(struct fm_name_reader *in, size_t at, size_t end);
struct fm_name_list *fm_name_read_list(struct fm_name_reader *in, size_t at, size_t end);
/* Skips " const", "&" and so on behind a parameter list; quals NULL = forget them. */
size_t fm_name_read_quals(struct fm_name_reader *in, size_t at, size_t end, const char **quals);
/* Notes what the normal form drops. */
void fm_name_drop(struct fm_name_reader *in, const char *text, size_t size);

/* Readers of other languages; text has no clone any more. False: not of this form. */
bool fm_name_read_go(struct fm_name_reader *in, struct fm_name *name);
bool fm_name_read_swift(struct fm_name_reader *in, struct fm_name *name);
bool fm_name_read_fortran(struct fm_name_reader *in, struct fm_name *name);
bool fm_name_read_haskell(struct fm_name_reader *in, struct fm_name *name);
bool fm_name_read_java(struct fm_name_reader *in, struct fm_name *name);
bool fm_name_read_js(struct fm_name_reader *in, struct fm_name *name);
bool fm_name_read_python(struct fm_name_reader *in, struct fm_name *name);
/* Appends a component. */
struct fm_name_component *fm_name_push(struct fm_name_pool *pool, struct fm_name_scope *scope,
                                       enum fm_name_kind kind, const char *text, size_t size,
                                       const char *separator);

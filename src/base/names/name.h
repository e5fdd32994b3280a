/* SPDX-License-Identifier: Apache-2.0 */
/* A name as a tree: what the readers make, and what short forms are made from. */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/names/names.h"

/* Memory of all trees of a page; freed together. */
struct fm_name_pool {
    GStringChunk *texts;
    GPtrArray *blocks;
    size_t used, size; /* the last block's */
};

void fm_name_pool_init(struct fm_name_pool *pool);
void fm_name_pool_done(struct fm_name_pool *pool);
/* Zeroed. */
void *fm_name_take(struct fm_name_pool *pool, size_t bytes);
const char *fm_name_text(struct fm_name_pool *pool, const char *text, size_t size);
/* Moves the text of a string into the pool and frees the string. */
const char *fm_name_keep(struct fm_name_pool *pool, GString *text);

/* A type or value in a list: literal text and scopes, in turn. */
struct fm_name_piece {
    const char *literal;         /* NULL = a scope */
    struct fm_name_scope *scope; /* NULL = literal */
};

struct fm_name_type {
    const char *text; /* in normal form */
    struct fm_name_piece *pieces;
    unsigned count;
    const char *brief; /* without name spaces and arguments; made when first needed */
};

struct fm_name_list {
    struct fm_name_type **types;
    unsigned count;
};

enum fm_name_kind {
    FM_NAME_WORD,
    FM_NAME_UNNAMED_SPACE,
    FM_NAME_LAMBDA,
};

struct fm_name_component {
    enum fm_name_kind kind;
    const char *text;
    const char *separator;           /* to the next: "::" */
    struct fm_name_list *arguments;  /* NULL = no list */
    struct fm_name_list *parameters; /* NULL = no list; the function's own, or one around */
    const char *quals;               /* "const", "&"; NULL = none */
    struct fm_name_type *conversion; /* a conversion operator's type */
    const char *written;             /* the text before a library's short name replaced it */
    unsigned number;                 /* a lambda's; 0 = not known */
};

struct fm_name_scope {
    struct fm_name_component *components;
    unsigned count;
};

struct fm_name {
    const struct fm_name_source *source;
    const char *opaque; /* shown as it is; NULL = the scope was read */
    const char *prefix; /* "thunk of "; "" */
    struct fm_name_scope scope;
    unsigned first;              /* component that the short form begins with; see has_first */
    bool has_first;              /* false: the innermost named scope begins it */
    bool call_marks;             /* "()" behind each function around a local one */
    bool std_root;               /* "std::" is shown where it is the root */
    bool placed;                 /* the place is part of the short form */
    struct fm_name_type *type;   /* "T as Trait": T */
    struct fm_name_type *trait;  /* Trait */
    struct fm_name_type *result; /* return type */
    const char *mark;            /* " [coroutine]"; "" */
    const char *variant;         /* " [base]"; "" */
    const char *clone;           /* ".constprop.0"; "" */
    const char *dropped;         /* dropped by the normal form: "__cxx11, v1"; "" */
};

/* Fills name; any text is read. */
void fm_name_read(struct fm_name_pool *pool, const struct fm_name_source *source,
                  struct fm_name *name);

/* The parts of a name that a text shows beyond the short form. */
struct fm_name_shown {
    bool unnamed_space, trait, conversion, quals, number, result, variant, clone, dropped, place,
        object, raw;
    const bool *components;       /* additional ones, scope.count; NULL = none */
    const char *const *arguments; /* "<int, …>" for each component; NULL = none */
    const char *parameters;       /* "(int, …)"; NULL = not shown */
    const char *around;           /* "parse(int)"; NULL = its short form */
};

/* The text of a name. As a function around another, "()" stands for parameters that are not
 * shown. */
void fm_name_render(struct fm_name_pool *pool, const struct fm_name *name,
                    const struct fm_name_shown *shown, bool around, GString *out);
/* How many components belong to functions around: 0 = the name is of no local entity. */
unsigned fm_name_around_count(const struct fm_name *name);
/* The function around as a name of its own; count as above, not 0. */
struct fm_name fm_name_around(const struct fm_name *name, unsigned count);

const char *fm_name_brief(struct fm_name_pool *pool, struct fm_name_type *type);
/* With arguments down to a depth. */
const char *fm_name_to_depth(struct fm_name_pool *pool, const struct fm_name_type *type,
                             unsigned depth);
/* The last component's arguments; NULL = none. */
struct fm_name_list *fm_name_last_arguments(const struct fm_name_scope *scope);
void fm_name_append_scope(GString *out, const struct fm_name_scope *scope);

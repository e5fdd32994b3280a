/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of fm_stacks, for the files that make it: stacks.c and functions.c. */
#pragma once

#include "exchange/import/stacks.h"
#include "exchange/import/stacks/kept.h"

struct fm_import_totals;

struct function {
    uint64_t hash;
    uint32_t ps, sites; /* call sites that it has so far */
    uint32_t unknown;   /* the slot of all calls without a line, + 1; 0 = it has none yet */
    uint32_t pd;   /* its context on the stack, of several the innermost; 0 = it is not there */
    bool nameless; /* stands for code of several functions (functions.c) */
    uint32_t line; /* that tells it from others of its name; 0 = none does */
    size_t name;   /* offset of its text: name, unit and file */
    size_t size;
};

/* A call of a function at a line of another: one call site. */
struct site {
    uint32_t caller, callee, line; /* functions */
    uint32_t file;                 /* 0: the caller's */
    uint32_t slot;
    uint32_t css;
};

/* A call in one context. All that is asked for with each frame stands here, in the table itself, so
 * that a frame costs one look into memory that nobody looked at before. */
struct edge {
    uint32_t pd, callee, line; /* callee: function */
    uint32_t csd, callee_pd;   /* csd 0: a free place */
    bool made;                 /* callee_pd was made for it */
};

struct frame {
    uint32_t function, line, pd, csd;
    uint32_t pd_before; /* the function's context on the stack before this frame */
    bool made;          /* the context was made by this call */
    bool plain;         /* so were those of all frames up to this one */
};

/* Numbers by a hash of what they stand for; open addressing, 0 = free, else number + 1. */
struct index {
    uint32_t *slots;
    uint32_t mask, used;
};

struct fm_stacks {
    struct fm_build *build;
    char *program;
    uint32_t root_pd;
    GByteArray *texts;
    GArray *functions, *sites;
    struct edge *first; /* by pd: its first call; most make no other */
    uint32_t first_capacity;
    struct edge *edges; /* the others; open addressing */
    uint32_t edge_mask, edge_used;
    uint32_t edge_count; /* all together */
    GArray *frames; /* the stack, and behind it what was on it before: stacks often begin alike */
    uint32_t depth; /* depth of the stack */
    GHashTable *measures; /* their names */
    GString *further;     /* measures that pages of contexts do not show, separated by commas */
    struct index by_name, by_site;
    struct fm_import_totals *totals; /* totals of stacks that are not plain */
    struct kept kept;
    bool no_memory; /* for more edges: what comes is left out, and finish fails */
    uint64_t too_deep;
    uint32_t skipped; /* frames on the stack beyond the greatest depth */
};

/* Adds a function to the index of names. */
void fm_stacks_index_add(struct fm_stacks *stacks, struct index *index, uint64_t hash,
                         uint32_t number);

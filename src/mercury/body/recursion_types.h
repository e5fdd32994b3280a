/* SPDX-License-Identifier: Apache-2.0 */
/* How often each kind of recursion occurs among the cliques of a program, and in which procedures.
 * Counted once, in steps, when a profile is opened. */
#pragma once

#include "mercury/body/bodies.h"

/* Cliques of one type that are entered through one procedure. */
struct fm_recursion_entry {
    uint32_t ps, frequency;
    struct fm_cost cost; /* cost of the proc dynamics by which they are entered */
};

/* Cliques with the same description are one type: for example all "mutual between 3". Each error
 * text is a type, and one more type counts all errors. */
struct fm_recursion_type {
    enum fm_recursion_kind kind;
    bool all_errors;
    uint32_t procs;   /* FM_RECURSION_MUTUAL: number of proc dynamics in the clique */
    char *error;      /* FM_RECURSION_ERRORS, except the type of all errors */
    uint32_t *levels; /* FM_RECURSION_OTHER: recursive calls in one execution; NULL: not known */
    uint32_t level_count;
    uint32_t frequency; /* number of cliques */
    bool has_cost;      /* one of its cliques has an entry */
    struct fm_cost cost;
    struct fm_recursion_entry *entries; /* in the order of their first cliques */
    uint32_t entry_count;
};

struct fm_recursion_types;

/* procrep and message: as fm_bodies_new(); borrowed. */
struct fm_recursion_types *fm_recursion_types_new(const struct fm_analysis *a,
                                                  const struct fm_procrep *procrep,
                                                  const char *message);
/* Counts cliques with about `nodes` nodes (> 0) in total; true when all are counted. */
bool fm_recursion_types_step(struct fm_recursion_types *types, uint32_t nodes);
double fm_recursion_types_fraction(const struct fm_recursion_types *types);
/* Types in the order of their first cliques; borrowed. Incomplete until the last step. */
uint32_t fm_recursion_types_count(const struct fm_recursion_types *types);
const struct fm_recursion_type *fm_recursion_types_get(const struct fm_recursion_types *types,
                                                       uint32_t number);
void fm_recursion_types_free(struct fm_recursion_types *types); /* NULL is allowed */

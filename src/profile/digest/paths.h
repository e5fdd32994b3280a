/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts as paths: the functions and recursions from the program's entry to a place. A context is
 * a clique of the call graph: one proc dynamic, or a recursion, which is one step of a path
 * regardless of its number of functions. */
#pragma once

#include "profile/analysis/analysis.h"

/* Number of different procedures in a clique. More than one: a recursion. */
uint32_t fm_digest_clique_procs(const struct fm_analysis *a, uint32_t clique);
/* One name for a recursion, the same in each of its contexts: the clique's procedure that has at
 * least half of their own time in the whole program (and at least 30 samples), else the one that
 * was called most often, the lowest number among equal ones. For a clique of one procedure, that
 * one. */
uint32_t fm_digest_clique_name(const struct fm_analysis *a, uint32_t clique);
/* Whether some procedure of the clique calls a procedure of the clique, possibly itself. */
bool fm_digest_clique_recurses(const struct fm_analysis *a, uint32_t clique);

/* Whether the clique is not part of the program: the runtime's own and, in C programs, the threads,
 * whose functions are what a reader calls the entry. */
bool fm_digest_is_outside(const struct fm_analysis *a, uint32_t clique);
/* The cliques from the program's entry to this one, inclusive: none when it is outside. Returns
 * their number; the innermost max of them are stored, outermost first. */
uint32_t fm_digest_path(const struct fm_analysis *a, uint32_t clique, uint32_t *cliques,
                        uint32_t max);

/* Whether both contexts have the same path: of two threads, say. */
bool fm_digest_is_same_path(const struct fm_analysis *a, uint32_t clique, uint32_t other);

/* Rows of contexts, of which several threads may have ones with the same path. */
struct fm_digest_rows {
    void *rows;
    size_t size; /* of a row */
    uint32_t count;
    const void *user;
    bool (*is_same)(const void *user, const void *row, const void *other);
    void (*add)(void *row, const void *other);
};
/* Adds each of the first 500 rows to the first one that is the same, and removes it: that takes
 * time by their square. The others stay as they are. Returns how many are left, in their order. */
uint32_t fm_digest_join(const struct fm_digest_rows *join);

/* The contexts that a path names: "main/write_index", with names as in fm_digest_named_procs(),
 * each the name of any function of a step. The steps follow one another, and the first need not be
 * the program's entry; if there is no such context, those with other steps in between. Slashes may
 * be part of (Mercury) names: each name is as long as possible. Ascending by clique; at most max
 * are stored in *ret (g_free), *ret_total counts all that were found. */
void fm_digest_named_paths(const struct fm_analysis *a, const char *path, uint32_t max,
                           uint32_t **ret, uint32_t *ret_count, uint32_t *ret_total);

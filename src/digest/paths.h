/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts as paths: the functions and recursions that lead from the program's entry to a place.
 * A context is a clique of the call graph: one proc dynamic, or a recursion, which is one step of
 * a path however many functions it has. */
#pragma once

#include "analysis/analysis.h"

/* How many different procedures a clique has proc dynamics of. More than one: a recursion. */
uint32_t fm_view_clique_procs(const struct fm_analysis *a, uint32_t clique);
/* One name for a recursion, the same in each context of it: the procedure among the clique's that
 * holds at least half of their own time in the whole program (and at least 30 samples), else the
 * one that was called most often, the lowest number of equal ones. For a clique of one procedure,
 * that. */
uint32_t fm_view_clique_name(const struct fm_analysis *a, uint32_t clique);
/* Whether some procedure of the clique calls one of them, itself perhaps. */
bool fm_view_clique_recurses(const struct fm_analysis *a, uint32_t clique);

/* Whether the clique is no part of the program: the runtime's own, and of C programs the threads,
 * whose functions are what a reader calls the entry. */
bool fm_view_is_outside(const struct fm_analysis *a, uint32_t clique);
/* The cliques from the program's entry down to this one, inclusive: none when it is outside.
 * Returns how many there are; the innermost max of them are stored, outermost first. */
uint32_t fm_view_path(const struct fm_analysis *a, uint32_t clique, uint32_t *cliques,
                      uint32_t max);

/* Whether both contexts have the same path: of two threads, say. */
bool fm_view_is_same_path(const struct fm_analysis *a, uint32_t clique, uint32_t other);

/* The contexts that a path names: "main/write_index", names as fm_view_named_procs() reads them,
 * each the name of any function of a step. The steps follow one another, and the first need not be
 * the program's entry; where there is no such context, those are meant that have other steps in
 * between. Slashes within names (of Mercury's) hold together: each name is as long as can be.
 * Ascending by clique; at most max are stored in *ret (g_free), *ret_total counts all that were
 * looked at. */
void fm_view_named_paths(const struct fm_analysis *a, const char *path, uint32_t max,
                         uint32_t **ret, uint32_t *ret_count, uint32_t *ret_total);

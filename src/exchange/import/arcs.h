/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a profile of functions and of calls between two of them, without contexts: FM_NATURE_ARCS.
 * A function is one proc dynamic; below the program itself stand those that nobody else calls, and
 * of each cycle that nobody calls the function that came first.
 *
 *   struct fm_import_arcs *arcs = fm_import_arcs_new("prog", "callgrind", 1);
 *   fm_import_arcs_column(arcs, 0, FM_QUANTA);
 *   uint32_t f = fm_stacks_function(fm_import_arcs_stacks(arcs), &name), ...
 *   fm_import_arcs_self(arcs, f, 0, 120);
 *   fm_import_arcs_call(arcs, &(struct fm_stacks_call){f, g, .line = 7}, 3, costs);
 *   if (!fm_import_arcs_finish(arcs, &profile, &error)) ...
 */
#pragma once

#include "exchange/import/stacks.h"

struct fm_import_arcs;

/* columns: how many costs a function and a call have. */
struct fm_import_arcs *fm_import_arcs_new(const char *program, const char *origin,
                                          unsigned columns);
void fm_import_arcs_free(struct fm_import_arcs *arcs); /* NULL is allowed */
/* For functions, measures, notes: of functions, no frames. */
struct fm_stacks *fm_import_arcs_stacks(struct fm_import_arcs *arcs);
/* Sets the measure of a column; columns without measure are dropped. FM_EXITS: a function's calls,
 * so that calls from outside are known, too. */
void fm_import_arcs_column(struct fm_import_arcs *arcs, unsigned column,
                           enum fm_measure_id measure);

/* Divides all that the column has so far. */
void fm_import_arcs_divide(struct fm_import_arcs *arcs, unsigned column, uint64_t by);

/* Adds up. False: the sum does not fit 63 bits. */
FM_MUST_USE bool fm_import_arcs_self(struct fm_import_arcs *arcs, uint32_t function,
                                     unsigned column, uint64_t cost);
/* costs: [columns], what the calls cost with all that they called; NULL = not known. */
FM_MUST_USE bool fm_import_arcs_call(struct fm_import_arcs *arcs, const struct fm_stacks_call *call,
                                     uint64_t calls, const uint64_t *costs);
/* That calls from there are not all counted. */
void fm_import_arcs_uncounted(struct fm_import_arcs *arcs, const struct fm_stacks_call *call);
/* Calls by nobody that is known. */
FM_MUST_USE bool fm_import_arcs_outside(struct fm_import_arcs *arcs, uint32_t function,
                                        uint64_t calls);
/* Line of the function in its file; the first one counts. */
void fm_import_arcs_line(struct fm_import_arcs *arcs, uint32_t function, uint32_t line);

/* Sum of all functions' self costs; number of functions. */
uint64_t fm_import_arcs_sum(const struct fm_import_arcs *arcs, unsigned column);
uint32_t fm_import_arcs_functions(const struct fm_import_arcs *arcs);

/* The calls' costs as they were given; where none were, estimated: FM_NATURE_AVERAGED. Frees arcs,
 * also on failure. */
FM_MUST_USE bool fm_import_arcs_finish(struct fm_import_arcs *arcs, struct fm_profile **ret,
                                       GError **error);

/* SPDX-License-Identifier: Apache-2.0 */
/* Time by column of a window and by class of state. */
#pragma once

#include "trace/state/state.h"

struct fm_load {
    uint64_t start, end; /* the window: ns, start < end */
    unsigned columns;    /* at least 1 */
    double *time; /* ns; of a class in a column: time[column * FM_STATE_CLASS_COUNT + class] */
    unsigned low, high; /* the columns that may have any: [low, high) */
    double *step;       /* fm_load_add_long(): changes from column to column; NULL = none */
};

void fm_load_init(struct fm_load *load, uint64_t start, uint64_t end, unsigned columns);
void fm_load_done(struct fm_load *load);
void fm_load_reset(struct fm_load *load); /* back to no time at all */
/* Adds this much time (ns, may be negative), evenly spread over [from, to), as far as that lies in
 * the window. */
void fm_load_add(struct fm_load *load, enum fm_state_class state_class, uint64_t from, uint64_t to,
                 double time);
/* As above, in constant time however many columns it covers; call fm_load_settle() before using the
 * result. */
void fm_load_add_long(struct fm_load *load, enum fm_state_class state_class, uint64_t from,
                      uint64_t to, double time);
void fm_load_settle(struct fm_load *load);
/* Time belongs to the innermost entry: what `above` has is taken off what it stood on. Which that
 * was is not known: a collection (its work is nested), else what is no work (an interrupt of an
 * idle CPU), else what took most. */
void fm_load_take_off(struct fm_load *below, const struct fm_load *above);
/* Both have the same window and columns. */
void fm_load_add_all(struct fm_load *to, const struct fm_load *from);
/* Over all columns. */
double fm_load_time(const struct fm_load *load, enum fm_state_class state_class);
/* Over all classes that are work; the time of one column. */
double fm_load_at_work(const struct fm_load *load, unsigned column);

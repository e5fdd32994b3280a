/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "compare/timing.h"
#include "gate/gate.h"

/* --- contexts that a path means --- */

struct fm_places {
    const struct fm_compare *compare;
    GHashTable *after_name; /* ps of the common graph -> the name that after has for it */
    uint32_t *pd_first;     /* [ps + 2] into pds */
    uint32_t *pds;          /* contexts of the spanning tree, by ps, ascending in its order */
};
void fm_places_init(struct fm_places *ret, const struct fm_compare *compare);
void fm_places_clear(struct fm_places *places);
/* The contexts that the path of a limit means, in the order of the tree; g_array_unref. */
GArray *fm_places_match(const struct fm_places *places, const struct fm_limit *limit);
/* Whether one of them (sorted by id, as fm_places_match gives them) is the context or above it. */
bool fm_places_is_within(const struct fm_places *places, uint32_t pd, const GArray *matches);
/* Keeps the contexts that lie below none of the others. */
GArray *fm_places_outermost(const struct fm_places *places, const GArray *matches);
/* Whether a procedure of the common graph lies in a file or folder. */
bool fm_places_is_in(const struct fm_places *places, uint32_t ps, const char *place);

/* --- bounds --- */

/* The quantity of a limit, for both sides, in the measure's own unit. */
struct fm_amount {
    int64_t value[FM_SIDES];
    int64_t calls[FM_SIDES]; /* divisor, at least 1 */
    bool uncounted;          /* it should be divided by calls that were not counted */
};

/* Exactly, whatever the numbers are: after op bound. scale: bytes a word and the like. */
bool fm_bound_holds(const struct fm_limit *limit, const struct fm_amount *amount, int64_t scale);
/* The value at which the limit is just kept, when it was so much before; both in the unit that is
 * shown. */
double fm_bound_allowed(const struct fm_limit *limit, double before);
/* The number of a bound in per cent. */
double fm_bound_percent(const struct fm_limit *limit);

/* --- time --- */

/* How an amount of time stands to its bound. */
struct fm_told {
    double p_fail; /* that a value as far beyond the bound comes by chance */
    double p_pass; /* that one as far within bound and margin does */
    bool absolute; /* the bound is on after's seconds alone; else on the ratio of after to before */
    double allowed, tolerated;
};
/* row NULL: the whole program. before, allowed: in the unit that is shown, a call; calls: 1, or
 * what they are divided by. */
void fm_time_against_bound(const struct fm_sampled *model, const struct fm_sampled_row *row,
                           const struct fm_limit *limit, double before, double allowed,
                           const double calls[FM_SIDES], struct fm_told *ret);

/* A limit on what is sampled, which is judged when all are known. */
struct fm_timed {
    guint number; /* index of the judgement */
    enum fm_measure_id id;
    GArray *contexts; /* uint32_t; NULL = the whole program */
    bool self;
    double calls[FM_SIDES];
};
void fm_timed_clear(void *timed); /* for GArray */
/* timed: struct fm_timed. */
void fm_timed_judge(const struct fm_compare *compare, const GArray *timed, GArray *judgements,
                    const struct fm_gate_options *options);

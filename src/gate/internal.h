/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

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
/* Those of them that lie below none of the others. */
GArray *fm_places_outermost(const struct fm_places *places, const GArray *matches);
/* Whether a procedure of the common graph lies in a file or folder. */
bool fm_places_is_in(const struct fm_places *places, uint32_t ps, const char *place);

/* --- bounds --- */

/* What a limit is about, of both sides, in the measure's own unit. */
struct fm_amount {
    int64_t value[FM_SIDES];
    int64_t calls[FM_SIDES]; /* what it is divided by, 1 or more */
    bool uncounted;          /* it should be divided by calls that were not counted */
};

/* Exactly, whatever the numbers are: after op bound. scale: bytes a word and the like. */
bool fm_bound_holds(const struct fm_limit *limit, const struct fm_amount *amount, int64_t scale);
/* The value at which the limit is just kept, in the unit that is shown. */
double fm_bound_allowed(const struct fm_limit *limit, const struct fm_amount *amount, double scale);

/* --- time --- */

/* How an amount of time stands to its bound, by chance. */
struct fm_told {
    double p;     /* that a value as far beyond the bound comes by chance, one-sided */
    bool within;  /* the upper limit of the value keeps the bound */
    bool few;     /* too few samples to tell anything */
    double least; /* the relative difference that would show with 80 %; 0 = none would */
};
void fm_time_against_bound(const struct fm_compare *compare, enum fm_measure_id measure,
                           const struct fm_limit *limit, const struct fm_amount *amount,
                           struct fm_told *ret);

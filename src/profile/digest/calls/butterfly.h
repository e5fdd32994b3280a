/* SPDX-License-Identifier: Apache-2.0 */
/* Callers and callees of a procedure, in all contexts or in one, such that both sides add up
 * exactly to its total:
 *
 *   sum of the callers' totals       = total
 *   own + sum of the callees' totals = total
 *
 * When the procedure is part of a recursion, no profile says how much each call into it, from
 * outside or from within, led to. So its cost there is one row, with the calls below it. */
#pragma once

#include "profile/analysis/analysis.h"

enum fm_neighbour_kind {
    FM_NEIGHBOUR_CALL,   /* a line that calls it, or a callee of one of its lines */
    FM_NEIGHBOUR_WITHIN, /* all contexts in which it is part of one recursion */
    FM_NEIGHBOUR_MEMBER, /* a call that belongs to the nearest row above that is WITHIN */
    FM_NEIGHBOUR_ITSELF, /* a line of it that calls it, where it calls nothing else in a circle */
};

struct fm_neighbour {
    enum fm_neighbour_kind kind;
    uint32_t css;       /* for CALL, MEMBER, ITSELF; 0 = the program's start */
    uint32_t ps;        /* caller or callee; for WITHIN the name of the recursion, 0 = several */
    uint32_t clique;    /* for WITHIN: the context with the most calls of it */
    bool total_is_here; /* false: it is in the total of another row */
    bool inlined;       /* there are calls of it that were not recorded */
    bool at_most;       /* total is an upper bound: that of a recursion */
    int64_t total, own, calls; /* own: of the callee by this way */
};

struct fm_butterfly {
    int64_t total, own, calls; /* the procedure's; calls as recorded */
    bool at_most;              /* total is an upper bound */
    uint32_t contexts;         /* proc dynamics */
    /* struct fm_neighbour, most expensive first; members after their group */
    GArray *callers, *callees;
};

/* clique 0 = in all contexts; else it holds ps. O(calls of it and by it). */
void fm_butterfly_init(struct fm_butterfly *ret, const struct fm_analysis *a, uint32_t ps,
                       uint32_t clique, enum fm_measure_id measure);
/* Computes only the figures: callers and callees are NULL. */
void fm_butterfly_figures(struct fm_butterfly *ret, const struct fm_analysis *a, uint32_t ps,
                          uint32_t clique, enum fm_measure_id measure);
void fm_butterfly_done(struct fm_butterfly *butterfly);
/* Sums of totals: of callers; of callees plus own. They differ from the total only in damaged
 * files. */
int64_t fm_butterfly_callers_total(const struct fm_butterfly *butterfly);
int64_t fm_butterfly_callees_total(const struct fm_butterfly *butterfly);

/* SPDX-License-Identifier: Apache-2.0 */
/* The best way to cut a conjunction into parallel conjuncts. */
#pragma once

#include "mercury/feedback/costs.h"
#include "mercury/feedback/feedback.h"

/* A goal of the conjunction; sets of variables ascending. */
struct fm_cut_goal {
    struct fm_goal_cost cost;
    const uint32_t *bound, *consumed;
    uint32_t bound_count, consumed_count;
    void *user; /* owner of the time that is asked for below */
};

struct fm_cut_problem {
    const struct fm_cut_goal *goals;
    uint32_t count, first, last; /* only goals[first .. last] are cut */
    double calls;
    const struct fm_feedback_params *params;
    /* Returns when the goal produces, or first uses, a variable. */
    double (*time)(void *user, uint32_t var, bool production);
};

struct fm_cut {
    uint32_t conjunct_count;
    uint32_t *ends; /* [conjunct_count]: index of the goal after the last one of each conjunct */
    bool dependent;
    GArray *shared; /* uint32_t, ascending */
    double cost_before, cost_after;
    struct fm_parallel_metrics metrics; /* without the number of calls */
    double objective;
};

/* Computes the metrics of a cut of goals[first .. placed - 1]. */
void fm_cut_evaluate(const struct fm_cut_problem *problem, struct fm_cut *cut);
void fm_cut_done(struct fm_cut *cut);
/* False when there is no cut. Among equally good cuts it returns the last one found. */
FM_MUST_USE bool fm_cut_search(const struct fm_cut_problem *problem, struct fm_cut *ret);
#define FM_CUT_GOALS_MAX 2000u

/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of goals over all their calls, and their sums. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum fm_goal_cost_kind {
    FM_COST_DEAD,    /* never entered */
    FM_COST_TRIVIAL, /* makes no calls */
    FM_COST_REAL,
};
struct fm_goal_cost {
    enum fm_goal_cost_kind kind;
    double calls;
    bool per_call; /* true: value is per call, false: a total; this matters when the number of calls
                      changes */
    double value;
};

struct fm_goal_cost fm_cost_dead(void);
struct fm_goal_cost fm_cost_trivial(double calls);
struct fm_goal_cost fm_cost_real(double calls, bool per_call, double value);
double fm_cost_all_calls(const struct fm_goal_cost *cost);
double fm_cost_one_call(const struct fm_goal_cost *cost);
/* Cost of running a, then b. */
struct fm_goal_cost fm_cost_sequence(struct fm_goal_cost a, struct fm_goal_cost b);
/* Cost of running either a or b, entered `calls` times in total. */
struct fm_goal_cost fm_cost_branch(double calls, struct fm_goal_cost a, struct fm_goal_cost b);
/* The cost with the same cost per call, for another number of calls. */
struct fm_goal_cost fm_cost_with_calls(struct fm_goal_cost cost, double calls);

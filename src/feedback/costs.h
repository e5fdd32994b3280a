/* SPDX-License-Identifier: Apache-2.0 */
/* What a goal costs over all its calls, and how costs of parts become that of a whole. */
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
    bool per_call; /* how value is stored; it matters when the number of calls changes */
    double value;
};

struct fm_goal_cost fm_cost_dead(void);
struct fm_goal_cost fm_cost_trivial(double calls);
struct fm_goal_cost fm_cost_real(double calls, bool per_call, double value);
double fm_cost_all_calls(const struct fm_goal_cost *cost);
double fm_cost_one_call(const struct fm_goal_cost *cost);
/* One, then the other. */
struct fm_goal_cost fm_cost_sequence(struct fm_goal_cost a, struct fm_goal_cost b);
/* One or the other, entered `calls` times together. */
struct fm_goal_cost fm_cost_branch(double calls, struct fm_goal_cost a, struct fm_goal_cost b);
/* The same for each call, of another number of calls. */
struct fm_goal_cost fm_cost_with_calls(struct fm_goal_cost cost, double calls);

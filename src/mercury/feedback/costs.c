/* SPDX-License-Identifier: Apache-2.0 */
#include "mercury/feedback/costs.h"

struct fm_goal_cost fm_cost_dead(void)
{
    return (struct fm_goal_cost){.kind = FM_COST_DEAD};
}

struct fm_goal_cost fm_cost_trivial(double calls)
{
    return (struct fm_goal_cost){.kind = FM_COST_TRIVIAL, .calls = calls};
}

struct fm_goal_cost fm_cost_real(double calls, bool per_call, double value)
{
    return (struct fm_goal_cost){FM_COST_REAL, calls, per_call, value};
}

double fm_cost_all_calls(const struct fm_goal_cost *cost)
{
    if (cost->kind != FM_COST_REAL)
        return 0;
    return cost->per_call ? cost->calls * cost->value : cost->value;
}

double fm_cost_one_call(const struct fm_goal_cost *cost)
{
    if (cost->kind != FM_COST_REAL || cost->calls == 0)
        return 0;
    return cost->per_call ? cost->value : cost->value / cost->calls;
}

struct fm_goal_cost fm_cost_sequence(struct fm_goal_cost a, struct fm_goal_cost b)
{
    if (a.kind == FM_COST_DEAD)
        return b;
    if (b.kind != FM_COST_REAL)
        return a;
    return fm_cost_real(a.calls, false, fm_cost_all_calls(&a) + fm_cost_all_calls(&b));
}

struct fm_goal_cost fm_cost_branch(double calls, struct fm_goal_cost a, struct fm_goal_cost b)
{
    if (calls == 0)
        return fm_cost_dead();
    if (a.kind != FM_COST_REAL && b.kind != FM_COST_REAL)
        return fm_cost_trivial(calls);
    if (a.kind != FM_COST_REAL || b.kind != FM_COST_REAL) {
        struct fm_goal_cost *real = a.kind == FM_COST_REAL ? &a : &b;
        real->calls = calls;
        return *real;
    }
    return fm_cost_real(calls, false, fm_cost_all_calls(&a) + fm_cost_all_calls(&b));
}

struct fm_goal_cost fm_cost_with_calls(struct fm_goal_cost cost, double calls)
{
    if (cost.kind == FM_COST_TRIVIAL)
        return fm_cost_trivial(calls);
    if (cost.kind == FM_COST_DEAD)
        return cost;
    return fm_cost_real(calls, true, fm_cost_one_call(&cost));
}

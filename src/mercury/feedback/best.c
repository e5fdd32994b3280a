/* SPDX-License-Identifier: Apache-2.0 */
/* Searches for the best cut: places one goal after the other, in the last conjunct or in a new
 * one. */
#include "mercury/feedback/best.h"

#include <string.h>

struct interval {
    double begin, end;
};

struct event {
    double time; /* sequential, from the conjunct's beginning */
    uint32_t var;
    bool production;
};

struct evaluating {
    const struct fm_cut_problem *problem;
    struct fm_cut *cut;
    GHashTable *produced_at; /* variable -> double *: parallel time */
    GArray *events, *intervals;
    double inner, first_busy;
    double sequential; /* sequential cost of the conjuncts so far */
};

/* --- sets of variables --- */

static bool has(const uint32_t *vars, uint32_t count, uint32_t var)
{
    for (uint32_t low = 0, high = count; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (vars[middle] == var)
            return true;
        if (vars[middle] < var)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static bool is_in(const GArray *set, uint32_t var)
{
    return has((const uint32_t *)(const void *)set->data, set->len, var);
}

static void insert(GArray *set, uint32_t var)
{
    guint at = set->len;
    while (at > 0 && g_array_index(set, uint32_t, at - 1) > var)
        at--;
    if (at == 0 || g_array_index(set, uint32_t, at - 1) != var)
        g_array_insert_val(set, at, var);
}

/* --- evaluation --- */

/* Cost per call of goals[begin .. end - 1] in a row. */
static double sequence_cost(const struct fm_cut_problem *problem, uint32_t begin, uint32_t end)
{
    g_return_val_if_fail(begin <= end && end <= problem->count, 0);
    struct fm_goal_cost cost =
        problem->calls == 0 ? fm_cost_dead() : fm_cost_trivial(problem->calls);
    for (uint32_t i = end; i-- > begin;)
        cost = fm_cost_sequence(problem->goals[i].cost, cost);
    return fm_cost_one_call(&cost);
}

/* Finds the variables that are bound in one conjunct and consumed in a later one. */
static GArray *find_shared(const struct fm_cut_problem *problem, const struct fm_cut *cut)
{
    GArray *shared = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g_autoptr(GHashTable) bound = g_hash_table_new(NULL, NULL);
    uint32_t begin = problem->first;
    for (uint32_t k = 0; k < cut->conjunct_count; k++) {
        for (uint32_t i = begin; k > 0 && i < cut->ends[k]; i++) {
            const struct fm_cut_goal *goal = &problem->goals[i];
            for (uint32_t v = 0; v < goal->consumed_count; v++) {
                if (g_hash_table_contains(bound, GUINT_TO_POINTER(goal->consumed[v])))
                    insert(shared, goal->consumed[v]);
            }
        }
        for (uint32_t i = begin; i < cut->ends[k]; i++) {
            const struct fm_cut_goal *goal = &problem->goals[i];
            for (uint32_t v = 0; v < goal->bound_count; v++)
                g_hash_table_add(bound, GUINT_TO_POINTER(goal->bound[v]));
        }
        begin = cut->ends[k];
    }
    return shared;
}

static int compare_events(const void *a, const void *b)
{
    const struct event *one = a, *other = b;
    if (one->time != other->time)
        return one->time > other->time ? -1 : 1;
    return one->var < other->var ? -1 : one->var > other->var;
}

static void add_events(const struct evaluating *e, const struct fm_cut_goal *goal,
                       const GArray *wanted, GArray *seen, bool production, double begin,
                       GArray *to)
{
    const uint32_t *vars = production ? goal->bound : goal->consumed;
    uint32_t count = production ? goal->bound_count : goal->consumed_count;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_in(wanted, vars[i]) || is_in(seen, vars[i]))
            continue;
        insert(seen, vars[i]);
        struct event event = {begin + e->problem->time(goal->user, vars[i], production), vars[i],
                              production};
        g_array_append_val(to, event);
    }
    g_array_sort(to, compare_events);
}

/* Lists the events of a conjunct in the order in which run_events() takes them. Both lists of a
 * goal are sorted latest first, yet are merged as if they were sorted earliest first. Mercury's own
 * tool does this, and its results depend on it. */
static void list_events(struct evaluating *e, uint32_t begin, uint32_t end, const GArray *produced,
                        const GArray *used)
{
    g_autoptr(GArray) seen_produced = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g_autoptr(GArray) seen_used = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g_autoptr(GArray) uses = g_array_new(FALSE, FALSE, sizeof(struct event));
    g_autoptr(GArray) makes = g_array_new(FALSE, FALSE, sizeof(struct event));
    g_autoptr(GArray) merged = g_array_new(FALSE, FALSE, sizeof(struct event));
    double time = 0;
    g_array_set_size(e->events, 0);
    for (uint32_t i = begin; i < end; i++) {
        const struct fm_cut_goal *goal = &e->problem->goals[i];
        g_array_set_size(uses, 0);
        g_array_set_size(makes, 0);
        g_array_set_size(merged, 0);
        add_events(e, goal, used, seen_used, false, time, uses);
        add_events(e, goal, produced, seen_produced, true, time, makes);
        for (guint u = 0, m = 0; u < uses->len || m < makes->len;) {
            bool make =
                u == uses->len || (m < makes->len && g_array_index(makes, struct event, m).time <
                                                         g_array_index(uses, struct event, u).time);
            struct event event = make ? g_array_index(makes, struct event, m++)
                                      : g_array_index(uses, struct event, u++);
            g_array_append_val(merged, event);
        }
        for (guint j = merged->len; j-- > 0;) {
            struct event event = g_array_index(merged, struct event, j);
            g_array_append_val(e->events, event);
        }
        time += fm_cost_one_call(&goal->cost);
    }
}

static void add_interval(struct evaluating *e, double begin, double end)
{
    struct interval interval = {begin, end};
    g_array_append_val(e->intervals, interval);
}

/* Computes when the conjunct runs: it waits for each variable that is not yet produced. */
static void run_events(struct evaluating *e, double start, double sequential)
{
    const struct fm_feedback_params *params = e->problem->params;
    double s = 0, p = start, resume = start;
    g_array_set_size(e->intervals, 0);
    for (guint i = 0; i < e->events->len; i++) {
        const struct event *event = &g_array_index(e->events, struct event, i);
        double here = p + (event->time - s);
        s = event->time;
        if (event->production) {
            p = here + (double)params->signal_cost;
            continue;
        }
        const double *there = g_hash_table_lookup(e->produced_at, GUINT_TO_POINTER(event->var));
        double ready = there == NULL ? here : *there;
        p = MAX(ready, here) + (double)params->wait_cost;
        if (ready > here) {
            p += (double)params->wakeup_delay;
            add_interval(e, resume, here);
            resume = p;
        }
    }
    add_interval(e, resume, p + sequential - s);
}

/* Notes the parallel times at which the conjunct produces its variables. */
static void note_productions(struct evaluating *e, uint32_t begin, uint32_t end, double start,
                             const GArray *produced)
{
    double y = start;
    guint at = 0;
    for (uint32_t i = begin; i < end; i++) {
        const struct fm_cut_goal *goal = &e->problem->goals[i];
        while (at + 1 < e->intervals->len &&
               y > g_array_index(e->intervals, struct interval, at).end + 0.0001) {
            y += g_array_index(e->intervals, struct interval, at + 1).begin -
                 g_array_index(e->intervals, struct interval, at).end;
            at++;
        }
        for (uint32_t v = 0; v < goal->bound_count; v++) {
            if (!is_in(produced, goal->bound[v]))
                continue;
            double *time = g_new(double, 1);
            *time = y + e->problem->time(goal->user, goal->bound[v], true);
            g_hash_table_insert(e->produced_at, GUINT_TO_POINTER(goal->bound[v]), time);
        }
        y += fm_cost_one_call(&goal->cost);
    }
}

static void measure_intervals(const struct evaluating *e, double *ret_busy, double *ret_dead)
{
    *ret_busy = *ret_dead = 0;
    for (guint i = 0; i < e->intervals->len; i++) {
        const struct interval *interval = &g_array_index(e->intervals, struct interval, i);
        *ret_busy += interval->end - interval->begin;
        if (i > 0)
            *ret_dead += interval->begin - g_array_index(e->intervals, struct interval, i - 1).end;
    }
}

static void conjunct_sets(const struct evaluating *e, uint32_t begin, uint32_t end,
                          GArray *produced, GArray *used)
{
    for (uint32_t i = begin; i < end; i++) {
        const struct fm_cut_goal *goal = &e->problem->goals[i];
        for (uint32_t v = 0; v < goal->bound_count; v++) {
            if (is_in(e->cut->shared, goal->bound[v]))
                insert(produced, goal->bound[v]);
        }
        for (uint32_t v = 0; v < goal->consumed_count; v++) {
            if (is_in(e->cut->shared, goal->consumed[v]) &&
                g_hash_table_contains(e->produced_at, GUINT_TO_POINTER(goal->consumed[v])))
                insert(used, goal->consumed[v]);
        }
    }
}

static void evaluate_conjunct(struct evaluating *e, uint32_t k, GArray *dependence)
{
    const struct fm_cut_problem *problem = e->problem;
    const struct fm_feedback_params *params = problem->params;
    struct fm_parallel_metrics *metrics = &e->cut->metrics;
    uint32_t begin = k == 0 ? problem->first : e->cut->ends[k - 1], end = e->cut->ends[k];
    bool overlap = params->speedup == FM_SPEEDUP_OVERLAP, last = end == problem->last + 1;
    g_autoptr(GArray) produced = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    g_autoptr(GArray) used = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    double sequential = sequence_cost(problem, begin, end);
    double start = k * (double)params->spark_delay, busy, dead;
    double spark = last ? 0 : (double)params->spark_cost;
    conjunct_sets(e, begin, end, produced, used);
    if (overlap) {
        start += spark;
        list_events(e, begin, end, produced, used);
        run_events(e, start, sequential);
        measure_intervals(e, &busy, &dead);
        metrics->signals += (double)params->signal_cost * produced->len;
        metrics->waits += (double)params->wait_cost * used->len;
    } else {
        start += spark;
        g_array_set_size(e->intervals, 0);
        add_interval(e, start, start + sequential);
        busy = sequential + spark;
        dead = 0;
    }
    note_productions(e, begin, end, start, produced);
    for (guint i = 0; i < used->len; i++)
        insert(dependence, g_array_index(used, uint32_t, i));
    double inner = busy + dead + k * (double)params->spark_delay;
    e->inner = k == 0 ? inner : MAX(e->inner, inner);
    if (k == 0)
        e->first_busy = busy;
    e->sequential += sequential;
    metrics->future_dead += dead;
}

void fm_cut_evaluate(const struct fm_cut_problem *problem, struct fm_cut *cut)
{
    const struct fm_feedback_params *params = problem->params;
    struct fm_parallel_metrics *metrics = &cut->metrics;
    struct evaluating e = {
        .problem = problem,
        .cut = cut,
        .produced_at = g_hash_table_new_full(NULL, NULL, NULL, g_free),
        .events = g_array_new(FALSE, FALSE, sizeof(struct event)),
        .intervals = g_array_new(FALSE, FALSE, sizeof(struct interval)),
    };
    memset(metrics, 0, sizeof *metrics);
    g_clear_pointer(&cut->shared, g_array_unref);
    cut->shared = find_shared(problem, cut);
    GArray *dependence = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t k = 0; k < cut->conjunct_count; k++)
        evaluate_conjunct(&e, k, dependence);
    g_array_unref(cut->shared);
    cut->shared = dependence;
    cut->dependent = dependence->len > 0;
    cut->cost_before = sequence_cost(problem, 0, problem->first);
    cut->cost_after = sequence_cost(problem, problem->last + 1, problem->count);
    metrics->first_dead = e.inner - e.first_busy;
    metrics->sequential = e.sequential + cut->cost_before + cut->cost_after;
    metrics->parallel = e.inner + cut->cost_before + cut->cost_after +
                        (metrics->first_dead > 0 ? (double)params->wakeup_delay : 0);
    metrics->spark = (double)(cut->conjunct_count - 1) * (double)params->spark_cost;
    metrics->barrier = (double)cut->conjunct_count * (double)params->barrier_cost;
    cut->objective = metrics->parallel +
                     2 * (metrics->spark + metrics->barrier + metrics->signals + metrics->waits);
    g_hash_table_unref(e.produced_at);
    g_array_unref(e.events);
    g_array_unref(e.intervals);
}

void fm_cut_done(struct fm_cut *cut)
{
    g_clear_pointer(&cut->ends, g_free);
    g_clear_pointer(&cut->shared, g_array_unref);
}

/* --- search --- */

struct searching {
    const struct fm_cut_problem *problem;
    bool dependent_allowed;
    int64_t limit; /* maximum number of alternatives; negative = none */
    int64_t tests;
    bool any;
    struct fm_cut best;
};

/* Returns `cut` with one more goal, in the last conjunct or in a new one. */
static struct fm_cut extend(const struct searching *s, const struct fm_cut *cut, bool new_conjunct)
{
    struct fm_cut result = {.conjunct_count = cut->conjunct_count + (new_conjunct ? 1 : 0)};
    result.ends = g_new(uint32_t, result.conjunct_count);
    memcpy(result.ends, cut->ends, sizeof *cut->ends * cut->conjunct_count);
    result.ends[result.conjunct_count - 1] = cut->ends[cut->conjunct_count - 1] + 1;
    fm_cut_evaluate(s->problem, &result);
    return result;
}

static bool is_valid(const struct searching *s, const struct fm_cut *cut)
{
    return s->dependent_allowed || !cut->dependent;
}

static bool is_good_enough(struct searching *s, const struct fm_cut *cut)
{
    s->tests++;
    return is_valid(s, cut) && (!s->any || cut->objective <= s->best.objective);
}

static void keep(struct searching *s, struct fm_cut *cut)
{
    if (cut->conjunct_count < 2 || (s->any && cut->objective > s->best.objective))
        return;
    if (s->any)
        fm_cut_done(&s->best);
    s->best = *cut;
    s->any = true;
    memset(cut, 0, sizeof *cut);
}

static void step(struct searching *s, struct fm_cut *cut)
{
    if (cut->ends[cut->conjunct_count - 1] == s->problem->last + 1) {
        keep(s, cut);
        return;
    }
    struct fm_cut joined = extend(s, cut, false), split = extend(s, cut, true);
    bool both = is_valid(s, &joined) && is_valid(s, &split);
    bool joined_first = both ? split.objective > joined.objective : is_valid(s, &joined);
    struct fm_cut *preferred = joined_first ? &joined : &split;
    struct fm_cut *other = joined_first ? &split : &joined;
    int64_t tests = s->tests;
    if (is_good_enough(s, preferred))
        step(s, preferred);
    if (both && (s->limit < 0 || tests < s->limit) && is_good_enough(s, other))
        step(s, other);
    fm_cut_done(&joined);
    fm_cut_done(&split);
}

static bool search(const struct fm_cut_problem *problem, bool dependent_allowed, struct fm_cut *ret)
{
    const struct fm_feedback_params *params = problem->params;
    struct searching s = {.problem = problem, .dependent_allowed = dependent_allowed, .limit = -1};
    if (params->best == FM_BEST_GREEDY ||
        (params->best == FM_BEST_COMPLETE_SIZE && problem->count > (uint64_t)params->best_limit))
        s.limit = 0;
    else if (params->best == FM_BEST_COMPLETE_BRANCHES)
        s.limit = params->best_limit;
    struct fm_cut cut = {.conjunct_count = 1, .ends = g_new(uint32_t, 1)};
    cut.ends[0] = problem->first + 1;
    step(&s, &cut);
    fm_cut_done(&cut);
    *ret = s.best;
    return s.any;
}

bool fm_cut_search(const struct fm_cut_problem *problem, struct fm_cut *ret)
{
    g_return_val_if_fail(problem->first < problem->last && problem->last < problem->count, false);
    bool allowed = problem->params->speedup != FM_SPEEDUP_INDEPENDENT;
    memset(ret, 0, sizeof *ret);
    if (problem->last - problem->first >= FM_CUT_GOALS_MAX)
        return false;
    if (search(problem, allowed, ret))
        return true;
    if (allowed)
        return false;
    /* Dependent conjunctions are evaluated too: the caller sees from the shared variables that the
     * cut is dependent. */
    struct fm_feedback_params params = *problem->params;
    struct fm_cut_problem again = *problem;
    params.speedup = FM_SPEEDUP_OVERLAP;
    again.params = &params;
    return search(&again, true, ret);
}

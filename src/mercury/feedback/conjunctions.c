/* SPDX-License-Identifier: Apache-2.0 */
/* Searches for conjunctions that are worth running in parallel, from the innermost goals
 * outwards. */
#include <string.h>

#include "mercury/feedback/internal.h"

/* Result of a goal, for the goal around it. */
struct outcome {
    GPtrArray *candidates; /* struct fm_candidate */
    GPtrArray *pushes;     /* struct fm_push */
    /* struct fm_node: costly single calls; later goals could be moved behind them */
    GPtrArray *singles;
};

/* A costly conjunct, with the costly calls in the conjuncts before it. */
struct costly_conjunct {
    uint32_t number;
    GPtrArray *singles;
};

static struct outcome outcome_new(void)
{
    return (struct outcome){g_ptr_array_new(), g_ptr_array_new(), g_ptr_array_new()};
}

static void append_all(GPtrArray *to, const GPtrArray *from)
{
    for (guint i = 0; i < from->len; i++)
        g_ptr_array_add(to, from->pdata[i]);
}

static void outcome_clear(struct outcome *outcome)
{
    g_ptr_array_unref(outcome->candidates);
    g_ptr_array_unref(outcome->pushes);
    g_ptr_array_unref(outcome->singles);
}

static void search_goal(struct fm_searching *s, struct fm_node *node, struct outcome *ret);

/* --- one candidate --- */

/* Returns the determinism of goals in a row, by the name that Mercury's own tool prints. */
static const char *combined_detism(struct fm_node *const *goals, uint32_t first, uint32_t last)
{
    bool zero = false, many = false, fails = false, all_commit = true;
    for (uint32_t i = first; i <= last; i++) {
        enum fm_detism detism = goals[i]->goal.detism;
        zero = zero || (detism & 2) == 0;
        many = many || fm_detism_many(detism);
        fails = fails || fm_detism_can_fail(detism);
        all_commit = all_commit && (detism & 8) != 0;
    }
    if (zero)
        return fails ? "failure_rep" : "erroneous_rep";
    if (all_commit)
        return fails ? "cc_nondet_rep" : NULL;
    if (many)
        return fails ? "nondet_rep" : "multidet_rep";
    return fails ? "semidet_rep" : NULL;
}

static double node_time(void *user, uint32_t var, bool production)
{
    return fm_node_time(user, var, production);
}

static void add_goals(GPtrArray *to, struct fm_node *const *goals, uint32_t begin, uint32_t end,
                      const GArray *shared)
{
    for (uint32_t i = begin; i < end; i++)
        g_ptr_array_add(to, fm_node_feedback(goals[i], shared));
}

static struct fm_candidate *make_candidate(const char *path, struct fm_node *const *goals,
                                           const struct fm_cut_problem *problem,
                                           const struct fm_cut *cut)
{
    struct fm_candidate *candidate = fm_candidate_new();
    candidate->path = g_strdup(path);
    candidate->dependent = cut->dependent;
    g_array_append_vals(candidate->shared, cut->shared->data, cut->shared->len);
    candidate->cost_before = cut->cost_before;
    candidate->cost_after = cut->cost_after;
    candidate->metrics = cut->metrics;
    candidate->metrics.calls = (int64_t)problem->calls;
    add_goals(candidate->before, goals, 0, problem->first, cut->shared);
    add_goals(candidate->after, goals, problem->last + 1, problem->count, cut->shared);
    for (uint32_t k = 0; k < cut->conjunct_count; k++) {
        GPtrArray *conjunct = fm_feedback_goals_new();
        add_goals(conjunct, goals, k == 0 ? problem->first : cut->ends[k - 1], cut->ends[k],
                  cut->shared);
        g_ptr_array_add(candidate->conjuncts, conjunct);
    }
    return candidate;
}

static struct fm_candidate *try_cut(struct fm_searching *s, uint32_t place, const char *path,
                                    struct fm_node *const *goals, struct fm_cut_problem *problem)
{
    struct fm_cut_goal *items = g_new0(struct fm_cut_goal, problem->count);
    struct fm_candidate *candidate = NULL;
    struct fm_cut cut;
    for (uint32_t i = 0; i < problem->count; i++) {
        struct fm_node *node = goals[i];
        items[i] = (struct fm_cut_goal){
            .cost = node->cost,
            .bound = (const uint32_t *)(const void *)node->bound->data,
            .consumed = (const uint32_t *)(const void *)node->consumed->data,
            .bound_count = node->bound->len,
            .consumed_count = node->consumed->len,
            .user = node,
        };
    }
    problem->goals = items;
    if (fm_cut_search(problem, &cut)) {
        double speedup = cut.metrics.sequential / cut.metrics.parallel;
        bool allowed = s->params->speedup != FM_SPEEDUP_INDEPENDENT || !cut.dependent;
        if (allowed && speedup > s->params->speedup_threshold) {
            candidate = make_candidate(path, goals, problem, &cut);
            fm_feedback_tell_goal(s, FM_MESSAGE_INFO, place,
                                  "Found 1 conjunctions with a positive speedup due to "
                                  "parallelisation");
        }
        fm_cut_done(&cut);
    }
    g_free(items);
    return candidate;
}

/* Returns NULL when parallel execution does not pay. */
static struct fm_candidate *try_conjunction(struct fm_searching *s, uint32_t place,
                                            const char *path, struct fm_node *const *goals,
                                            uint32_t count)
{
    uint32_t first = count, last = 0, costly = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!goals[i]->costly)
            continue;
        first = MIN(first, i);
        last = i;
        costly++;
    }
    if (costly < 2)
        return NULL;
    const char *detism = combined_detism(goals, first, last);
    if (detism != NULL) {
        g_autofree char *text = g_strdup_printf(
            "There are %s goals amongst goals above the parallelisation overhead.", detism);
        fm_feedback_tell_goal(s, FM_MESSAGE_NOTICE, place, text);
        return NULL;
    }
    if (last - first >= FM_CUT_GOALS_MAX) {
        fm_feedback_tell_goal(s, FM_MESSAGE_WARNING, place,
                              "There are too many goals amongst goals above the parallelisation "
                              "overhead.");
        return NULL;
    }
    struct fm_cut_problem problem = {
        .count = count,
        .first = first,
        .last = last,
        .calls = goals[first]->cost.calls,
        .params = s->params,
        .time = node_time,
    };
    return try_cut(s, place, path, goals, &problem);
}

/* --- moving later goals behind a costly call ("push") --- */

static struct fm_node *node_of(const struct fm_searching *s, uint32_t goal)
{
    return s->nodes->pdata[s->pd->body->goal_count - 1 - goal];
}

/* Returns the goals from the conjunct down to the call, both included. */
static GArray *chain_down(const struct fm_searching *s, uint32_t conjunction, uint32_t goal)
{
    GArray *chain = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (; goal != conjunction; goal = s->pd->body->goals[goal].parent)
        g_array_prepend_val(chain, goal);
    return chain;
}

/* Finds the goals behind which the pushed goals go; *ret_place: index of the goal at that place. */
static void find_place(const struct fm_searching *s, const GArray *chain, GPtrArray *goals,
                       uint32_t *ret_place)
{
    for (guint i = 0;; i++) {
        uint32_t goal = g_array_index(chain, uint32_t, i);
        struct fm_node *node = node_of(s, goal);
        *ret_place = goal;
        if (i + 1 == chain->len) {
            g_ptr_array_add(goals, node);
            return;
        }
        if (node->goal.kind != FM_GOAL_CONJ)
            continue;
        uint32_t next = s->pd->body->goals[g_array_index(chain, uint32_t, i + 1)].number;
        if (i + 2 < chain->len && next == node->child_count)
            continue;
        for (uint32_t c = 0; c < node->child_count; c++)
            g_ptr_array_add(goals, node->children[c]);
        return;
    }
}

/* Returns the target's path within the conjunction. */
static char *target_path(const struct fm_searching *s, const GArray *chain)
{
    const struct fm_body *body = s->pd->body;
    GString *path = g_string_new(NULL);
    guint count = chain->len;
    uint32_t last = g_array_index(chain, uint32_t, count - 1);
    if (body->goals[body->goals[last].parent].kind == FM_GOAL_CONJ)
        count--;
    for (guint i = 0; i < count; i++)
        fm_body_append_step(path, body, g_array_index(chain, uint32_t, i));
    return g_string_free(path, FALSE);
}

static struct fm_candidate *try_push(struct fm_searching *s, struct fm_node *conjunction,
                                     uint32_t number, const struct fm_node *single)
{
    const struct fm_body *body = s->pd->body;
    g_autoptr(GArray) chain = chain_down(s, conjunction->origin, single->origin);
    g_autoptr(GPtrArray) goals = g_ptr_array_new();
    uint32_t from = body->goals[g_array_index(chain, uint32_t, 0)].number, place;
    find_place(s, chain, goals, &place);
    double calls = node_of(s, place)->cost.calls;
    for (uint32_t k = from + 1; k <= number; k++) {
        struct fm_node *copy = fm_node_copy(s, conjunction->children[k - 1]);
        copy->cost = fm_cost_with_calls(copy->cost, calls);
        copy->costly = fm_node_is_costly(s, copy, copy->cost, true);
        g_ptr_array_add(goals, copy);
    }
    g_autoptr(GString) path = g_string_new(NULL), outer = g_string_new(NULL);
    fm_body_append_path(path, body, place);
    fm_body_append_path(outer, body, conjunction->origin);
    fm_feedback_tell_goal(s, FM_MESSAGE_INFO, conjunction->origin,
                          "Found pushed conjuncts above callsite threshold");
    struct fm_candidate *candidate =
        try_conjunction(s, place, path->str, (struct fm_node *const *)goals->pdata, goals->len);
    if (candidate != NULL) {
        candidate->push = fm_push_new(outer->str, from + 1, number);
        g_ptr_array_add(candidate->push->targets, target_path(s, chain));
    }
    return candidate;
}

/* Returns true when it found a candidate. */
static bool push_behind_singles(struct fm_searching *s, struct fm_node *conjunction,
                                const struct costly_conjunct *costly, struct outcome *outcome)
{
    struct fm_push *push = NULL;
    for (guint i = 0; i < costly->singles->len; i++) {
        struct fm_candidate *candidate =
            try_push(s, conjunction, costly->number, costly->singles->pdata[i]);
        if (candidate == NULL)
            continue;
        g_ptr_array_add(outcome->candidates, candidate);
        if (push == NULL)
            push = fm_push_copy(candidate->push);
        else
            g_ptr_array_add(push->targets, g_strdup(candidate->push->targets->pdata[0]));
    }
    if (push != NULL)
        g_ptr_array_add(outcome->pushes, push);
    return push != NULL;
}

/* --- conjunctions --- */

/* Returns the calls that make a cheap conjunct costly: run as often as one of them, and not as
 * often as now, the conjunct costs more per call. */
static GPtrArray *singles_that_help(struct fm_searching *s, const struct fm_node *node,
                                    const GPtrArray *singles)
{
    GPtrArray *helping = g_ptr_array_new();
    for (guint i = 0; i < singles->len; i++) {
        const struct fm_node *single = singles->pdata[i];
        struct fm_goal_cost cost = fm_cost_with_calls(node->cost, single->cost.calls);
        if (fm_node_is_costly(s, node, cost, true))
            g_ptr_array_add(helping, singles->pdata[i]);
    }
    return helping;
}

static void add_costly(GArray *list, uint32_t number, GPtrArray *singles)
{
    struct costly_conjunct item = {number, singles};
    g_array_append_val(list, item);
}

/* Searches the conjuncts; outcome->singles then holds the costly calls after the last costly
 * conjunct. */
static GArray *search_conjuncts(struct fm_searching *s, struct fm_node *node,
                                struct outcome *outcome)
{
    GArray *list = g_array_new(FALSE, FALSE, sizeof(struct costly_conjunct));
    for (uint32_t k = 1; k <= node->child_count; k++) {
        struct fm_node *child = node->children[k - 1];
        struct outcome inner;
        search_goal(s, child, &inner);
        append_all(outcome->candidates, inner.candidates);
        append_all(outcome->pushes, inner.pushes);
        GPtrArray *singles = outcome->singles;
        if (child->costly) {
            add_costly(list, k, singles);
            outcome->singles = g_ptr_array_ref(inner.singles);
        } else {
            GPtrArray *helping = singles_that_help(s, child, singles);
            if (helping->len > 0)
                add_costly(list, k, helping);
            else
                g_ptr_array_unref(helping);
            if (inner.singles->len > 0) {
                outcome->singles = g_ptr_array_ref(inner.singles);
                g_ptr_array_unref(singles);
            }
        }
        outcome_clear(&inner);
    }
    return list;
}

static bool cut_conjunction(struct fm_searching *s, struct fm_node *node, uint32_t costly,
                            struct outcome *outcome)
{
    g_autofree char *text = g_strdup_printf("Found %u conjuncts above callsite threshold", costly);
    g_autoptr(GString) path = g_string_new(NULL);
    fm_feedback_tell_goal(s, FM_MESSAGE_INFO, node->origin, text);
    fm_body_append_path(path, s->pd->body, node->origin);
    struct fm_candidate *candidate =
        try_conjunction(s, node->origin, path->str, node->children, node->child_count);
    if (candidate == NULL)
        return false;
    g_ptr_array_insert(outcome->candidates, 0, candidate);
    node->cost = fm_cost_real((double)candidate->metrics.calls, true, candidate->metrics.parallel);
    return true;
}

static void search_conjunction(struct fm_searching *s, struct fm_node *node,
                               struct outcome *outcome)
{
    GArray *list = search_conjuncts(s, node, outcome);
    bool found = false;
    if (list->len == 1)
        found =
            push_behind_singles(s, node, &g_array_index(list, struct costly_conjunct, 0), outcome);
    else if (list->len > 1)
        found = cut_conjunction(s, node, list->len, outcome);
    if (found) {
        g_ptr_array_unref(outcome->singles);
        outcome->singles = g_ptr_array_new();
    }
    for (guint i = 0; i < list->len; i++)
        g_ptr_array_unref(g_array_index(list, struct costly_conjunct, i).singles);
    g_array_unref(list);
}

static void search_goal(struct fm_searching *s, struct fm_node *node, struct outcome *ret)
{
    enum fm_goal_kind kind = node->goal.kind;
    *ret = outcome_new();
    if (fm_goal_is_atomic(&node->goal)) {
        if (node->costly)
            g_ptr_array_add(ret->singles, node);
        return;
    }
    if (kind == FM_GOAL_CONJ) {
        search_conjunction(s, node, ret);
        return;
    }
    for (uint32_t i = 0; i < node->child_count; i++) {
        struct outcome inner;
        search_goal(s, node->children[i], &inner);
        append_all(ret->candidates, inner.candidates);
        append_all(ret->pushes, inner.pushes);
        if (kind != FM_GOAL_NEGATION && (kind != FM_GOAL_ITE || i > 0))
            append_all(ret->singles, inner.singles);
        outcome_clear(&inner);
    }
    if (ret->candidates->len > 0)
        fm_node_update_cost(node);
}

void fm_search_body(struct fm_searching *s)
{
    g_return_if_fail(s->pd != NULL && s->proc != NULL);
    struct outcome outcome;
    search_goal(s, fm_node_tree(s), &outcome);
    /* The procedure owns the candidates, even those that are not reported. */
    append_all(s->proc->candidates, outcome.candidates);
    append_all(s->proc->pushes, outcome.pushes);
    outcome_clear(&outcome);
    if (s->proc->candidates->len == 0 || !fm_searching_has_duplicates(s))
        return;
    g_autofree char *text =
        g_strdup_printf("%u conjunctions not parallelised: Seen duplicate instantiations",
                        s->proc->candidates->len);
    fm_feedback_tell_goal(s, FM_MESSAGE_NOTICE, FM_NO_GOAL, text);
    g_ptr_array_set_size(s->proc->candidates, 0);
    g_ptr_array_set_size(s->proc->pushes, 0);
}

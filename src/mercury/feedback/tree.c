/* SPDX-License-Identifier: Apache-2.0 */
/* The goals of a proc dynamic with their costs and the variables that they bind and consume. Bodies
 * that are searched nest at most FM_FEEDBACK_DEPTH_MAX deep, so functions that walk them may
 * recurse. */
#include <string.h>

#include "mercury/feedback/internal.h"

/* --- sets of variables --- */

static void add_var(GArray *set, uint32_t var)
{
    guint at = set->len;
    while (at > 0 && g_array_index(set, uint32_t, at - 1) > var)
        at--;
    if (at == 0 || g_array_index(set, uint32_t, at - 1) != var)
        g_array_insert_val(set, at, var);
}

static bool has_var(const GArray *set, uint32_t var)
{
    for (guint i = 0; i < set->len; i++) {
        if (g_array_index(set, uint32_t, i) == var)
            return true;
    }
    return false;
}

static void add_vars(GArray *to, const GArray *from)
{
    for (guint i = 0; i < from->len; i++)
        add_var(to, g_array_index(from, uint32_t, i));
}

static void keep_common(GArray *set, const GArray *other)
{
    guint kept = 0;
    for (guint i = 0; i < set->len; i++) {
        uint32_t var = g_array_index(set, uint32_t, i);
        if (has_var(other, var))
            g_array_index(set, uint32_t, kept++) = var;
    }
    g_array_set_size(set, kept);
}

static void set_atomic_vars(struct fm_node *node, const struct fm_body *body)
{
    const struct fm_goal *goal = &node->goal;
    g_autoptr(GArray) all = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t i = 0; i < goal->bound_count; i++)
        add_var(node->bound, body->vars[goal->bound + i]);
    for (uint32_t i = 0; i < goal->arg_count; i++) {
        if (body->vars[goal->args + i] != FM_NO_VAR)
            add_var(all, body->vars[goal->args + i]);
    }
    if (goal->var != FM_NO_VAR)
        add_var(all, goal->var);
    if (goal->var2 != FM_NO_VAR)
        add_var(all, goal->var2);
    for (guint i = 0; i < all->len; i++) {
        if (!has_var(node->bound, g_array_index(all, uint32_t, i)))
            add_var(node->consumed, g_array_index(all, uint32_t, i));
    }
}

static void set_vars(struct fm_node *node, const struct fm_body *body)
{
    enum fm_goal_kind kind = node->goal.kind;
    if (fm_goal_is_atomic(&node->goal)) {
        set_atomic_vars(node, body);
        return;
    }
    for (uint32_t i = 0; i < node->child_count; i++) {
        const struct fm_node *child = node->children[i];
        add_vars(node->consumed, child->consumed);
        bool first = kind == FM_GOAL_ITE ? i == 1 : i == 0;
        if (kind == FM_GOAL_NEGATION || (kind == FM_GOAL_ITE && i == 0))
            continue;
        if (kind == FM_GOAL_CONJ || first)
            add_vars(node->bound, child->bound);
        else
            keep_common(node->bound, child->bound);
    }
    if (kind == FM_GOAL_SWITCH)
        add_var(node->consumed, node->goal.var);
}

/* --- costs --- */

static const struct fm_goal_counts *counts_of(const struct fm_node *node)
{
    return &node->of->pd->coverage->goals[node->source];
}

static double before_of(const struct fm_node *node)
{
    return (double)counts_of(node)->before.count;
}

static double after_of(const struct fm_node *node)
{
    return (double)counts_of(node)->after.count;
}

static struct fm_goal_cost rest_cost(double calls)
{
    return calls == 0 ? fm_cost_dead() : fm_cost_trivial(calls);
}

static struct fm_goal_cost call_cost(const struct fm_node *node)
{
    const struct fm_searching *s = node->of;
    const struct fm_site_cost *site = fm_pd_body_site(s->pd, node->source);
    if (site == NULL)
        return fm_cost_real(before_of(node), false, 0);
    if (site->recursive && s->recursion->kind == FM_RECURSION_SINGLE)
        return fm_cost_real((double)site->calls, true, fm_recursion_site_cost(s->recursion, site));
    return fm_cost_real((double)site->calls, false, (double)site->total);
}

static struct fm_goal_cost conjunction_cost(const struct fm_node *node)
{
    double after =
        node->child_count == 0 ? after_of(node) : after_of(node->children[node->child_count - 1]);
    struct fm_goal_cost cost = rest_cost(after);
    for (uint32_t i = node->child_count; i-- > 0;)
        cost = fm_cost_sequence(node->children[i]->cost, cost);
    return cost;
}

static struct fm_goal_cost switch_cost(const struct fm_node *node)
{
    double calls = before_of(node);
    for (uint32_t i = 0; i < node->child_count; i++)
        calls -= before_of(node->children[i]);
    struct fm_goal_cost cost = rest_cost(MAX(calls, 0));
    for (uint32_t i = node->child_count; i-- > 0;) {
        calls += before_of(node->children[i]);
        cost = fm_cost_branch(calls, node->children[i]->cost, cost);
    }
    return cost;
}

/* Each disjunct after the first is tried as often as the one before it failed. */
static struct fm_goal_cost committed_cost(const struct fm_node *node)
{
    struct fm_goal_cost cost = fm_cost_dead();
    for (uint32_t i = node->child_count; i-- > 0;) {
        const struct fm_node *child = node->children[i];
        double before = before_of(child), after = after_of(child);
        if (i + 1 == node->child_count)
            cost = rest_cost(before - after);
        cost = before == 0 ? fm_cost_dead()
                           : fm_cost_sequence(child->cost,
                                              fm_cost_branch(before, cost, fm_cost_trivial(after)));
    }
    return cost;
}

static struct fm_goal_cost disjunction_cost(const struct fm_node *node)
{
    struct fm_goal_cost cost = fm_cost_dead();
    if (!fm_detism_many(node->goal.detism))
        return committed_cost(node);
    for (uint32_t i = node->child_count; i-- > 0;)
        cost = before_of(node->children[i]) == 0 ? fm_cost_dead()
                                                 : fm_cost_sequence(node->children[i]->cost, cost);
    return cost;
}

static struct fm_goal_cost child_cost(const struct fm_node *node, uint32_t number)
{
    g_assert(number < node->child_count && node->children[number] != NULL);
    return node->children[number]->cost;
}

void fm_node_update_cost(struct fm_node *node)
{
    g_return_if_fail(node != NULL);
    switch (node->goal.kind) {
    case FM_GOAL_DISJ:
        node->cost = disjunction_cost(node);
        break;
    case FM_GOAL_SWITCH:
        node->cost = switch_cost(node);
        break;
    case FM_GOAL_ITE:
        node->cost = fm_cost_sequence(
            child_cost(node, 0),
            fm_cost_branch(before_of(node), child_cost(node, 1), child_cost(node, 2)));
        break;
    case FM_GOAL_NEGATION:
    case FM_GOAL_SCOPE:
        node->cost = child_cost(node, 0);
        break;
    default:
        break;
    }
}

bool fm_node_is_costly(const struct fm_searching *s, const struct fm_node *node,
                       struct fm_goal_cost cost, bool any_detism)
{
    g_return_val_if_fail(node->of == s, false);
    bool fits =
        any_detism || node->goal.detism == FM_DETISM_DET || node->goal.detism == FM_DETISM_CC_MULTI;
    return fits && cost.kind != FM_COST_DEAD && cost.calls > 0 &&
           fm_cost_one_call(&cost) > (double)s->params->call_site_threshold;
}

/* --- making nodes --- */

static void node_free(gpointer data)
{
    struct fm_node *node = data;
    g_free(node->children);
    g_array_unref(node->bound);
    g_array_unref(node->consumed);
    g_hash_table_unref(node->times);
    g_free(node);
}

static struct fm_node *node_new(struct fm_searching *s)
{
    struct fm_node *node = g_new0(struct fm_node, 1);
    if (s->nodes == NULL)
        s->nodes = g_ptr_array_new_with_free_func(node_free);
    g_ptr_array_add(s->nodes, node);
    node->of = s;
    node->bound = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    node->consumed = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    node->times = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    return node;
}

/* Children stand after their parents, so from the last goal to the first each node finds its
 * children made. */
struct fm_node *fm_node_tree(struct fm_searching *s)
{
    const struct fm_body *body = s->pd->body;
    g_autofree struct fm_node **of = g_new0(struct fm_node *, body->goal_count);
    for (uint32_t goal = body->goal_count; goal-- > 0;) {
        struct fm_node *node = of[goal] = node_new(s);
        node->origin = node->source = goal;
        node->goal = body->goals[goal];
        node->child_count = node->goal.child_count;
        node->children = g_new0(struct fm_node *, node->child_count + 1u);
        for (uint32_t i = 0; i < node->child_count; i++)
            node->children[i] = of[fm_body_index_child(s->pd->index, goal, i + 1)];
        set_vars(node, body);
        if (fm_goal_is_call(&node->goal))
            node->cost = call_cost(node);
        else if (fm_goal_is_atomic(&node->goal))
            node->cost = fm_cost_trivial(before_of(node));
        else if (node->goal.kind == FM_GOAL_CONJ)
            node->cost = conjunction_cost(node);
        else
            fm_node_update_cost(node);
        node->costly = fm_node_is_costly(s, node, node->cost, false);
    }
    return of[0];
}

struct fm_node *fm_node_copy(struct fm_searching *s, const struct fm_node *node)
{
    g_return_val_if_fail(node != NULL, NULL);
    struct fm_node *copy = node_new(s);
    copy->origin = FM_NO_GOAL;
    copy->source = node->source;
    copy->goal = node->goal;
    copy->child_count = node->child_count;
    copy->children = g_memdup2(node->children, sizeof *node->children * (node->child_count + 1));
    copy->cost = node->cost;
    copy->costly = node->costly;
    add_vars(copy->bound, node->bound);
    add_vars(copy->consumed, node->consumed);
    return copy;
}

/* --- times at which variables are produced and used --- */

static void warn(struct fm_node *node, uint32_t csd, const char *why)
{
    struct fm_searching *s = node->of;
    g_autofree char *place = csd != 0 ? g_strdup_printf("  call site dynamic %u", csd)
                                      : g_strdup_printf("  clique %u", s->pd->clique);
    g_autofree char *text =
        g_strdup_printf("Cannot compute the production or consumption time of a variable: %s", why);
    fm_feedback_tell(s->messages, FM_MESSAGE_WARNING, place, text);
}

static double time_in_call(struct fm_node *node, uint32_t var, enum fm_var_use_type type)
{
    struct fm_searching *s = node->of;
    const struct fm_site_cost *site = fm_pd_body_site(s->pd, node->source);
    const uint32_t *args = s->pd->body->vars + node->goal.args;
    double cost = fm_cost_one_call(&node->cost), best = -1;
    struct fm_var_use pessimistic = fm_var_use_pessimistic(type, cost);
    if (site == NULL || site->calls == 0)
        return 0; /* a call that never ran takes no time */
    bool argument = false;
    for (uint32_t i = 0; i < node->goal.arg_count; i++)
        argument = argument || args[i] == var;
    if (!argument && type == FM_USE_CONSUMPTION)
        return 0;
    if (site->higher_order || site->csd_count != 1)
        return pessimistic.time;
    for (uint32_t i = 0; i < node->goal.arg_count; i++) {
        struct fm_var_use use;
        g_autofree char *why = NULL;
        if (args[i] != var)
            continue;
        if (!fm_var_use_of_call(s->uses, site->csd, i, type, cost, s->recursion, s->depth, &use,
                                &why)) {
            warn(node, site->csd, why);
            use = pessimistic;
        }
        best = best < 0 ? use.time : MIN(best, use.time);
    }
    return best < 0 ? pessimistic.time : best;
}

static double find_time(struct fm_node *node, uint32_t var, enum fm_var_use_type type)
{
    struct fm_searching *s = node->of;
    double cost = fm_cost_one_call(&node->cost);
    struct fm_var_use use = fm_var_use_pessimistic(type, cost);
    if (fm_goal_is_call(&node->goal))
        return time_in_call(node, var, type);
    if (fm_goal_is_atomic(&node->goal))
        return type == FM_USE_CONSUMPTION ? 0 : 1;
    if (s->recursion->kind != FM_RECURSION_NONE && s->recursion->kind != FM_RECURSION_SINGLE) {
        warn(node, 0, "Recursion type unknown for var_first_use/12");
        return use.time;
    }
    g_autofree char *why = NULL;
    if (!fm_var_use_of_goal(s->uses, s->pd, node->source, var, type, cost, s->depth, &use, &why))
        warn(node, 0, why);
    return use.time;
}

double fm_node_time(struct fm_node *node, uint32_t var, bool production)
{
    gpointer key = GSIZE_TO_POINTER((gsize)var * 2 + production);
    double *time = g_hash_table_lookup(node->times, key);
    if (time == NULL) {
        time = g_new(double, 1);
        *time = find_time(node, var, production ? FM_USE_PRODUCTION : FM_USE_CONSUMPTION);
        g_hash_table_insert(node->times, key, time);
    }
    return *time;
}

/* --- variables that are bound twice --- */

static void merge_branches(GHashTable *insts, GPtrArray *branches)
{
    for (guint i = 0; i < branches->len; i++) {
        GHashTableIter iter;
        gpointer var, inst, there;
        if (i == 0)
            g_hash_table_remove_all(insts);
        g_hash_table_iter_init(&iter, branches->pdata[i]);
        while (g_hash_table_iter_next(&iter, &var, &inst)) {
            if (g_hash_table_lookup_extended(insts, var, NULL, &there) && there != inst)
                inst = GUINT_TO_POINTER(FM_INST_OTHER);
            g_hash_table_insert(insts, var, inst);
        }
    }
}

static GHashTable *copy_insts(GHashTable *insts)
{
    GHashTable *copy = g_hash_table_new(NULL, NULL);
    GHashTableIter iter;
    gpointer var, inst;
    g_hash_table_iter_init(&iter, insts);
    while (g_hash_table_iter_next(&iter, &var, &inst))
        g_hash_table_insert(copy, var, inst);
    return copy;
}

static void bind_atomic(const struct fm_body *body, const struct fm_goal *goal, GHashTable *insts,
                        bool *ret_twice)
{
    for (uint32_t i = 0; i < goal->bound_count; i++) {
        gpointer var = GUINT_TO_POINTER(body->vars[goal->bound + i]), inst;
        bool bound = g_hash_table_lookup_extended(insts, var, NULL, &inst) &&
                     GPOINTER_TO_UINT(inst) != FM_INST_FREE;
        *ret_twice = *ret_twice || bound;
        g_hash_table_insert(insts, var, GUINT_TO_POINTER(bound ? FM_INST_OTHER : FM_INST_GROUND));
    }
}

static void bind_goal(const struct fm_searching *s, uint32_t number, GHashTable *insts,
                      bool *ret_twice)
{
    const struct fm_body *body = s->pd->body;
    const struct fm_goal *goal = &body->goals[number];
    if (fm_goal_is_atomic(goal)) {
        bind_atomic(body, goal, insts, ret_twice);
        return;
    }
    if (goal->kind == FM_GOAL_CONJ || goal->kind == FM_GOAL_SCOPE) {
        for (uint32_t i = 1; i <= goal->child_count; i++)
            bind_goal(s, fm_body_index_child(s->pd->index, number, i), insts, ret_twice);
        return;
    }
    g_autoptr(GPtrArray) branches =
        g_ptr_array_new_with_free_func((GDestroyNotify)g_hash_table_unref);
    uint32_t first = goal->kind == FM_GOAL_ITE ? 2 : 1;
    for (uint32_t i = first; i <= goal->child_count; i++) {
        uint32_t child = fm_body_index_child(s->pd->index, number, i);
        enum fm_detism detism = body->goals[child].detism;
        GHashTable *branch = copy_insts(insts);
        if (goal->kind == FM_GOAL_ITE && i == 2)
            bind_goal(s, number + 1, branch, ret_twice);
        bind_goal(s, child, branch, ret_twice);
        if (detism == FM_DETISM_ERRONEOUS || detism == FM_DETISM_FAILURE ||
            goal->kind == FM_GOAL_NEGATION)
            g_hash_table_unref(branch);
        else
            g_ptr_array_add(branches, branch);
    }
    merge_branches(insts, branches);
}

bool fm_searching_has_duplicates(const struct fm_searching *s)
{
    g_autoptr(GHashTable) insts = g_hash_table_new(NULL, NULL);
    bool twice = false;
    for (uint32_t i = 0; i < s->pd->body->head_count; i++) {
        const struct fm_head_var *head = &s->pd->body->heads[i];
        g_hash_table_insert(insts, GUINT_TO_POINTER(head->var), GUINT_TO_POINTER(head->before));
    }
    bind_goal(s, 0, insts, &twice);
    return twice;
}

/* --- feedback of a goal --- */

/* Lists the times that are known, latest variable first. They are always known for atomic goals
 * that make no calls. */
static void keep_times(const struct fm_node *node, const GArray *shared, bool production,
                       GArray *to)
{
    const GArray *vars = production ? node->bound : node->consumed;
    bool atomic = fm_goal_is_atomic(&node->goal) && !fm_goal_is_call(&node->goal);
    for (guint i = vars->len; i-- > 0;) {
        struct fm_var_time time = {.var = g_array_index(vars, uint32_t, i)};
        const double *known =
            g_hash_table_lookup(node->times, GSIZE_TO_POINTER((gsize)time.var * 2 + production));
        if (!has_var(shared, time.var) || (known == NULL && !atomic))
            continue;
        time.time = known != NULL ? *known : production;
        g_array_append_val(to, time);
    }
}

struct fm_feedback_goal *fm_node_feedback(const struct fm_node *node, const GArray *shared)
{
    g_return_val_if_fail(node != NULL, NULL);
    const struct fm_body *body = node->of->pd->body;
    struct fm_strings *strings = node->of->feedback->strings;
    const struct fm_goal *goal = &node->goal;
    struct fm_feedback_goal *result = fm_feedback_goal_new();
    result->goal = *goal;
    result->goal.module = fm_strings_add(strings, goal->module);
    result->goal.name = fm_strings_add(strings, goal->name);
    result->goal.file = fm_strings_add(strings, goal->file);
    result->args = g_memdup2(body->vars + goal->args, sizeof *result->args * goal->arg_count);
    result->bound = g_memdup2(body->vars + goal->bound, sizeof *result->bound * goal->bound_count);
    result->functors = g_new(struct fm_functor, goal->functor_count + 1u);
    for (uint32_t i = 0; i < goal->functor_count; i++) {
        const struct fm_functor *functor = &body->functors[goal->functors + i];
        result->functors[i] =
            (struct fm_functor){fm_strings_add(strings, functor->name), functor->arity};
    }
    for (uint32_t i = 0; i < node->child_count; i++)
        g_ptr_array_add(result->children, fm_node_feedback(node->children[i], shared));
    result->cost = fm_cost_one_call(&node->cost);
    result->above_threshold = node->costly;
    if (before_of(node) > 0) {
        keep_times(node, shared, true, result->productions);
        keep_times(node, shared, false, result->consumptions);
    }
    return result;
}

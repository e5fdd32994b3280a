/* SPDX-License-Identifier: Apache-2.0 */
/* Walks a body in order of execution and adds up the costs of the calls until the variable is
 * found. Calls are followed into their callees. Both may nest to any depth, so the search gives up
 * beyond FRAMES_MAX levels. */
#include "mercury/body/var_use.h"

#include <math.h>
#include <string.h>

#include "mercury/body/internal.h"

#define FRAMES_MAX 10000u
#define NO_WEIGHT 2.220446049250313e-16

struct fm_var_use_search {
    struct fm_bodies *bodies;
    char *module;
    bool totals;
    unsigned frames;
    GHashTable *cliques;       /* "clique.argument.type" -> struct kept_use */
    GHashTable *probabilities; /* pd -> double[] */
};

struct kept_use {
    bool known;
    struct fm_var_use use;
    char *why;
};

/* The proc dynamics of a clique that is being analysed. */
struct active {
    uint32_t pd;
    const struct active *outer;
};

enum pass {
    PASS_PLAIN,     /* a body as it is */
    PASS_RECURSIVE, /* an execution that recurses, */
    PASS_BASE,      /* and one that does not */
};

struct walk {
    struct fm_var_use_search *search;
    const struct fm_pd_body *pd;
    const struct fm_recursion *recursion; /* recursion of its clique */
    uint32_t var;
    enum fm_var_use_type type;
    enum pass pass;
    double depth;
    const struct active *active;
    const double *probability; /* probability of recursion, for each goal; NULL when plain */
};

struct found {
    bool found;
    double at;    /* time at which it was found */
    double after; /* time at the end of the goal */
};

enum fm_var_use_type fm_var_use_type_of(const struct fm_head_var *head)
{
    if (head->before == FM_INST_FREE && head->after == FM_INST_GROUND)
        return FM_USE_PRODUCTION;
    return head->before == FM_INST_GROUND && head->after == FM_INST_GROUND ? FM_USE_CONSUMPTION
                                                                           : FM_USE_OTHER;
}

struct fm_var_use fm_var_use_pessimistic(enum fm_var_use_type type, double cost)
{
    return (struct fm_var_use){type == FM_USE_CONSUMPTION ? 0 : cost, cost};
}

double fm_weighted_average(const double *weights, const double *values, uint32_t count)
{
    g_return_val_if_fail(count == 0 || (weights != NULL && values != NULL), 0);
    double weight = 0, sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        weight += weights[i];
        sum += weights[i] * values[i];
    }
    return fabs(weight) < NO_WEIGHT ? 0 : sum / weight;
}

/* --- the search --- */

static void kept_use_free(gpointer data)
{
    struct kept_use *kept = data;
    g_free(kept->why);
    g_free(kept);
}

struct fm_var_use_search *fm_var_use_search_new(struct fm_bodies *bodies, const char *module,
                                                bool totals)
{
    struct fm_var_use_search *search = g_new0(struct fm_var_use_search, 1);
    search->bodies = bodies;
    search->module = g_strdup(module);
    search->totals = totals;
    search->cliques = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, kept_use_free);
    search->probabilities = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    return search;
}

void fm_var_use_search_free(struct fm_var_use_search *search)
{
    if (search == NULL)
        return;
    g_hash_table_unref(search->cliques);
    g_hash_table_unref(search->probabilities);
    g_free(search->module);
    g_free(search);
}

static bool may_look_into(const struct fm_var_use_search *search, uint32_t pd)
{
    const struct fm_profile *profile = search->bodies->a->profile;
    return search->module == NULL ||
           strcmp(profile->ps[profile->pd_ps[pd]].def_module, search->module) == 0;
}

static const double *probabilities_of(struct fm_var_use_search *search, const struct fm_pd_body *pd)
{
    double *r = g_hash_table_lookup(search->probabilities, GUINT_TO_POINTER(pd->pd));
    if (r == NULL) {
        r = fm_recursion_probabilities(pd);
        g_hash_table_insert(search->probabilities, GUINT_TO_POINTER(pd->pd), r);
    }
    return r;
}

/* --- goals --- */

static struct found walk_goal(struct walk *w, uint32_t goal, double time);

static struct found nothing(double after)
{
    return (struct found){false, 0, after};
}

static double before_of(const struct walk *w, uint32_t goal)
{
    return (double)w->pd->coverage->goals[goal].before.count;
}

/* Weight of a branch in an average over branches. */
static double weight_of(const struct walk *w, uint32_t branch)
{
    double before = before_of(w, branch);
    if (w->pass == PASS_PLAIN)
        return before;
    return before *
           (w->pass == PASS_RECURSIVE ? w->probability[branch] : 1 - w->probability[branch]);
}

static uint32_t child_of(const struct walk *w, uint32_t goal, uint32_t number)
{
    return fm_body_index_child(w->pd->index, goal, number);
}

static struct found walk_conjunction(struct walk *w, uint32_t goal, double time)
{
    struct found result = nothing(time);
    for (uint32_t i = 1; i <= w->pd->body->goals[goal].child_count; i++) {
        struct found one = walk_goal(w, child_of(w, goal, i), result.after);
        if (one.found && !result.found) {
            result = one;
            if (w->pass == PASS_PLAIN)
                return result;
        }
        result.after = one.after;
    }
    return result;
}

/* Walks the disjuncts of a plain body in order. When two find the variable, their average is used,
 * except for consumption. */
static struct found walk_plain_disjuncts(struct walk *w, uint32_t goal, double time)
{
    uint32_t count = w->pd->body->goals[goal].child_count;
    g_autofree struct found *each = g_new(struct found, count + 1u);
    struct found rest = nothing(0);
    for (uint32_t i = 0; i < count; i++) {
        each[i] = walk_goal(w, child_of(w, goal, i + 1), time);
        time = each[i].after;
    }
    for (uint32_t i = count; i-- > 0;) {
        if (each[i].found && rest.found && w->type != FM_USE_CONSUMPTION) {
            const double weights[] = {before_of(w, child_of(w, goal, i + 1)),
                                      before_of(w, child_of(w, goal, i + 2))};
            const double times[] = {each[i].at, rest.at};
            rest.at = fm_weighted_average(weights, times, 2);
        } else if (each[i].found) {
            rest = each[i];
        }
    }
    rest.after = time;
    return rest;
}

/* In the recursive and base passes: takes the first disjunct that finds the variable; the rest runs
 * only when it fails. */
static struct found walk_disjuncts_from(struct walk *w, uint32_t goal, double time)
{
    uint32_t count = w->pd->body->goals[goal].child_count;
    g_autofree struct found *each = g_new(struct found, count + 1u);
    struct found result = nothing(0);
    for (uint32_t i = 0; i < count; i++)
        each[i] = walk_goal(w, child_of(w, goal, i + 1), i == 0 ? time : 0);
    for (uint32_t i = count; i-- > 0;) {
        const struct fm_goal_counts *counts = &w->pd->coverage->goals[child_of(w, goal, i + 1)];
        double before = (double)counts->before.count, after = (double)counts->after.count;
        double rest = before == 0 ? 0 : result.after * (before - after) / before;
        result = (struct found){each[i].found || (before != 0 && result.found), each[i].at,
                                each[i].after + rest};
    }
    if (count == 0)
        result.after = time;
    return result;
}

static struct found walk_disjunction(struct walk *w, uint32_t goal, double time)
{
    bool plain = w->pass == PASS_PLAIN;
    struct found result =
        plain ? walk_plain_disjuncts(w, goal, time) : walk_disjuncts_from(w, goal, time);
    if (result.found && (!plain || fm_detism_many(w->pd->body->goals[goal].detism)))
        result.at = w->type == FM_USE_CONSUMPTION ? time : result.after;
    return result;
}

static struct found walk_switch(struct walk *w, uint32_t goal, double time)
{
    uint32_t count = w->pd->body->goals[goal].child_count;
    g_autofree double *weights = g_new(double, 3 * ((gsize)count + 1));
    double *ends = weights + count + 1, *times = ends + count + 1;
    g_autofree bool *here = g_new(bool, count + 1u);
    struct found result = nothing(time);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t arm = child_of(w, goal, i + 1);
        struct found one = walk_goal(w, arm, time);
        weights[i] = weight_of(w, arm);
        ends[i] = one.after;
        times[i] = one.at;
        here[i] = one.found;
        result.found = result.found || one.found;
    }
    result.after = fm_weighted_average(weights, ends, count);
    for (uint32_t i = 0; i < count; i++) {
        if (!here[i])
            times[i] = w->type == FM_USE_CONSUMPTION ? result.after : time;
    }
    result.at = fm_weighted_average(weights, times, count);
    if (w->pd->body->goals[goal].var == w->var)
        return (struct found){true, time, result.after};
    return result;
}

static struct found walk_branches(struct walk *w, uint32_t goal, double time)
{
    uint32_t then = child_of(w, goal, 2), otherwise = child_of(w, goal, 3);
    struct found condition = walk_goal(w, goal + 1, time);
    struct found each[] = {walk_goal(w, then, condition.after),
                           walk_goal(w, otherwise, condition.after)};
    const double weights[] = {weight_of(w, then), weight_of(w, otherwise)};
    const double ends[] = {each[0].after, each[1].after};
    double after = fm_weighted_average(weights, ends, 2), times[2];
    if (condition.found)
        return (struct found){true, condition.at, after};
    if (!each[0].found && !each[1].found)
        return nothing(after);
    /* For a branch that does not find the variable, the plain pass and the two other passes assume
     * opposite times. */
    bool plain = w->pass == PASS_PLAIN, consumed = w->type == FM_USE_CONSUMPTION;
    double missing = plain == consumed ? condition.after : after;
    for (int i = 0; i < 2; i++)
        times[i] = each[i].found ? each[i].at : missing;
    return (struct found){true, fm_weighted_average(weights, times, 2), after};
}

static bool is_among(const struct fm_body *body, uint32_t first, uint32_t count, uint32_t var)
{
    for (uint32_t i = 0; i < count; i++) {
        if (body->vars[first + i] == var)
            return true;
    }
    return false;
}

static double call_cost(const struct walk *w, const struct fm_site_cost *site)
{
    if (site == NULL)
        return 0;
    if (site->recursive && w->recursion->kind == FM_RECURSION_SINGLE)
        return fm_recursion_site_cost(w->recursion, site);
    return fm_site_per_call(site);
}

static bool use_of_edge(struct fm_var_use_search *search, uint32_t csd, uint32_t argument,
                        enum fm_var_use_type type, double cost,
                        const struct fm_recursion *recursion, double depth,
                        const struct active *active, struct fm_var_use *ret, char **why);

/* The earliest use among the arguments that are the variable. */
static double time_in_call(struct walk *w, const struct fm_goal *goal,
                           const struct fm_site_cost *site, double cost)
{
    struct fm_var_use pessimistic = fm_var_use_pessimistic(w->type, cost);
    double earliest = INFINITY;
    if (site == NULL || site->higher_order || site->csd_count != 1)
        return pessimistic.time;
    for (uint32_t i = 0; i < goal->arg_count; i++) {
        struct fm_var_use use;
        g_autofree char *why = NULL;
        if (w->pd->body->vars[goal->args + i] != w->var)
            continue;
        if (!use_of_edge(w->search, site->csd, i, w->type, cost, w->recursion, w->depth, w->active,
                         &use, &why))
            use = pessimistic;
        earliest = MIN(earliest, use.time);
    }
    return isinf(earliest) ? pessimistic.time : earliest;
}

static struct found walk_atomic(struct walk *w, uint32_t number, double time)
{
    const struct fm_body *body = w->pd->body;
    const struct fm_goal *goal = &body->goals[number];
    bool mentioned = goal->var == w->var || goal->var2 == w->var ||
                     is_among(body, goal->args, goal->arg_count, w->var);
    bool fits = mentioned && (w->type != FM_USE_PRODUCTION ||
                              is_among(body, goal->bound, goal->bound_count, w->var));
    if (!fm_goal_is_call(goal))
        return (struct found){fits, time, time};
    const struct fm_site_cost *site = fm_pd_body_site(w->pd, number);
    double cost = call_cost(w, site), inside = 0;
    if (fits && goal->kind == FM_GOAL_PLAIN_CALL)
        inside = time_in_call(w, goal, site, cost);
    return (struct found){fits, time + inside, time + cost};
}

static struct found walk_goal(struct walk *w, uint32_t number, double time)
{
    const struct fm_goal *goal = &w->pd->body->goals[number];
    const struct fm_goal_counts *counts = &w->pd->coverage->goals[number];
    struct found result = nothing(time);
    if (counts->before.count == 0)
        return result;
    if (w->type == FM_USE_PRODUCTION &&
        (goal->detism == FM_DETISM_ERRONEOUS || goal->detism == FM_DETISM_FAILURE ||
         counts->after.count == 0))
        return result;
    if (w->search->frames >= FRAMES_MAX)
        return result;
    w->search->frames++;
    switch (goal->kind) {
    case FM_GOAL_CONJ:
        result = walk_conjunction(w, number, time);
        break;
    case FM_GOAL_DISJ:
        result = walk_disjunction(w, number, time);
        break;
    case FM_GOAL_SWITCH:
        result = walk_switch(w, number, time);
        break;
    case FM_GOAL_ITE:
        result = walk_branches(w, number, time);
        break;
    case FM_GOAL_NEGATION:
    case FM_GOAL_SCOPE:
        result = walk_goal(w, number + 1, time);
        break;
    default:
        result = walk_atomic(w, number, time);
    }
    w->search->frames--;
    return result;
}

/* --- bodies --- */

/* Finds the body of a proc dynamic, and the variable of argument number `argument` in its head. */
static bool prepare(struct walk *w, uint32_t pd, uint32_t argument, char **why)
{
    g_autoptr(GError) error = NULL;
    if (!fm_bodies_pd(w->search->bodies, pd, &w->pd, &error)) {
        *why = g_strdup(error->message);
        return false;
    }
    w->recursion = fm_bodies_recursion(w->search->bodies, w->pd->clique);
    if (argument >= w->pd->body->head_count) {
        *why = g_strdup_printf("argument %u is out of range for proc dynamic %u", argument, pd);
        return false;
    }
    const struct fm_head_var *head = &w->pd->body->heads[argument];
    if (fm_var_use_type_of(head) != w->type) {
        *why = g_strdup_printf("argument %u of proc dynamic %u is used otherwise than its caller "
                               "does",
                               argument, pd);
        return false;
    }
    w->var = head->var;
    return true;
}

static bool give_up(const struct fm_var_use_search *search, char **why)
{
    if (search->frames < FRAMES_MAX)
        return false;
    *why = g_strdup_printf("calls and goals nest deeper than %u levels", FRAMES_MAX);
    return true;
}

/* Computes the use in a body that does not recurse. */
static bool use_in_body(struct walk *w, uint32_t pd, uint32_t argument, double cost,
                        struct fm_var_use *ret, char **why)
{
    if (!prepare(w, pd, argument, why))
        return false;
    struct found found = walk_goal(w, 0, 0);
    *ret = (struct fm_var_use){found.found ? found.at : cost, cost};
    return true;
}

/* Computes the use by induction: the base case, and one recursive case for each level. */
static bool use_by_induction(struct walk *w, uint32_t pd, uint32_t argument, struct fm_var_use *ret,
                             char **why)
{
    struct found each[2];
    if (!prepare(w, pd, argument, why))
        return false;
    w->probability = probabilities_of(w->search, w->pd);
    for (int i = 0; i < 2; i++) {
        w->pass = i == 0 ? PASS_RECURSIVE : PASS_BASE;
        each[i] = walk_goal(w, 0, 0);
        if (!each[i].found)
            each[i].at = w->type == FM_USE_CONSUMPTION ? 0 : each[i].after;
    }
    double r = w->probability[0];
    ret->time = each[1].at + w->depth * each[0].at;
    ret->cost = r * each[0].after + (1 - r) * each[1].after;
    return true;
}

static bool use_in_clique(struct fm_var_use_search *search, uint32_t clique, uint32_t argument,
                          enum fm_var_use_type type, struct fm_var_use *ret, char **why)
{
    const struct fm_analysis *a = search->bodies->a;
    uint32_t entry = a->clique_parent[clique], pd = fm_analysis_clique_entry(a, clique);
    const struct fm_recursion *recursion = fm_bodies_recursion(search->bodies, clique);
    struct fm_cost row;
    fm_analysis_csd_cost(a, entry, &row);
    double cost = (double)row.desc[FM_CALLSEQS];
    if (!search->totals)
        cost = row.calls == 0 ? 0 : cost / (double)row.calls;
    struct walk w = {.search = search, .type = type, .depth = 0};
    struct active active = {pd, NULL};
    bool ok = true;
    if (!may_look_into(search, pd) ||
        (recursion->kind != FM_RECURSION_NONE && recursion->kind != FM_RECURSION_SINGLE)) {
        *ret = fm_var_use_pessimistic(type, cost);
        return true;
    }
    if (recursion->kind == FM_RECURSION_NONE) {
        ok = use_in_body(&w, pd, argument, cost, ret, why);
    } else {
        w.depth = fm_recursion_levels(recursion);
        w.active = &active;
        ok = use_by_induction(&w, pd, argument, ret, why);
    }
    ret->time += 1;
    ret->cost += 1;
    return ok;
}

/* As use_in_clique(), but cached. */
static bool kept_use_in_clique(struct fm_var_use_search *search, uint32_t clique, uint32_t argument,
                               enum fm_var_use_type type, struct fm_var_use *ret, char **why)
{
    char key[64];
    g_snprintf(key, sizeof key, "%u.%u.%u", clique, argument, (unsigned)type);
    struct kept_use *kept = g_hash_table_lookup(search->cliques, key);
    if (kept == NULL) {
        kept = g_new0(struct kept_use, 1);
        kept->known = use_in_clique(search, clique, argument, type, &kept->use, &kept->why);
        g_hash_table_insert(search->cliques, g_strdup(key), kept);
    }
    *ret = kept->use;
    if (!kept->known)
        *why = g_strdup(kept->why);
    return kept->known;
}

static bool is_active(const struct active *active, uint32_t pd)
{
    for (; active != NULL; active = active->outer) {
        if (active->pd == pd)
            return true;
    }
    return false;
}

static bool use_of_edge(struct fm_var_use_search *search, uint32_t csd, uint32_t argument,
                        enum fm_var_use_type type, double cost,
                        const struct fm_recursion *recursion, double depth,
                        const struct active *active, struct fm_var_use *ret, char **why)
{
    const struct fm_analysis *a = search->bodies->a;
    uint32_t clique = fm_analysis_csd_child_clique(a, csd), callee = a->profile->csd_callee[csd];
    if (give_up(search, why))
        return false;
    if (clique != 0)
        return kept_use_in_clique(search, clique, argument, type, ret, why);
    if (!may_look_into(search, callee)) {
        *ret = fm_var_use_pessimistic(type, cost);
        return true;
    }
    if (is_active(active, callee)) {
        *ret = (struct fm_var_use){1, cost};
        return true;
    }
    if (depth < 0.5) {
        *why = g_strdup("Cannot compute var use on a recursive call site for an unknown recursion "
                        "depth");
        return false;
    }
    if (recursion->kind != FM_RECURSION_NONE && recursion->kind != FM_RECURSION_SINGLE) {
        *why = g_strdup("Cannot compute var use on a recursive call site for an unknown recursion "
                        "type");
        return false;
    }
    struct active inner = {callee, active};
    struct walk w = {.search = search, .type = type, .depth = depth - 1, .active = &inner};
    if (!use_by_induction(&w, callee, argument, ret, why))
        return false;
    ret->time += 1;
    ret->cost += 1;
    return true;
}

bool fm_var_use_of_call(struct fm_var_use_search *search, uint32_t csd, uint32_t argument,
                        enum fm_var_use_type type, double cost,
                        const struct fm_recursion *recursion, double depth, struct fm_var_use *ret,
                        char **why)
{
    g_return_val_if_fail(search != NULL && ret != NULL, false);
    *why = NULL;
    return use_of_edge(search, csd, argument, type, cost, recursion, depth, NULL, ret, why);
}

bool fm_var_use_of_goal(struct fm_var_use_search *search, const struct fm_pd_body *pd,
                        uint32_t goal, uint32_t var, enum fm_var_use_type type, double cost,
                        double depth, struct fm_var_use *ret, char **why)
{
    g_return_val_if_fail(goal < pd->body->goal_count && ret != NULL, false);
    struct walk w = {
        .search = search,
        .pd = pd,
        .recursion = fm_bodies_recursion(search->bodies, pd->clique),
        .var = var,
        .type = type,
        .depth = depth,
    };
    *why = NULL;
    struct found found = walk_goal(&w, goal, 0);
    if (give_up(search, why))
        return false;
    *ret = (struct fm_var_use){found.found ? found.at : cost, cost};
    return true;
}

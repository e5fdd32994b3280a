/* SPDX-License-Identifier: Apache-2.0 */
/* Finds how a clique recurses, from the body of its only proc dynamic: for each number of recursive
 * calls that an execution may make, its probability and the cost of the rest of the body. Children
 * stand after their parents in a body, so one pass from the last goal to the first sees children
 * first. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "mercury/body/internal.h"
#include "mercury/body/var_use.h"

#define LEVELS_MAX 1000u /* more recursive calls in a row are an error */
#define NO_WEIGHT 2.220446049250313e-16

/* --- lists of levels --- */

static void data_clear(struct fm_recursion_data *data)
{
    g_free(data->levels);
    g_free(data->error);
    memset(data, 0, sizeof *data);
}

void fm_recursion_data_done(struct fm_recursion_data *data)
{
    data_clear(data);
}

static struct fm_recursion_data one_level(uint32_t level, double cost)
{
    struct fm_recursion_data data = {.maximum = level, .level_count = 1};
    data.levels = g_new(struct fm_recursion_level, 1);
    data.levels[0] = (struct fm_recursion_level){level, cost, 1};
    return data;
}

static struct fm_recursion_data dead_data(void)
{
    return (struct fm_recursion_data){.dead = true};
}

/* Joins neighbouring entries of one level, from left to right. */
static void join(struct fm_recursion_data *data)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < data->level_count; i++) {
        const struct fm_recursion_level *next = &data->levels[i];
        struct fm_recursion_level *last = kept == 0 ? NULL : &data->levels[kept - 1];
        if (last == NULL || last->level != next->level) {
            data->levels[kept++] = *next;
            continue;
        }
        double weight = last->probability + next->probability;
        last->cost =
            fabs(weight) < NO_WEIGHT
                ? 0
                : (last->probability * last->cost + next->probability * next->cost) / weight;
        /* The joined entries exclude each other, so their probabilities add up. */
        last->probability = MIN(1, weight);
    }
    data->level_count = kept;
}

static void unite_errors(struct fm_recursion_data *to, const struct fm_recursion_data *a,
                         const struct fm_recursion_data *b)
{
    to->nondet = a->nondet || b->nondet;
    to->multi = a->multi || b->multi;
    to->error = g_strdup(a->error != NULL ? a->error : b->error);
}

/* Keeps the first error; takes ownership of the text. */
static void set_error(struct fm_recursion_data *data, char *text)
{
    if (data->error == NULL)
        data->error = text;
    else
        g_free(text);
}

/* Multiplies every probability. */
static void scale(struct fm_recursion_data *data, double probability)
{
    if (!(probability >= 0 && probability <= 1))
        set_error(data,
                  g_strdup_printf("Probability %f out of range 0.0 to 1.0 inclusive", probability));
    for (uint32_t i = 0; i < data->level_count; i++)
        data->levels[i].probability *= probability;
}

/* Combines two alternatives; frees both. */
static struct fm_recursion_data alternatives(struct fm_recursion_data a, struct fm_recursion_data b)
{
    if (a.dead || b.dead) {
        struct fm_recursion_data kept = a.dead ? b : a;
        data_clear(a.dead ? &a : &b);
        return kept;
    }
    struct fm_recursion_data result = {.maximum = MAX(a.maximum, b.maximum)};
    result.levels = g_new(struct fm_recursion_level, a.level_count + b.level_count);
    for (uint32_t i = 0, j = 0; i < a.level_count || j < b.level_count;) {
        bool from_a =
            j == b.level_count || (i < a.level_count && a.levels[i].level <= b.levels[j].level);
        result.levels[result.level_count++] = from_a ? a.levels[i++] : b.levels[j++];
    }
    unite_errors(&result, &a, &b);
    data_clear(&a);
    data_clear(&b);
    join(&result);
    return result;
}

static int compare_levels(const void *a, const void *b)
{
    const struct fm_recursion_level *one = a, *other = b;
    if (one->level != other->level)
        return one->level < other->level ? -1 : 1;
    if (one->cost != other->cost)
        return one->cost < other->cost ? -1 : 1;
    return one->probability < other->probability ? -1 : one->probability > other->probability;
}

/* Combines a, then b; frees both. */
static struct fm_recursion_data sequence(struct fm_recursion_data a, struct fm_recursion_data b)
{
    if (a.dead || b.dead) {
        data_clear(&a);
        data_clear(&b);
        return dead_data();
    }
    struct fm_recursion_data result = {.maximum = a.maximum + b.maximum};
    unite_errors(&result, &a, &b);
    if (a.level_count > LEVELS_MAX || b.level_count > LEVELS_MAX) {
        set_error(&result, g_strdup_printf("more than %u numbers of recursive calls are possible",
                                           LEVELS_MAX));
        result.levels = g_new(struct fm_recursion_level, 1);
    } else {
        result.levels = g_new(struct fm_recursion_level, (gsize)a.level_count * b.level_count + 1);
        for (uint32_t i = 0; i < a.level_count; i++) {
            for (uint32_t j = 0; j < b.level_count; j++) {
                const struct fm_recursion_level *one = &a.levels[i], *other = &b.levels[j];
                result.levels[result.level_count++] =
                    (struct fm_recursion_level){one->level + other->level, one->cost + other->cost,
                                                one->probability * other->probability};
            }
        }
        qsort(result.levels, result.level_count, sizeof *result.levels, compare_levels);
        join(&result);
    }
    data_clear(&a);
    data_clear(&b);
    return result;
}

/* --- goals --- */

struct reading {
    const struct fm_pd_body *pd;
    /* [goal_count]; holds data for goals whose parents have not been reached */
    struct fm_recursion_data *data;
};

static double before_of(const struct reading *r, uint32_t goal)
{
    return (double)r->pd->coverage->goals[goal].before.count;
}

static double after_of(const struct reading *r, uint32_t goal)
{
    return (double)r->pd->coverage->goals[goal].after.count;
}

static struct fm_recursion_data take(struct reading *r, uint32_t goal)
{
    struct fm_recursion_data data = r->data[goal];
    memset(&r->data[goal], 0, sizeof data);
    return data;
}

static struct fm_recursion_data scaled(struct fm_recursion_data data, double probability)
{
    scale(&data, probability);
    return data;
}

/* Probability that the goal succeeds, so that the goals after it run. */
static double success(const struct reading *r, uint32_t goal)
{
    return MIN(1.0, after_of(r, goal) / before_of(r, goal));
}

static struct fm_recursion_data conjunction(struct reading *r, uint32_t goal)
{
    struct fm_recursion_data rest = one_level(0, 0);
    for (uint32_t number = r->pd->body->goals[goal].child_count; number > 0; number--) {
        uint32_t child = fm_body_index_child(r->pd->index, goal, number);
        struct fm_recursion_data head = take(r, child);
        if (!head.dead && fm_detism_can_fail(r->pd->body->goals[child].detism)) {
            double s = success(r, child);
            rest = alternatives(scaled(rest, s), scaled(one_level(0, 0), 1 - s));
        }
        rest = sequence(head, rest);
    }
    return rest;
}

static struct fm_recursion_data disjunction(struct reading *r, uint32_t goal)
{
    struct fm_recursion_data rest = one_level(0, 0);
    for (uint32_t number = r->pd->body->goals[goal].child_count; number > 0; number--) {
        uint32_t child = fm_body_index_child(r->pd->index, goal, number);
        struct fm_recursion_data head = take(r, child);
        if (!head.dead) {
            double s = success(r, child);
            rest = alternatives(scaled(one_level(0, 0), s), scaled(rest, 1 - s));
        }
        rest = sequence(head, rest);
    }
    return rest;
}

static struct fm_recursion_data arms(struct reading *r, uint32_t goal)
{
    uint32_t count = r->pd->body->goals[goal].child_count;
    double before = before_of(r, goal), left = before;
    for (uint32_t number = 1; number <= count; number++)
        left -= before_of(r, fm_body_index_child(r->pd->index, goal, number));
    struct fm_recursion_data rest = scaled(one_level(0, 0), left / before);
    for (uint32_t number = count; number > 0; number--) {
        uint32_t child = fm_body_index_child(r->pd->index, goal, number);
        rest = alternatives(scaled(take(r, child), before_of(r, child) / before), rest);
    }
    return rest;
}

static struct fm_recursion_data branches(struct reading *r, uint32_t goal)
{
    double before = before_of(r, goal);
    uint32_t condition = goal + 1, then = fm_body_index_child(r->pd->index, goal, 2),
             otherwise = fm_body_index_child(r->pd->index, goal, 3);
    struct fm_recursion_data rest =
        alternatives(scaled(take(r, then), before_of(r, then) / before),
                     scaled(take(r, otherwise), before_of(r, otherwise) / before));
    return sequence(take(r, condition), rest);
}

static struct fm_recursion_data goal_data(struct reading *r, uint32_t number)
{
    const struct fm_goal *goal = &r->pd->body->goals[number];
    switch (goal->kind) {
    case FM_GOAL_CONJ:
        return conjunction(r, number);
    case FM_GOAL_DISJ:
        return disjunction(r, number);
    case FM_GOAL_SWITCH:
        return arms(r, number);
    case FM_GOAL_ITE:
        return branches(r, number);
    case FM_GOAL_NEGATION:
    case FM_GOAL_SCOPE:
        return take(r, number + 1);
    default:
        break;
    }
    const struct fm_site_cost *site = fm_pd_body_site(r->pd, number);
    if (site != NULL && site->recursive)
        return one_level(1, 0);
    return one_level(0, site == NULL ? 0 : fm_site_per_call(site));
}

void fm_recursion_data_of(const struct fm_pd_body *pd, struct fm_recursion_data *ret)
{
    g_return_if_fail(pd != NULL && ret != NULL);
    struct reading r = {pd, g_new0(struct fm_recursion_data, pd->body->goal_count)};
    for (uint32_t goal = pd->body->goal_count; goal-- > 0;) {
        if (pd->coverage->goals[goal].before.count == 0) {
            for (uint32_t child = goal + 1; child < pd->body->goals[goal].end; child++)
                data_clear(&r.data[child]);
            r.data[goal] = dead_data();
            continue;
        }
        struct fm_recursion_data data = goal_data(&r, goal);
        if (!data.dead) {
            data.nondet = data.nondet || pd->body->goals[goal].detism == FM_DETISM_NONDET;
            data.multi = data.multi || pd->body->goals[goal].detism == FM_DETISM_MULTI;
        }
        r.data[goal] = data;
    }
    *ret = r.data[0];
    g_free(r.data);
}

/* --- the type of a clique --- */

static void add_error(struct fm_recursion *recursion, const char *text)
{
    recursion->kind = FM_RECURSION_ERRORS;
    recursion->errors = g_renew(char *, recursion->errors, recursion->error_count + 2);
    recursion->errors[recursion->error_count++] = g_strdup(text);
    recursion->errors[recursion->error_count] = NULL;
}

static bool has_level(const struct fm_recursion_data *data, uint32_t level,
                      struct fm_recursion_level *ret)
{
    *ret = (struct fm_recursion_level){level, 0, 0};
    for (uint32_t i = 0; i < data->level_count; i++) {
        if (data->levels[i].level == level) {
            *ret = data->levels[i];
            return true;
        }
    }
    return false;
}

static void classify(struct fm_recursion *recursion, const struct fm_recursion_data *data)
{
    struct fm_recursion_level base, level;
    if (data->nondet)
        add_error(recursion, "nondet_rep code is not handled");
    if (data->multi)
        add_error(recursion, "multidet_rep code is not handled");
    if (data->error != NULL)
        add_error(recursion, data->error);
    if (recursion->error_count > 0)
        return;
    if (data->dead || data->maximum == 0) {
        recursion->kind = FM_RECURSION_NONE;
        recursion->depth = 0;
        return;
    }
    has_level(data, 0, &base);
    bool level_one = has_level(data, 1, &level);
    if (data->maximum == 1) {
        recursion->kind = FM_RECURSION_SINGLE;
        recursion->base_cost = base.cost;
        recursion->base_probability = base.probability;
        recursion->recursive_cost = level.cost;
        recursion->recursive_probability = level.probability;
        recursion->depth = recursion->parent_calls == 0
                               ? recursion->total_calls
                               : recursion->total_calls / recursion->parent_calls;
    } else {
        recursion->kind =
            data->maximum == 2 && !level_one ? FM_RECURSION_DIVIDE : FM_RECURSION_OTHER;
    }
}

struct fm_recursion *fm_recursion_from_counts(const struct fm_analysis *a, uint32_t clique)
{
    g_return_val_if_fail(clique >= 1 && clique <= a->clique_count, NULL);
    const struct fm_profile *profile = a->profile;
    struct fm_recursion *recursion = g_new0(struct fm_recursion, 1);
    uint32_t parent = a->clique_parent[clique], sites = 0;
    recursion->member_count = a->clique_first[clique + 1] - a->clique_first[clique];
    recursion->parent_calls = parent == 0 ? 1 : (double)fm_profile_calls(profile, parent);
    recursion->total_calls = recursion->parent_calls;
    recursion->depth = -1;
    recursion->runs = 1;
    for (uint32_t i = a->clique_first[clique]; i < a->clique_first[clique + 1]; i++) {
        uint32_t pd = a->clique_pds[i];
        for (uint32_t slot = 0; slot < profile->ps[profile->pd_ps[pd]].css_count; slot++) {
            uint32_t count, calls_of_slot = 0;
            const uint32_t *csds = fm_profile_slot(profile, pd, slot, &count);
            for (uint32_t c = 0; c < count; c++) {
                if (a->pd_clique[profile->csd_callee[csds[c]]] != clique)
                    continue;
                recursion->total_calls += (double)fm_profile_calls(profile, csds[c]);
                calls_of_slot++;
            }
            sites += calls_of_slot > 0;
        }
    }
    recursion->kind = recursion->member_count > 1 ? FM_RECURSION_MUTUAL
                      : sites == 0                ? FM_RECURSION_NONE
                      : sites == 1                ? FM_RECURSION_SINGLE
                                                  : FM_RECURSION_OTHER;
    if (recursion->kind == FM_RECURSION_NONE)
        recursion->depth = 0;
    else if (recursion->kind == FM_RECURSION_SINGLE && recursion->parent_calls > 0)
        recursion->depth = recursion->total_calls / recursion->parent_calls;
    return recursion;
}

/* How many runs a Mercury profile sums up: the root calls each procedure that it starts once in
 * each run. */
static double runs_of(struct fm_bodies *bodies)
{
    const struct fm_profile *profile = bodies->a->profile;
    if (bodies->runs > 0)
        return bodies->runs;
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        double calls = (double)fm_profile_calls(profile, csd);
        if (profile->csd_caller[csd] == profile->root_pd && calls > 0)
            bodies->runs = bodies->runs > 0 ? MIN(bodies->runs, calls) : calls;
    }
    bodies->runs = MAX(bodies->runs, 1);
    return bodies->runs;
}

static struct fm_recursion *make_recursion(struct fm_bodies *bodies, uint32_t clique)
{
    const struct fm_analysis *a = bodies->a;
    if (a->profile->flavour == FM_FLAVOUR_C)
        return fm_recursion_from_counts(a, clique);
    struct fm_recursion *recursion = g_new0(struct fm_recursion, 1);
    uint32_t parent = a->clique_parent[clique], first = a->clique_first[clique];
    recursion->member_count = a->clique_first[clique + 1] - first;
    recursion->depth = -1;
    recursion->runs = runs_of(bodies);
    recursion->parent_calls = parent == 0 ? 1 : (double)fm_profile_calls(a->profile, parent);
    if (parent == 0) {
        add_error(recursion, "This clique doesn't appear to have an entry procedure");
        return recursion;
    }
    if (recursion->member_count > 1) {
        recursion->kind = FM_RECURSION_MUTUAL;
        return recursion;
    }
    const struct fm_pd_body *pd;
    g_autoptr(GError) error = NULL;
    if (!fm_bodies_pd(bodies, a->clique_pds[first], &pd, &error)) {
        add_error(recursion, error->message);
        return recursion;
    }
    struct fm_recursion_data data;
    fm_recursion_data_of(pd, &data);
    recursion->total_calls = (double)pd->cost.calls;
    classify(recursion, &data);
    recursion->levels = g_steal_pointer(&data.levels);
    recursion->level_count = data.level_count;
    data_clear(&data);
    return recursion;
}

void fm_recursion_free(gpointer data)
{
    struct fm_recursion *recursion = data;
    g_strfreev(recursion->errors);
    g_free(recursion->levels);
    g_free(recursion);
}

const struct fm_recursion *fm_bodies_recursion(struct fm_bodies *bodies, uint32_t clique)
{
    g_return_val_if_fail(clique >= 1 && clique <= bodies->a->clique_count, NULL);
    if (bodies->recursions == NULL)
        bodies->recursions = g_hash_table_new_full(NULL, NULL, NULL, fm_recursion_free);
    struct fm_recursion *recursion =
        g_hash_table_lookup(bodies->recursions, GUINT_TO_POINTER(clique));
    if (recursion == NULL) {
        recursion = make_recursion(bodies, clique);
        g_hash_table_insert(bodies->recursions, GUINT_TO_POINTER(clique), recursion);
    }
    return recursion;
}

/* --- costs of recursive calls --- */

double fm_recursion_cost_at(const struct fm_recursion *recursion, double depth)
{
    return recursion->base_cost + depth * (recursion->recursive_cost + 1);
}

double fm_recursion_site_cost(const struct fm_recursion *recursion, const struct fm_site_cost *site)
{
    double calls = site->calls == 0 ? 1 : (double)site->calls / recursion->runs;
    return fm_recursion_cost_at(recursion, fm_round_half_up(recursion->depth / calls));
}

double fm_recursion_levels(const struct fm_recursion *recursion)
{
    return MAX(recursion->depth - 1, 0);
}

char *fm_recursion_why_no_cost(const struct fm_recursion *recursion)
{
    switch (recursion->kind) {
    case FM_RECURSION_NONE:
    case FM_RECURSION_SINGLE:
        return NULL;
    case FM_RECURSION_DIVIDE:
    case FM_RECURSION_MUTUAL:
        return g_strdup("No average recursion depth for this recursion type");
    case FM_RECURSION_OTHER:
        return g_strdup("Could not detect recursion type");
    case FM_RECURSION_ERRORS:
        return g_strjoinv("; and ", recursion->errors);
    }
    return NULL;
}

/* --- probabilities of recursion --- */

static double either(double a, double b)
{
    return 1 - (1 - a) * (1 - b);
}

static double goal_probability(const struct fm_pd_body *pd, const double *r, uint32_t number)
{
    const struct fm_goal *goal = &pd->body->goals[number];
    const struct fm_goal_counts *counts = pd->coverage->goals;
    double before = (double)counts[number].before.count, result = 0;
    const struct fm_site_cost *site = fm_pd_body_site(pd, number);
    if (counts[number].before.count == 0)
        return 0;
    switch (goal->kind) {
    case FM_GOAL_CONJ:
    case FM_GOAL_DISJ:
        for (uint32_t i = goal->child_count; i > 0; i--) {
            uint32_t child = fm_body_index_child(pd->index, number, i);
            double b = (double)counts[child].before.count, a = (double)counts[child].after.count;
            double goes_on = b == 0 ? 0 : goal->kind == FM_GOAL_CONJ ? a / b : (b - a) / b;
            result = b == 0 ? 0 : either(r[child], MAX(0, MIN(1, goes_on)) * result);
        }
        return result;
    case FM_GOAL_SWITCH: {
        /* sum over the arms: executions that fail at the switch itself do not count */
        double entered = 0;
        for (uint32_t i = 1; i <= goal->child_count; i++) {
            uint32_t child = fm_body_index_child(pd->index, number, i);
            result += r[child] * (double)counts[child].before.count;
            entered += (double)counts[child].before.count;
        }
        return entered == 0 ? 0 : result / entered;
    }
    case FM_GOAL_ITE: {
        double success = (double)counts[number + 1].after.count / before;
        uint32_t then = fm_body_index_child(pd->index, number, 2),
                 otherwise = fm_body_index_child(pd->index, number, 3);
        return either(r[number + 1], either(r[then] * success, r[otherwise] * (1 - success)));
    }
    case FM_GOAL_NEGATION:
    case FM_GOAL_SCOPE:
        return r[number + 1];
    default:
        return site != NULL && site->recursive;
    }
}

double *fm_recursion_probabilities(const struct fm_pd_body *pd)
{
    double *r = g_new0(double, pd->body->goal_count);
    for (uint32_t goal = pd->body->goal_count; goal-- > 0;)
        r[goal] = goal_probability(pd, r, goal);
    return r;
}

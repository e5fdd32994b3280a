/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the goals of a feedback file. */
#include "mercury/feedback/terms.h"

static bool get_goal(struct fm_parsing *p, const struct fm_term *term, GPtrArray *to);

static bool get_unification(struct fm_parsing *p, const struct fm_term *term,
                            enum fm_goal_kind kind, struct fm_feedback_goal *goal)
{
    goal->goal.kind = kind;
    return fm_term_u32(p, fm_term_arg(term, 0), &goal->goal.var) &&
           fm_term_text(p, fm_term_arg(term, 1), &goal->goal.name) &&
           fm_term_vars(p, fm_term_arg(term, 2), &goal->args, &goal->goal.arg_count);
}

static bool get_two(struct fm_parsing *p, const struct fm_term *term, enum fm_goal_kind kind,
                    struct fm_feedback_goal *goal)
{
    goal->goal.kind = kind;
    return fm_term_u32(p, fm_term_arg(term, 0), &goal->goal.var) &&
           fm_term_u32(p, fm_term_arg(term, 1), &goal->goal.var2);
}

static bool get_call(struct fm_parsing *p, const struct fm_term *term, enum fm_goal_kind kind,
                     struct fm_feedback_goal *goal)
{
    goal->goal.kind = kind;
    return fm_term_text(p, fm_term_arg(term, 0), &goal->goal.module) &&
           fm_term_text(p, fm_term_arg(term, 1), &goal->goal.name) &&
           fm_term_vars(p, fm_term_arg(term, 2), &goal->args, &goal->goal.arg_count);
}

static bool get_atom(struct fm_parsing *p, const struct fm_term *term,
                     struct fm_feedback_goal *goal)
{
    struct fm_goal *of = &goal->goal;
    if (fm_term_is(term, "unify_construct_rep", 3))
        return get_unification(p, term, FM_GOAL_CONSTRUCT, goal);
    if (fm_term_is(term, "unify_deconstruct_rep", 3))
        return get_unification(p, term, FM_GOAL_DECONSTRUCT, goal);
    if (fm_term_is(term, "partial_construct_rep", 3))
        return get_unification(p, term, FM_GOAL_PARTIAL_CONSTRUCT, goal);
    if (fm_term_is(term, "partial_deconstruct_rep", 3))
        return get_unification(p, term, FM_GOAL_PARTIAL_DECONSTRUCT, goal);
    if (fm_term_is(term, "unify_assign_rep", 2))
        return get_two(p, term, FM_GOAL_ASSIGN, goal);
    if (fm_term_is(term, "cast_rep", 2))
        return get_two(p, term, FM_GOAL_CAST, goal);
    if (fm_term_is(term, "unify_simple_test_rep", 2))
        return get_two(p, term, FM_GOAL_SIMPLE_TEST, goal);
    if (fm_term_is(term, "plain_call_rep", 3))
        return get_call(p, term, FM_GOAL_PLAIN_CALL, goal);
    if (fm_term_is(term, "builtin_call_rep", 3))
        return get_call(p, term, FM_GOAL_BUILTIN_CALL, goal);
    if (fm_term_is(term, "pragma_foreign_code_rep", 1)) {
        of->kind = FM_GOAL_FOREIGN;
        return fm_term_vars(p, fm_term_arg(term, 0), &goal->args, &of->arg_count);
    }
    if (fm_term_is(term, "higher_order_call_rep", 2)) {
        of->kind = FM_GOAL_HIGHER_ORDER;
        return fm_term_u32(p, fm_term_arg(term, 0), &of->var) &&
               fm_term_vars(p, fm_term_arg(term, 1), &goal->args, &of->arg_count);
    }
    if (fm_term_is(term, "method_call_rep", 3)) {
        of->kind = FM_GOAL_METHOD;
        return fm_term_u32(p, fm_term_arg(term, 0), &of->var) &&
               fm_term_u32(p, fm_term_arg(term, 1), &of->method) &&
               fm_term_vars(p, fm_term_arg(term, 2), &goal->args, &of->arg_count);
    }
    if (fm_term_is(term, "event_call_rep", 2)) {
        of->kind = FM_GOAL_EVENT;
        return fm_term_text(p, fm_term_arg(term, 0), &of->name) &&
               fm_term_vars(p, fm_term_arg(term, 1), &goal->args, &of->arg_count);
    }
    return fm_term_wrong(p, term, "an atomic goal");
}

static bool get_functor(struct fm_parsing *p, const struct fm_term *term, struct fm_functor *ret)
{
    if (!fm_term_is(term, "cons_id_arity_rep", 2))
        return fm_term_wrong(p, term, "cons_id_arity_rep(NAME, ARITY)");
    return fm_term_text(p, fm_term_arg(term, 0), &ret->name) &&
           fm_term_u32(p, fm_term_arg(term, 1), &ret->arity);
}

static bool get_case(struct fm_parsing *p, const struct fm_term *term, GPtrArray *to)
{
    if (!fm_term_is(term, "case_rep", 3))
        return fm_term_wrong(p, term, "case_rep(FUNCTOR, [FUNCTOR], GOAL)");
    const struct fm_term *others = fm_term_arg(term, 1);
    if (!fm_term_check_list(p, others) || !get_goal(p, fm_term_arg(term, 2), to))
        return false;
    struct fm_feedback_goal *arm = to->pdata[to->len - 1];
    arm->goal.functor_count = others->args->len + 1;
    arm->functors = g_new0(struct fm_functor, arm->goal.functor_count);
    bool ok = get_functor(p, fm_term_arg(term, 0), &arm->functors[0]);
    for (guint i = 0; ok && i < others->args->len; i++)
        ok = get_functor(p, fm_term_arg(others, i), &arm->functors[i + 1]);
    return ok;
}

static bool get_switch(struct fm_parsing *p, const struct fm_term *term,
                       struct fm_feedback_goal *goal)
{
    static const char *const words[] = {"switch_can_not_fail_rep", "switch_can_fail_rep"};
    unsigned can_fail;
    goal->goal.kind = FM_GOAL_SWITCH;
    if (!fm_term_u32(p, fm_term_arg(term, 0), &goal->goal.var) ||
        !fm_term_word(p, fm_term_arg(term, 1), words, G_N_ELEMENTS(words), &can_fail) ||
        !fm_term_check_list(p, fm_term_arg(term, 2)))
        return false;
    goal->goal.can_fail = can_fail == 1;
    for (guint i = 0; i < fm_term_arg(term, 2)->args->len; i++) {
        if (!get_case(p, fm_term_arg(fm_term_arg(term, 2), i), goal->children))
            return false;
    }
    return true;
}

static bool get_expression(struct fm_parsing *p, const struct fm_term *term,
                           struct fm_feedback_goal *goal)
{
    static const char *const cuts[] = {"scope_is_no_cut", "scope_is_cut"};
    struct fm_goal *of = &goal->goal;
    unsigned cut;
    if (fm_term_is(term, "conj_rep", 1) || fm_term_is(term, "disj_rep", 1)) {
        of->kind = term->text[0] == 'c' ? FM_GOAL_CONJ : FM_GOAL_DISJ;
        return fm_read_goals(p, fm_term_arg(term, 0), goal->children);
    }
    if (fm_term_is(term, "switch_rep", 3))
        return get_switch(p, term, goal);
    if (fm_term_is(term, "ite_rep", 3)) {
        of->kind = FM_GOAL_ITE;
        return get_goal(p, fm_term_arg(term, 0), goal->children) &&
               get_goal(p, fm_term_arg(term, 1), goal->children) &&
               get_goal(p, fm_term_arg(term, 2), goal->children);
    }
    if (fm_term_is(term, "negation_rep", 1)) {
        of->kind = FM_GOAL_NEGATION;
        return get_goal(p, fm_term_arg(term, 0), goal->children);
    }
    if (fm_term_is(term, "scope_rep", 2)) {
        of->kind = FM_GOAL_SCOPE;
        if (!get_goal(p, fm_term_arg(term, 0), goal->children) ||
            !fm_term_word(p, fm_term_arg(term, 1), cuts, G_N_ELEMENTS(cuts), &cut))
            return false;
        of->cut = cut == 1;
        return true;
    }
    if (fm_term_is(term, "atomic_goal_rep", 4))
        return fm_term_text(p, fm_term_arg(term, 0), &of->file) &&
               fm_term_u32(p, fm_term_arg(term, 1), &of->line) &&
               fm_term_vars(p, fm_term_arg(term, 2), &goal->bound, &of->bound_count) &&
               get_atom(p, fm_term_arg(term, 3), goal);
    return fm_term_wrong(p, term, "a goal");
}

static bool get_times(struct fm_parsing *p, const struct fm_term *term, GArray *to)
{
    if (!fm_term_check_list(p, term))
        return false;
    for (guint i = 0; i < term->args->len; i++) {
        const struct fm_term *pair = fm_term_arg(term, i);
        struct fm_var_time time;
        if (!fm_term_is(pair, "-", 2))
            return fm_term_wrong(p, pair, "VARIABLE - TIME");
        if (!fm_term_u32(p, fm_term_arg(pair, 0), &time.var) ||
            !fm_term_float(p, fm_term_arg(pair, 1), &time.time))
            return false;
        g_array_append_val(to, time);
    }
    return true;
}

static bool get_annotation(struct fm_parsing *p, const struct fm_term *term,
                           struct fm_feedback_goal *goal)
{
    static const char *const words[] = {"cost_not_above_par_threshold", "cost_above_par_threshold"};
    unsigned above;
    if (!fm_term_is(term, "pard_goal_annotation", 4))
        return fm_term_wrong(p, term,
                             "pard_goal_annotation(COST, ABOVE, PRODUCTIONS, CONSUMPTIONS)");
    if (!fm_term_float(p, fm_term_arg(term, 0), &goal->cost) ||
        !fm_term_word(p, fm_term_arg(term, 1), words, G_N_ELEMENTS(words), &above))
        return false;
    goal->above_threshold = above == 1;
    return get_times(p, fm_term_arg(term, 2), goal->productions) &&
           get_times(p, fm_term_arg(term, 3), goal->consumptions);
}

static bool get_goal(struct fm_parsing *p, const struct fm_term *term, GPtrArray *to)
{
    static const char *const words[] = {"det_rep",       "semidet_rep",   "nondet_rep",
                                        "multidet_rep",  "cc_nondet_rep", "cc_multidet_rep",
                                        "erroneous_rep", "failure_rep"};
    static const enum fm_detism detisms[] = {
        FM_DETISM_DET,       FM_DETISM_SEMIDET,  FM_DETISM_NONDET,    FM_DETISM_MULTI,
        FM_DETISM_CC_NONDET, FM_DETISM_CC_MULTI, FM_DETISM_ERRONEOUS, FM_DETISM_FAILURE};
    unsigned detism;
    if (!fm_term_is(term, "goal_rep", 3))
        return fm_term_wrong(p, term, "goal_rep(GOAL, DETERMINISM, ANNOTATION)");
    struct fm_feedback_goal *goal = fm_feedback_goal_new();
    g_ptr_array_add(to, goal);
    if (!get_expression(p, fm_term_arg(term, 0), goal) ||
        !fm_term_word(p, fm_term_arg(term, 1), words, G_N_ELEMENTS(words), &detism))
        return false;
    goal->goal.detism = detisms[detism];
    return get_annotation(p, fm_term_arg(term, 2), goal);
}

bool fm_read_goals(struct fm_parsing *p, const struct fm_term *term, GPtrArray *to)
{
    g_return_val_if_fail(term != NULL && to != NULL, false);
    if (!fm_term_check_list(p, term))
        return false;
    for (guint i = 0; i < term->args->len; i++) {
        if (!get_goal(p, fm_term_arg(term, i), to))
            return false;
    }
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The feedback file: three lines and a term, as Mercury's own programs write it. */
#include <string.h>

#include "base/text/number.h"
#include "mercury/feedback/internal.h"

static void put_string(GString *out, const char *text)
{
    static const char named[] = "\a\b\033\f\n\r\t\v\\'\"";
    static const char letters[] = "abefnrtv\\'\"";
    g_string_append_c(out, '"');
    for (const unsigned char *at = (const unsigned char *)text; *at != '\0'; at++) {
        const char *found = strchr(named, *at);
        if (found != NULL)
            g_string_append_printf(out, "\\%c", letters[found - named]);
        else if (*at < 0x20 || *at == 0x7f)
            g_string_append_printf(out, "\\%03o\\", *at);
        else
            g_string_append_c(out, (char)*at);
    }
    g_string_append_c(out, '"');
}

static void put_float(GString *out, double value)
{
    gsize before = out->len;
    fm_append_shortest(out, value, 15);
    if (strpbrk(out->str + before, ".e") == NULL)
        g_string_append(out, ".0");
}

static void put_int(GString *out, int64_t value)
{
    g_string_append_printf(out, "%" G_GINT64_FORMAT, (gint64)value);
}

static void put_comma(GString *out)
{
    g_string_append(out, ", ");
}

static void put_bool(GString *out, bool value)
{
    g_string_append(out, value ? "yes" : "no");
}

/* --- goals --- */

static void put_vars(GString *out, const uint32_t *vars, uint32_t count)
{
    g_string_append_c(out, '[');
    for (uint32_t i = 0; i < count; i++)
        g_string_append_printf(out, "%s%u", i == 0 ? "" : ", ", vars[i]);
    g_string_append_c(out, ']');
}

static void put_partial_vars(GString *out, const uint32_t *vars, uint32_t count)
{
    g_string_append_c(out, '[');
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            put_comma(out);
        if (vars[i] == FM_NO_VAR)
            g_string_append(out, "no");
        else
            g_string_append_printf(out, "yes(%u)", vars[i]);
    }
    g_string_append_c(out, ']');
}

static void put_goals(GString *out, const GPtrArray *goals);
static void put_goal(GString *out, const struct fm_feedback_goal *goal);

static void put_unification(GString *out, const char *name, const struct fm_feedback_goal *goal,
                            bool partial)
{
    g_string_append_printf(out, "%s(%u, ", name, goal->goal.var);
    put_string(out, goal->goal.name);
    put_comma(out);
    (partial ? put_partial_vars : put_vars)(out, goal->args, goal->goal.arg_count);
}

static void put_call(GString *out, const char *name, const struct fm_feedback_goal *goal)
{
    g_string_append_printf(out, "%s(", name);
    put_string(out, goal->goal.module);
    put_comma(out);
    put_string(out, goal->goal.name);
    put_comma(out);
    put_vars(out, goal->args, goal->goal.arg_count);
}

/* Appends the term without its last parenthesis. */
static void put_atom(GString *out, const struct fm_feedback_goal *goal)
{
    const struct fm_goal *of = &goal->goal;
    switch (of->kind) {
    case FM_GOAL_CONSTRUCT:
        put_unification(out, "unify_construct_rep", goal, false);
        break;
    case FM_GOAL_DECONSTRUCT:
        put_unification(out, "unify_deconstruct_rep", goal, false);
        break;
    case FM_GOAL_PARTIAL_CONSTRUCT:
        put_unification(out, "partial_construct_rep", goal, true);
        break;
    case FM_GOAL_PARTIAL_DECONSTRUCT:
        put_unification(out, "partial_deconstruct_rep", goal, true);
        break;
    case FM_GOAL_ASSIGN:
    case FM_GOAL_CAST:
    case FM_GOAL_SIMPLE_TEST:
        g_string_append_printf(out, "%s(%u, %u",
                               of->kind == FM_GOAL_ASSIGN ? "unify_assign_rep"
                               : of->kind == FM_GOAL_CAST ? "cast_rep"
                                                          : "unify_simple_test_rep",
                               of->var, of->var2);
        break;
    case FM_GOAL_FOREIGN:
        g_string_append(out, "pragma_foreign_code_rep(");
        put_vars(out, goal->args, of->arg_count);
        break;
    case FM_GOAL_HIGHER_ORDER:
        g_string_append_printf(out, "higher_order_call_rep(%u, ", of->var);
        put_vars(out, goal->args, of->arg_count);
        break;
    case FM_GOAL_METHOD:
        g_string_append_printf(out, "method_call_rep(%u, %u, ", of->var, of->method);
        put_vars(out, goal->args, of->arg_count);
        break;
    case FM_GOAL_PLAIN_CALL:
        put_call(out, "plain_call_rep", goal);
        break;
    case FM_GOAL_BUILTIN_CALL:
        put_call(out, "builtin_call_rep", goal);
        break;
    default:
        g_string_append(out, "event_call_rep(");
        put_string(out, of->name);
        put_comma(out);
        put_vars(out, goal->args, of->arg_count);
    }
}

static void put_functor(GString *out, const struct fm_functor *functor)
{
    g_string_append(out, "cons_id_arity_rep(");
    put_string(out, functor->name);
    g_string_append_printf(out, ", %u)", functor->arity);
}

static void put_cases(GString *out, const struct fm_feedback_goal *goal)
{
    for (guint i = 0; i < goal->children->len; i++) {
        const struct fm_feedback_goal *arm = goal->children->pdata[i];
        static const struct fm_functor none = {"", 0};
        g_string_append(out, i == 0 ? "case_rep(" : ", case_rep(");
        put_functor(out, arm->goal.functor_count > 0 ? &arm->functors[0] : &none);
        g_string_append(out, ", [");
        for (uint32_t f = 1; f < arm->goal.functor_count; f++) {
            if (f > 1)
                put_comma(out);
            put_functor(out, &arm->functors[f]);
        }
        g_string_append(out, "], ");
        put_goal(out, arm);
        g_string_append_c(out, ')');
    }
}

/* Appends the term without its last parenthesis. */
static void put_expression(GString *out, const struct fm_feedback_goal *goal)
{
    const struct fm_goal *of = &goal->goal;
    switch (of->kind) {
    case FM_GOAL_CONJ:
    case FM_GOAL_DISJ:
        g_string_append(out, of->kind == FM_GOAL_CONJ ? "conj_rep(" : "disj_rep(");
        put_goals(out, goal->children);
        return;
    case FM_GOAL_SWITCH:
        g_string_append_printf(out, "switch_rep(%u, switch_can_%sfail_rep, [", of->var,
                               of->can_fail ? "" : "not_");
        put_cases(out, goal);
        g_string_append_c(out, ']');
        return;
    case FM_GOAL_ITE:
        g_string_append(out, "ite_rep(");
        break;
    case FM_GOAL_NEGATION:
        g_string_append(out, "negation_rep(");
        break;
    case FM_GOAL_SCOPE:
        g_string_append(out, "scope_rep(");
        break;
    default:
        g_string_append(out, "atomic_goal_rep(");
        put_string(out, of->file);
        g_string_append_printf(out, ", %u, ", of->line);
        put_vars(out, goal->bound, of->bound_count);
        put_comma(out);
        put_atom(out, goal);
        g_string_append_c(out, ')');
        return;
    }
    for (guint i = 0; i < goal->children->len; i++) {
        if (i > 0)
            put_comma(out);
        put_goal(out, goal->children->pdata[i]);
    }
    if (of->kind == FM_GOAL_SCOPE)
        g_string_append(out, of->cut ? ", scope_is_cut" : ", scope_is_no_cut");
}

static void put_times(GString *out, const GArray *times)
{
    g_string_append_c(out, '[');
    for (guint i = 0; i < times->len; i++) {
        const struct fm_var_time *time = &g_array_index(times, struct fm_var_time, i);
        g_string_append_printf(out, "%s%u - ", i == 0 ? "" : ", ", time->var);
        put_float(out, time->time);
    }
    g_string_append_c(out, ']');
}

static const char *detism_word(enum fm_detism detism)
{
    switch (detism) {
    case FM_DETISM_DET:
        return "det_rep";
    case FM_DETISM_SEMIDET:
        return "semidet_rep";
    case FM_DETISM_NONDET:
        return "nondet_rep";
    case FM_DETISM_MULTI:
        return "multidet_rep";
    case FM_DETISM_CC_NONDET:
        return "cc_nondet_rep";
    case FM_DETISM_CC_MULTI:
        return "cc_multidet_rep";
    case FM_DETISM_ERRONEOUS:
        return "erroneous_rep";
    case FM_DETISM_FAILURE:
        break;
    }
    return "failure_rep";
}

static void put_goal(GString *out, const struct fm_feedback_goal *goal)
{
    g_string_append(out, "goal_rep(");
    put_expression(out, goal);
    g_string_append_printf(out, "), %s, pard_goal_annotation(", detism_word(goal->goal.detism));
    put_float(out, goal->cost);
    g_string_append(out, goal->above_threshold ? ", cost_above_par_threshold, "
                                               : ", cost_not_above_par_threshold, ");
    put_times(out, goal->productions);
    put_comma(out);
    put_times(out, goal->consumptions);
    g_string_append(out, "))");
}

static void put_goals(GString *out, const GPtrArray *goals)
{
    g_string_append_c(out, '[');
    for (guint i = 0; i < goals->len; i++) {
        if (i > 0)
            put_comma(out);
        put_goal(out, goals->pdata[i]);
    }
    g_string_append_c(out, ']');
}

/* --- candidates --- */

static void put_push(GString *out, const struct fm_push *push)
{
    g_string_append(out, "push_goal(");
    put_string(out, push->path);
    put_comma(out);
    put_int(out, push->low);
    put_comma(out);
    put_int(out, push->high);
    g_string_append(out, ", [");
    for (guint i = 0; i < push->targets->len; i++) {
        if (i > 0)
            put_comma(out);
        put_string(out, push->targets->pdata[i]);
    }
    g_string_append(out, "])");
}

static void put_dependence(GString *out, const struct fm_candidate *candidate)
{
    if (!candidate->dependent) {
        g_string_append(out, "conjuncts_are_independent");
        return;
    }
    g_string_append(out, "conjuncts_are_dependent(sol(");
    put_vars(out, (const uint32_t *)(const void *)candidate->shared->data, candidate->shared->len);
    g_string_append(out, "))");
}

static void put_metrics(GString *out, const struct fm_parallel_metrics *metrics)
{
    const double values[] = {metrics->sequential, metrics->parallel,   metrics->spark,
                             metrics->barrier,    metrics->signals,    metrics->waits,
                             metrics->first_dead, metrics->future_dead};
    g_string_append(out, "parallel_exec_metrics(");
    put_int(out, metrics->calls);
    for (size_t i = 0; i < G_N_ELEMENTS(values); i++) {
        put_comma(out);
        put_float(out, values[i]);
    }
    g_string_append_c(out, ')');
}

static void put_candidate(GString *out, const struct fm_candidate *candidate)
{
    g_string_append(out, "candidate_par_conjunction(");
    put_string(out, candidate->path);
    if (candidate->push == NULL) {
        g_string_append(out, ", no");
    } else {
        g_string_append(out, ", yes(");
        put_push(out, candidate->push);
        g_string_append_c(out, ')');
    }
    g_string_append(out, ", 1, ");
    put_dependence(out, candidate);
    put_comma(out);
    put_goals(out, candidate->before);
    put_comma(out);
    put_float(out, candidate->cost_before);
    g_string_append(out, ", [");
    for (guint i = 0; i < candidate->conjuncts->len; i++) {
        g_string_append(out, i == 0 ? "seq_conj(" : ", seq_conj(");
        put_goals(out, candidate->conjuncts->pdata[i]);
        g_string_append_c(out, ')');
    }
    g_string_append(out, "], ");
    put_goals(out, candidate->after);
    put_comma(out);
    put_float(out, candidate->cost_after);
    put_comma(out);
    put_metrics(out, &candidate->metrics);
    g_string_append_c(out, ')');
}

/* --- procedures --- */

static void put_label(GString *out, const struct fm_proc_label *label)
{
    const char *first = label->kind == FM_LABEL_SPECIAL ? label->type_name : NULL;
    if (label->kind == FM_LABEL_SPECIAL)
        g_string_append(out, "str_special_proc_label(");
    else
        g_string_append_printf(out, "str_ordinary_proc_label(%s, ",
                               label->kind == FM_LABEL_FUNCTION ? "pf_function" : "pf_predicate");
    if (first != NULL) {
        put_string(out, first);
        put_comma(out);
    }
    put_string(out, label->decl_module);
    put_comma(out);
    put_string(out, label->def_module);
    put_comma(out);
    put_string(out, label->name);
    g_string_append_printf(out, ", %u, %u)", label->arity, label->mode);
}

/* Appends a 2-3-4 tree whose leaves are `height` deep. Each node has as few keys as its children
 * allow: a tree of height h holds at least 2^h - 1 and at most 4^h - 1 keys. */
static void put_names(GString *out, const struct fm_var_name *names, uint64_t count,
                      unsigned height)
{
    static const char *const words[] = {"", "two", "three", "four"};
    if (height == 0) {
        g_string_append(out, "empty");
        return;
    }
    uint64_t below = ((uint64_t)1 << 2 * (height - 1)) - 1;
    unsigned keys = 1;
    while (keys < 3 && count - keys > (keys + 1) * below)
        keys++;
    /* A node's keys are written before its children, so the sizes of all children are computed
     * first. */
    uint64_t sizes[4], left = count - keys, at = 0;
    for (unsigned i = 0; i <= keys; i++) {
        sizes[i] = left / (keys + 1 - i);
        left -= sizes[i];
    }
    g_string_append_printf(out, "%s(", words[keys]);
    for (unsigned i = 0; i < keys; i++) {
        at += sizes[i];
        g_string_append_printf(out, "%u, ", names[at].var);
        put_string(out, names[at].name);
        put_comma(out);
        at++;
    }
    at = 0;
    for (unsigned i = 0; i <= keys; i++) {
        if (i > 0)
            put_comma(out);
        put_names(out, names + at, sizes[i], height - 1);
        at += sizes[i] + 1;
    }
    g_string_append_c(out, ')');
}

static void put_all_names(GString *out, const GArray *names)
{
    unsigned height = 0;
    while ((((uint64_t)1 << 2 * height) - 1) < names->len)
        height++;
    put_names(out, (const struct fm_var_name *)(const void *)names->data, names->len, height);
}

static void put_proc(GString *out, const struct fm_feedback_proc *proc)
{
    put_label(out, &proc->label);
    g_string_append(out, " - candidate_par_conjunctions_proc(");
    put_all_names(out, proc->names);
    g_string_append(out, ", [");
    for (guint i = 0; i < proc->pushes->len; i++) {
        if (i > 0)
            put_comma(out);
        put_push(out, proc->pushes->pdata[i]);
    }
    g_string_append(out, "], [");
    for (guint i = 0; i < proc->candidates->len; i++) {
        if (i > 0)
            put_comma(out);
        put_candidate(out, proc->candidates->pdata[i]);
    }
    g_string_append(out, "])");
}

static void put_params(GString *out, const struct fm_feedback_params *params)
{
    static const char *const speedups[] = {"do_not_parallelise_dep_conjs",
                                           "parallelise_dep_conjs(estimate_speedup_naively)",
                                           "parallelise_dep_conjs(estimate_speedup_by_overlap)"};
    static const char *const algorithms[] = {"affbp_complete_branches", "affbp_complete_size",
                                             "affbp_complete", "affbp_greedy"};
    const int64_t costs[] = {params->spark_cost,       params->spark_delay,
                             params->barrier_cost,     params->signal_cost,
                             params->wait_cost,        params->wakeup_delay,
                             params->clique_threshold, params->call_site_threshold};
    g_string_append(out, "candidate_par_conjunctions_params(");
    put_float(out, params->desired_parallelism);
    put_comma(out);
    put_bool(out, params->intermodule);
    for (size_t i = 0; i < G_N_ELEMENTS(costs); i++) {
        put_comma(out);
        put_int(out, costs[i]);
    }
    put_comma(out);
    put_float(out, params->speedup_threshold);
    g_string_append_printf(out, ", %s, %s", speedups[params->speedup], algorithms[params->best]);
    if (params->best == FM_BEST_COMPLETE_BRANCHES || params->best == FM_BEST_COMPLETE_SIZE)
        g_string_append_printf(out, "(%" G_GINT64_FORMAT ")", (gint64)params->best_limit);
    g_string_append_c(out, ')');
}

void fm_feedback_write(const struct fm_feedback *feedback, GString *out)
{
    g_return_if_fail(feedback != NULL && out != NULL);
    g_string_append_printf(out, "Mercury Compiler Feedback\n%s\n%s\n", FM_FEEDBACK_VERSION,
                           feedback->program);
    if (!feedback->has_conjunctions) {
        g_string_append(out, "[].\n");
        return;
    }
    g_string_append(out, "[fcw_candidate_parallel_conjunctions("
                         "feedback_info_candidate_parallel_conjunctions(");
    put_params(out, &feedback->params);
    g_string_append(out, ", [");
    for (guint i = 0; i < feedback->procs->len; i++) {
        if (i > 0)
            put_comma(out);
        put_proc(out, feedback->procs->pdata[i]);
    }
    g_string_append(out, "]))].\n");
}

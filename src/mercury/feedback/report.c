/* SPDX-License-Identifier: Apache-2.0 */
/* The report. Its layout, down to the last blank, is that of Mercury's own program. */
#include <string.h>

#include "mercury/feedback/internal.h"

struct printing {
    GString *out;
    const struct fm_feedback_proc *proc;
    GString *path; /* path of the goal that is printed */
};

/* --- numbers --- */

/* Inserts a comma before every third character of the whole part, from the right. As in Mercury's
 * tool, a sign counts as a character. */
static void append_with_commas(GString *out, const char *text)
{
    size_t whole = strcspn(text, ".");
    for (size_t i = 0; i < whole; i++) {
        if (i > 0 && (whole - i) % 3 == 0)
            g_string_append_c(out, ',');
        g_string_append_c(out, text[i]);
    }
    g_string_append(out, text + whole);
}

static void append_decimals(GString *out, double value, int decimals)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE + 320], format[16];
    g_snprintf(format, sizeof format, "%%.%df", decimals);
    append_with_commas(out, g_ascii_formatd(text, sizeof text, format, value));
}

static void append_plain(GString *out, double value)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE + 320];
    g_string_append(out, g_ascii_formatd(text, sizeof text, "%f", value));
}

static void indent(GString *out, unsigned level)
{
    for (unsigned i = 0; i < level; i++)
        g_string_append(out, "  ");
}

static void line(GString *out, unsigned level, const char *text)
{
    indent(out, level);
    g_string_append_printf(out, "%s\n", text);
}

/* --- goals --- */

static void append_var(struct printing *p, uint32_t var)
{
    const char *name = fm_feedback_name(p->proc, var);
    if (var == FM_NO_VAR)
        g_string_append_c(p->out, '_');
    else if (name[0] != '\0')
        g_string_append(p->out, name);
    else
        g_string_append_printf(p->out, "V_%u", var);
}

static void append_args(struct printing *p, const struct fm_feedback_goal *goal, bool doubled)
{
    if (doubled)
        g_string_append_c(p->out, '(');
    for (uint32_t i = 0; i < goal->goal.arg_count; i++) {
        g_string_append(p->out, i == 0 ? "(" : ", ");
        append_var(p, goal->args[i]);
    }
    if (goal->goal.arg_count > 0)
        g_string_append_c(p->out, ')');
    if (doubled)
        g_string_append_c(p->out, ')');
}

static void append_two(struct printing *p, const char *before, uint32_t a, const char *between,
                       uint32_t b)
{
    g_string_append(p->out, before);
    append_var(p, a);
    g_string_append(p->out, between);
    append_var(p, b);
}

static void append_atomic(struct printing *p, const struct fm_feedback_goal *goal)
{
    const struct fm_goal *of = &goal->goal;
    switch (of->kind) {
    case FM_GOAL_CONSTRUCT:
    case FM_GOAL_PARTIAL_CONSTRUCT:
    case FM_GOAL_DECONSTRUCT:
    case FM_GOAL_PARTIAL_DECONSTRUCT:
        append_var(p, of->var);
        g_string_append_printf(
            p->out, " %s %s",
            of->kind == FM_GOAL_CONSTRUCT || of->kind == FM_GOAL_PARTIAL_CONSTRUCT ? "<=" : "=>",
            of->name);
        append_args(p, goal, false);
        break;
    case FM_GOAL_ASSIGN:
        append_two(p, "", of->var, " := ", of->var2);
        break;
    case FM_GOAL_CAST:
        append_two(p, "cast ", of->var2, " to ", of->var);
        break;
    case FM_GOAL_SIMPLE_TEST:
        append_two(p, "", of->var2, " == ", of->var);
        break;
    case FM_GOAL_FOREIGN:
        g_string_append(p->out, "foreign_proc");
        append_args(p, goal, true);
        break;
    case FM_GOAL_HIGHER_ORDER:
        append_var(p, of->var);
        append_args(p, goal, true);
        break;
    case FM_GOAL_METHOD:
        g_string_append_printf(p->out, "method %u of ", of->method);
        append_var(p, of->var);
        append_args(p, goal, true);
        break;
    case FM_GOAL_EVENT:
        g_string_append_printf(p->out, "event %s", of->name);
        append_args(p, goal, false);
        break;
    default:
        g_string_append_printf(p->out, "%s%s.%s",
                               of->kind == FM_GOAL_BUILTIN_CALL ? "builtin " : "", of->module,
                               of->name);
        append_args(p, goal, false);
    }
}

void fm_feedback_append_goal(GString *out, const struct fm_feedback_proc *proc,
                             const struct fm_feedback_goal *goal)
{
    static const char *const kinds[] = {
        "", "conjunction", "disjunction", "switch", "if-then-else", "negation", "scope"};
    struct printing p = {.out = out, .proc = proc};
    if (fm_goal_is_atomic(&goal->goal))
        append_atomic(&p, goal);
    else
        g_string_append(out, kinds[goal->goal.kind]);
}

static void print_times(struct printing *p, const GArray *times, const char *title,
                        const char *prefix, unsigned level)
{
    if (times->len == 0)
        return;
    indent(p->out, level);
    g_string_append_printf(p->out, "%s%s\n", prefix, title);
    for (guint i = 0; i < times->len; i++) {
        const struct fm_var_time *time = &g_array_index(times, struct fm_var_time, i);
        indent(p->out, level);
        g_string_append_printf(p->out, "%s    ", prefix);
        append_var(p, time->var);
        g_string_append(p->out, ": ");
        append_decimals(p->out, time->time, 2);
        g_string_append_c(p->out, '\n');
    }
}

static void print_head(struct printing *p, const struct fm_feedback_goal *goal, unsigned level)
{
    bool conjunction = goal->goal.kind == FM_GOAL_CONJ;
    const char *prefix = conjunction ? "% conjunction: " : "% ";
    indent(p->out, level);
    g_string_append_printf(p->out, "%s%s\n", prefix,
                           p->path->len == 0 ? "root goal" : p->path->str);
    indent(p->out, level);
    g_string_append_printf(p->out, "%s%s\n", prefix, fm_detism_name(goal->goal.detism));
    indent(p->out, level);
    g_string_append_printf(p->out, "%scost: ", prefix);
    append_decimals(p->out, goal->cost, 2);
    g_string_append(p->out,
                    goal->above_threshold ? " (above threshold)\n" : " (not above threshold)\n");
    print_times(p, goal->productions, "Productions:", prefix, level);
    print_times(p, goal->consumptions, "Consumptions:", prefix, level);
    if (conjunction)
        g_string_append_c(p->out, '\n');
}

static void print_goal(struct printing *p, const struct fm_feedback_goal *goal, unsigned level);

/* Prints a goal one step further down. */
static void print_at(struct printing *p, const struct fm_feedback_goal *goal, const char *step,
                     guint number, const char *end, unsigned level)
{
    gsize length = p->path->len;
    g_string_append(p->path, step);
    if (number > 0)
        g_string_append_printf(p->path, "%u", number);
    g_string_append(p->path, end);
    print_goal(p, goal, level);
    g_string_truncate(p->path, length);
}

/* Prints goals in a row, numbered from `first`. */
static void print_row(struct printing *p, const GPtrArray *goals, guint first, unsigned level)
{
    for (guint i = 0; i < goals->len; i++) {
        if (i > 0)
            line(p->out, level, ",");
        print_at(p, goals->pdata[i], "c", first + i, ";", level);
    }
}

static void print_switch(struct printing *p, const struct fm_feedback_goal *goal, unsigned level)
{
    indent(p->out, level);
    g_string_append_printf(p->out, "switch_can_%sfail_rep switch on ",
                           goal->goal.can_fail ? "" : "not_");
    append_var(p, goal->goal.var);
    g_string_append_c(p->out, '\n');
    line(p->out, level, "(");
    for (guint i = 0; i < goal->children->len; i++) {
        const struct fm_feedback_goal *arm = goal->children->pdata[i];
        if (i > 0)
            line(p->out, level + 1, ";");
        for (uint32_t f = 0; f < arm->goal.functor_count; f++) {
            indent(p->out, level + 2);
            g_string_append_printf(p->out, "%% case %s/%u\n", arm->functors[f].name,
                                   arm->functors[f].arity);
        }
        print_at(p, arm, "s", i + 1, "-na;", level + 2);
    }
    line(p->out, level, ")");
}

static void print_compound(struct printing *p, const struct fm_feedback_goal *goal, unsigned level)
{
    static const char *const branches[] = {"?;", "t;", "e;"};
    switch (goal->goal.kind) {
    case FM_GOAL_SWITCH:
        print_switch(p, goal, level);
        return;
    case FM_GOAL_NEGATION:
        line(p->out, level, "not (");
        break;
    case FM_GOAL_SCOPE:
        line(p->out, level, goal->goal.cut ? "scope cut (" : "scope (");
        break;
    default:
        line(p->out, level, "(");
    }
    for (guint i = 0; i < goal->children->len; i++) {
        const struct fm_feedback_goal *child = goal->children->pdata[i];
        if (i > 0)
            line(p->out, level, goal->goal.kind == FM_GOAL_ITE && i == 1 ? "->" : ";");
        if (goal->goal.kind == FM_GOAL_DISJ)
            print_at(p, child, "d", i + 1, ";", level + 1);
        else if (goal->goal.kind == FM_GOAL_ITE)
            print_at(p, child, branches[MIN(i, 2u)], 0, "", level + 1);
        else if (goal->goal.kind == FM_GOAL_NEGATION)
            print_at(p, child, "~;", 0, "", level + 1);
        else
            print_at(p, child, goal->goal.cut ? "q!;" : "q;", 0, "", level + 1);
    }
    line(p->out, level, ")");
}

static void print_goal(struct printing *p, const struct fm_feedback_goal *goal, unsigned level)
{
    print_head(p, goal, level);
    if (fm_goal_is_atomic(&goal->goal)) {
        indent(p->out, level);
        append_atomic(p, goal);
        g_string_append_c(p->out, '\n');
    } else if (goal->goal.kind != FM_GOAL_CONJ) {
        print_compound(p, goal, level);
    } else if (goal->children->len == 0) {
        line(p->out, level, "true");
    } else {
        print_row(p, goal->children, 1, level);
    }
}

/* --- candidates --- */

static void print_conjunction_head(struct printing *p, double cost, unsigned level)
{
    indent(p->out, level);
    g_string_append_printf(p->out, "%% conjunction: %s\n", p->path->str);
    indent(p->out, level);
    g_string_append(p->out, "% Cost: ");
    append_decimals(p->out, cost, 2);
    g_string_append(p->out, "\n\n");
}

static void print_conjunct(struct printing *p, const GPtrArray *goals, guint outer, guint number)
{
    gsize length = p->path->len;
    double cost = 0;
    g_string_append_printf(p->path, "c%u;c%u;", outer, number);
    for (guint i = 0; i < goals->len; i++)
        cost += ((const struct fm_feedback_goal *)goals->pdata[i])->cost;
    if (goals->len == 1) {
        print_goal(p, goals->pdata[0], 5);
    } else {
        print_conjunction_head(p, cost, 5);
        print_row(p, goals, 1, 5);
    }
    g_string_truncate(p->path, length);
}

static void print_push(GString *out, const struct fm_push *push, unsigned targets_level)
{
    g_string_append_printf(out,
                           "      PushGoal: %s, lo %" G_GINT64_FORMAT ", hi %" G_GINT64_FORMAT "\n",
                           push->path, (gint64)push->low, (gint64)push->high);
    for (guint i = 0; i < push->targets->len; i++)
        line(out, targets_level, push->targets->pdata[i]);
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void print_dependence(struct printing *p, const struct fm_candidate *candidate)
{
    if (!candidate->dependent) {
        g_string_append(p->out, "      Dependent: no\n");
        return;
    }
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (guint i = 0; i < candidate->shared->len; i++) {
        uint32_t var = g_array_index(candidate->shared, uint32_t, i);
        const char *name = fm_feedback_name(p->proc, var);
        g_ptr_array_add(names, name[0] == '\0' ? g_strdup_printf("V_%u", var) : g_strdup(name));
    }
    g_ptr_array_sort(names, compare_texts);
    g_string_append(p->out, "      Dependent: on ");
    for (guint i = 0; i < names->len; i++) {
        if (i > 0 && strcmp(names->pdata[i], names->pdata[i - 1]) == 0)
            continue;
        g_string_append_printf(p->out, "%s%s", i == 0 ? "" : ", ", (char *)names->pdata[i]);
    }
    g_string_append_c(p->out, '\n');
}

static void print_metrics(GString *out, const struct fm_parallel_metrics *m)
{
    double overheads = m->spark + m->barrier + m->signals + m->waits;
    const struct {
        const char *label;
        double value;
        int decimals;
    } rows[] = {
        {"SeqTime", m->sequential, 2},
        {"ParTime", m->parallel, 2},
        {"SparkCost", m->spark, 2},
        {"BarrierCost", m->barrier, 2},
        {"SignalsCost", m->signals, 2},
        {"WaitsCost", m->waits, 2},
        {"ParOverheads total", overheads, 2},
        {"Speedup", m->parallel == 0 ? 0 : m->sequential / m->parallel, 4},
        {"Time saving", m->sequential - m->parallel, 2},
        {"First conj dead time", m->first_dead, 2},
        {"Future dead time", m->future_dead, 2},
        {"Total dead time", m->first_dead + m->future_dead, 2},
    };
    char calls[32];
    g_snprintf(calls, sizeof calls, "%" G_GINT64_FORMAT, (gint64)m->calls);
    g_string_append(out, "      NumCalls: ");
    append_with_commas(out, calls);
    g_string_append_c(out, '\n');
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        g_string_append_printf(out, "      %s: ", rows[i].label);
        append_decimals(out, rows[i].value, rows[i].decimals);
        g_string_append_c(out, '\n');
    }
    g_string_append_c(out, '\n');
}

static void print_candidate(struct printing *p, const struct fm_candidate *candidate)
{
    guint outer = candidate->before->len + 1;
    g_string_assign(p->path, candidate->path);
    g_string_append_printf(p->out, "      Path: %s\n", candidate->path);
    if (candidate->push != NULL)
        print_push(p->out, candidate->push, 8);
    print_dependence(p, candidate);
    print_metrics(p->out, &candidate->metrics);
    g_string_append(p->out, "      Goals before:\n");
    print_conjunction_head(p, candidate->cost_before, 4);
    print_row(p, candidate->before, 1, 4);
    g_string_append(p->out, "\n      Parallel conjunction:\n        (\n");
    for (guint i = 0; i < candidate->conjuncts->len; i++) {
        if (i > 0)
            line(p->out, 4, "&");
        print_conjunct(p, candidate->conjuncts->pdata[i], outer, i + 1);
    }
    g_string_append(p->out, "        )\n\n      Goals after:\n");
    print_row(p, candidate->after, outer + 1, 4);
    g_string_append_c(p->out, '\n');
}

static void print_proc(struct printing *p, const struct fm_feedback_proc *proc)
{
    p->proc = proc;
    g_string_append(p->out, "    ");
    fm_proc_label_append(p->out, &proc->label);
    g_string_append_c(p->out, '\n');
    for (guint i = 0; i < proc->pushes->len; i++) {
        g_string_append_c(p->out, '\n');
        print_push(p->out, proc->pushes->pdata[i], 4);
    }
    g_string_append_c(p->out, '\n');
    for (guint i = 0; i < proc->candidates->len; i++)
        print_candidate(p, proc->candidates->pdata[i]);
}

/* --- the whole --- */

static void print_best(GString *out, const struct fm_feedback_params *params)
{
    static const char *const words[] = {"complete-branches", "complete-size", "complete", "greedy"};
    g_string_append_printf(out, "    BestParAlgorithm:          %s", words[params->best]);
    if (params->best == FM_BEST_COMPLETE_BRANCHES || params->best == FM_BEST_COMPLETE_SIZE)
        g_string_append_printf(out, "(%" G_GINT64_FORMAT ")", (gint64)params->best_limit);
    g_string_append_c(out, '\n');
}

static void print_params(GString *out, const struct fm_feedback_params *params)
{
    static const char *const dependent[] = {"no", "yes, pretend they're independent",
                                            "yes, use overlap calculation"};
    const struct {
        const char *label;
        int64_t value;
    } rows[] = {
        {"Sparking cost:", params->spark_cost},
        {"Sparking delay:", params->spark_delay},
        {"Barrier cost:", params->barrier_cost},
        {"Future signal cost:", params->signal_cost},
        {"Future wait cost:", params->wait_cost},
        {"Context wakeup delay:", params->wakeup_delay},
        {"Clique threshold:", params->clique_threshold},
        {"Call site threshold:", params->call_site_threshold},
    };
    g_string_append(out, "    Desired parallelism:       ");
    append_plain(out, params->desired_parallelism);
    g_string_append_printf(out, "\n    Intermodule var use:       %s\n",
                           params->intermodule ? "yes" : "no");
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        g_string_append_printf(out, "    %-26s %" G_GINT64_FORMAT "\n", rows[i].label,
                               (gint64)rows[i].value);
    g_string_append(out, "    Speedup threshold:         ");
    append_plain(out, params->speedup_threshold);
    g_string_append_printf(out, "\n    Dependent conjs:           %s\n",
                           dependent[params->speedup]);
    print_best(out, params);
}

void fm_feedback_report(const struct fm_feedback *feedback, GString *out)
{
    g_return_if_fail(feedback != NULL && out != NULL);
    struct printing p = {.out = out, .path = g_string_new(NULL)};
    guint conjunctions = 0;
    g_string_append_printf(out, "Feedback report for %s:\n\n", feedback->program);
    if (!feedback->has_conjunctions) {
        g_string_append(out, "no report available.\n");
        g_string_free(p.path, TRUE);
        return;
    }
    for (guint i = 0; i < feedback->procs->len; i++)
        conjunctions +=
            ((const struct fm_feedback_proc *)feedback->procs->pdata[i])->candidates->len;
    g_string_append(out, "  Candidate parallel conjunctions:\n");
    print_params(out, &feedback->params);
    g_string_append_printf(out, "    # of par procs with conjs: %u\n", feedback->procs->len);
    g_string_append_printf(out, "    # of par conjunctions:     %u\n", conjunctions);
    g_string_append(out, "    Parallel conjunctions:\n\n");
    for (guint i = 0; i < feedback->procs->len; i++)
        print_proc(&p, feedback->procs->pdata[i]);
    g_string_free(p.path, TRUE);
}

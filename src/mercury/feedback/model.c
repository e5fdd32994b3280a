/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "mercury/feedback/internal.h"

void fm_feedback_params_default(struct fm_feedback_params *ret)
{
    *ret = (struct fm_feedback_params){
        .desired_parallelism = 8,
        .spark_cost = 100,
        .spark_delay = 1000,
        .barrier_cost = 100,
        .signal_cost = 100,
        .wait_cost = 200,
        .wakeup_delay = 1000,
        .clique_threshold = 2000,
        .call_site_threshold = 2000,
        .speedup_threshold = 1.01,
        .speedup = FM_SPEEDUP_OVERLAP,
        .best = FM_BEST_COMPLETE_BRANCHES,
        .best_limit = 1000,
    };
}

bool fm_feedback_parse_speedup(const char *text, enum fm_speedup_algorithm *ret)
{
    g_return_val_if_fail(text != NULL && ret != NULL, false);
    bool overlap = strcmp(text, "overlap") == 0;
    *ret = overlap ? FM_SPEEDUP_OVERLAP : FM_SPEEDUP_NAIVE;
    return overlap || strcmp(text, "naive") == 0;
}

static void skip_blanks(const char **at)
{
    while (g_ascii_isspace(**at))
        (*at)++;
}

static bool parse_limit(const char *at, int64_t *ret)
{
    char *end;
    skip_blanks(&at);
    if (*at++ != '(')
        return false;
    skip_blanks(&at);
    if (!g_ascii_isdigit(*at))
        return false;
    guint64 number = g_ascii_strtoull(at, &end, 10);
    if (number > G_MAXINT64 / 2)
        return false;
    *ret = (int64_t)number;
    at = end;
    skip_blanks(&at);
    if (*at++ != ')')
        return false;
    skip_blanks(&at);
    return *at == '\0';
}

bool fm_feedback_parse_best(const char *text, enum fm_best_algorithm *ret, int64_t *ret_limit)
{
    g_return_val_if_fail(text != NULL && ret != NULL && ret_limit != NULL, false);
    static const struct {
        const char *word;
        enum fm_best_algorithm algorithm;
        bool limit;
    } words[] = {{"greedy", FM_BEST_GREEDY, false},
                 {"complete", FM_BEST_COMPLETE, false},
                 {"complete-size", FM_BEST_COMPLETE_SIZE, true},
                 {"complete-branches", FM_BEST_COMPLETE_BRANCHES, true}};
    skip_blanks(&text);
    size_t length = strcspn(text, " \t\r\n\v\f(");
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        if (strlen(words[i].word) != length || strncmp(text, words[i].word, length) != 0)
            continue;
        const char *rest = text + length;
        *ret = words[i].algorithm;
        *ret_limit = 0;
        if (words[i].limit)
            return parse_limit(rest, ret_limit);
        skip_blanks(&rest);
        return *rest == '\0';
    }
    return false;
}

/* --- memory --- */

static void goal_free(gpointer data)
{
    struct fm_feedback_goal *goal = data;
    g_ptr_array_unref(goal->children);
    g_array_unref(goal->productions);
    g_array_unref(goal->consumptions);
    g_free(goal->args);
    g_free(goal->bound);
    g_free(goal->functors);
    g_free(goal);
}

GPtrArray *fm_feedback_goals_new(void)
{
    return g_ptr_array_new_with_free_func(goal_free);
}

struct fm_feedback_goal *fm_feedback_goal_new(void)
{
    struct fm_feedback_goal *goal = g_new0(struct fm_feedback_goal, 1);
    goal->goal = (struct fm_goal){.parent = FM_NO_GOAL,
                                  .number = 1,
                                  .var = FM_NO_VAR,
                                  .var2 = FM_NO_VAR,
                                  .module = "",
                                  .name = "",
                                  .file = ""};
    goal->children = fm_feedback_goals_new();
    goal->productions = g_array_new(FALSE, FALSE, sizeof(struct fm_var_time));
    goal->consumptions = g_array_new(FALSE, FALSE, sizeof(struct fm_var_time));
    return goal;
}

static void push_free(gpointer data)
{
    struct fm_push *push = data;
    if (push == NULL)
        return;
    g_free(push->path);
    g_ptr_array_unref(push->targets);
    g_free(push);
}

struct fm_push *fm_push_new(const char *path, int64_t low, int64_t high)
{
    g_return_val_if_fail(path != NULL, NULL);
    struct fm_push *push = g_new0(struct fm_push, 1);
    push->path = g_strdup(path);
    push->low = low;
    push->high = high;
    push->targets = g_ptr_array_new_with_free_func(g_free);
    return push;
}

struct fm_push *fm_push_copy(const struct fm_push *push)
{
    struct fm_push *copy = fm_push_new(push->path, push->low, push->high);
    for (guint i = 0; i < push->targets->len; i++)
        g_ptr_array_add(copy->targets, g_strdup(push->targets->pdata[i]));
    return copy;
}

static void candidate_free(gpointer data)
{
    struct fm_candidate *candidate = data;
    g_free(candidate->path);
    push_free(candidate->push);
    g_array_unref(candidate->shared);
    g_ptr_array_unref(candidate->before);
    g_ptr_array_unref(candidate->after);
    g_ptr_array_unref(candidate->conjuncts);
    g_free(candidate);
}

struct fm_candidate *fm_candidate_new(void)
{
    struct fm_candidate *candidate = g_new0(struct fm_candidate, 1);
    candidate->shared = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    candidate->before = fm_feedback_goals_new();
    candidate->after = fm_feedback_goals_new();
    candidate->conjuncts = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
    return candidate;
}

void fm_feedback_proc_free(gpointer data)
{
    struct fm_feedback_proc *proc = data;
    g_array_unref(proc->names);
    g_ptr_array_unref(proc->pushes);
    g_ptr_array_unref(proc->candidates);
    g_free(proc);
}

struct fm_feedback_proc *fm_feedback_proc_new(void)
{
    struct fm_feedback_proc *proc = g_new0(struct fm_feedback_proc, 1);
    proc->names = g_array_new(FALSE, FALSE, sizeof(struct fm_var_name));
    proc->pushes = g_ptr_array_new_with_free_func(push_free);
    proc->candidates = g_ptr_array_new_with_free_func(candidate_free);
    return proc;
}

const char *fm_feedback_name(const struct fm_feedback_proc *proc, uint32_t var)
{
    for (guint low = 0, high = proc->names->len; low < high;) {
        guint middle = low + (high - low) / 2;
        const struct fm_var_name *name = &g_array_index(proc->names, struct fm_var_name, middle);
        if (name->var == var)
            return name->name;
        if (name->var < var)
            low = middle + 1;
        else
            high = middle;
    }
    return "";
}

struct fm_feedback *fm_feedback_new(const char *program)
{
    struct fm_feedback *feedback = g_new0(struct fm_feedback, 1);
    feedback->program = g_strdup(program);
    feedback->procs = g_ptr_array_new_with_free_func(fm_feedback_proc_free);
    feedback->strings = fm_strings_new();
    fm_feedback_params_default(&feedback->params);
    return feedback;
}

void fm_feedback_free(struct fm_feedback *feedback)
{
    if (feedback == NULL)
        return;
    g_ptr_array_unref(feedback->procs);
    fm_strings_free(feedback->strings);
    g_free(feedback->program);
    g_free(feedback);
}

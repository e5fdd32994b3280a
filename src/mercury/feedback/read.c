/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a feedback file: its lines, then the meaning of its term. */
#include <string.h>

#include "base/error.h"
#include "base/files/mapped.h"
#include "mercury/feedback/terms.h"

#define FILE_BYTES_MAX ((size_t)1 << 30)

/* --- candidates --- */

static bool get_push(struct fm_parsing *p, const struct fm_term *term, struct fm_push **ret)
{
    const char *path, *target;
    int64_t low, high;
    if (!fm_term_is(term, "push_goal", 4))
        return fm_term_wrong(p, term, "push_goal(PATH, LOW, HIGH, [PATH])");
    if (!fm_term_text(p, fm_term_arg(term, 0), &path) ||
        !fm_term_int(p, fm_term_arg(term, 1), &low) ||
        !fm_term_int(p, fm_term_arg(term, 2), &high) ||
        !fm_term_check_list(p, fm_term_arg(term, 3)))
        return false;
    *ret = fm_push_new(path, low, high);
    for (guint i = 0; i < fm_term_arg(term, 3)->args->len; i++) {
        if (!fm_term_text(p, fm_term_arg(fm_term_arg(term, 3), i), &target))
            return false;
        g_ptr_array_add((*ret)->targets, g_strdup(target));
    }
    return true;
}

static bool get_dependence(struct fm_parsing *p, const struct fm_term *term,
                           struct fm_candidate *candidate)
{
    uint32_t *vars = NULL, count = 0;
    if (fm_term_is(term, "conjuncts_are_independent", 0))
        return true;
    if (!fm_term_is(term, "conjuncts_are_dependent", 1) ||
        !fm_term_is(fm_term_arg(term, 0), "sol", 1))
        return fm_term_wrong(p, term,
                             "conjuncts_are_independent or conjuncts_are_dependent(sol([...]))");
    candidate->dependent = true;
    bool ok = fm_term_vars(p, fm_term_arg(fm_term_arg(term, 0), 0), &vars, &count);
    if (ok && count > 0)
        g_array_append_vals(candidate->shared, vars, count);
    g_free(vars);
    return ok;
}

static bool get_metrics(struct fm_parsing *p, const struct fm_term *term,
                        struct fm_parallel_metrics *ret)
{
    double *const values[] = {&ret->sequential, &ret->parallel,   &ret->spark,
                              &ret->barrier,    &ret->signals,    &ret->waits,
                              &ret->first_dead, &ret->future_dead};
    if (!fm_term_is(term, "parallel_exec_metrics", 9))
        return fm_term_wrong(p, term, "parallel_exec_metrics of nine numbers");
    if (!fm_term_int(p, fm_term_arg(term, 0), &ret->calls))
        return false;
    for (guint i = 0; i < G_N_ELEMENTS(values); i++) {
        if (!fm_term_float(p, fm_term_arg(term, i + 1), values[i]))
            return false;
    }
    return true;
}

static bool get_conjuncts(struct fm_parsing *p, const struct fm_term *term, GPtrArray *to)
{
    if (!fm_term_check_list(p, term))
        return false;
    for (guint i = 0; i < term->args->len; i++) {
        GPtrArray *conjunct = fm_feedback_goals_new();
        g_ptr_array_add(to, conjunct);
        if (!fm_term_is(fm_term_arg(term, i), "seq_conj", 1))
            return fm_term_wrong(p, fm_term_arg(term, i), "seq_conj([GOAL])");
        if (!fm_read_goals(p, fm_term_arg(fm_term_arg(term, i), 0), conjunct))
            return false;
    }
    return true;
}

static bool get_candidate(struct fm_parsing *p, const struct fm_term *term, GPtrArray *to)
{
    const char *path;
    int64_t first;
    if (!fm_term_is(term, "candidate_par_conjunction", 10))
        return fm_term_wrong(p, term, "candidate_par_conjunction of ten parts");
    struct fm_candidate *candidate = fm_candidate_new();
    g_ptr_array_add(to, candidate);
    if (!fm_term_text(p, fm_term_arg(term, 0), &path))
        return false;
    candidate->path = g_strdup(path);
    if (!fm_term_is(fm_term_arg(term, 1), "no", 0) &&
        (!fm_term_is(fm_term_arg(term, 1), "yes", 1) ||
         !get_push(p, fm_term_arg(fm_term_arg(term, 1), 0), &candidate->push)))
        return fm_term_wrong(p, fm_term_arg(term, 1), "no or yes(PUSH)");
    return fm_term_int(p, fm_term_arg(term, 2), &first) &&
           get_dependence(p, fm_term_arg(term, 3), candidate) &&
           fm_read_goals(p, fm_term_arg(term, 4), candidate->before) &&
           fm_term_float(p, fm_term_arg(term, 5), &candidate->cost_before) &&
           get_conjuncts(p, fm_term_arg(term, 6), candidate->conjuncts) &&
           fm_read_goals(p, fm_term_arg(term, 7), candidate->after) &&
           fm_term_float(p, fm_term_arg(term, 8), &candidate->cost_after) &&
           get_metrics(p, fm_term_arg(term, 9), &candidate->metrics);
}

/* --- procedures --- */

static bool get_label(struct fm_parsing *p, const struct fm_term *term, struct fm_proc_label *ret)
{
    static const char *const words[] = {"pf_predicate", "pf_function"};
    unsigned function = 0;
    bool special = fm_term_is(term, "str_special_proc_label", 6);
    if (!special && !fm_term_is(term, "str_ordinary_proc_label", 6))
        return fm_term_wrong(p, term, "the label of a procedure");
    ret->type_name = "";
    if (special ? !fm_term_text(p, fm_term_arg(term, 0), &ret->type_name)
                : !fm_term_word(p, fm_term_arg(term, 0), words, G_N_ELEMENTS(words), &function))
        return false;
    ret->kind = special ? FM_LABEL_SPECIAL : function ? FM_LABEL_FUNCTION : FM_LABEL_PREDICATE;
    return fm_term_text(p, fm_term_arg(term, 1), &ret->decl_module) &&
           fm_term_text(p, fm_term_arg(term, 2), &ret->def_module) &&
           fm_term_text(p, fm_term_arg(term, 3), &ret->name) &&
           fm_term_u32(p, fm_term_arg(term, 4), &ret->arity) &&
           fm_term_u32(p, fm_term_arg(term, 5), &ret->mode);
}

/* Reads a 2-3-4 tree of any shape. */
static bool get_names(struct fm_parsing *p, const struct fm_term *term, GArray *to)
{
    static const char *const words[] = {"empty", "two", "three", "four"};
    unsigned keys = 0;
    while (keys < 4 && !fm_term_is(term, words[keys], keys == 0 ? 0 : 3 * keys + 1))
        keys++;
    if (keys == 4)
        return fm_term_wrong(p, term, "a 2-3-4 tree");
    for (unsigned i = 0; keys > 0 && i <= keys; i++) {
        struct fm_var_name name = {0};
        if (!get_names(p, fm_term_arg(term, 2 * keys + i), to))
            return false;
        if (i == keys)
            break;
        if (!fm_term_u32(p, fm_term_arg(term, 2 * i), &name.var) ||
            !fm_term_text(p, fm_term_arg(term, 2 * i + 1), &name.name))
            return false;
        if (to->len > 0 && g_array_index(to, struct fm_var_name, to->len - 1).var >= name.var)
            return fm_term_wrong(p, term, "variables in ascending order");
        g_array_append_val(to, name);
    }
    return true;
}

static bool get_proc(struct fm_parsing *p, const struct fm_term *term)
{
    if (!fm_term_is(term, "-", 2) ||
        !fm_term_is(fm_term_arg(term, 1), "candidate_par_conjunctions_proc", 3))
        return fm_term_wrong(p, term,
                             "LABEL - candidate_par_conjunctions_proc(NAMES, PUSHES, CANDIDATES)");
    const struct fm_term *of = fm_term_arg(term, 1);
    struct fm_feedback_proc *proc = fm_feedback_proc_new();
    g_ptr_array_add(p->feedback->procs, proc);
    if (!get_label(p, fm_term_arg(term, 0), &proc->label) ||
        !get_names(p, fm_term_arg(of, 0), proc->names) ||
        !fm_term_check_list(p, fm_term_arg(of, 1)) || !fm_term_check_list(p, fm_term_arg(of, 2)))
        return false;
    for (guint i = 0; i < fm_term_arg(of, 1)->args->len; i++) {
        struct fm_push *push = NULL;
        bool ok = get_push(p, fm_term_arg(fm_term_arg(of, 1), i), &push);
        if (push != NULL)
            g_ptr_array_add(proc->pushes, push);
        if (!ok)
            return false;
    }
    for (guint i = 0; i < fm_term_arg(of, 2)->args->len; i++) {
        if (!get_candidate(p, fm_term_arg(fm_term_arg(of, 2), i), proc->candidates))
            return false;
    }
    return true;
}

/* --- parameters --- */

static bool get_speedup(struct fm_parsing *p, const struct fm_term *term,
                        enum fm_speedup_algorithm *ret)
{
    static const char *const words[] = {"estimate_speedup_naively", "estimate_speedup_by_overlap"};
    unsigned which;
    *ret = FM_SPEEDUP_INDEPENDENT;
    if (fm_term_is(term, "do_not_parallelise_dep_conjs", 0))
        return true;
    if (!fm_term_is(term, "parallelise_dep_conjs", 1))
        return fm_term_wrong(p, term,
                             "do_not_parallelise_dep_conjs or parallelise_dep_conjs(ALGORITHM)");
    if (!fm_term_word(p, fm_term_arg(term, 0), words, G_N_ELEMENTS(words), &which))
        return false;
    *ret = which == 0 ? FM_SPEEDUP_NAIVE : FM_SPEEDUP_OVERLAP;
    return true;
}

static bool get_best(struct fm_parsing *p, const struct fm_term *term,
                     struct fm_feedback_params *params)
{
    bool branches = fm_term_is(term, "affbp_complete_branches", 1),
         size = fm_term_is(term, "affbp_complete_size", 1);
    params->best_limit = 0;
    if (branches || size) {
        params->best = branches ? FM_BEST_COMPLETE_BRANCHES : FM_BEST_COMPLETE_SIZE;
        return fm_term_int(p, fm_term_arg(term, 0), &params->best_limit);
    }
    params->best = fm_term_is(term, "affbp_greedy", 0) ? FM_BEST_GREEDY : FM_BEST_COMPLETE;
    return params->best == FM_BEST_GREEDY || fm_term_is(term, "affbp_complete", 0) ||
           fm_term_wrong(p, term, "an algorithm for the best parallelisation");
}

static bool get_params(struct fm_parsing *p, const struct fm_term *term,
                       struct fm_feedback_params *params)
{
    static const char *const booleans[] = {"no", "yes"};
    int64_t *const costs[] = {&params->spark_cost,       &params->spark_delay,
                              &params->barrier_cost,     &params->signal_cost,
                              &params->wait_cost,        &params->wakeup_delay,
                              &params->clique_threshold, &params->call_site_threshold};
    unsigned intermodule;
    if (!fm_term_is(term, "candidate_par_conjunctions_params", 13))
        return fm_term_wrong(p, term, "candidate_par_conjunctions_params of thirteen parts");
    if (!fm_term_float(p, fm_term_arg(term, 0), &params->desired_parallelism) ||
        !fm_term_word(p, fm_term_arg(term, 1), booleans, G_N_ELEMENTS(booleans), &intermodule))
        return false;
    params->intermodule = intermodule == 1;
    for (guint i = 0; i < G_N_ELEMENTS(costs); i++) {
        if (!fm_term_int(p, fm_term_arg(term, i + 2), costs[i]))
            return false;
    }
    return fm_term_float(p, fm_term_arg(term, 10), &params->speedup_threshold) &&
           get_speedup(p, fm_term_arg(term, 11), &params->speedup) &&
           get_best(p, fm_term_arg(term, 12), params);
}

static bool get_component(struct fm_parsing *p, const struct fm_term *term)
{
    if (!fm_term_is(term, "fcw_candidate_parallel_conjunctions", 1) ||
        !fm_term_is(fm_term_arg(term, 0), "feedback_info_candidate_parallel_conjunctions", 2))
        return fm_term_wrong(p, term, "fcw_candidate_parallel_conjunctions(...)");
    const struct fm_term *of = fm_term_arg(term, 0);
    if (p->feedback->has_conjunctions) {
        g_set_error(p->error, FM_ERROR, FM_ERROR_FORMAT,
                    "%s: File contains more than one candidate_parallel_conjunctions component",
                    p->name);
        return false;
    }
    p->feedback->has_conjunctions = true;
    if (!get_params(p, fm_term_arg(of, 0), &p->feedback->params) ||
        !fm_term_check_list(p, fm_term_arg(of, 1)))
        return false;
    for (guint i = 0; i < fm_term_arg(of, 1)->args->len; i++) {
        if (!get_proc(p, fm_term_arg(fm_term_arg(of, 1), i)))
            return false;
    }
    return true;
}

/* --- the file --- */

static bool set_error(struct fm_parsing *p, int code, const char *text)
{
    g_set_error(p->error, FM_ERROR, code, "%s: %s", p->name, text);
    return false;
}

/* Takes the next line, without its newline; the caller frees it. */
static bool take_line(struct fm_parsing *p, char **ret)
{
    const char *newline = memchr(p->at, '\n', (size_t)(p->end - p->at));
    if (newline == NULL)
        return set_error(p, FM_ERROR_TRUNCATED, "Unexpected end of file");
    *ret = g_strndup(p->at, (gsize)(newline - p->at));
    p->at = newline + 1;
    p->line++;
    return true;
}

static bool read_lines(struct fm_parsing *p, const char *program)
{
    g_autofree char *first = NULL, *version = NULL, *name = NULL;
    if (!take_line(p, &first))
        return false;
    if (strcmp(first, "Mercury Compiler Feedback") != 0)
        return set_error(p, FM_ERROR_FORMAT, "Incorrect file format");
    if (!take_line(p, &version))
        return false;
    if (strcmp(version, FM_FEEDBACK_VERSION) != 0)
        return set_error(p, FM_ERROR_VERSION,
                         "Incorrect file format version; expected " FM_FEEDBACK_VERSION);
    if (!take_line(p, &name))
        return false;
    p->feedback->program = g_strdup(g_strstrip(name));
    if (program == NULL || strcmp(program, p->feedback->program) == 0)
        return true;
    g_set_error(p->error, FM_ERROR, FM_ERROR_FORMAT,
                "%s: The name of the program the feedback is for didn't match, is this the right "
                "feedback file?\nExpected: '%s' Got: '%s'",
                p->name, program, p->feedback->program);
    return false;
}

static bool read_term(struct fm_parsing *p)
{
    fm_parsing_skip_blanks(p);
    if (p->at == p->end)
        return set_error(p, FM_ERROR_TRUNCATED, "Unexpected end of file");
    struct fm_term *term = fm_term_parse(p);
    bool ok =
        term != NULL && fm_parsing_expect(p, '.', "the last term") && fm_term_check_list(p, term);
    for (guint i = 0; ok && i < term->args->len; i++)
        ok = get_component(p, fm_term_arg(term, i));
    fm_term_free(term);
    return ok;
}

bool fm_feedback_read_text(const char *name, const char *text, size_t size, const char *program,
                           struct fm_feedback **ret, GError **error)
{
    g_return_val_if_fail(name != NULL && ret != NULL, false);
    GError *found = NULL;
    g_autofree char *wanted = program == NULL ? NULL : g_strstrip(g_strdup(program));
    struct fm_parsing p = {
        .name = name, .at = text, .end = text + size, .line = 1, .error = &found};
    p.feedback = fm_feedback_new(NULL);
    if (read_lines(&p, wanted) && read_term(&p)) {
        *ret = p.feedback;
        return true;
    }
    fm_feedback_free(p.feedback);
    g_propagate_error(error, found);
    return false;
}

bool fm_feedback_read(const char *path, const char *program, struct fm_feedback **ret,
                      GError **error)
{
    g_return_val_if_fail(path != NULL && ret != NULL, false);
    g_autoptr(FmMappedFile) file = NULL;
    if (!g_file_test(path, G_FILE_TEST_EXISTS)) {
        g_set_error(error, FM_ERROR, FM_ERROR_NOT_FOUND,
                    "%s: can't open input file: No such file or directory", path);
        return false;
    }
    if (!fm_mapped_file_open(path, &file, error))
        return false;
    if (file->size > FILE_BYTES_MAX) {
        g_set_error(error, FM_ERROR, FM_ERROR_LIMIT, "%s: has %zu bytes, expected at most %zu",
                    path, file->size, FILE_BYTES_MAX);
        return false;
    }
    const char *text = file->bytes == NULL ? "" : (const char *)file->bytes;
    bool ok = fm_feedback_read_text(path, text, file->size, program, ret, error);
    if (ok && !fm_mapped_file_check(file, error)) {
        fm_feedback_free(*ret);
        ok = false;
    }
    return ok;
}

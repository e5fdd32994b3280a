/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a feedback file: terms first, then what they mean. Terms nest at most TERM_DEPTH_MAX deep,
 * enough for goals that nest FM_FEEDBACK_DEPTH_MAX deep, so both may recurse. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/mapped.h"
#include "feedback/internal.h"

#define TERM_DEPTH_MAX (4 * FM_FEEDBACK_DEPTH_MAX)
#define FILE_BYTES_MAX ((size_t)1 << 30)

enum term_kind { TERM_COMPOUND, TERM_LIST, TERM_INT, TERM_FLOAT, TERM_STRING };

struct term {
    enum term_kind kind;
    unsigned line;
    char *text;      /* name or string */
    GPtrArray *args; /* struct term */
    int64_t whole;
    double number;
};

struct parsing {
    const char *name; /* of the file */
    const char *at, *end;
    unsigned line, depth;
    GError **error;
    struct fm_feedback *feedback;
};

static bool fail(struct parsing *p, unsigned line, const char *format, ...) FM_PRINTF(3, 4);
static bool fail(struct parsing *p, unsigned line, const char *format, ...)
{
    if (p->error == NULL || *p->error != NULL)
        return false;
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error(p->error, FM_ERROR, FM_ERROR_FORMAT, "%s: %s on line %u", p->name, text, line);
    return false;
}

/* --- terms --- */

static void term_free(gpointer data)
{
    struct term *term = data;
    if (term == NULL)
        return;
    g_free(term->text);
    if (term->args != NULL)
        g_ptr_array_unref(term->args);
    g_free(term);
}

static struct term *term_new(const struct parsing *p, enum term_kind kind)
{
    struct term *term = g_new0(struct term, 1);
    term->kind = kind;
    term->line = p->line;
    return term;
}

static void skip_blanks(struct parsing *p)
{
    for (; p->at < p->end; p->at++) {
        if (*p->at == '%') {
            while (p->at < p->end && *p->at != '\n')
                p->at++;
        }
        if (p->at == p->end || !g_ascii_isspace(*p->at))
            return;
        p->line += *p->at == '\n';
    }
}

static bool next_is(struct parsing *p, char wanted)
{
    skip_blanks(p);
    if (p->at == p->end || *p->at != wanted)
        return false;
    p->at++;
    return true;
}

static bool expect(struct parsing *p, char wanted, const char *after)
{
    if (next_is(p, wanted))
        return true;
    if (p->at == p->end)
        return fail(p, p->line, "unexpected end of file, expected '%c' after %s", wanted, after);
    return fail(p, p->line, "found byte %u, expected '%c' after %s", (unsigned char)*p->at, wanted,
                after);
}

static bool parse_escape(struct parsing *p, GString *out)
{
    static const char letters[] = "abefnrtv\\'\"";
    static const char meant[] = "\a\b\033\f\n\r\t\v\\'\"";
    if (p->at == p->end)
        return fail(p, p->line, "unexpected end of file in a string");
    const char *found = *p->at == '\0' ? NULL : strchr(letters, *p->at);
    if (found != NULL) {
        g_string_append_c(out, meant[found - letters]);
        p->at++;
        return true;
    }
    unsigned value = 0, digits = 0;
    for (; p->at < p->end && *p->at >= '0' && *p->at <= '7' && digits < 7; p->at++, digits++)
        value = value * 8 + (unsigned)(*p->at - '0');
    if (digits == 0 || p->at == p->end || *p->at != '\\' || value == 0 || value > 0x10ffff)
        return fail(p, p->line, "an escape in a string is not known");
    p->at++;
    if (value < 0x80)
        g_string_append_c(out, (char)value);
    else
        g_string_append_unichar(out, value);
    return true;
}

static struct term *parse_string(struct parsing *p)
{
    struct term *term = term_new(p, TERM_STRING);
    GString *out = g_string_new(NULL);
    bool ok = true;
    for (p->at++; ok && p->at < p->end && *p->at != '"';) {
        char byte = *p->at++;
        p->line += byte == '\n';
        if (byte == '\\')
            ok = parse_escape(p, out);
        else if (byte == '\0')
            ok = fail(p, p->line, "a NUL byte in a string");
        else
            g_string_append_c(out, byte);
    }
    if (ok && p->at == p->end)
        ok = fail(p, term->line, "a string without end begins");
    if (ok)
        p->at++;
    term->text = g_string_free(out, FALSE);
    if (ok)
        return term;
    term_free(term);
    return NULL;
}

static struct term *parse_number(struct parsing *p)
{
    const char *begin = p->at;
    bool fraction = false;
    if (*p->at == '-')
        p->at++;
    for (; p->at < p->end; p->at++) {
        bool sign = (*p->at == '-' || *p->at == '+') && (p->at[-1] == 'e' || p->at[-1] == 'E');
        bool point = *p->at == '.' && p->at + 1 < p->end && g_ascii_isdigit(p->at[1]);
        bool exponent = *p->at == 'e' || *p->at == 'E';
        if (!g_ascii_isdigit(*p->at) && !sign && !point && !exponent)
            break;
        fraction = fraction || point || exponent;
    }
    g_autofree char *text = g_strndup(begin, (gsize)(p->at - begin));
    char *end = NULL;
    struct term *term = term_new(p, fraction ? TERM_FLOAT : TERM_INT);
    errno = 0;
    if (fraction)
        term->number = g_ascii_strtod(text, &end);
    else
        term->whole = g_ascii_strtoll(text, &end, 10);
    if (*end == '\0' && end != text && (errno == 0 || fraction))
        return term;
    fail(p, p->line, "'%.40s' is no number", text);
    term_free(term);
    return NULL;
}

static struct term *parse_term(struct parsing *p);

/* Terms up to the closing character, which is taken. */
static bool parse_arguments(struct parsing *p, GPtrArray *args, char close)
{
    if (close == ']' && next_is(p, ']'))
        return true;
    for (;;) {
        struct term *arg = parse_term(p);
        if (arg == NULL)
            return false;
        g_ptr_array_add(args, arg);
        if (next_is(p, ','))
            continue;
        return expect(p, close, "a term");
    }
}

static struct term *parse_name(struct parsing *p)
{
    struct term *term = term_new(p, TERM_COMPOUND);
    const char *begin = p->at;
    while (p->at < p->end && (g_ascii_isalnum(*p->at) || *p->at == '_'))
        p->at++;
    term->text = g_strndup(begin, (gsize)(p->at - begin));
    term->args = g_ptr_array_new_with_free_func(term_free);
    if (p->at < p->end && *p->at == '(') {
        p->at++;
        if (!parse_arguments(p, term->args, ')')) {
            term_free(term);
            return NULL;
        }
    }
    return term;
}

static struct term *parse_primary(struct parsing *p)
{
    skip_blanks(p);
    if (p->at == p->end) {
        fail(p, p->line, "unexpected end of file, expected a term");
        return NULL;
    }
    if (*p->at == '"')
        return parse_string(p);
    if (g_ascii_isdigit(*p->at) ||
        (*p->at == '-' && p->at + 1 < p->end && g_ascii_isdigit(p->at[1])))
        return parse_number(p);
    if (g_ascii_islower(*p->at))
        return parse_name(p);
    if (*p->at != '[') {
        fail(p, p->line, "found byte %u, expected a term", (unsigned char)*p->at);
        return NULL;
    }
    struct term *list = term_new(p, TERM_LIST);
    list->args = g_ptr_array_new_with_free_func(term_free);
    p->at++;
    if (parse_arguments(p, list->args, ']'))
        return list;
    term_free(list);
    return NULL;
}

/* A term, or two with a minus between them. */
static struct term *parse_term(struct parsing *p)
{
    if (p->depth >= TERM_DEPTH_MAX) {
        fail(p, p->line, "terms nest deeper than %u levels", TERM_DEPTH_MAX);
        return NULL;
    }
    p->depth++;
    struct term *term = parse_primary(p);
    if (term != NULL && next_is(p, '-')) {
        struct term *pair = term_new(p, TERM_COMPOUND);
        struct term *value = parse_primary(p);
        pair->text = g_strdup("-");
        pair->args = g_ptr_array_new_with_free_func(term_free);
        g_ptr_array_add(pair->args, term);
        g_ptr_array_add(pair->args, value);
        term = pair;
        if (value == NULL) {
            term_free(pair);
            term = NULL;
        }
    }
    p->depth--;
    return term;
}

/* --- what terms mean --- */

static const struct term *arg(const struct term *term, guint i)
{
    return term->args->pdata[i];
}

static bool is(const struct term *term, const char *name, guint count)
{
    return term->kind == TERM_COMPOUND && strcmp(term->text, name) == 0 && term->args->len == count;
}

static bool wrong(struct parsing *p, const struct term *term, const char *expected)
{
    return fail(p, term->line, "a term is not what it should be, expected %s", expected);
}

static bool get_int(struct parsing *p, const struct term *term, int64_t *ret)
{
    *ret = term->whole;
    return term->kind == TERM_INT || wrong(p, term, "an integer");
}

static bool get_u32(struct parsing *p, const struct term *term, uint32_t *ret)
{
    *ret = (uint32_t)term->whole;
    return (term->kind == TERM_INT && term->whole >= 0 && term->whole < UINT32_MAX) ||
           wrong(p, term, "a number from 0 to 4294967294");
}

static bool get_float(struct parsing *p, const struct term *term, double *ret)
{
    *ret = term->number;
    return term->kind == TERM_FLOAT || wrong(p, term, "a floating point number");
}

static bool get_text(struct parsing *p, const struct term *term, const char **ret)
{
    *ret = term->text;
    if (term->kind != TERM_STRING)
        return wrong(p, term, "a string");
    *ret = fm_strings_add(p->feedback->strings, term->text);
    return true;
}

static bool get_list(struct parsing *p, const struct term *term)
{
    return term->kind == TERM_LIST || wrong(p, term, "a list");
}

/* The number of the word among those given; a word with arguments has them checked by the caller. */
static bool get_word(struct parsing *p, const struct term *term, const char *const *words,
                     unsigned count, unsigned *ret)
{
    for (*ret = 0; *ret < count; (*ret)++) {
        if (is(term, words[*ret], 0))
            return true;
    }
    return wrong(p, term, words[0]);
}

static bool get_vars(struct parsing *p, const struct term *term, uint32_t **ret,
                     uint32_t *ret_count)
{
    if (!get_list(p, term))
        return false;
    *ret = g_new(uint32_t, term->args->len + 1);
    *ret_count = term->args->len;
    for (guint i = 0; i < term->args->len; i++) {
        const struct term *item = arg(term, i);
        if (is(item, "no", 0))
            (*ret)[i] = FM_NO_VAR;
        else if (!get_u32(p, is(item, "yes", 1) ? arg(item, 0) : item, &(*ret)[i]))
            return false;
    }
    return true;
}

/* --- goals --- */

static bool get_goals(struct parsing *p, const struct term *term, GPtrArray *to);
static bool get_goal(struct parsing *p, const struct term *term, GPtrArray *to);

static bool get_unification(struct parsing *p, const struct term *term, enum fm_goal_kind kind,
                            struct fm_feedback_goal *goal)
{
    goal->goal.kind = kind;
    return get_u32(p, arg(term, 0), &goal->goal.var) &&
           get_text(p, arg(term, 1), &goal->goal.name) &&
           get_vars(p, arg(term, 2), &goal->args, &goal->goal.arg_count);
}

static bool get_two(struct parsing *p, const struct term *term, enum fm_goal_kind kind,
                    struct fm_feedback_goal *goal)
{
    goal->goal.kind = kind;
    return get_u32(p, arg(term, 0), &goal->goal.var) && get_u32(p, arg(term, 1), &goal->goal.var2);
}

static bool get_call(struct parsing *p, const struct term *term, enum fm_goal_kind kind,
                     struct fm_feedback_goal *goal)
{
    goal->goal.kind = kind;
    return get_text(p, arg(term, 0), &goal->goal.module) &&
           get_text(p, arg(term, 1), &goal->goal.name) &&
           get_vars(p, arg(term, 2), &goal->args, &goal->goal.arg_count);
}

static bool get_atom(struct parsing *p, const struct term *term, struct fm_feedback_goal *goal)
{
    struct fm_goal *of = &goal->goal;
    if (is(term, "unify_construct_rep", 3))
        return get_unification(p, term, FM_GOAL_CONSTRUCT, goal);
    if (is(term, "unify_deconstruct_rep", 3))
        return get_unification(p, term, FM_GOAL_DECONSTRUCT, goal);
    if (is(term, "partial_construct_rep", 3))
        return get_unification(p, term, FM_GOAL_PARTIAL_CONSTRUCT, goal);
    if (is(term, "partial_deconstruct_rep", 3))
        return get_unification(p, term, FM_GOAL_PARTIAL_DECONSTRUCT, goal);
    if (is(term, "unify_assign_rep", 2))
        return get_two(p, term, FM_GOAL_ASSIGN, goal);
    if (is(term, "cast_rep", 2))
        return get_two(p, term, FM_GOAL_CAST, goal);
    if (is(term, "unify_simple_test_rep", 2))
        return get_two(p, term, FM_GOAL_SIMPLE_TEST, goal);
    if (is(term, "plain_call_rep", 3))
        return get_call(p, term, FM_GOAL_PLAIN_CALL, goal);
    if (is(term, "builtin_call_rep", 3))
        return get_call(p, term, FM_GOAL_BUILTIN_CALL, goal);
    if (is(term, "pragma_foreign_code_rep", 1)) {
        of->kind = FM_GOAL_FOREIGN;
        return get_vars(p, arg(term, 0), &goal->args, &of->arg_count);
    }
    if (is(term, "higher_order_call_rep", 2)) {
        of->kind = FM_GOAL_HIGHER_ORDER;
        return get_u32(p, arg(term, 0), &of->var) &&
               get_vars(p, arg(term, 1), &goal->args, &of->arg_count);
    }
    if (is(term, "method_call_rep", 3)) {
        of->kind = FM_GOAL_METHOD;
        return get_u32(p, arg(term, 0), &of->var) && get_u32(p, arg(term, 1), &of->method) &&
               get_vars(p, arg(term, 2), &goal->args, &of->arg_count);
    }
    if (is(term, "event_call_rep", 2)) {
        of->kind = FM_GOAL_EVENT;
        return get_text(p, arg(term, 0), &of->name) &&
               get_vars(p, arg(term, 1), &goal->args, &of->arg_count);
    }
    return wrong(p, term, "an atomic goal");
}

static bool get_functor(struct parsing *p, const struct term *term, struct fm_functor *ret)
{
    if (!is(term, "cons_id_arity_rep", 2))
        return wrong(p, term, "cons_id_arity_rep(NAME, ARITY)");
    return get_text(p, arg(term, 0), &ret->name) && get_u32(p, arg(term, 1), &ret->arity);
}

static bool get_case(struct parsing *p, const struct term *term, GPtrArray *to)
{
    if (!is(term, "case_rep", 3))
        return wrong(p, term, "case_rep(FUNCTOR, [FUNCTOR], GOAL)");
    const struct term *others = arg(term, 1);
    if (!get_list(p, others) || !get_goal(p, arg(term, 2), to))
        return false;
    struct fm_feedback_goal *arm = to->pdata[to->len - 1];
    arm->goal.functor_count = others->args->len + 1;
    arm->functors = g_new0(struct fm_functor, arm->goal.functor_count);
    bool ok = get_functor(p, arg(term, 0), &arm->functors[0]);
    for (guint i = 0; ok && i < others->args->len; i++)
        ok = get_functor(p, arg(others, i), &arm->functors[i + 1]);
    return ok;
}

static bool get_switch(struct parsing *p, const struct term *term, struct fm_feedback_goal *goal)
{
    static const char *const words[] = {"switch_can_not_fail_rep", "switch_can_fail_rep"};
    unsigned can_fail;
    goal->goal.kind = FM_GOAL_SWITCH;
    if (!get_u32(p, arg(term, 0), &goal->goal.var) ||
        !get_word(p, arg(term, 1), words, G_N_ELEMENTS(words), &can_fail) ||
        !get_list(p, arg(term, 2)))
        return false;
    goal->goal.can_fail = can_fail == 1;
    for (guint i = 0; i < arg(term, 2)->args->len; i++) {
        if (!get_case(p, arg(arg(term, 2), i), goal->children))
            return false;
    }
    return true;
}

static bool get_expression(struct parsing *p, const struct term *term,
                           struct fm_feedback_goal *goal)
{
    static const char *const cuts[] = {"scope_is_no_cut", "scope_is_cut"};
    struct fm_goal *of = &goal->goal;
    unsigned cut;
    if (is(term, "conj_rep", 1) || is(term, "disj_rep", 1)) {
        of->kind = term->text[0] == 'c' ? FM_GOAL_CONJ : FM_GOAL_DISJ;
        return get_goals(p, arg(term, 0), goal->children);
    }
    if (is(term, "switch_rep", 3))
        return get_switch(p, term, goal);
    if (is(term, "ite_rep", 3)) {
        of->kind = FM_GOAL_ITE;
        return get_goal(p, arg(term, 0), goal->children) &&
               get_goal(p, arg(term, 1), goal->children) &&
               get_goal(p, arg(term, 2), goal->children);
    }
    if (is(term, "negation_rep", 1)) {
        of->kind = FM_GOAL_NEGATION;
        return get_goal(p, arg(term, 0), goal->children);
    }
    if (is(term, "scope_rep", 2)) {
        of->kind = FM_GOAL_SCOPE;
        if (!get_goal(p, arg(term, 0), goal->children) ||
            !get_word(p, arg(term, 1), cuts, G_N_ELEMENTS(cuts), &cut))
            return false;
        of->cut = cut == 1;
        return true;
    }
    if (is(term, "atomic_goal_rep", 4))
        return get_text(p, arg(term, 0), &of->file) && get_u32(p, arg(term, 1), &of->line) &&
               get_vars(p, arg(term, 2), &goal->bound, &of->bound_count) &&
               get_atom(p, arg(term, 3), goal);
    return wrong(p, term, "a goal");
}

static bool get_times(struct parsing *p, const struct term *term, GArray *to)
{
    if (!get_list(p, term))
        return false;
    for (guint i = 0; i < term->args->len; i++) {
        const struct term *pair = arg(term, i);
        struct fm_var_time time;
        if (!is(pair, "-", 2))
            return wrong(p, pair, "VARIABLE - TIME");
        if (!get_u32(p, arg(pair, 0), &time.var) || !get_float(p, arg(pair, 1), &time.time))
            return false;
        g_array_append_val(to, time);
    }
    return true;
}

static bool get_annotation(struct parsing *p, const struct term *term,
                           struct fm_feedback_goal *goal)
{
    static const char *const words[] = {"cost_not_above_par_threshold", "cost_above_par_threshold"};
    unsigned above;
    if (!is(term, "pard_goal_annotation", 4))
        return wrong(p, term, "pard_goal_annotation(COST, ABOVE, PRODUCTIONS, CONSUMPTIONS)");
    if (!get_float(p, arg(term, 0), &goal->cost) ||
        !get_word(p, arg(term, 1), words, G_N_ELEMENTS(words), &above))
        return false;
    goal->above_threshold = above == 1;
    return get_times(p, arg(term, 2), goal->productions) &&
           get_times(p, arg(term, 3), goal->consumptions);
}

static bool get_goal(struct parsing *p, const struct term *term, GPtrArray *to)
{
    static const char *const words[] = {"det_rep",       "semidet_rep",     "nondet_rep",
                                        "multidet_rep",  "cc_nondet_rep",   "cc_multidet_rep",
                                        "erroneous_rep", "failure_rep"};
    static const enum fm_detism detisms[] = {
        FM_DETISM_DET,       FM_DETISM_SEMIDET,  FM_DETISM_NONDET,    FM_DETISM_MULTI,
        FM_DETISM_CC_NONDET, FM_DETISM_CC_MULTI, FM_DETISM_ERRONEOUS, FM_DETISM_FAILURE};
    unsigned detism;
    if (!is(term, "goal_rep", 3))
        return wrong(p, term, "goal_rep(GOAL, DETERMINISM, ANNOTATION)");
    struct fm_feedback_goal *goal = fm_feedback_goal_new();
    g_ptr_array_add(to, goal);
    if (!get_expression(p, arg(term, 0), goal) ||
        !get_word(p, arg(term, 1), words, G_N_ELEMENTS(words), &detism))
        return false;
    goal->goal.detism = detisms[detism];
    return get_annotation(p, arg(term, 2), goal);
}

static bool get_goals(struct parsing *p, const struct term *term, GPtrArray *to)
{
    if (!get_list(p, term))
        return false;
    for (guint i = 0; i < term->args->len; i++) {
        if (!get_goal(p, arg(term, i), to))
            return false;
    }
    return true;
}

/* --- candidates --- */

static bool get_push(struct parsing *p, const struct term *term, struct fm_push **ret)
{
    const char *path, *target;
    int64_t low, high;
    if (!is(term, "push_goal", 4))
        return wrong(p, term, "push_goal(PATH, LOW, HIGH, [PATH])");
    if (!get_text(p, arg(term, 0), &path) || !get_int(p, arg(term, 1), &low) ||
        !get_int(p, arg(term, 2), &high) || !get_list(p, arg(term, 3)))
        return false;
    *ret = fm_push_new(path, low, high);
    for (guint i = 0; i < arg(term, 3)->args->len; i++) {
        if (!get_text(p, arg(arg(term, 3), i), &target))
            return false;
        g_ptr_array_add((*ret)->targets, g_strdup(target));
    }
    return true;
}

static bool get_dependence(struct parsing *p, const struct term *term,
                           struct fm_candidate *candidate)
{
    uint32_t *vars = NULL, count = 0;
    if (is(term, "conjuncts_are_independent", 0))
        return true;
    if (!is(term, "conjuncts_are_dependent", 1) || !is(arg(term, 0), "sol", 1))
        return wrong(p, term, "conjuncts_are_independent or conjuncts_are_dependent(sol([...]))");
    candidate->dependent = true;
    bool ok = get_vars(p, arg(arg(term, 0), 0), &vars, &count);
    if (ok && count > 0)
        g_array_append_vals(candidate->shared, vars, count);
    g_free(vars);
    return ok;
}

static bool get_metrics(struct parsing *p, const struct term *term,
                        struct fm_parallel_metrics *ret)
{
    double *const values[] = {&ret->sequential, &ret->parallel, &ret->spark,      &ret->barrier,
                              &ret->signals,    &ret->waits,    &ret->first_dead, &ret->future_dead};
    if (!is(term, "parallel_exec_metrics", 9))
        return wrong(p, term, "parallel_exec_metrics of nine numbers");
    if (!get_int(p, arg(term, 0), &ret->calls))
        return false;
    for (guint i = 0; i < G_N_ELEMENTS(values); i++) {
        if (!get_float(p, arg(term, i + 1), values[i]))
            return false;
    }
    return true;
}

static bool get_conjuncts(struct parsing *p, const struct term *term, GPtrArray *to)
{
    if (!get_list(p, term))
        return false;
    for (guint i = 0; i < term->args->len; i++) {
        GPtrArray *conjunct = fm_feedback_goals_new();
        g_ptr_array_add(to, conjunct);
        if (!is(arg(term, i), "seq_conj", 1))
            return wrong(p, arg(term, i), "seq_conj([GOAL])");
        if (!get_goals(p, arg(arg(term, i), 0), conjunct))
            return false;
    }
    return true;
}

static bool get_candidate(struct parsing *p, const struct term *term, GPtrArray *to)
{
    const char *path;
    int64_t first;
    if (!is(term, "candidate_par_conjunction", 10))
        return wrong(p, term, "candidate_par_conjunction of ten parts");
    struct fm_candidate *candidate = fm_candidate_new();
    g_ptr_array_add(to, candidate);
    if (!get_text(p, arg(term, 0), &path))
        return false;
    candidate->path = g_strdup(path);
    if (!is(arg(term, 1), "no", 0) &&
        (!is(arg(term, 1), "yes", 1) || !get_push(p, arg(arg(term, 1), 0), &candidate->push)))
        return wrong(p, arg(term, 1), "no or yes(PUSH)");
    return get_int(p, arg(term, 2), &first) && get_dependence(p, arg(term, 3), candidate) &&
           get_goals(p, arg(term, 4), candidate->before) &&
           get_float(p, arg(term, 5), &candidate->cost_before) &&
           get_conjuncts(p, arg(term, 6), candidate->conjuncts) &&
           get_goals(p, arg(term, 7), candidate->after) &&
           get_float(p, arg(term, 8), &candidate->cost_after) &&
           get_metrics(p, arg(term, 9), &candidate->metrics);
}

/* --- procedures --- */

static bool get_label(struct parsing *p, const struct term *term, struct fm_proc_label *ret)
{
    static const char *const words[] = {"pf_predicate", "pf_function"};
    unsigned function = 0;
    bool special = is(term, "str_special_proc_label", 6);
    if (!special && !is(term, "str_ordinary_proc_label", 6))
        return wrong(p, term, "the label of a procedure");
    ret->type_name = "";
    if (special ? !get_text(p, arg(term, 0), &ret->type_name)
                : !get_word(p, arg(term, 0), words, G_N_ELEMENTS(words), &function))
        return false;
    ret->kind = special ? FM_LABEL_SPECIAL : function ? FM_LABEL_FUNCTION : FM_LABEL_PREDICATE;
    return get_text(p, arg(term, 1), &ret->decl_module) &&
           get_text(p, arg(term, 2), &ret->def_module) && get_text(p, arg(term, 3), &ret->name) &&
           get_u32(p, arg(term, 4), &ret->arity) && get_u32(p, arg(term, 5), &ret->mode);
}

/* A 2-3-4 tree, in any shape. */
static bool get_names(struct parsing *p, const struct term *term, GArray *to)
{
    static const char *const words[] = {"empty", "two", "three", "four"};
    unsigned keys = 0;
    while (keys < 4 && !is(term, words[keys], keys == 0 ? 0 : 3 * keys + 1))
        keys++;
    if (keys == 4)
        return wrong(p, term, "a 2-3-4 tree");
    for (unsigned i = 0; keys > 0 && i <= keys; i++) {
        struct fm_var_name name = {0};
        if (!get_names(p, arg(term, 2 * keys + i), to))
            return false;
        if (i == keys)
            break;
        if (!get_u32(p, arg(term, 2 * i), &name.var) ||
            !get_text(p, arg(term, 2 * i + 1), &name.name))
            return false;
        if (to->len > 0 && g_array_index(to, struct fm_var_name, to->len - 1).var >= name.var)
            return wrong(p, term, "variables in ascending order");
        g_array_append_val(to, name);
    }
    return true;
}

static bool get_proc(struct parsing *p, const struct term *term)
{
    if (!is(term, "-", 2) || !is(arg(term, 1), "candidate_par_conjunctions_proc", 3))
        return wrong(p, term, "LABEL - candidate_par_conjunctions_proc(NAMES, PUSHES, CANDIDATES)");
    const struct term *of = arg(term, 1);
    struct fm_feedback_proc *proc = fm_feedback_proc_new();
    g_ptr_array_add(p->feedback->procs, proc);
    if (!get_label(p, arg(term, 0), &proc->label) || !get_names(p, arg(of, 0), proc->names) ||
        !get_list(p, arg(of, 1)) || !get_list(p, arg(of, 2)))
        return false;
    for (guint i = 0; i < arg(of, 1)->args->len; i++) {
        struct fm_push *push = NULL;
        bool ok = get_push(p, arg(arg(of, 1), i), &push);
        if (push != NULL)
            g_ptr_array_add(proc->pushes, push);
        if (!ok)
            return false;
    }
    for (guint i = 0; i < arg(of, 2)->args->len; i++) {
        if (!get_candidate(p, arg(arg(of, 2), i), proc->candidates))
            return false;
    }
    return true;
}

/* --- parameters --- */

static bool get_speedup(struct parsing *p, const struct term *term, enum fm_speedup_algorithm *ret)
{
    static const char *const words[] = {"estimate_speedup_naively", "estimate_speedup_by_overlap"};
    unsigned which;
    *ret = FM_SPEEDUP_INDEPENDENT;
    if (is(term, "do_not_parallelise_dep_conjs", 0))
        return true;
    if (!is(term, "parallelise_dep_conjs", 1))
        return wrong(p, term, "do_not_parallelise_dep_conjs or parallelise_dep_conjs(ALGORITHM)");
    if (!get_word(p, arg(term, 0), words, G_N_ELEMENTS(words), &which))
        return false;
    *ret = which == 0 ? FM_SPEEDUP_NAIVE : FM_SPEEDUP_OVERLAP;
    return true;
}

static bool get_best(struct parsing *p, const struct term *term, struct fm_feedback_params *params)
{
    bool branches = is(term, "affbp_complete_branches", 1), size = is(term, "affbp_complete_size", 1);
    params->best_limit = 0;
    if (branches || size) {
        params->best = branches ? FM_BEST_COMPLETE_BRANCHES : FM_BEST_COMPLETE_SIZE;
        return get_int(p, arg(term, 0), &params->best_limit);
    }
    params->best = is(term, "affbp_greedy", 0) ? FM_BEST_GREEDY : FM_BEST_COMPLETE;
    return params->best == FM_BEST_GREEDY || is(term, "affbp_complete", 0) ||
           wrong(p, term, "an algorithm for the best parallelisation");
}

static bool get_params(struct parsing *p, const struct term *term, struct fm_feedback_params *params)
{
    static const char *const booleans[] = {"no", "yes"};
    int64_t *const costs[] = {&params->spark_cost,       &params->spark_delay,
                              &params->barrier_cost,     &params->signal_cost,
                              &params->wait_cost,        &params->wakeup_delay,
                              &params->clique_threshold, &params->call_site_threshold};
    unsigned intermodule;
    if (!is(term, "candidate_par_conjunctions_params", 13))
        return wrong(p, term, "candidate_par_conjunctions_params of thirteen parts");
    if (!get_float(p, arg(term, 0), &params->desired_parallelism) ||
        !get_word(p, arg(term, 1), booleans, G_N_ELEMENTS(booleans), &intermodule))
        return false;
    params->intermodule = intermodule == 1;
    for (guint i = 0; i < G_N_ELEMENTS(costs); i++) {
        if (!get_int(p, arg(term, i + 2), costs[i]))
            return false;
    }
    return get_float(p, arg(term, 10), &params->speedup_threshold) &&
           get_speedup(p, arg(term, 11), &params->speedup) && get_best(p, arg(term, 12), params);
}

static bool get_component(struct parsing *p, const struct term *term)
{
    if (!is(term, "fcw_candidate_parallel_conjunctions", 1) ||
        !is(arg(term, 0), "feedback_info_candidate_parallel_conjunctions", 2))
        return wrong(p, term, "fcw_candidate_parallel_conjunctions(...)");
    const struct term *of = arg(term, 0);
    if (p->feedback->has_conjunctions) {
        g_set_error(p->error, FM_ERROR, FM_ERROR_FORMAT,
                    "%s: File contains more than one candidate_parallel_conjunctions component",
                    p->name);
        return false;
    }
    p->feedback->has_conjunctions = true;
    if (!get_params(p, arg(of, 0), &p->feedback->params) || !get_list(p, arg(of, 1)))
        return false;
    for (guint i = 0; i < arg(of, 1)->args->len; i++) {
        if (!get_proc(p, arg(arg(of, 1), i)))
            return false;
    }
    return true;
}

/* --- the file --- */

static bool set_error(struct parsing *p, int code, const char *text)
{
    g_set_error(p->error, FM_ERROR, code, "%s: %s", p->name, text);
    return false;
}

/* The next line, without its newline; the caller frees it. */
static bool take_line(struct parsing *p, char **ret)
{
    const char *newline = memchr(p->at, '\n', (size_t)(p->end - p->at));
    if (newline == NULL)
        return set_error(p, FM_ERROR_TRUNCATED, "Unexpected end of file");
    *ret = g_strndup(p->at, (gsize)(newline - p->at));
    p->at = newline + 1;
    p->line++;
    return true;
}

static bool read_lines(struct parsing *p, const char *program)
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

static bool read_term(struct parsing *p)
{
    skip_blanks(p);
    if (p->at == p->end)
        return set_error(p, FM_ERROR_TRUNCATED, "Unexpected end of file");
    struct term *term = parse_term(p);
    bool ok = term != NULL && expect(p, '.', "the last term") && get_list(p, term);
    for (guint i = 0; ok && i < term->args->len; i++)
        ok = get_component(p, arg(term, i));
    term_free(term);
    return ok;
}

bool fm_feedback_read_text(const char *name, const char *text, size_t size, const char *program,
                           struct fm_feedback **ret, GError **error)
{
    GError *found = NULL;
    g_autofree char *wanted = program == NULL ? NULL : g_strstrip(g_strdup(program));
    struct parsing p = {.name = name, .at = text, .end = text + size, .line = 1, .error = &found};
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

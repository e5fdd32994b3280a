/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between two profiles: planted differences are the first row, rows add up to the
 * difference, and a profile differs nowhere from itself. */
#include <math.h>
#include <string.h>

#include "runs/compare/compare.h"
#include "made.h"

/* --- small programs ---
 *
 * A line a call: the numbers of two contexts, the slot, how often, and own samples and allocations
 * of the callee. Contexts are numbered by the functions below; 0 is the root. */
struct edge {
    unsigned from, slot, to, calls, samples, allocs;
};
struct function {
    const char *name, *file;
    unsigned line;
};
struct program {
    const struct function *functions; /* [0] the root */
    unsigned function_count;
    const unsigned *context; /* function of each context; [0] = 0 */
    unsigned context_count;
    const struct edge *edges;
    unsigned edge_count;
    unsigned line_offset; /* of all call sites */
    unsigned sample;      /* quanta that each sample charges; 0 = not known */
};

#define SLOTS 4u

static struct made built(const struct program *program)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "made");
    g_autofree uint32_t *ps = g_new(uint32_t, program->function_count);
    g_autofree uint32_t *pd = g_new(uint32_t, program->context_count);
    for (unsigned i = 0; i < program->function_count; i++) {
        const struct function *f = &program->functions[i];
        ps[i] = fm_build_ps(build, &(struct fm_ps){.label_kind = FM_LABEL_FUNCTION,
                                                   .decl_module = f->file,
                                                   .def_module = f->file,
                                                   .name = f->name,
                                                   .raw_name = f->name,
                                                   .file = f->file,
                                                   .line = f->line});
        for (unsigned slot = 0; slot < SLOTS; slot++)
            fm_build_css(build, ps[i],
                         &(struct fm_css){.kind = FM_SITE_HIGHER_ORDER,
                                          .line = f->line + slot + program->line_offset});
    }
    for (unsigned i = 0; i < program->context_count; i++)
        pd[i] = fm_build_pd(build, ps[program->context[i]]);
    for (unsigned i = 0; i < program->edge_count; i++) {
        const struct edge *e = &program->edges[i];
        uint32_t csd = fm_build_csd(build, pd[e->from], e->slot, pd[e->to]);
        fm_build_add(build, csd, FM_EXITS, e->calls);
        fm_build_add(build, csd, FM_CALLSEQS, e->calls);
        fm_build_add(build, csd, FM_QUANTA, e->samples);
        fm_build_add(build, csd, FM_ALLOCS, e->allocs);
        fm_build_add(build, csd, FM_WORDS, 16 * e->allocs);
    }
    struct made made = made_built(build);
    made.profile->run_info.sample_count =
        program->sample == 0 ? 0 : made.profile->user_quanta / program->sample;
    made.profile->run_info.sample_squares = made.profile->user_quanta * program->sample;
    return made;
}

static const struct function functions[] = {
    {"root", "", 0},       {"main", "a.c", 10}, {"parse", "a.c", 20}, {"write", "a.c", 30},
    {"format", "b.c", 40}, {"leaf", "b.c", 50}, {"grow", "b.c", 60},
};
enum { ROOT, MAIN, PARSE, WRITE, FORMAT, LEAF, GROW };
/* main -> parse -> format -> leaf; main -> write -> format -> leaf; grow calls itself. */
static const unsigned contexts[] = {ROOT, MAIN, PARSE, WRITE, FORMAT, FORMAT, LEAF, LEAF, GROW};
static const struct edge edges[] = {
    {0, 0, 1, 1, 100, 0},     {1, 0, 2, 10, 100, 10}, {1, 1, 3, 20, 200, 0},
    {2, 0, 4, 100, 300, 0},   {3, 0, 5, 200, 600, 0}, {4, 0, 6, 1000, 1000, 0},
    {5, 0, 7, 2000, 2000, 0}, {3, 1, 8, 20, 50, 20},  {8, 0, 8, 180, 450, 180},
};
static struct program ordinary(void)
{
    return (struct program){functions, G_N_ELEMENTS(functions), contexts, G_N_ELEMENTS(contexts),
                            edges,     G_N_ELEMENTS(edges),     0};
}

/* --- comparing --- */

struct compared {
    struct made made[FM_SIDES];
    struct fm_compare *compare;
    struct fm_causes causes;
};

static void compare_made(struct compared *x, struct made before, struct made after,
                         enum fm_measure_id measure)
{
    g_autoptr(GError) error = NULL;
    const struct fm_compare_options options = {0};
    x->made[FM_BEFORE] = before;
    x->made[FM_AFTER] = after;
    if (!fm_compare_new(before.profile, after.profile, &options, &x->compare, &error))
        g_error("%s", error->message);
    g_assert_cmpstr(fm_compare_measure_title(x->compare, FM_ALLOCS), ==, "allocs"); /* addresses */
    g_assert_cmpstr(fm_compare_measure_words(x->compare, FM_ALLOCS), ==, "allocations");
    g_assert_cmpstr(fm_compare_measure_words(x->compare, FM_COMPARE_CALLS), ==, "calls");
    fm_causes_find(x->compare, measure, &x->causes);
    double sum = 0, all = 0;
    for (guint i = 0; i < x->causes.causes->len; i++) {
        const struct fm_cause *cause = &g_array_index(x->causes.causes, struct fm_cause, i);
        double of_contexts = 0;
        for (guint c = 0; c < cause->contexts->len; c++)
            of_contexts += g_array_index(cause->contexts, struct fm_cause_context, c).net;
        g_assert_cmpfloat_with_epsilon(of_contexts, cause->net, 1e-6 * (1 + fabs(cause->net)));
        sum += cause->net;
        all += fabs(cause->net);
    }
    g_assert_cmpfloat_with_epsilon(sum, x->causes.difference, 1e-9 * (1 + all));
    g_assert_cmpfloat_with_epsilon(x->causes.difference,
                                   (double)fm_compare_total(x->compare, measure, FM_AFTER) -
                                       (double)fm_compare_total(x->compare, measure, FM_BEFORE),
                                   1e-6);
}

static void compare_programs(struct compared *x, const struct program *before,
                             const struct program *after, enum fm_measure_id measure)
{
    compare_made(x, built(before), built(after), measure);
}

static void clear(struct compared *x)
{
    fm_causes_done(&x->causes);
    fm_compare_free(x->compare);
    made_clear(&x->made[FM_BEFORE]);
    made_clear(&x->made[FM_AFTER]);
}

static const struct fm_cause *cause_at(const struct compared *x, guint number)
{
    g_assert_cmpuint(number, <, x->causes.causes->len);
    return &g_array_index(x->causes.causes, struct fm_cause, number);
}

static const char *name(const struct compared *x, uint32_t ps)
{
    return x->compare->side[FM_BEFORE]->ps[ps].name;
}

/* The ordinary program with one edge changed. */
static void change(struct compared *x, unsigned number, struct edge to, enum fm_measure_id measure)
{
    struct edge changed[G_N_ELEMENTS(edges)];
    struct program before = ordinary(), after = ordinary();
    memcpy(changed, edges, sizeof edges);
    changed[number] = to;
    after.edges = changed;
    compare_programs(x, &before, &after, measure);
}

/* --- inlined bodies --- */

/* main calls body, and body or main calls leaf; at a line where body may be inlined. calls, allocs:
 * of body, as far as they are recorded as its own; present: whether it is a context at all. */
struct inlining {
    bool inlined, present, leaf_of_main;
    unsigned main_allocs, body_calls, body_allocs;
};

static struct made built_inlining(const struct inlining *in)
{
    static const char *const names[] = {"root", "main", "body", "leaf"};
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "made");
    uint32_t ps[4], pd[4];
    for (unsigned i = 0; i < 4; i++)
        ps[i] = fm_build_ps(build, &(struct fm_ps){.label_kind = FM_LABEL_FUNCTION,
                                                   .decl_module = i > 0 ? "a.c" : "",
                                                   .def_module = i > 0 ? "a.c" : "",
                                                   .name = names[i],
                                                   .raw_name = names[i],
                                                   .file = i > 0 ? "a.c" : "",
                                                   .inlined = i == 2 && in->inlined,
                                                   .line = 10 * i});
    fm_build_css(build, ps[0], &(struct fm_css){.kind = FM_SITE_CALLBACK});
    fm_build_css(
        build, ps[1],
        &(struct fm_css){
            .kind = FM_SITE_NORMAL, .callee_ps = ps[2], .line = 11, .inlined = in->inlined});
    fm_build_css(build, ps[1],
                 &(struct fm_css){.kind = FM_SITE_NORMAL, .callee_ps = ps[3], .line = 12});
    fm_build_css(build, ps[2],
                 &(struct fm_css){.kind = FM_SITE_NORMAL, .callee_ps = ps[3], .line = 21});
    for (unsigned i = 0; i < 4; i++)
        pd[i] = i == 2 && !in->present ? 0 : fm_build_pd(build, ps[i]);
    const struct {
        unsigned from, slot, to, calls, allocs;
    } calls[] = {{0, 0, 1, 1, in->main_allocs},
                 {1, 0, 2, in->body_calls, in->body_allocs},
                 {in->leaf_of_main ? 1 : 2, in->leaf_of_main ? 1 : 0, 3, 100, 300}};
    for (unsigned i = 0; i < G_N_ELEMENTS(calls); i++) {
        if (pd[calls[i].to] == 0)
            continue;
        uint32_t csd = fm_build_csd(build, pd[calls[i].from], calls[i].slot, pd[calls[i].to]);
        fm_build_add(build, csd, FM_EXITS, calls[i].calls);
        fm_build_add(build, csd, FM_CALLSEQS, calls[i].calls);
        fm_build_add(build, csd, FM_ALLOCS, calls[i].allocs);
    }
    return made_built(build);
}

static void compare_inlining(struct compared *x, struct inlining before, struct inlining after,
                             enum fm_measure_id measure)
{
    compare_made(x, built_inlining(&before), built_inlining(&after), measure);
}

/* --- tests --- */

static void another_inlining_is_no_change_of_calls(void)
{
    static const struct inlining in = {true, true, false, 0, 0, 7},
                                 out = {false, true, false, 0, 50, 7};
    struct compared x;
    for (int turn = 0; turn < 2; turn++) {
        compare_inlining(&x, turn == 0 ? in : out, turn == 0 ? out : in, FM_COMPARE_CALLS);
        g_assert_cmpuint(x.causes.causes->len, ==, 1);
        g_assert_cmpint(cause_at(&x, 0)->kind, ==, FM_CAUSE_INLINED);
        g_assert_false(cause_at(&x, 0)->told);
        g_assert_cmpfloat_with_epsilon(x.causes.not_told, turn == 0 ? 50 : -50, 1e-9);
        g_assert_cmpint(
            g_array_index(cause_at(&x, 0)->contexts, struct fm_cause_context, 0).calls[FM_BEFORE],
            ==, -1);
        g_assert_cmpint(fm_compare_telling_measure(x.compare), !=, FM_COMPARE_CALLS);
        clear(&x);
        /* What a body cost stays its own; nothing is dearer, and nobody calls leaf more often. */
        compare_inlining(&x, turn == 0 ? in : out, turn == 0 ? out : in, FM_ALLOCS);
        g_assert_cmpuint(x.causes.causes->len, ==, 0);
        clear(&x);
    }
}

static void a_dearer_inlined_body_is_its_own(void)
{
    struct compared x;
    compare_inlining(&x, (struct inlining){true, true, false, 0, 0, 7},
                     (struct inlining){false, true, false, 0, 50, 27}, FM_ALLOCS);
    g_assert_cmpuint(x.causes.causes->len, ==, 1);
    g_assert_cmpint(cause_at(&x, 0)->kind, ==, FM_CAUSE_SELF);
    g_assert_cmpstr(name(&x, cause_at(&x, 0)->ps), ==, "body");
    g_assert_cmpfloat_with_epsilon(cause_at(&x, 0)->net, 20, 1e-9);
    g_autofree char *what = fm_cause_what(x.compare, cause_at(&x, 0));
    g_assert_cmpstr(what, ==, "body itself, more");
    clear(&x);
}

/* A body that left no trace of its own in one build is part of its caller there. */
static void a_body_without_a_context_is_its_callers(void)
{
    struct compared x;
    static const struct inlining in = {true, false, true, 5, 0, 0},
                                 out = {false, true, true, 0, 50, 5};
    for (int turn = 0; turn < 2; turn++) {
        compare_inlining(&x, turn == 0 ? in : out, turn == 0 ? out : in, FM_COMPARE_CALLS);
        g_assert_cmpuint(x.causes.causes->len, ==, 1);
        g_assert_cmpint(cause_at(&x, 0)->kind, ==, FM_CAUSE_INLINED);
        clear(&x);
        compare_inlining(&x, turn == 0 ? in : out, turn == 0 ? out : in, FM_ALLOCS);
        g_assert_cmpuint(x.causes.causes->len, ==, 0);
        clear(&x);
    }
}

static void one_more_call_in_one_of_two_contexts(void)
{
    struct compared x;
    change(&x, 4, (struct edge){3, 0, 5, 220, 660, 0}, FM_COMPARE_CALLS);
    /* write calls format 20 times more; leaf is called as often in all, so less often a call. */
    const struct fm_cause *first = cause_at(&x, 0);
    g_assert_cmpint(first->kind, ==, FM_CAUSE_CALLS);
    g_assert_cmpstr(name(&x, first->caller), ==, "write");
    g_assert_cmpstr(name(&x, first->ps), ==, "format");
    g_assert_cmpuint(first->contexts->len, ==, 1);
    /* 20 more calls of 11 each, against which 200 fewer of leaf than that explains are set. */
    g_assert_cmpfloat_with_epsilon(first->net, 20, 1e-9);
    g_assert_cmpuint(g_array_index(first->contexts, struct fm_cause_context, 0).against, ==, 1);
    g_assert_cmpuint(x.causes.causes->len, ==, 1);
    clear(&x);
}

static void a_dearer_call_is_the_functions_own(void)
{
    struct compared x;
    change(&x, 1, (struct edge){1, 0, 2, 10, 100, 30}, FM_ALLOCS);
    const struct fm_cause *first = cause_at(&x, 0);
    g_assert_cmpint(first->kind, ==, FM_CAUSE_SELF);
    g_assert_cmpstr(name(&x, first->ps), ==, "parse");
    g_assert_cmpfloat_with_epsilon(first->net, 20, 1e-9);
    g_assert_true(first->told);
    g_assert_cmpuint(x.causes.causes->len, ==, 1);
    clear(&x);
}

static void a_recursion_that_goes_deeper(void)
{
    struct compared x;
    change(&x, 8, (struct edge){8, 0, 8, 380, 950, 380}, FM_ALLOCS);
    const struct fm_cause *first = cause_at(&x, 0);
    g_assert_cmpint(first->kind, ==, FM_CAUSE_CALLS);
    g_assert_cmpstr(name(&x, first->ps), ==, "grow");
    g_assert_true(first->deeper);
    g_assert_cmpfloat_with_epsilon(first->net, 200, 1e-9);
    clear(&x);
}

static void without(struct edge *list, unsigned *count, unsigned number)
{
    memmove(list + number, list + number + 1, (*count - number - 1) * sizeof *list);
    (*count)--;
}

/* write no longer calls grow; and, the other way round, calls it now. */
static void contexts_that_vanish_and_appear(void)
{
    struct edge fewer[G_N_ELEMENTS(edges)];
    unsigned count = G_N_ELEMENTS(edges);
    struct program whole = ordinary(), part = ordinary();
    struct compared x;
    memcpy(fewer, edges, sizeof edges);
    without(fewer, &count, 8);
    without(fewer, &count, 7);
    part.edges = fewer;
    part.edge_count = count;
    part.context_count--;
    compare_programs(&x, &whole, &part, FM_ALLOCS);
    g_assert_cmpint(cause_at(&x, 0)->kind, ==, FM_CAUSE_VANISHED);
    g_assert_cmpfloat_with_epsilon(cause_at(&x, 0)->net, -200, 1e-9);
    g_assert_cmpuint(x.causes.causes->len, ==, 1);
    clear(&x);
    compare_programs(&x, &part, &whole, FM_ALLOCS);
    g_assert_cmpint(cause_at(&x, 0)->kind, ==, FM_CAUSE_APPEARED);
    g_assert_cmpstr(name(&x, cause_at(&x, 0)->caller), ==, "write");
    g_assert_cmpstr(name(&x, cause_at(&x, 0)->ps), ==, "grow");
    g_assert_cmpfloat_with_epsilon(cause_at(&x, 0)->net, 200, 1e-9);
    clear(&x);
}

static enum fm_matched how(const struct compared *x, const char *before, const char *ret_after)
{
    for (guint i = 0; i < x->compare->matches->len; i++) {
        const struct fm_match *match = &g_array_index(x->compare->matches, struct fm_match, i);
        if (strcmp(x->made[FM_BEFORE].profile->ps[match->before].name, before) != 0)
            continue;
        g_assert_cmpstr(x->made[FM_AFTER].profile->ps[match->after].name, ==, ret_after);
        return match->how;
    }
    g_error("%s has no counterpart", before);
}

/* Lines moved, a file in another folder, a function moved and one renamed: nothing differs. */
static void other_places_are_no_difference(void)
{
    struct function moved[G_N_ELEMENTS(functions)];
    struct program before = ordinary(), after = ordinary();
    struct compared x;
    memcpy(moved, functions, sizeof functions);
    moved[PARSE].line += 7;
    moved[WRITE].file = "../other/a.c";
    moved[FORMAT].file = "c.c";
    moved[LEAF].name = "foliage";
    after.functions = moved;
    after.line_offset = 3;
    compare_programs(&x, &before, &after, FM_COMPARE_CALLS);
    g_assert_cmpuint(x.causes.causes->len, ==, 0);
    g_assert_cmpint(how(&x, "main", "main"), ==, FM_MATCHED_SAME);
    g_assert_cmpint(how(&x, "parse", "parse"), ==, FM_MATCHED_LINE);
    g_assert_cmpint(how(&x, "write", "write"), ==, FM_MATCHED_FOLDER);
    g_assert_cmpint(how(&x, "format", "format"), ==, FM_MATCHED_FILE);
    g_assert_cmpint(how(&x, "leaf", "foliage"), ==, FM_MATCHED_RENAMED);
    clear(&x);
}

/* format calls what has another name and other neighbours: it takes the place of leaf. */
static void one_in_the_place_of_another(void)
{
    struct function other[G_N_ELEMENTS(functions)];
    struct edge changed[G_N_ELEMENTS(edges)];
    struct program before = ordinary(), after = ordinary();
    struct compared x;
    memcpy(other, functions, sizeof functions);
    memcpy(changed, edges, sizeof edges);
    other[LEAF] = (struct function){"newer", "n.c", 90};
    /* It calls itself a lot, so it is not taken for leaf renamed. */
    changed[5] = (struct edge){4, 0, 6, 1000, 1000, 5};
    changed[6] = (struct edge){5, 0, 7, 2000, 2000, 5};
    struct edge more[G_N_ELEMENTS(edges) + 2];
    memcpy(more, changed, sizeof changed);
    more[G_N_ELEMENTS(edges)] = (struct edge){6, 1, 6, 9000, 0, 0};
    more[G_N_ELEMENTS(edges) + 1] = (struct edge){7, 1, 7, 9000, 0, 0};
    after.functions = other;
    after.edges = more;
    after.edge_count = G_N_ELEMENTS(more);
    compare_programs(&x, &before, &after, FM_ALLOCS);
    g_assert_cmpuint(x.compare->only[FM_BEFORE], ==, 1);
    g_assert_cmpuint(x.compare->only[FM_AFTER], ==, 1);
    g_assert_cmpint(cause_at(&x, 0)->kind, ==, FM_CAUSE_APPEARED);
    clear(&x);
    /* The same with equal numbers of calls, so that it stands in leaf's place. */
    after.edge_count = G_N_ELEMENTS(edges);
    const struct fm_compare_options options = {.no_renames = true};
    struct made one = built(&before), two = built(&after);
    struct fm_compare *compare;
    struct fm_causes causes;
    g_autoptr(GError) error = NULL;
    g_assert_true(fm_compare_new(one.profile, two.profile, &options, &compare, &error));
    fm_causes_find(compare, FM_ALLOCS, &causes);
    g_assert_cmpfloat_with_epsilon(causes.difference, 10, 1e-9);
    g_assert_cmpint(g_array_index(causes.causes, struct fm_cause, 0).kind, ==, FM_CAUSE_REPLACED);
    g_assert_cmpfloat_with_epsilon(g_array_index(causes.causes, struct fm_cause, 0).net, 10, 1e-9);
    fm_causes_done(&causes);
    fm_compare_free(compare);
    made_clear(&one);
    made_clear(&two);
}

/* How many causes say that "newer", called so often of 1000, stands in the place of leaf. */
static unsigned replaced_with(unsigned calls)
{
    struct function other[G_N_ELEMENTS(functions)];
    struct edge changed[G_N_ELEMENTS(edges)];
    struct program before = ordinary(), after = ordinary();
    const struct fm_compare_options options = {.no_renames = true};
    memcpy(other, functions, sizeof functions);
    memcpy(changed, edges, sizeof edges);
    other[LEAF] = (struct function){"newer", "n.c", 90};
    changed[5] = (struct edge){4, 0, 6, calls, 1000, 5};
    changed[6] = (struct edge){5, 0, 7, 2 * calls, 2000, 5};
    after.functions = other;
    after.edges = changed;
    struct made one = built(&before), two = built(&after);
    struct fm_compare *compare;
    struct fm_causes causes;
    unsigned replaced = 0;
    g_autoptr(GError) error = NULL;
    g_assert_true(fm_compare_new(one.profile, two.profile, &options, &compare, &error));
    fm_causes_find(compare, FM_ALLOCS, &causes);
    for (guint i = 0; i < causes.causes->len; i++)
        replaced += g_array_index(causes.causes, struct fm_cause, i).kind == FM_CAUSE_REPLACED;
    fm_causes_done(&causes);
    fm_compare_free(compare);
    made_clear(&one);
    made_clear(&two);
    return replaced;
}

static void what_stands_in_a_place_is_called_about_as_often(void)
{
    static const unsigned alike[] = {900, 950, 1000, 1050, 1100}, unlike[] = {500, 899, 1101, 3000};
    for (unsigned i = 0; i < G_N_ELEMENTS(alike); i++)
        g_assert_cmpuint(replaced_with(alike[i]), ==, 1);
    for (unsigned i = 0; i < G_N_ELEMENTS(unlike); i++)
        g_assert_cmpuint(replaced_with(unlike[i]), ==, 0);
}

static void time_is_told_when_chance_does_not_explain_it(void)
{
    struct compared x;
    /* leaf in one context: 1,000 samples become 1,030, which tells nothing. */
    change(&x, 5, (struct edge){4, 0, 6, 1000, 1030, 0}, FM_QUANTA);
    g_assert_true(x.causes.sampled);
    g_assert_false(cause_at(&x, 0)->told);
    g_assert_cmpfloat_with_epsilon(x.causes.not_told, 30, 1e-9);
    clear(&x);
    change(&x, 5, (struct edge){4, 0, 6, 1000, 1500, 0}, FM_QUANTA);
    g_assert_true(cause_at(&x, 0)->told);
    g_assert_cmpint(cause_at(&x, 0)->kind, ==, FM_CAUSE_SELF);
    g_assert_cmpstr(name(&x, cause_at(&x, 0)->ps), ==, "leaf");
    clear(&x);
}

/* Samples that charge four quanta each: a fourth as many tell as much as as many quanta would. */
static void time_rests_on_samples_not_on_their_charge(void)
{
    struct edge changed[G_N_ELEMENTS(edges)];
    struct program before = ordinary(), after = ordinary();
    struct compared x;
    memcpy(changed, edges, sizeof edges);
    changed[5].samples = 1250;
    after.edges = changed;
    compare_programs(&x, &before, &after, FM_QUANTA);
    g_assert_true(cause_at(&x, 0)->told);
    clear(&x);
    before.sample = after.sample = 4;
    compare_programs(&x, &before, &after, FM_QUANTA);
    g_assert_false(cause_at(&x, 0)->told);
    clear(&x);
}

static const enum fm_measure_id measures[] = {FM_COMPARE_CALLS, FM_QUANTA, FM_ALLOCS, FM_WORDS};

static void nothing_differs_from_itself(void)
{
    for (unsigned seed = 1; seed <= 4; seed++) {
        for (unsigned m = 0; m < G_N_ELEMENTS(measures); m++) {
            const char *shape = seed % 2 ? "--c" : "--procs=60";
            struct compared x;
            compare_made(&x, made_generated(seed, "--nodes=1500", shape, NULL),
                         made_generated(seed, "--nodes=1500", shape, NULL), measures[m]);
            g_assert_cmpuint(x.causes.causes->len, ==, 0);
            g_assert_cmpuint(x.compare->only[FM_BEFORE] + x.compare->only[FM_AFTER], ==, 0);
            clear(&x);
        }
    }
}

/* Different programs even: whatever is paired, the rows add up (asserted where they are made). */
static void rows_add_up_to_the_difference(void)
{
    guint causes = 0;
    for (unsigned seed = 1; seed <= 6; seed++) {
        for (unsigned m = 0; m < G_N_ELEMENTS(measures); m++) {
            const char *shape = seed % 2 ? "--c" : "--procs=60";
            struct compared x;
            compare_made(&x, made_generated(seed, "--nodes=900", shape, NULL),
                         made_generated(seed + 2, "--nodes=1200", shape, NULL), measures[m]);
            causes += x.causes.causes->len;
            clear(&x);
        }
    }
    g_assert_cmpuint(causes, >, 100);
}

static void programs_of_two_languages_are_an_error(void)
{
    struct made c = made_generated(1, "--nodes=300", "--c", NULL);
    struct made mercury = made_generated(1, "--nodes=300", NULL);
    const struct fm_compare_options options = {0};
    struct fm_compare *compare;
    g_autoptr(GError) error = NULL;
    g_assert_false(fm_compare_new(c.profile, mercury.profile, &options, &compare, &error));
    g_assert_nonnull(strstr(error->message, "Mercury"));
    made_clear(&c);
    made_clear(&mercury);
}

/* A file may say anything: sums of it wrap, as the analysis' do. */
static void sums_of_any_numbers(void)
{
    static const struct edge one[] = {{0, 0, 1, 1, 0, 0}, {1, 0, 2, 1, 0, 0}, {1, 1, 3, 1, 0, 0}};
    struct program program = ordinary();
    program.edges = one;
    program.edge_count = G_N_ELEMENTS(one);
    program.context_count = 4;
    struct made before = built(&program), after = built(&program);
    struct fm_column *column = &after.profile->csd_own[FM_ALLOCS];
    uint64_t large[] = {0, 0, UINT64_C(3) << 62, UINT64_C(1) << 63};
    *column = (struct fm_column){.width = 8, .u64 = large};
    const struct fm_compare_options options = {0};
    struct fm_compare *compare;
    struct fm_causes causes;
    g_autoptr(GError) error = NULL;
    g_assert_true(fm_compare_new(before.profile, after.profile, &options, &compare, &error));
    g_assert_cmpint(fm_compare_total(compare, FM_ALLOCS, FM_AFTER), ==, INT64_C(1) << 62);
    fm_causes_find(compare, FM_ALLOCS, &causes);
    g_assert_cmpfloat_with_epsilon(causes.difference, 0x1p62, 1);
    fm_causes_done(&causes);
    fm_compare_free(compare);
    *column = (struct fm_column){0};
    made_clear(&before);
    made_clear(&after);
}

int main(int argc, char **argv)
{
    made_init(&argc, &argv);
    g_test_add_func("/compare/calls", one_more_call_in_one_of_two_contexts);
    g_test_add_func("/compare/inlining/calls", another_inlining_is_no_change_of_calls);
    g_test_add_func("/compare/inlining/dearer", a_dearer_inlined_body_is_its_own);
    g_test_add_func("/compare/inlining/no-context", a_body_without_a_context_is_its_callers);
    g_test_add_func("/compare/self", a_dearer_call_is_the_functions_own);
    g_test_add_func("/compare/deeper", a_recursion_that_goes_deeper);
    g_test_add_func("/compare/appear", contexts_that_vanish_and_appear);
    g_test_add_func("/compare/places", other_places_are_no_difference);
    g_test_add_func("/compare/replaced", one_in_the_place_of_another);
    g_test_add_func("/compare/replaced/calls", what_stands_in_a_place_is_called_about_as_often);
    g_test_add_func("/compare/time", time_is_told_when_chance_does_not_explain_it);
    g_test_add_func("/compare/samples", time_rests_on_samples_not_on_their_charge);
    g_test_add_func("/compare/itself", nothing_differs_from_itself);
    g_test_add_func("/compare/sum", rows_add_up_to_the_difference);
    g_test_add_func("/compare/any-numbers", sums_of_any_numbers);
    g_test_add_func("/compare/languages", programs_of_two_languages_are_an_error);
    return g_test_run();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Ticks of several runs over one graph: means, which rows are told, which runs are left out. */
#include "runs/compare/timing.h"

#include <math.h>

#include "profile/file/build.h"

enum { MAIN, SCAN, PARSE, SMALL, FUNCTIONS };
#define RUNS 5u

/* A run: main calls scan, parse and small; quanta of each, of a millisecond. cpu_ns: 0 = no clock.
 */
static struct fm_profile *run_of(const uint64_t quanta[FUNCTIONS], uint64_t calls, uint64_t cpu_ns)
{
    static const char *const names[FUNCTIONS] = {"main", "scan", "parse", "small"};
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "made");
    struct fm_profile *ret;
    uint32_t pd[FUNCTIONS], ps[FUNCTIONS], root = 0;
    g_autoptr(GError) error = NULL;
    fm_build_header(build)->ticks_per_second = 1000;
    uint32_t root_ps = fm_build_ps(
        build,
        &(struct fm_ps){.label_kind = FM_LABEL_FUNCTION, .name = "root", .raw_name = "root"});
    fm_build_css(build, root_ps, &(struct fm_css){.kind = FM_SITE_HIGHER_ORDER});
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        ps[i] = fm_build_ps(build, &(struct fm_ps){.label_kind = FM_LABEL_FUNCTION,
                                                   .decl_module = "a.c",
                                                   .def_module = "a.c",
                                                   .name = names[i],
                                                   .raw_name = names[i],
                                                   .file = "a.c",
                                                   .line = 10 * (i + 1)});
        for (unsigned slot = 0; slot < FUNCTIONS; slot++)
            fm_build_css(build, ps[i],
                         &(struct fm_css){.kind = FM_SITE_HIGHER_ORDER, .line = 10 * i + slot + 1});
    }
    root = fm_build_pd(build, root_ps);
    for (unsigned i = 0; i < FUNCTIONS; i++)
        pd[i] = fm_build_pd(build, ps[i]);
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        uint32_t csd = fm_build_csd(build, i == MAIN ? root : pd[MAIN], i == MAIN ? 0 : i, pd[i]);
        fm_build_add(build, csd, FM_EXITS, i == MAIN ? 1 : calls);
        fm_build_add(build, csd, FM_QUANTA, quanta[i]);
    }
    if (cpu_ns != 0)
        fm_build_thread_time(
            build, &(struct fm_thread_time){.name = "main", .wall_ns = cpu_ns, .cpu_ns = cpu_ns});
    if (!fm_build_finish(build, &ret, &error))
        g_error("%s", error->message);
    return ret;
}

struct sides {
    struct fm_profile *runs[FM_SIDES][RUNS];
    struct fm_compare *c;
};

static void compare(struct sides *s, unsigned count)
{
    g_autoptr(GError) error = NULL;
    const struct fm_compare_options options = {0};
    const struct fm_compare_runs runs[FM_SIDES] = {
        {(const struct fm_profile *const *)s->runs[FM_BEFORE], count, count / 2},
        {(const struct fm_profile *const *)s->runs[FM_AFTER], count, 0}};
    if (!fm_compare_new_runs(runs, &options, &s->c, &error))
        g_error("%s", error->message);
}

static void clear(struct sides *s, unsigned count)
{
    fm_compare_free(s->c);
    for (unsigned i = 0; i < count; i++) {
        fm_profile_free(s->runs[FM_BEFORE][i]);
        fm_profile_free(s->runs[FM_AFTER][i]);
    }
}

static const struct fm_timing_row *row_named(const struct sides *s,
                                             const struct fm_timing_table *table, const char *name)
{
    for (guint i = 0; i < table->rows->len; i++) {
        const struct fm_timing_row *row = &g_array_index(table->rows, struct fm_timing_row, i);
        if (g_str_equal(s->c->side[FM_BEFORE]->ps[row->id].unqualified_name, name))
            return row;
    }
    return NULL;
}

/* scan takes a fifth more, parse and main vary; small has two ticks a run of one side alone. */
static void make(struct sides *s, unsigned count, uint64_t scan_after, bool clock)
{
    for (unsigned i = 0; i < count; i++) {
        uint64_t before[] = {50 + i, 400 + 2 * i, 500 - i, 0};
        uint64_t after[] = {51 - i, scan_after + 2 * i, 498 + i, 1};
        s->runs[FM_BEFORE][i] = run_of(before, 7, clock ? 1000000000u + i * 1000000u : 0);
        s->runs[FM_AFTER][i] = run_of(after, 7, clock ? 1200000000u + i * 1000000u : 0);
    }
    compare(s, count);
}

static void functions_by_all_runs(void)
{
    struct sides s;
    struct fm_timing t;
    struct fm_timing_table own, callers;
    struct fm_sampled_whole whole;
    make(&s, RUNS, 600, true);
    g_assert_true(fm_timing_init(&t, s.c, FM_QUANTA));
    g_assert_true(t.clock);
    g_assert_cmpuint(t.runs, ==, 2 * RUNS);
    fm_timing_functions(&t, &own);
    const struct fm_timing_row *scan = row_named(&s, &own, "scan");
    const struct fm_timing_row *parse = row_named(&s, &own, "parse");
    g_assert_true(scan->told && !parse->told && !parse->perhaps);
    g_assert_cmpuint(own.told_count, ==, 1);
    /* 400, 402, ... 408 in five runs. */
    g_assert_cmpfloat_with_epsilon(scan->ticks.ticks[FM_BEFORE], 2020, 1e-6);
    g_assert_cmpfloat_with_epsilon(scan->ticks.ticks[FM_AFTER], 3020, 1e-6);
    struct fm_sampled_interval i;
    fm_sampled_interval_of(&own.model, &scan->ticks, &i);
    g_assert_cmpfloat_with_epsilon(i.before, 0.404, 1e-9);
    g_assert_cmpfloat_with_epsilon(i.after, 0.604, 1e-9);
    /* small: five ticks are no row. */
    g_assert_null(row_named(&s, &own, "small"));
    g_assert_cmpuint(own.few_count, ==, 1);
    g_assert_cmpfloat_with_epsilon(own.few.ticks[FM_AFTER], 5, 1e-9);
    /* main leads to scan, which is told by itself. */
    fm_timing_callers(&t, &own, &callers);
    g_assert_null(row_named(&s, &callers, "main"));
    g_assert_cmpuint(callers.told_count, ==, 0);
    fm_timing_whole(&t, &whole);
    g_assert_true(whole.told);
    g_assert_cmpfloat_with_epsilon(whole.ratio, 1.202 / 1.002, 1e-9);
    g_assert_true(fm_timing_differs(s.c, FM_QUANTA));
    g_assert_cmpint(fm_compare_telling_measure(s.c), ==, FM_QUANTA);
    fm_timing_table_done(&own);
    fm_timing_table_done(&callers);
    fm_timing_done(&t);
    clear(&s, RUNS);
}

static void a_mean_run_is_compared(void)
{
    struct sides s;
    struct fm_causes causes;
    make(&s, RUNS, 600, false);
    double scale = fm_compare_scale(s.c, FM_QUANTA);
    g_assert_cmpfloat_with_epsilon((double)fm_compare_total(s.c, FM_QUANTA, FM_BEFORE) * scale,
                                   0.052 + 0.404 + 0.498, 1e-9);
    g_assert_cmpint(fm_compare_total(s.c, FM_COMPARE_CALLS, FM_BEFORE), ==, 22);
    fm_causes_find(s.c, FM_QUANTA, &causes);
    const struct fm_cause *first = &g_array_index(causes.causes, struct fm_cause, 0);
    g_assert_true(first->told && first->kind == FM_CAUSE_SELF);
    g_assert_cmpfloat_with_epsilon(first->net * scale, 0.2, 1e-9);
    for (guint i = 1; i < causes.causes->len; i++)
        g_assert_false(g_array_index(causes.causes, struct fm_cause, i).told);
    fm_causes_done(&causes);
    clear(&s, RUNS);
}

static void equal_builds_tell_nothing(void)
{
    for (unsigned count = 1; count <= RUNS; count += 2) {
        struct sides s;
        struct fm_timing t;
        struct fm_timing_table own;
        make(&s, count, 400, false);
        g_assert_true(fm_timing_init(&t, s.c, FM_QUANTA));
        g_assert_false(t.clock);
        fm_timing_functions(&t, &own);
        g_assert_cmpuint(own.told_count + own.perhaps_count, ==, 0);
        g_assert_false(fm_timing_is_restless(&own));
        g_assert_false(fm_timing_differs(s.c, FM_QUANTA));
        bool *parts, *told = fm_timing_contexts(&t, &parts);
        for (uint32_t pd = 0; pd <= s.c->side[FM_BEFORE]->pd_count; pd++)
            g_assert_false(told[pd] || parts[pd]);
        g_free(told);
        g_free(parts);
        fm_timing_table_done(&own);
        fm_timing_done(&t);
        clear(&s, count);
    }
}

static void counts_are_not_sampled(void)
{
    struct sides s;
    struct fm_timing t;
    make(&s, 1, 400, false);
    g_assert_false(fm_timing_init(&t, s.c, FM_COMPARE_CALLS));
    g_assert_false(fm_timing_init(&t, s.c, FM_ALLOCS));
    clear(&s, 1);
}

static void disturbed_runs_are_left_out(void)
{
    static const uint64_t ns[] = {1000000000, 1010000000, 1500000000, 990000000, 1005000000};
    const uint64_t quanta[FUNCTIONS] = {1, 1, 1, 1};
    const struct fm_profile *runs[RUNS];
    bool out[RUNS];
    for (unsigned i = 0; i < RUNS; i++)
        runs[i] = run_of(quanta, 1, ns[i]);
    g_assert_cmpuint(fm_timing_disturbed(runs, RUNS, out), ==, 1);
    g_assert_true(out[2] && !out[0] && !out[1] && !out[3] && !out[4]);
    g_assert_cmpuint(fm_timing_disturbed(runs, 3, out), ==, 0); /* too few to know */
    g_assert_false(out[2]);
    for (unsigned i = 0; i < RUNS; i++)
        fm_profile_free((struct fm_profile *)(uintptr_t)runs[i]);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/timing/functions", functions_by_all_runs);
    g_test_add_func("/timing/mean-run", a_mean_run_is_compared);
    g_test_add_func("/timing/equal-builds", equal_builds_tell_nothing);
    g_test_add_func("/timing/counts", counts_are_not_sampled);
    g_test_add_func("/timing/disturbed", disturbed_runs_are_left_out);
    return g_test_run();
}

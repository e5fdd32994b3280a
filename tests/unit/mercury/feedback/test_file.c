/* SPDX-License-Identifier: Apache-2.0 */
/* The feedback file and its report, made by hand and of a real program. */
#include <string.h>

#include "base/error.h"
#include "mercury/feedback/feedback.h"

static const char demo[] =
    "Mercury Compiler Feedback\n19\n./demo\n"
    "[fcw_candidate_parallel_conjunctions(feedback_info_candidate_parallel_conjunctions(\n"
    " candidate_par_conjunctions_params(8.0, no, 100, 1000, 100, 100, 200, 1000, 2000, 2000, "
    "1.01,\n"
    "  parallelise_dep_conjs(estimate_speedup_by_overlap), affbp_complete_branches(1000)),\n"
    " [str_ordinary_proc_label(pf_predicate, \"demo\", \"demo\", \"work\", 4, 0) -\n"
    "  candidate_par_conjunctions_proc(two(1, \"In\", two(0, \"Zero\", empty, empty),\n"
    "   two(3, \"Acc\", empty, empty)), [push_goal(\"t;\", 2, 2, [\"t;c1;s1-na;\"])],\n"
    "   [candidate_par_conjunction(\"t;c1;s1-na;\", yes(push_goal(\"t;\", 2, 2, "
    "[\"t;c1;s1-na;\"])), 1,\n"
    "    conjuncts_are_dependent(sol([3, 9])),\n"
    "    [goal_rep(atomic_goal_rep(\"\", 12, [4], plain_call_rep(\"demo\", \"prep\", [1, 4])), "
    "det_rep,\n"
    "      pard_goal_annotation(3.0, cost_not_above_par_threshold, [], []))], 3.0,\n"
    "    [seq_conj([goal_rep(atomic_goal_rep(\"\", 13, [9], plain_call_rep(\"demo\", \"heavy\", "
    "[4, 3, 9])),\n"
    "       det_rep, pard_goal_annotation(20007.5, cost_above_par_threshold, [9 - 15000.0], [3 - "
    "0.0])),\n"
    "      goal_rep(atomic_goal_rep(\"\", 14, [10], unify_construct_rep(10, \"pair\", [9, 4])), "
    "det_rep,\n"
    "       pard_goal_annotation(0.0, cost_not_above_par_threshold, [], []))]),\n"
    "     seq_conj([goal_rep(ite_rep(\n"
    "       goal_rep(conj_rep([]), det_rep, pard_goal_annotation(0.0, "
    "cost_not_above_par_threshold, [], [])),\n"
    "       goal_rep(switch_rep(1, switch_can_fail_rep, [case_rep(cons_id_arity_rep(\"a\", 0),\n"
    "         [cons_id_arity_rep(\"b\", 1)], goal_rep(scope_rep(goal_rep(negation_rep(\n"
    "           goal_rep(atomic_goal_rep(\"x.m\", 1, [], method_call_rep(1, 2, [])), semidet_rep,\n"
    "            pard_goal_annotation(1234567.891, cost_above_par_threshold, [], []))), "
    "semidet_rep,\n"
    "            pard_goal_annotation(0.0, cost_not_above_par_threshold, [], [])), scope_is_cut),\n"
    "          semidet_rep, pard_goal_annotation(0.0, cost_not_above_par_threshold, [], [])))]),\n"
    "        semidet_rep, pard_goal_annotation(0.0, cost_not_above_par_threshold, [], [])),\n"
    "       goal_rep(disj_rep([goal_rep(atomic_goal_rep(\"\", 2, [], partial_construct_rep(1, "
    "\"\\\"q\\\"\",\n"
    "         [no, yes(4)])), det_rep, pard_goal_annotation(0.0, cost_not_above_par_threshold, [], "
    "[]))]),\n"
    "        det_rep, pard_goal_annotation(0.0, cost_not_above_par_threshold, [], []))), det_rep,\n"
    "      pard_goal_annotation(23199.5, cost_above_par_threshold, [], []))])],\n"
    "    [], 0.0, parallel_exec_metrics(1200, 43210.0, 33210.0, 100.0, 200.0, 100.0, 200.0, "
    "1000.0, 0.0))])]))].\n";

static const char demo_report[] = "Feedback report for ./demo:\n"
                                  "\n"
                                  "  Candidate parallel conjunctions:\n"
                                  "    Desired parallelism:       8.000000\n"
                                  "    Intermodule var use:       no\n"
                                  "    Sparking cost:             100\n"
                                  "    Sparking delay:            1000\n"
                                  "    Barrier cost:              100\n"
                                  "    Future signal cost:        100\n"
                                  "    Future wait cost:          200\n"
                                  "    Context wakeup delay:      1000\n"
                                  "    Clique threshold:          2000\n"
                                  "    Call site threshold:       2000\n"
                                  "    Speedup threshold:         1.010000\n"
                                  "    Dependent conjs:           yes, use overlap calculation\n"
                                  "    BestParAlgorithm:          complete-branches(1000)\n"
                                  "    # of par procs with conjs: 1\n"
                                  "    # of par conjunctions:     1\n"
                                  "    Parallel conjunctions:\n"
                                  "\n"
                                  "    pred demo.work/4-0\n"
                                  "\n"
                                  "      PushGoal: t;, lo 2, hi 2\n"
                                  "        t;c1;s1-na;\n"
                                  "\n"
                                  "      Path: t;c1;s1-na;\n"
                                  "      PushGoal: t;, lo 2, hi 2\n"
                                  "                t;c1;s1-na;\n"
                                  "      Dependent: on Acc, V_9\n"
                                  "      NumCalls: 1,200\n"
                                  "      SeqTime: 43,210.00\n"
                                  "      ParTime: 33,210.00\n"
                                  "      SparkCost: 100.00\n"
                                  "      BarrierCost: 200.00\n"
                                  "      SignalsCost: 100.00\n"
                                  "      WaitsCost: 200.00\n"
                                  "      ParOverheads total: 600.00\n"
                                  "      Speedup: 1.3011\n"
                                  "      Time saving: 10,000.00\n"
                                  "      First conj dead time: 1,000.00\n"
                                  "      Future dead time: 0.00\n"
                                  "      Total dead time: 1,000.00\n"
                                  "\n"
                                  "      Goals before:\n"
                                  "        % conjunction: t;c1;s1-na;\n"
                                  "        % Cost: 3.00\n"
                                  "\n"
                                  "        % t;c1;s1-na;c1;\n"
                                  "        % det\n"
                                  "        % cost: 3.00 (not above threshold)\n"
                                  "        demo.prep(In, V_4)\n"
                                  "\n"
                                  "      Parallel conjunction:\n"
                                  "        (\n"
                                  "          % conjunction: t;c1;s1-na;c2;c1;\n"
                                  "          % Cost: 20,007.50\n"
                                  "\n"
                                  "          % t;c1;s1-na;c2;c1;c1;\n"
                                  "          % det\n"
                                  "          % cost: 20,007.50 (above threshold)\n"
                                  "          % Productions:\n"
                                  "          %     V_9: 15,000.00\n"
                                  "          % Consumptions:\n"
                                  "          %     Acc: 0.00\n"
                                  "          demo.heavy(V_4, Acc, V_9)\n"
                                  "          ,\n"
                                  "          % t;c1;s1-na;c2;c1;c2;\n"
                                  "          % det\n"
                                  "          % cost: 0.00 (not above threshold)\n"
                                  "          V_10 <= pair(V_9, V_4)\n"
                                  "        &\n"
                                  "          % t;c1;s1-na;c2;c2;\n"
                                  "          % det\n"
                                  "          % cost: 23,199.50 (above threshold)\n"
                                  "          (\n"
                                  "            % conjunction: t;c1;s1-na;c2;c2;?;\n"
                                  "            % conjunction: det\n"
                                  "            % conjunction: cost: 0.00 (not above threshold)\n"
                                  "\n"
                                  "            true\n"
                                  "          ->\n"
                                  "            % t;c1;s1-na;c2;c2;t;\n"
                                  "            % semidet\n"
                                  "            % cost: 0.00 (not above threshold)\n"
                                  "            switch_can_fail_rep switch on In\n"
                                  "            (\n"
                                  "                % case a/0\n"
                                  "                % case b/1\n"
                                  "                % t;c1;s1-na;c2;c2;t;s1-na;\n"
                                  "                % semidet\n"
                                  "                % cost: 0.00 (not above threshold)\n"
                                  "                scope cut (\n"
                                  "                  % t;c1;s1-na;c2;c2;t;s1-na;q!;\n"
                                  "                  % semidet\n"
                                  "                  % cost: 0.00 (not above threshold)\n"
                                  "                  not (\n"
                                  "                    % t;c1;s1-na;c2;c2;t;s1-na;q!;~;\n"
                                  "                    % semidet\n"
                                  "                    % cost: 1,234,567.89 (above threshold)\n"
                                  "                    method 2 of In()\n"
                                  "                  )\n"
                                  "                )\n"
                                  "            )\n"
                                  "          ;\n"
                                  "            % t;c1;s1-na;c2;c2;e;\n"
                                  "            % det\n"
                                  "            % cost: 0.00 (not above threshold)\n"
                                  "            (\n"
                                  "              % t;c1;s1-na;c2;c2;e;d1;\n"
                                  "              % det\n"
                                  "              % cost: 0.00 (not above threshold)\n"
                                  "              In <= \"q\"(_, V_4)\n"
                                  "            )\n"
                                  "          )\n"
                                  "        )\n"
                                  "\n"
                                  "      Goals after:\n"
                                  "\n";

static struct fm_feedback *read_text(const char *text)
{
    struct fm_feedback *feedback = NULL;
    g_autoptr(GError) error = NULL;
    if (!fm_feedback_read_text("demo", text, strlen(text), NULL, &feedback, &error))
        g_error("%s", error->message);
    return feedback;
}

static void test_report(void)
{
    g_autoptr(FmFeedback) feedback = read_text(demo);
    g_autoptr(GString) out = g_string_new(NULL);
    fm_feedback_report(feedback, out);
    g_assert_cmpstr(out->str, ==, demo_report);
}

static void test_round_trip(void)
{
    g_autoptr(FmFeedback) feedback = read_text(demo);
    g_autoptr(GString) first = g_string_new(NULL), second = g_string_new(NULL);
    fm_feedback_write(feedback, first);
    g_autoptr(FmFeedback) again = read_text(first->str);
    fm_feedback_write(again, second);
    g_assert_cmpstr(first->str, ==, second->str);
    g_assert_nonnull(strstr(first->str,
                            "four(0, \"Zero\", 1, \"In\", 3, \"Acc\", empty, empty, empty, "
                            "empty)"));
    g_assert_nonnull(strstr(first->str, "partial_construct_rep(1, \"\\\"q\\\"\", [no, yes(4)])"));
    g_assert_nonnull(strstr(first->str, "[9 - 15000.0], [3 - 0.0]"));
    g_autoptr(GString) report = g_string_new(NULL);
    fm_feedback_report(again, report);
    g_assert_cmpstr(report->str, ==, demo_report);
}

static void test_empty(void)
{
    g_autoptr(FmFeedback) feedback = read_text("Mercury Compiler Feedback\n19\n  ./x \n[].");
    g_autoptr(GString) out = g_string_new(NULL);
    g_assert_cmpstr(feedback->program, ==, "./x");
    fm_feedback_report(feedback, out);
    g_assert_cmpstr(out->str, ==, "Feedback report for ./x:\n\nno report available.\n");
    g_string_truncate(out, 0);
    fm_feedback_write(feedback, out);
    g_assert_cmpstr(out->str, ==, "Mercury Compiler Feedback\n19\n./x\n[].\n");
}

static void test_errors(void)
{
    static const struct {
        const char *text, *error;
    } cases[] = {
        {"", "f: Unexpected end of file"},
        {"Mercury Compiler Feedbac\n", "f: Incorrect file format"},
        {"Mercury Compiler Feedback\n18\n", "f: Incorrect file format version; expected 19"},
        {"Mercury Compiler Feedback\n19\n", "f: Unexpected end of file"},
        {"Mercury Compiler Feedback\n19\nx\n", "f: Unexpected end of file"},
        {"Mercury Compiler Feedback\n19\ny\n[].",
         "f: The name of the program the feedback is for didn't match, is this the right feedback "
         "file?\nExpected: 'x' Got: 'y'"},
        {"Mercury Compiler Feedback\n19\nx\n[\n", " on line 5"},
        {"Mercury Compiler Feedback\n19\nx\n[foo].",
         "expected fcw_candidate_parallel_conjunctions"},
        {"Mercury Compiler Feedback\n19\nx\n[\"a].", "a string without end"},
        {"Mercury Compiler Feedback\n19\nx\n[1e].", "is not a number"},
        {"Mercury Compiler Feedback\n19\nx\n[]", "expected '.'"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct fm_feedback *feedback = NULL;
        g_autoptr(GError) error = NULL;
        g_assert_false(fm_feedback_read_text("f", cases[i].text, strlen(cases[i].text), "x",
                                             &feedback, &error));
        if (strstr(error->message, cases[i].error) == NULL)
            g_error("%s, expected %s", error->message, cases[i].error);
    }
}

/* Cut anywhere, changed anywhere, nested without end: an error or a feedback, nothing else. */
static void test_damage(void)
{
    g_autofree char *copy = g_strdup(demo);
    size_t size = strlen(demo);
    for (size_t cut = 0; cut < size - 1; cut++) {
        struct fm_feedback *feedback = NULL;
        g_autofree char *part = g_memdup2(demo, MAX(cut, 1));
        g_autoptr(GError) error = NULL;
        g_assert_false(fm_feedback_read_text("f", part, cut, NULL, &feedback, &error) &&
                       cut < size - 2);
        fm_feedback_free(feedback);
    }
    for (size_t at = 0; at < size; at++) {
        static const char others[] = {'\0', '(', ']', '"', '7', '-', 'x'};
        for (size_t i = 0; i < sizeof others; i++) {
            struct fm_feedback *feedback = NULL;
            copy[at] = others[i];
            if (fm_feedback_read_text("f", copy, size, NULL, &feedback, NULL)) {
                g_autoptr(GString) out = g_string_new(NULL);
                fm_feedback_report(feedback, out);
                fm_feedback_write(feedback, out);
            }
            fm_feedback_free(feedback);
        }
        copy[at] = demo[at];
    }
    g_autoptr(GString) deep = g_string_new("Mercury Compiler Feedback\n19\nx\n");
    for (int i = 0; i < 1000000; i++)
        g_string_append_c(deep, '[');
    struct fm_feedback *feedback = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_false(fm_feedback_read_text("f", deep->str, deep->len, NULL, &feedback, &error));
    g_assert_nonnull(strstr(error->message, "nest deeper"));
}

/* --- the real program --- */

static void test_sample(void)
{
    const char *folder = g_getenv("FATHOM_SAMPLE_DATA");
    g_autofree char *data = g_build_filename(folder ? folder : "", "mercury", "Deep.data", NULL);
    g_autofree char *code = g_build_filename(folder ? folder : "", "mercury", "Deep.procrep", NULL);
    if (!g_file_test(data, G_FILE_TEST_IS_REGULAR) || !g_file_test(code, G_FILE_TEST_IS_REGULAR)) {
        g_test_skip("no mercury/Deep.data and Deep.procrep in the folder FATHOM_SAMPLE_DATA");
        return;
    }
    g_autoptr(FmProfile) profile = NULL;
    g_autoptr(FmAnalysis) analysis = NULL;
    g_autoptr(FmProcrep) procrep = NULL;
    g_assert_true(fm_profile_read(data, NULL, &profile, NULL));
    g_assert_true(fm_analysis_new(profile, NULL, &analysis, NULL));
    g_assert_true(fm_procrep_read(code, &procrep, NULL));
    g_autoptr(FmBodies) bodies = fm_bodies_new(analysis, procrep, NULL);
    g_autoptr(FmFeedback) feedback = fm_feedback_new(profile->program_name);
    struct fm_feedback_params params;
    GPtrArray *messages;
    fm_feedback_params_default(&params);
    fm_feedback_search(feedback, bodies, &params, &messages);
    g_ptr_array_unref(messages);
    g_autofree char *path = g_test_build_filename(G_TEST_DIST, "tests", "unit", "mercury",
                                                  "feedback", "sample.txt", NULL);
    g_autofree char *expected = NULL;
    g_assert_true(g_file_get_contents(path, &expected, NULL, NULL));
    g_autoptr(GString) out = g_string_new(NULL), file = g_string_new(NULL);
    fm_feedback_report(feedback, out);
    g_assert_cmpstr(out->str, ==, expected);
    fm_feedback_write(feedback, file);
    g_autoptr(FmFeedback) again = read_text(file->str);
    g_string_truncate(out, 0);
    fm_feedback_report(again, out);
    g_assert_cmpstr(out->str, ==, expected);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/feedback/report", test_report);
    g_test_add_func("/feedback/round_trip", test_round_trip);
    g_test_add_func("/feedback/empty", test_empty);
    g_test_add_func("/feedback/errors", test_errors);
    g_test_add_func("/feedback/damage", test_damage);
    g_test_add_func("/feedback/sample", test_sample);
    return g_test_run();
}

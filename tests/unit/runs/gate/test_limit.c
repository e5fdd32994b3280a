/* SPDX-License-Identifier: Apache-2.0 */
/* Limits as people write them, and what is said of those that they write wrongly. */
#include <string.h>

#include "base/error.h"
#include "runs/gate/limit.h"

static const struct fm_limit *only(struct fm_limits *limits, const char *text)
{
    g_autoptr(GError) error = NULL;
    fm_limits_init(limits);
    if (!fm_limits_parse(limits, "l", text, strlen(text), &error))
        g_error("%s: %s", text, error->message);
    g_assert_cmpuint(limits->all->len, ==, 1);
    return g_ptr_array_index(limits->all, 0);
}

static const struct fm_limit_step *step(const struct fm_limit *limit, guint i)
{
    return &g_array_index(limit->steps, struct fm_limit_step, i);
}

static void paths(void)
{
    struct fm_limits limits;
    const struct fm_limit *limit = only(
        &limits, "calls self per call / main > ... > \"operator >\"@src/a.c:12 › f*(char*) <= 7");
    g_assert_cmpint(limit->subject, ==, FM_LIMIT_PATH);
    g_assert_true(limit->self && limit->per_call && limit->from_root);
    g_assert_cmpuint(limit->steps->len, ==, 3);
    g_assert_cmpstr(step(limit, 0)->name, ==, "main");
    g_assert_false(step(limit, 0)->gap || step(limit, 0)->any);
    g_assert_cmpstr(step(limit, 1)->name, ==, "operator >");
    g_assert_true(step(limit, 1)->gap);
    g_assert_cmpstr(step(limit, 1)->place, ==, "src/a.c");
    g_assert_cmpuint(step(limit, 1)->line, ==, 12);
    g_assert_cmpstr(step(limit, 2)->name, ==, "f*(char*)");
    g_assert_true(step(limit, 2)->any);
    fm_limits_done(&limits);
    /* Names of C++ hold colons and operators; the last operator of the line is the limit's. */
    limit = only(&limits, "bytes std::vector<int>::push_back:40 < 1 KiB");
    g_assert_cmpstr(step(limit, 0)->name, ==, "std::vector<int>::push_back");
    g_assert_cmpuint(step(limit, 0)->line, ==, 40);
    g_assert_cmpint(limit->op, ==, FM_BELOW);
    fm_limits_done(&limits);
    limit = only(&limits, "calls ns::f::3 = 1");
    g_assert_cmpstr(step(limit, 0)->name, ==, "ns::f::3");
    fm_limits_done(&limits);
    limit = only(&limits, "calls total total ≥ 1");
    g_assert_cmpint(limit->subject, ==, FM_LIMIT_PATH);
    g_assert_cmpstr(step(limit, 0)->name, ==, "total total");
    fm_limits_done(&limits);
}

static void bounds(void)
{
    static const struct {
        const char *text;
        enum fm_limit_operator op;
        enum fm_limit_bound bound;
        enum fm_limit_unit unit;
        int64_t number;
        unsigned decimals;
        double confidence;
    } cases[] = {
        {"calls total ≤ +0 %", FM_AT_MOST, FM_BOUND_PERCENT, FM_LIMIT_COUNT, 0, 0, 99},
        {"calls total <=+2.50%", FM_AT_MOST, FM_BOUND_PERCENT, FM_LIMIT_COUNT, 250, 2, 99},
        {"calls total >= -12", FM_AT_LEAST, FM_BOUND_DIFFERENCE, FM_LIMIT_COUNT, -12, 0, 99},
        {"calls total > \u22123 k", FM_ABOVE, FM_BOUND_DIFFERENCE, FM_LIMIT_COUNT, -3000, 0, 99},
        {"calls total = 1,234,567", FM_EQUAL, FM_BOUND_ABSOLUTE, FM_LIMIT_COUNT, 1234567, 0, 99},
        {"bytes total ≤ 10 MiB", FM_AT_MOST, FM_BOUND_ABSOLUTE, FM_LIMIT_BYTES, 10 << 20, 0, 99},
        {"peak bytes ≤ 1.5 GiB", FM_AT_MOST, FM_BOUND_ABSOLUTE, FM_LIMIT_BYTES, INT64_C(15) << 30,
         1, 99},
        {"time total < 20 ms at 95 % confidence", FM_BELOW, FM_BOUND_ABSOLUTE, FM_LIMIT_SECONDS,
         20000000, 0, 95},
        {"time total ≤ +5 % at 99.9% confidence  # why", FM_AT_MOST, FM_BOUND_PERCENT,
         FM_LIMIT_COUNT, 5, 0, 99.9},
        {"new allocations in src/hot/ = 0", FM_EQUAL, FM_BOUND_ABSOLUTE, FM_LIMIT_COUNT, 0, 0, 99},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct fm_limits limits;
        const struct fm_limit *limit = only(&limits, cases[i].text);
        g_assert_cmpint(limit->op, ==, cases[i].op);
        g_assert_cmpint(limit->bound, ==, cases[i].bound);
        g_assert_cmpint(limit->unit, ==, cases[i].unit);
        g_assert_cmpint(limit->number, ==, cases[i].number);
        g_assert_cmpuint(limit->decimals, ==, cases[i].decimals);
        g_assert_cmpfloat(limit->confidence, ==, cases[i].confidence);
        fm_limits_done(&limits);
    }
}

static void margins(void)
{
    struct fm_limits limits;
    g_assert_cmpfloat(only(&limits, "time f ≤ +10 % margin 2.5 %")->margin, ==, 2.5);
    fm_limits_done(&limits);
    const struct fm_limit *limit = only(&limits, "time f ≤ +10 % at 95 % confidence margin 0 %");
    g_assert_cmpfloat(limit->margin, ==, 0);
    g_assert_cmpfloat(limit->confidence, ==, 95);
    fm_limits_done(&limits);
    g_assert_cmpfloat(only(&limits, "time f ≤ +10 %")->margin, ==, -1);
    fm_limits_done(&limits);
}

static void lines(void)
{
    static const char text[] = "# what a release may cost\r\n\n"
                               "calls total ≤ +0 %   # exact\r\n"
                               "optional bytes \"a # b\" ≤ 5 B\n"
                               "new bytes in src/hot = 0";
    struct fm_limits limits;
    g_autoptr(GError) error = NULL;
    fm_limits_init(&limits);
    g_assert_true(fm_limits_parse(&limits, "l", text, strlen(text), &error));
    g_assert_cmpuint(limits.all->len, ==, 3);
    const struct fm_limit *first = g_ptr_array_index(limits.all, 0);
    const struct fm_limit *second = g_ptr_array_index(limits.all, 1);
    const struct fm_limit *third = g_ptr_array_index(limits.all, 2);
    g_assert_cmpstr(first->text, ==, "calls total ≤ +0 %");
    g_assert_cmpuint(first->line, ==, 3);
    g_assert_false(first->optional);
    g_assert_true(second->optional);
    g_assert_cmpstr(step(second, 0)->name, ==, "a # b");
    g_assert_cmpint(third->subject, ==, FM_LIMIT_NEW);
    g_assert_cmpstr(third->place, ==, "src/hot");
    g_assert_cmpuint(third->line, ==, 5);
    fm_limits_done(&limits);
}

static void what_is_wrong(void)
{
    static const char *const cases[][2] = {
        {"calls total", "l: line 1, column 12: expected \u2264, <, =, > or \u2265, and a bound"},
        {"calls ≤ 5", "l: line 1, column 7: expected total, or a path such as main \u203a parse"},
        {"≤ 5", "l: line 1, column 1: expected a measure: calls, allocations, bytes, time, peak "
                "bytes"},
        {"calls total ≤", "l: line 1, column 14: expected a number"},
        {"calls total ≤ 5 apples", "l: line 1, column 17: expected the end of the line"},
        {"calls total ≤ 5 %", "l: line 1, column 17: expected + or - before a percentage: it is "
                              "relative to what was"},
        {"calls self total ≤ 5", "l: line 1, column 12: expected a path: the whole program has no "
                                 "\"self\" and no \"per call\""},
        {"calls per f ≤ 5", "l: line 1, column 7: expected per call"},
        {"calls a › ≤ 5", "l: line 1, column 11: expected the name of a function"},
        {"calls \"a ≤ 5", "l: line 1, column 13: expected \u2264, <, =, > or \u2265, and a bound"},
        {"calls \"a\" b ≤ 5", "l: line 1, column 10: expected @, :LINE or the end of the step"},
        {"calls a@ ≤ 5", "l: line 1, column 8: expected a file or folder behind @"},
        {"calls total ≤ 12345678901234567890",
         "l: line 1, column 15: expected a number of at most 18 digits, six of them decimals"},
        {"calls total ≤ 5 ms", "l: line 1, column 14: expected a count or bytes: only time is "
                               "measured in seconds"},
        {"calls total ≤ 5 MiB", "l: line 1, column 14: expected a count: the measure is not in "
                                "bytes"},
        {"time total ≤ 5", "l: line 1, column 13: expected a time: ns, us, ms or s behind the "
                           "number"},
        {"time total = +0 %", "l: line 1, column 1: expected \u2264 or \u2265: time is sampled, no "
                              "two runs are equal"},
        {"new time in a ≤ +0 %", "l: line 1, column 1: expected a measure that is counted: of "
                                 "time, single contexts tell nothing"},
        {"new calls ≤ 0", "l: line 1, column 10: expected in, and a file or folder"},
        {"time f ≤ +5 % margin -1 %",
         "l: line 1, column 22: expected a margin of 0 to 1000 per cent"},
        {"time f ≤ +5 % margin 5", "l: line 1, column 23: expected %"},
        {"calls f ≤ +5 % margin 5 %", "l: line 1, column 16: expected a limit of time: what is "
                                      "counted is known exactly and has no margin"},
        {"time total ≤ +5 % at 100 % confidence",
         "l: line 1, column 22: expected a confidence of 50 to 99.99..."},
        {"bytes total ≤ 9000000000 GiB", "l: line 1, column 29: expected a smaller number"},
        {"\n\ncalls total ≤ \xff", "l: line 3, byte 17: expected UTF-8 text"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct fm_limits limits;
        g_autoptr(GError) error = NULL;
        fm_limits_init(&limits);
        g_assert_false(fm_limits_parse(&limits, "l", cases[i][0], strlen(cases[i][0]), &error));
        g_assert_error(error, FM_ERROR, FM_ERROR_FORMAT);
        g_assert_cmpstr(error->message, ==, cases[i][1]);
        fm_limits_done(&limits);
    }
}

static void too_many(void)
{
    g_autoptr(GString) text = g_string_new(NULL);
    struct fm_limits limits;
    g_autoptr(GError) error = NULL;
    for (unsigned i = 0; i <= FM_LIMITS_MAX; i++)
        g_string_append(text, "calls f ≤ 1\n");
    fm_limits_init(&limits);
    g_assert_false(fm_limits_parse(&limits, "l", text->str, text->len, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_LIMIT);
    fm_limits_done(&limits);
    g_clear_error(&error);
    g_string_assign(text, "calls ");
    for (unsigned i = 0; i < FM_LIMIT_STEPS_MAX; i++)
        g_string_append(text, "f › ");
    g_string_append(text, "f ≤ 1");
    fm_limits_init(&limits);
    g_assert_false(fm_limits_parse(&limits, "l", text->str, text->len, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_FORMAT);
    g_assert_nonnull(strstr(error->message, "at most 64 steps"));
    fm_limits_done(&limits);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/gate/limit/margins", margins);
    g_test_add_func("/gate/limit/paths", paths);
    g_test_add_func("/gate/limit/bounds", bounds);
    g_test_add_func("/gate/limit/lines", lines);
    g_test_add_func("/gate/limit/wrong", what_is_wrong);
    g_test_add_func("/gate/limit/many", too_many);
    return g_test_run();
}

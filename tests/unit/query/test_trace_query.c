/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "query/trace_query.h"

static void test_times(void)
{
    static const struct {
        const char *text;
        uint64_t ns;
        const char *printed;
    } cases[] = {
        {"0", 0, "0ns"},
        {"4000", 4000, "4us"},
        {"1.5", 1500000000, "1.5s"},
        {" 20 ms ", 20000000, "20ms"},
        {"1.000000001s", 1000000001, "1.000000001s"},
        {"3.25us", 3250, "3.25us"},
        {"17ns", 17, "17ns"},
        {"1.250s", 1250000000, "1.25s"},
        {"18446744073s", UINT64_C(18446744073000000000), "18446744073s"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        uint64_t ns = 1;
        bool parsed = fm_trace_time_parse(cases[i].text, &ns, &error);
        g_assert_no_error(error);
        g_assert_true(parsed);
        g_assert_cmpuint(ns, ==, cases[i].ns);
        g_autofree char *printed = fm_trace_time_print(ns);
        g_assert_cmpstr(printed, ==, cases[i].printed);
    }
}

static void test_bad_times(void)
{
    static const char *const cases[] = {"",         "s",
                                        "-1",       "1.s",
                                        "1.5ns",    "1h",
                                        "1e3",      ".5s",
                                        "1.0001us", "99999999999999999999",
                                        "1s1",      "18446744073709551615"};
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        uint64_t ns = 77;
        g_assert_false(fm_trace_time_parse(cases[i], &ns, &error));
        g_assert_error(error, FM_ERROR, FM_ERROR_USAGE);
        g_assert_cmpuint(ns, ==, 77);
    }
}

static void check_round_trip(const char *text, const char *expected)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GString) printed = g_string_new(NULL);
    struct fm_trace_query query;
    bool parsed = fm_trace_query_parse(text, &query, &error);
    g_assert_no_error(error);
    g_assert_true(parsed);
    struct fm_trace_query copy;
    fm_trace_query_copy(&query, &copy);
    fm_trace_query_done(&query);
    fm_trace_query_print(&copy, printed);
    fm_trace_query_done(&copy);
    g_assert_cmpstr(printed->str, ==, expected);
}

static void test_round_trip(void)
{
    static const struct {
        const char *text, *printed;
    } cases[] = {
        {"file=a.eventlog", "file=a.eventlog"},
        {"file=a+b&file=c%26d", "file=a%20b&file=c%26d"},
        {"file=a&start=1ms&end=2ms&cursor=1500us",
         "file=a&start=1000000&end=2000000&cursor=1500000"},
        {"file=a&filter=event.name+%3D+x&find=%3Cb%3E",
         "file=a&filter=event.name%20%3D%20x&find=%3Cb%3E"},
        {"file=a&start=&end=&filter=&view=events", "file=a"},
        {"view=statistics&scope=trace&sort=self&file=a",
         "file=a&view=statistics&scope=trace&sort=self"},
        {"file=a&hide=0-1-2,0-1-3&hide=1-0-5", "file=a&hide=0-1-2%2C0-1-3%2C1-0-5"},
        {"file=a&_stream=abc&_=1&rows=10&width=500&first=3&lanes=7&follow=1",
         "file=a&rows=10&first=3&lanes=7&width=500&follow=1"},
        {"file=a&from=1f.0_x&at=7", "file=a&from=1f.0_x&at=7"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        check_round_trip(cases[i].text, cases[i].printed);
        check_round_trip(cases[i].printed, cases[i].printed);
    }
}

static void test_refused(void)
{
    g_autofree char *long_filter = g_strnfill(FM_TRACE_FILTER_BYTES_MAX + 1, 'x');
    g_autofree char *too_long = g_strconcat("file=a&filter=", long_filter, NULL);
    const char *const cases[] = {
        NULL,
        "",
        "start=1",
        "file=a&start=5&end=5",
        "file=a&start=x",
        "file=a&view=nothing",
        "file=a&rows=501",
        "file=a&rows=-1",
        "file=a&unknown=1",
        "file=%zz",
        "file=a&follow=2",
        too_long,
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        struct fm_trace_query query;
        g_assert_false(fm_trace_query_parse(cases[i], &query, &error));
        g_assert_error(error, FM_ERROR, FM_ERROR_USAGE);
    }
}

static void test_limits(void)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (unsigned i = 0; i <= FM_TRACE_FILES_MAX; i++) {
        struct fm_trace_query query;
        g_autoptr(GError) error = NULL;
        g_string_append_printf(text, "&file=%u", i);
        bool parsed = fm_trace_query_parse(text->str, &query, &error);
        g_assert_cmpint(parsed, ==, i < FM_TRACE_FILES_MAX);
        if (parsed)
            fm_trace_query_done(&query);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/trace-query/times", test_times);
    g_test_add_func("/trace-query/bad-times", test_bad_times);
    g_test_add_func("/trace-query/round-trip", test_round_trip);
    g_test_add_func("/trace-query/refused", test_refused);
    g_test_add_func("/trace-query/limits", test_limits);
    return g_test_run();
}

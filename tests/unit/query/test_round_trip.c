/* SPDX-License-Identifier: Apache-2.0 */
/* What we print we accept, and it means the same. */
#include <float.h>
#include <math.h>

#include "base/error.h"
#include "query/query.h"
#include "random_query.h"

#define ROUNDS 100000

static void random_queries_survive_the_plain_form(void)
{
    GRand *rand = g_rand_new_with_seed(1);

    for (unsigned i = 0; i < ROUNDS; i++) {
        g_autoptr(GError) error = NULL;
        struct fm_query query, back;

        random_query(rand, &query);
        g_autofree char *text = fm_query_print(&query);
        bool accepted = fm_query_parse(text, &back, &error);
        g_assert_no_error(error);
        g_assert_true(accepted);
        g_assert_true(fm_query_equal(&query, &back));
        g_autofree char *again = fm_query_print(&back);
        g_assert_cmpstr(text, ==, again);
        fm_query_done(&query);
        fm_query_done(&back);
    }
    g_rand_free(rand);
}

static void random_queries_survive_the_url_form(void)
{
    GRand *rand = g_rand_new_with_seed(2);

    for (unsigned i = 0; i < ROUNDS; i++) {
        g_autoptr(GError) error = NULL;
        struct fm_query query, back;

        random_query(rand, &query);
        g_autofree char *url = fm_query_to_url(&query);
        for (const char *c = url; *c; c++)
            g_assert_true(g_ascii_isalnum(*c) || strchr("-._~/%&", *c));
        /* A door splits at "&" before it decodes. */
        const char *ampersand = strchr(url, '&');
        g_assert_true((ampersand != NULL) == query.has_preferences);
        g_assert_true(!ampersand || !strchr(ampersand + 1, '&'));
        bool accepted = fm_query_from_url(url, &back, &error);
        g_assert_no_error(error);
        g_assert_true(accepted);
        g_assert_true(fm_query_equal(&query, &back));
        fm_query_done(&query);
        fm_query_done(&back);
    }
    g_rand_free(rand);
}

static void different_queries_are_not_equal(void)
{
    GRand *rand = g_rand_new_with_seed(3);
    unsigned same = 0;

    for (unsigned i = 0; i < ROUNDS / 10; i++) {
        struct fm_query a, b;

        random_query(rand, &a);
        random_query(rand, &b);
        g_autofree char *text_a = fm_query_print(&a);
        g_autofree char *text_b = fm_query_print(&b);
        g_assert_true(fm_query_equal(&a, &b) == (strcmp(text_a, text_b) == 0));
        same += strcmp(text_a, text_b) == 0;
        fm_query_done(&a);
        fm_query_done(&b);
    }
    g_assert_cmpuint(same, <, ROUNDS / 100);
    g_rand_free(rand);
}

/* Each preference by itself makes a difference. */
static void every_field_of_preferences_counts(void)
{
    struct fm_preferences base, p[20];

    fm_preferences_default(&base, true, false);
    base.order = FM_ORDER_COST;
    for (unsigned i = 0; i < G_N_ELEMENTS(p); i++)
        p[i] = base;
    p[0].ports = !base.ports;
    p[1].time = FM_TIME_BOTH;
    p[2].callseqs = FM_COUNT_PER_CALL;
    p[3].allocs = FM_COUNT_OVERALL;
    p[4].memory = FM_MEMORY_NONE;
    p[5].box = !base.box;
    p[6].colour = !base.colour;
    p[7].ancestors_limited = false;
    p[8].ancestors++;
    p[9].procs_per_recursion_type++;
    p[10].summarize = true;
    p[11].order = FM_ORDER_NAME;
    p[12].cost.per_call = true;
    p[13].contour = true;
    p[14].time_format = FM_TIME_FORMAT_NO_SCALE;
    p[15].qualify = FM_QUALIFY_NEVER;
    p[16].show_inactive_call_sites = true;
    p[17].show_inactive_procs = true;
    p[18].show_inactive_modules = true;
    p[19].developer = true;
    for (unsigned i = 0; i < G_N_ELEMENTS(p); i++) {
        g_assert_false(fm_preferences_equal(&base, &p[i]));
        for (unsigned j = 0; j < i; j++)
            g_assert_false(fm_preferences_equal(&p[i], &p[j]));
    }
}

static void numbers_beyond_their_limits_print_as_the_limit(void)
{
    struct fm_query query = {.command = {.id = FM_CMD_PROC_CALLERS, .bunch_size = 200000}};

    g_autofree char *callers = fm_query_print(&query);
    g_assert_cmpstr(callers, ==, "proc_callers/0/cs/1/100000/nc");
    query.command = (struct fm_command){.id = FM_CMD_TIMEOUT};
    g_autofree char *timeout = fm_query_print(&query);
    g_assert_cmpstr(timeout, ==, "timeout/1");
    query.command = (struct fm_command){.id = FM_CMD_ROOT, .has_percent = true, .percent = 1000};
    g_autofree char *root = fm_query_print(&query);
    g_assert_cmpstr(root, ==, "root/100");
    query.command = (struct fm_command){.id = FM_CMD_TOP_PROCS, .first = 7, .last = 3};
    g_autofree char *top = fm_query_print(&query);
    g_assert_cmpstr(top, ==, "top_procs/7-7/calls/self/oa");
}

static void thresholds_print_short_and_exact(void)
{
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0.1, "v0.1"},
                 {2097152, "v2097152"},
                 {1000000, "v1e+06"},
                 {1.0 / 3, "v0.3333333333333333"},
                 {-1, "v0"},
                 {(double)NAN, "v0"},
                 {HUGE_VAL, "v1.7976931348623157e+308"},
                 {0, "v0"},
                 {DBL_MIN, "v2.2250738585072014e-308"}};

    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        struct fm_command back, command = {.id = FM_CMD_TOP_PROCS,
                                           .limit = FM_LIMIT_VALUE,
                                           .threshold = cases[i].value};
        g_autofree char *text = fm_command_print(&command);
        g_autofree char *want = g_strdup_printf("top_procs/%s/calls/self/oa", cases[i].text);
        g_autoptr(GError) error = NULL;

        g_assert_cmpstr(text, ==, want);
        g_assert_true(fm_command_parse(text, &back, &error));
        g_assert_no_error(error);
        if (isfinite(cases[i].value) && cases[i].value >= 0)
            g_assert_cmpfloat(back.threshold, ==, cases[i].value);
    }
}

static void names_with_ampersands_keep_apart_from_preferences(void)
{
    struct fm_query query = {.command = {.id = FM_CMD_MODULE, .module = g_strdup("a&b%2F/c-d")}};

    g_autofree char *text = fm_query_print(&query);
    g_assert_cmpstr(text, ==, "module/a&b%2F/c-d&");
    g_autofree char *url = fm_query_to_url(&query);
    g_assert_cmpstr(url, ==, "module/a%26b%252F/c-d");
    query.has_preferences = true;
    fm_preferences_default(&query.preferences, true, false);
    g_autofree char *long_text = fm_query_print(&query);
    g_assert_cmpstr(long_text, ==,
                    "module/a&b%2F/c-d&p-q-s-_-w/box/cols/5/20/nosum/context/nc/th/mqwd/hhh/nodev");
    g_autofree char *long_url = fm_query_to_url(&query);
    g_assert_cmpstr(
        long_url, ==,
        "module/a%26b%252F/c-d&p-q-s-_-w/box/cols/5/20/nosum/context/nc/th/mqwd/hhh/nodev");
    fm_query_done(&query);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/query/random/plain", random_queries_survive_the_plain_form);
    g_test_add_func("/query/random/url", random_queries_survive_the_url_form);
    g_test_add_func("/query/random/equal", different_queries_are_not_equal);
    g_test_add_func("/query/equal/fields", every_field_of_preferences_counts);
    g_test_add_func("/query/print/limits", numbers_beyond_their_limits_print_as_the_limit);
    g_test_add_func("/query/print/thresholds", thresholds_print_short_and_exact);
    g_test_add_func("/query/print/ampersands", names_with_ampersands_keep_apart_from_preferences);
    return g_test_run();
}

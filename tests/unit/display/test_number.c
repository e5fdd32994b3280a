/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as the pages show them. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "display/display.h"
#include "display/display_internal.h"

static void integers_have_commas(void)
{
    static const struct {
        int64_t value;
        const char *text;
    } cases[] = {{0, "0"},
                 {7, "7"},
                 {999, "999"},
                 {1000, "1,000"},
                 {-1, "-1"},
                 {-123, "-123"},
                 {-1234, "-1,234"},
                 {-123456, "-123,456"},
                 {12345, "12,345"},
                 {202594363, "202,594,363"},
                 {INT64_MAX, "9,223,372,036,854,775,807"},
                 {INT64_MIN, "-9,223,372,036,854,775,808"}};

    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = fm_format_int(cases[i].value);
        g_assert_cmpstr(text, ==, cases[i].text);
    }
}

static void floats_have_two_decimals_and_commas(void)
{
    static const struct {
        double value;
        unsigned decimals;
        const char *text;
    } cases[] = {{0, 2, "0.00"},
                 {0.5, 2, "0.50"},
                 {1234.567, 2, "1,234.57"},
                 {-1234.567, 2, "-1,234.57"},
                 {-123, 2, "-123.00"},
                 {-0.001, 2, "0.00"},
                 {-0.006, 2, "-0.01"},
                 {-0.0, 0, "0"},
                 {999.995, 2, "1,000.00"},
                 {0.005, 2, "0.01"},
                 {0.015, 2, "0.01"},
                 {0.125, 2, "0.12"},
                 {0.375, 2, "0.38"},
                 {1e6, 0, "1,000,000"},
                 {2.5, 0, "2"},
                 {3.5, 0, "4"},
                 {1e15, 2, "1,000,000,000,000,000.00"},
                 {1.23456789, 4, "1.2346"},
                 {(double)NAN, 2, "nan"},
                 {HUGE_VAL, 2, "inf"},
                 {-HUGE_VAL, 2, "-inf"}};

    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = fm_format_float(cases[i].value, cases[i].decimals);
        g_assert_cmpstr(text, ==, cases[i].text);
    }
    g_autofree char *largest = fm_format_float(DBL_MAX, 9);
    g_assert_cmpuint(strlen(largest), ==, 309 + 102 + 10);
}

static void percentages_have_no_sign_and_no_commas(void)
{
    static const struct {
        double fraction;
        const char *text;
    } cases[] = {{0, "0.00"},        {0.12345, "12.35"}, {1.0, "100.00"},   {0.00004, "0.00"},
                 {0.00005, "0.01"},  {0.5, "50.00"},     {12.5, "1250.00"}, {-0.25, "-25.00"},
                 {1 / 3.0, "33.33"}, {2 / 3.0, "66.67"}};

    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = fm_format_percent(cases[i].fraction);
        g_assert_cmpstr(text, ==, cases[i].text);
    }
}

static void times_choose_their_unit_before_rounding(void)
{
    static const struct {
        double seconds;
        const char *text;
    } cases[] = {{0, "0"},
                 {1e-12, "1.0ps"},
                 {9.99e-10, "999.0ps"},
                 {0.99999e-9, "1000.0ps"},
                 {1e-9, "1.0ns"},
                 {1.5e-7, "150.0ns"},
                 {0.99999e-6, "1000.0ns"},
                 {1e-6, "1.0us"},
                 {2.5e-4, "250.0us"},
                 {1e-3, "1.0ms"},
                 {0.01, "10.0ms"},
                 {0.99996, "1000.0ms"},
                 {1, "1.0s"},
                 {1.27, "1.3s"},
                 {3600, "3600.0s"},
                 {12345678.9, "12345678.9s"},
                 {-0.01, "-10.0ms"},
                 {-2, "-2.0s"}};

    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *text = fm_format_time(cases[i].seconds);
        g_assert_cmpstr(text, ==, cases[i].text);
    }
}

static char *without_commas(const char *text)
{
    g_auto(GStrv) parts = g_strsplit(text, ",", -1);

    return g_strjoinv("", parts);
}

/* The fast way writes what printf writes, close calls among them. */
static void all_decimals_agree_with_printf(void)
{
    GRand *rand = g_rand_new_with_seed(7);

    for (unsigned i = 0; i < 200000; i++) {
        unsigned decimals = (unsigned)g_rand_int_range(rand, 0, 4);
        double scale = pow(10, g_rand_double_range(rand, -6, 16));
        double value = g_rand_double_range(rand, 0, scale);
        char want[400];

        if (i % 3 == 0) /* half way between two neighbours, or next to it */
            value = nextafter(floor(value) + 0.5, i % 2 ? 0 : scale) / pow(10, decimals);
        g_snprintf(want, sizeof want, "%.*f", (int)decimals, value);
        g_autofree char *text = fm_format_float(value, decimals);
        g_autofree char *plain = without_commas(text);
        g_assert_cmpstr(plain, ==, want);
    }
    g_rand_free(rand);
}

static void plain_numbers_read_back_the_same(void)
{
    GRand *rand = g_rand_new_with_seed(8);
    GString *out = g_string_new(NULL);

    for (unsigned i = 0; i < 100000; i++) {
        union {
            uint64_t bits;
            double value;
        } any = {(uint64_t)g_rand_int(rand) << 32 | g_rand_int(rand)};

        if (i % 2)
            any.value = g_rand_int_range(rand, -1000000, 1000000) / 100.0;
        g_string_truncate(out, 0);
        if (fm_append_plain_double(out, any.value))
            g_assert_cmpfloat(g_ascii_strtod(out->str, NULL), ==, any.value);
        else
            g_assert_false(isfinite(any.value));
    }
    static const struct {
        double value;
        const char *text;
    } cases[] = {{-0.0, "0"},       {100, "100"},  {0.1, "0.1"}, {1e14, "100000000000000"},
                 {1e300, "1e+300"}, {-2.5, "-2.5"}};
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_string_truncate(out, 0);
        g_assert_true(fm_append_plain_double(out, cases[i].value));
        g_assert_cmpstr(out->str, ==, cases[i].text);
    }
    g_string_free(out, TRUE);
    g_rand_free(rand);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/display/number/int", integers_have_commas);
    g_test_add_func("/display/number/float", floats_have_two_decimals_and_commas);
    g_test_add_func("/display/number/percent", percentages_have_no_sign_and_no_commas);
    g_test_add_func("/display/number/time", times_choose_their_unit_before_rounding);
    g_test_add_func("/display/number/printf", all_decimals_agree_with_printf);
    g_test_add_func("/display/number/plain", plain_numbers_read_back_the_same);
    return g_test_run();
}

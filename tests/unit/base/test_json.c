/* SPDX-License-Identifier: Apache-2.0 */
#include <glib.h>
#include <math.h>

#include "base/text/json.h"

static void assert_text(GString *out, const char *expected)
{
    g_assert_cmpstr(out->str, ==, expected);
    g_string_free(out, TRUE);
}

static void build(struct fm_json *writer)
{
    struct fm_json json = *writer;
    fm_json_object(&json, NULL);
    fm_json_array(&json, "empty");
    fm_json_end(&json);
    fm_json_array(&json, "rows");
    fm_json_uint(&json, NULL, G_MAXUINT64);
    fm_json_object(&json, NULL);
    fm_json_int(&json, "least", G_MININT64);
    fm_json_bool(&json, "is", true);
    fm_json_end(&json);
    fm_json_null(&json, NULL);
    fm_json_end(&json);
    fm_json_text(&json, "none", NULL);
    fm_json_end(&json);
}

static void test_nesting(void)
{
    struct fm_json json;
    GString *out = g_string_new(NULL);
    fm_json_init(&json, out);
    build(&json);
    assert_text(out, "{\"empty\":[],\"rows\":[18446744073709551615,"
                     "{\"least\":-9223372036854775808,\"is\":true},null],\"none\":null}");

    out = g_string_new(NULL);
    fm_json_init(&json, out);
    json.spaced = true;
    build(&json);
    assert_text(out, "{\"empty\": [], \"rows\": [18446744073709551615, "
                     "{\"least\": -9223372036854775808, \"is\": true}, null], "
                     "\"none\": null}");
}

static void test_lines(void)
{
    GString *out = g_string_new(NULL);
    struct fm_json json;
    fm_json_init(&json, out);
    fm_json_array(&json, NULL);
    for (unsigned i = 0; i < 2; i++) {
        fm_json_line(&json, 2);
        fm_json_uint(&json, NULL, i);
    }
    fm_json_line(&json, 0);
    fm_json_end(&json);
    assert_text(out, "[\n  0,\n  1\n]");
}

static void test_escapes(void)
{
    GString *out = g_string_new(NULL);
    struct fm_json json;
    fm_json_init(&json, out);
    fm_json_object(&json, NULL);
    fm_json_text(&json, "a\"b",
                 "\\ \n\t\x1b \x7f \xc2\x85 \xe2\x80\xa8 \xc3\xa4 \xff \xed\xa0\x80 \xe2\x82");
    fm_json_bytes(&json, "nul", "a\0b", 3);
    fm_json_end(&json);
    assert_text(out,
                "{\"a\\\"b\":\"\\\\ \\n\\t\\u001b \\u007f \\u0085 \\u2028 \xc3\xa4 \xef\xbf\xbd "
                "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd \xef\xbf\xbd\xef\xbf\xbd\","
                "\"nul\":\"a\\u0000b\"}");
}

static void test_numbers(void)
{
    static const struct {
        double value;
        const char *text; /* without the point, and with it */
    } cases[] = {
        {0.1, "[0.1,0.1]"},      {3, "[3,3.0]"},
        {0, "[0,0.0]"},          {-2.5e300, "[-2.5e+300,-2.5e+300]"},
        {NAN, "[null,null]"},    {HUGE_VAL, "[null,null]"},
        {1e15, "[1e+15,1e+15]"}, {1.0 / 3, "[0.3333333333333333,0.3333333333333333]"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        GString *out = g_string_new(NULL);
        struct fm_json json;
        fm_json_init(&json, out);
        fm_json_array(&json, NULL);
        fm_json_double(&json, NULL, cases[i].value);
        fm_json_real(&json, NULL, cases[i].value);
        fm_json_end(&json);
        assert_text(out, cases[i].text);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/json/commas-and-brackets-at-every-depth", test_nesting);
    g_test_add_func("/json/an-item-may-begin-a-line", test_lines);
    g_test_add_func("/json/what-is-no-text-is-escaped-or-replaced", test_escapes);
    g_test_add_func("/json/numbers-read-back-as-themselves", test_numbers);
    return g_test_run();
}

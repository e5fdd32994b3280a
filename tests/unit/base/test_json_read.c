/* SPDX-License-Identifier: Apache-2.0 */
/* Reading JSON where it stands: what is JSON, where it ends to be, values and strings. */
#include <glib.h>
#include <string.h>

#include "base/text/json_read.h"

static size_t count_of(struct fm_json_value value)
{
    struct fm_json_items items = fm_json_items(value);
    struct fm_json_value item;
    size_t count = 0;
    while (fm_json_next(&items, NULL, &item))
        count++;
    return count;
}

static struct fm_json_value whole(const char *text)
{
    struct fm_json_value value;
    size_t offset;
    const char *expected;
    if (!fm_json_check(text, strlen(text), &value, &offset, &expected))
        g_error("%s: offset %zu: expected %s", text, offset, expected);
    return value;
}

static void text_is_checked(void)
{
    static const struct {
        const char *text, *expected;
        size_t offset;
    } bad[] = {
        {"", "a value", 0},
        {"[1,]", "a value", 3},
        {"[1 2]", "a comma or ]", 3},
        {"{\"a\":1", "a comma or }", 6},
        {"{\"a\" 1}", "a colon", 5},
        {"{1:2}", "a member's name", 1},
        {"{\"a\":1,}", "a member's name", 7},
        {"[01]", "a comma or ]", 2},
        {"[-]", "a digit", 2},
        {"[1.]", "a digit", 3},
        {"[1e]", "a digit", 3},
        {"[tru]", "a value", 1},
        {"\"a", "the end of a string", 2},
        {"\"\\x\"", "one of \"\\/bfnrtu behind \\", 2},
        {"\"\\u12g4\"", "four hexadecimal digits behind \\u", 5},
        {"\"\t\"", "no control character in a string", 1},
        {"\"\xff\"", "UTF-8", 1},
        {"[] x", "the end", 3},
        {"]", "a value", 0},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        struct fm_json_value value;
        size_t offset;
        const char *expected;
        size_t size = strlen(bad[i].text);
        g_autofree char *copy = g_memdup2(bad[i].text, MAX(size, 1));
        g_assert_false(fm_json_check(copy, size, &value, &offset, &expected));
        g_assert_cmpstr(expected, ==, bad[i].expected);
        g_assert_cmpuint(offset, ==, bad[i].offset);
    }
}

static void nesting_is_bounded(void)
{
    g_autoptr(GString) text = g_string_new(NULL);
    struct fm_json_value value;
    size_t offset;
    const char *expected;
    for (unsigned i = 0; i < FM_JSON_NESTING_MAX; i++)
        g_string_append(text, "[");
    g_string_append_c(text, '1');
    for (unsigned i = 0; i < FM_JSON_NESTING_MAX; i++)
        g_string_append(text, "]");
    g_assert_true(fm_json_check(text->str, text->len, &value, &offset, &expected));
    g_autofree char *deeper = g_strdup_printf("[%s]", text->str);
    g_assert_false(fm_json_check(deeper, strlen(deeper), &value, &offset, &expected));
    g_assert_cmpstr(expected, ==, "no deeper nesting");
}

static void values_are_found(void)
{
    struct fm_json_value top =
        whole(" { \"a\" : [1, -2.5e1 ,[3,\"]\"], {}] , \"b\\u0063\":\"x\", \"n\":null,"
              "\"big\":1e999, \"long\":12345678901234567890 } ");
    struct fm_json_value a = fm_json_member(top, "a"), item;
    struct fm_json_items items = fm_json_items(a);
    double number = 0;
    g_assert_true(fm_json_is_object(top));
    g_assert_true(fm_json_is_array(a));
    g_assert_cmpuint(count_of(a), ==, 4);
    g_assert_cmpuint(count_of(top), ==, 5);
    g_assert_true(fm_json_next(&items, NULL, &item) && fm_json_number(item, &number));
    g_assert_cmpfloat(number, ==, 1);
    g_assert_true(fm_json_next(&items, NULL, &item) && fm_json_number(item, &number));
    g_assert_cmpfloat(number, ==, -25);
    g_assert_true(fm_json_next(&items, NULL, &item) && fm_json_is_array(item));
    g_assert_cmpuint(count_of(item), ==, 2);
    g_assert_true(fm_json_next(&items, NULL, &item) && fm_json_is_object(item));
    g_assert_cmpuint(count_of(item), ==, 0);
    g_assert_false(fm_json_next(&items, NULL, &item));
    g_assert_true(fm_json_equals(fm_json_member(top, "bc"), "x")); /* the name has an escape */
    g_assert_null(fm_json_member(top, "b").at);
    g_assert_false(fm_json_number(fm_json_member(top, "n"), &number));
    g_assert_false(fm_json_number(fm_json_member(top, "big"), &number));
    g_assert_true(fm_json_number(fm_json_member(top, "long"), &number));
    g_assert_cmpfloat(number, ==, 12345678901234567890.0);
    g_assert_null(fm_json_member(a, "a").at);
}

static void strings_are_made_of_escapes(void)
{
    static const struct {
        const char *json, *text;
    } strings[] = {{"\"plain\"", "plain"},
                   {"\"\"", ""},
                   {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
                   {"\"\\u00e9\\ud83d\\ude00!\"", "\xc3\xa9\xf0\x9f\x98\x80!"},
                   {"\"\\ud83dx\\ude00\\u0000\"", "\xef\xbf\xbdx\xef\xbf\xbd\xef\xbf\xbd"},
                   {"12", ""}};
    for (unsigned i = 0; i < G_N_ELEMENTS(strings); i++) {
        g_autofree char *text = fm_json_string(whole(strings[i].json));
        g_assert_cmpstr(text, ==, strings[i].text);
    }
    g_assert_true(fm_json_equals(whole("\"\\u0061b\""), "ab"));
    g_assert_false(fm_json_equals(whole("\"ab\""), "abc"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/json/read/check", text_is_checked);
    g_test_add_func("/json/read/nesting", nesting_is_bounded);
    g_test_add_func("/json/read/values", values_are_found);
    g_test_add_func("/json/read/strings", strings_are_made_of_escapes);
    return g_test_run();
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/growing/delta.h"

static void check(const char *before, const char *after, const char *expected)
{
    g_autofree char *delta = fm_delta(before, after);
    g_assert_cmpstr(delta, ==, expected);
}

static void test_rows(void)
{
    check("", "", "[]");
    check("a\nb\n", "a\nb\n", "[4]");
    check("", "a\n", "[\"a\\n\"]");
    check("a\nb\n", "", "[]"); /* nothing is taken */
    check("a\nb\nc\n", "a\nc\n", "[2,-2,2]");
    check("a\nc\n", "a\nb\nc\n", "[2,\"b\\n\",2]");
    check("<tr>1</tr><tr>2</tr><tr>3</tr>", "<tr>1</tr><tr>4</tr><tr>3</tr>",
          "[10,\"<tr>4</tr>\",-10,10]");
}

/* Scripts count UTF-16: two for what lies beyond its first plane. */
static void test_characters(void)
{
    check("\u00e4\n\u27f2\nx\n", "\u00e4\n\u27f2\ny\n", "[4,\"y\\n\"]");
    check("\U0001f600\nx\n", "\U0001f600\ny\n", "[3,\"y\\n\"]");
}

/* What stands everywhere is no reason to leave out all that lies between. */
static void test_common_pieces(void)
{
    g_autoptr(GString) before = g_string_new(NULL);
    g_autoptr(GString) after = g_string_new("new\n\n");
    for (unsigned i = 0; i < 200; i++)
        g_string_append_printf(before, "row %u\n%s", i, i % 100 == 99 ? "\n" : "");
    g_string_append(after, before->str);
    g_autofree char *delta = fm_delta(before->str, after->str);
    g_assert_cmpstr(delta, ==, "[\"new\\n\\n\",1492]");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/serve/delta/rows", test_rows);
    g_test_add_func("/serve/delta/characters", test_characters);
    g_test_add_func("/serve/delta/common-pieces", test_common_pieces);
    return g_test_run();
}

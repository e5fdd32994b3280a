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
          "[14,-6,\"4</tr>\",10]");
}

/* Of rows and boxes that differ in figures alone, those are sent. */
static void test_figures(void)
{
    check("<a>calls 10, 0.25 s</a>\n", "<a>calls 110, 0.25 s</a>\n", "[9,-8,\"110, 0.25\",7]");
    check("<a>calls 10, 0.25 s</a>\n", "<a>calls 11, 0.35 s</a>\n", "[9,-8,\"11, 0.35\",7]");
    check("<a x=1>one</a>\n<a x=2>two</a>\n<a x=3>three</a>\n",
          "<a x=4>one</a>\n<a x=6>three</a>\n", "[5,-1,\"4\",9,-15,5,-1,\"6\",11]");
    check("\u27f2 1 \u27f2 long\n", "\u27f2 2 \u27f2 long\n", "[2,-1,\"2\",8]");
    check("1\n", "1\n2\n3\n", "[2,\"2\\n3\\n\"]");
    check("a 1\nb 1\nc 1\n", "c 2\n", "[-8,2,-2,\"2\\n\"]");
}

/* As scripts do, of texts without characters of several units. */
static char *apply(const char *text, const char *delta)
{
    GString *out = g_string_new(NULL);
    size_t at = 0;
    for (const char *c = delta + 1; *c != ']' && *c != '\0';) {
        if (*c == '"') {
            for (c++; *c != '"'; c++)
                g_string_append_c(out, *c != '\\' ? *c : *++c == 'n' ? '\n' : *c);
            c++;
        } else {
            char *end;
            gint64 count = g_ascii_strtoll(c, &end, 10);
            c = end;
            if (count > 0)
                g_string_append_len(out, text + at, (gssize)count);
            at += (size_t)ABS(count);
        }
        c += *c == ',';
    }
    return g_string_free(out, FALSE);
}

static char *random_text(unsigned rows)
{
    GString *text = g_string_new(NULL);
    for (unsigned i = 0; i < rows; i++)
        g_string_append_printf(text, "%s%d <b>%d.%d</b>%s", g_test_rand_bit() ? "<tr>" : "row ",
                               g_test_rand_int_range(0, 30), g_test_rand_int_range(0, 3),
                               g_test_rand_int_range(0, 9), g_test_rand_bit() ? "\n" : "x\n");
    return g_string_free(text, FALSE);
}

static void test_random(void)
{
    for (unsigned i = 0; i < 2000; i++) {
        g_autofree char *before = random_text((unsigned)g_test_rand_int_range(0, 12));
        g_autofree char *after = random_text((unsigned)g_test_rand_int_range(0, 12));
        g_autofree char *delta = fm_delta(before, after);
        g_autofree char *made = apply(before, delta);
        g_assert_cmpstr(made, ==, after);
    }
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
    g_test_add_func("/serve/delta/figures", test_figures);
    g_test_add_func("/serve/delta/random", test_random);
    g_test_add_func("/serve/delta/characters", test_characters);
    g_test_add_func("/serve/delta/common-pieces", test_common_pieces);
    return g_test_run();
}

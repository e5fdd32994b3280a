/* SPDX-License-Identifier: Apache-2.0 */
#include "record/toolchain/note_filter.h"

#include <string.h>

#define RANGE " tree-tailc for functions in the range of [0, 4294967295]"
#define NOTE "cc1: note: disable pass" RANGE "\n"
#define COLOURED                                                                  \
    "\33[01m\33[Kcc1plus:\33[m\33[K \33[01;36m\33[Knote: \33[m\33[Kdisable pass " \
    "\33[01m\33[K" RANGE "\n"

/* What comes out when the text comes in pieces of this size. */
static char *filtered(const char *text, gsize step)
{
    struct fm_note_filter filter;
    g_autoptr(GString) out = g_string_new(NULL);
    gsize size = strlen(text);
    fm_note_filter_init(&filter);
    for (gsize at = 0; at < size; at += step)
        fm_note_filter_pass(&filter, text + at, MIN(step, size - at), out);
    fm_note_filter_end(&filter, out);
    fm_note_filter_done(&filter);
    return g_string_free(g_steal_pointer(&out), FALSE);
}

static void check(const char *text, const char *expected)
{
    for (gsize step = 1; step <= strlen(text) + 1; step++) {
        g_autofree char *found = filtered(text, step);
        g_assert_cmpstr(found, ==, expected);
    }
}

static void the_note_alone_is_taken_out(void)
{
    check(NOTE, "");
    check(COLOURED, "");
    check("lto1: note: x" RANGE "\n", "");
    check("cc1: Anmerkung: Durchlauf tree-tailc im Bereich [0, 4294967295] aus\n", "");
    check(NOTE "a.c:1:2: warning: w\n    1 | int x;\n" NOTE "b\n" COLOURED,
          "a.c:1:2: warning: w\n    1 | int x;\nb\n");
}

static void all_else_is_handed_on(void)
{
    static const char *const texts[] = {
        "",
        "\n",
        "no end",
        "cc",
        "cc1: all warnings being treated as errors\n",
        "cc1: note: disable pass tree-tailr2 for functions in the range of [0, 4294967295]\n",
        "cc1: note: disable pass tree-tailc for function main\n",
        (" cc1: note: disable pass" RANGE "\n"),
        "a.c:1: note: 'tree-tailc' 4294967295\n",
        "/usr/lib/gcc/cc1 -quiet -fdisable-tree-tailc 4294967295\n",
        "\33[01m\33[Kcc1:\33[m\33[K error\n\33",
        "\33[01m\33",
        ("cc1: note: disable pass" RANGE), /* cut off: not the whole line */
        "cc1.c: x\ncc1plus\nlto\nlto2: a\n\n\n",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        check(texts[i], texts[i]);
}

static void long_lines_are_not_kept(void)
{
    struct fm_note_filter filter;
    g_autoptr(GString) out = g_string_new(NULL);
    g_autofree char *rest = g_strnfill(5000, 'x');
    fm_note_filter_init(&filter);
    fm_note_filter_pass(&filter, "cc1: ", 5, out);
    g_assert_cmpuint(out->len, ==, 0);
    fm_note_filter_pass(&filter, rest, 5000, out);
    g_assert_cmpuint(out->len, ==, 5005);
    fm_note_filter_pass(&filter, RANGE "\n", strlen(RANGE) + 1, out);
    g_assert_true(g_str_has_suffix(out->str, RANGE "\n"));
    g_assert_cmpuint(out->len, ==, 5005 + strlen(RANGE) + 1);
    fm_note_filter_done(&filter);
}

/* A line that cannot become the note is not waited for. */
static void other_text_comes_at_once(void)
{
    struct fm_note_filter filter;
    g_autoptr(GString) out = g_string_new(NULL);
    fm_note_filter_init(&filter);
    fm_note_filter_pass(&filter, "a", 1, out);
    g_assert_cmpstr(out->str, ==, "a");
    fm_note_filter_pass(&filter, "\ncx", 3, out);
    g_assert_cmpstr(out->str, ==, "a\ncx");
    fm_note_filter_done(&filter);
}

static void what_prints_the_note_is_known(void)
{
    static const char *const with[] = {"gcc", "-O2", "-fdisable-tree-tailc", NULL};
    static const char *const without[] = {"gcc", "-O2", "-fdisable-tree-tailr2", NULL};
    g_assert_true(fm_note_filter_is_needed(with));
    g_assert_false(fm_note_filter_is_needed(without));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/note_filter/the_note_alone_is_taken_out", the_note_alone_is_taken_out);
    g_test_add_func("/note_filter/all_else_is_handed_on", all_else_is_handed_on);
    g_test_add_func("/note_filter/long_lines_are_not_kept", long_lines_are_not_kept);
    g_test_add_func("/note_filter/other_text_comes_at_once", other_text_comes_at_once);
    g_test_add_func("/note_filter/what_prints_the_note_is_known", what_prints_the_note_is_known);
    return g_test_run();
}

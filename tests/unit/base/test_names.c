/* SPDX-License-Identifier: Apache-2.0 */
/* A table of names, in columns: group, language, name, place, short form, text beside the others of
 * its group. The group "-" is a name alone. argv: files of such tables; one that is missing is
 * skipped. */
#include <glib.h>
#include <string.h>

#include "base/names/names.h"
#include "base/text/demangle.h"

enum column { GROUP, LANGUAGE, NAME, PLACE, SHORT, BESIDE, COLUMNS };

static enum fm_name_language language_of(const char *word)
{
    static const char *const words[] = {"guess",   "c++",     "rust", "go", "d",     "swift",
                                        "fortran", "haskell", "java", "js", "python"};
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (strcmp(words[i], word) == 0)
            return (enum fm_name_language)i;
    g_error("no language: %s", word);
}

static struct fm_name_source source_of(char **row)
{
    struct fm_name_source source = {.raw = row[NAME], .language = language_of(row[LANGUAGE])};
    source.text = source.language == FM_NAME_CXX || source.language == FM_NAME_GUESS
                      ? fm_demangle(row[NAME])
                      : g_strdup(row[NAME]);
    char *colon = strrchr(row[PLACE], ':');
    if (colon != NULL) {
        source.line = (guint32)g_ascii_strtoull(colon + 1, NULL, 10);
        *colon = '\0';
    }
    source.file = row[PLACE];
    return source;
}

/* Compares one group; returns how many rows it had. */
static guint check_group(GPtrArray *rows, guint start)
{
    char **first = g_ptr_array_index(rows, start);
    guint end = start + 1;
    while (end < rows->len && strcmp(first[GROUP], "-") != 0 &&
           strcmp(((char **)g_ptr_array_index(rows, end))[GROUP], first[GROUP]) == 0)
        end++;
    g_autofree struct fm_name_source *sources = g_new0(struct fm_name_source, end - start);
    for (guint i = start; i < end; i++)
        sources[i - start] = source_of(g_ptr_array_index(rows, i));
    g_auto(GStrv) texts = fm_names_apart(sources, end - start);
    for (guint i = start; i < end; i++) {
        char **row = g_ptr_array_index(rows, i);
        g_autofree char *brief = fm_name_short(&sources[i - start]);
        if (strcmp(brief, row[SHORT]) != 0) {
            g_test_message("%s: short '%s', expected '%s'", row[NAME], brief, row[SHORT]);
            g_test_fail();
        }
        if (strcmp(texts[i - start], row[BESIDE]) != 0) {
            g_test_message("%s: beside '%s', expected '%s'", row[NAME], texts[i - start],
                           row[BESIDE]);
            g_test_fail();
        }
        g_free((char *)(uintptr_t)sources[i - start].text);
    }
    return end - start;
}

static void test_table(gconstpointer data)
{
    g_autofree char *text = NULL;
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)g_strfreev);
    if (!g_file_get_contents(data, &text, NULL, NULL)) {
        g_test_skip("the table is not here");
        return;
    }
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line != NULL; line++) {
        if (**line == '\0' || **line == '#')
            continue;
        char **row = g_strsplit(*line, "\t", -1);
        g_assert_cmpuint(g_strv_length(row), ==, COLUMNS);
        g_ptr_array_add(rows, row);
    }
    g_assert_cmpuint(rows->len, >, 50);
    for (guint i = 0; i < rows->len;)
        i += check_group(rows, i);
}

/* Functions that differ in nothing have different texts, too. */
static void test_equal(void)
{
    const struct fm_name_source equal[] = {{.text = "f(int)"}, {.text = "f(int)"}, {.text = "f"}};
    g_auto(GStrv) texts = fm_names_apart(equal, 3);
    g_assert_cmpstr(texts[0], !=, texts[1]);
    g_assert_cmpstr(texts[2], ==, "f");
    g_assert_true(g_str_has_suffix(texts[0], " of 2]"));
    const struct fm_name_source raw[] = {{.text = "f", .raw = "f_1"}, {.text = "f", .raw = "f_2"}};
    g_auto(GStrv) linked = fm_names_apart(raw, 2);
    g_assert_cmpstr(linked[0], ==, "f [f_1]");
    g_assert_cmpstr(linked[1], ==, "f [f_2]");
}

static void test_places(void)
{
    const struct fm_name_source same[] = {
        {.text = "init", .file = "src/a.c", .line = 10, .object = "libone.so"},
        {.text = "init", .file = "src/a.c", .line = 10, .object = "libtwo.so"}};
    g_auto(GStrv) texts = fm_names_apart(same, 2);
    g_assert_cmpstr(texts[0], ==, "init in libone.so");
    g_assert_cmpstr(texts[1], ==, "init in libtwo.so");
    const struct fm_name_source files[] = {{.text = "init", .file = "src/a.c", .line = 10},
                                           {.text = "init", .file = "src/b.c", .line = 7}};
    g_auto(GStrv) places = fm_names_apart(files, 2);
    g_assert_cmpstr(places[0], ==, "init at a.c:10");
}

/* Deep and broken texts stay what they are. */
static void test_opaque(void)
{
    static const char *const texts[] = {
        "a<b", "[unknown]", "f(",  ")",   "operator", "a::",   "::a", "<",  "a b c",    "0x401234",
        "~",   "{",         "a<>", "(a)", "f(int) x", "a>>b<", "'",   "\"", "operator<"};
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++) {
        g_autofree char *brief = fm_name_short_text(texts[i], NULL);
        g_assert_cmpuint(strlen(brief), >, 0);
    }
    g_autoptr(GString) deep = g_string_new("f");
    for (unsigned i = 0; i < 1000; i++)
        g_string_append(deep, "<a");
    for (unsigned i = 0; i < 1000; i++)
        g_string_append_c(deep, '>');
    g_autofree char *brief = fm_name_short_text(deep->str, NULL);
    g_assert_cmpstr(brief, ==, deep->str);
}

/* The scope's middle goes first, then lists; a name of its own stays whole. */
static void test_elide(void)
{
    static const struct {
        const char *text;
        size_t width;
        const char *cut;
    } cases[] = {
        {"short::name", 72, "short::name"},
        {"std::_Sp_counted_ptr_inplace::_M_dispose", 30, "std::_Sp_c…inplace::_M_dispose"},
        {"std::_Sp_counted_ptr_inplace::_M_dispose", 40,
         "std::_Sp_counted_ptr_inplace::_M_dispose"},
        {"f(first_argument_type, second_argument_type)", 24, "f(first_argu…ument_type)"},
        {"name_of_its_own_that_is_longer_than_the_width", 10,
         "name_of_its_own_that_is_longer_than_the_width"},
        {"Grüße::ÄÖÜäöüßÄÖÜäöüß::go", 20, "Grüße::ÄÖ…ÖÜäöüß::go"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *cut = fm_name_elide(cases[i].text, cases[i].width);
        g_assert_cmpstr(cut, ==, cases[i].cut);
    }
}

static void test_elide_paths(void)
{
    static const char *const texts[] = {"src/a.c", "src/components/numerical/first/solver.cc",
                                        "src/components/numerical/other/solver.cc",
                                        "a_file_without_a_folder_but_with_a_long_name.c"};
    char *paths[G_N_ELEMENTS(texts)];
    for (size_t i = 0; i < G_N_ELEMENTS(texts); i++)
        paths[i] = (char *)(uintptr_t)texts[i];
    g_auto(GStrv) cut = fm_paths_elide(paths, G_N_ELEMENTS(paths), 24);
    g_assert_cmpstr(cut[0], ==, "src/a.c");
    g_assert_true(g_str_has_suffix(cut[1], "/solver.cc"));
    g_assert_true(g_str_has_prefix(cut[1], "src/co"));
    g_assert_cmpstr(cut[1], !=, cut[2]);
    g_assert_cmpstr(cut[3], ==, paths[3]);
    g_auto(GStrv) one = fm_paths_elide(&paths[1], 1, 24);
    g_assert_cmpstr(one[0], ==, "src/com…/first/solver.cc");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    for (int i = 1; i < argc; i++) {
        g_autofree char *path = g_strdup_printf("/names/table/%d", i);
        g_test_add_data_func(path, argv[i], test_table);
    }
    g_test_add_func("/names/equal", test_equal);
    g_test_add_func("/names/places", test_places);
    g_test_add_func("/names/opaque", test_opaque);
    g_test_add_func("/names/elide", test_elide);
    g_test_add_func("/names/elide-paths", test_elide_paths);
    return g_test_run();
}

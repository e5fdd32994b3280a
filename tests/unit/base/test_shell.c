/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text/shell.h"

#include <glib.h>
#include <stdint.h>

static void lines_are_kept(void)
{
    static const char *const cases[][2] = {
        {"out.rec", "out.rec"},
        {"", ""},
        {"a b'c", "a b'c"},
        {"Gr\xC3\xB6\xC3\x9F\x65", "Gr\xC3\xB6\xC3\x9F\x65"},
        {"a\nstate\tended", "a\\nstate\\tended"},
        {"\x1B[31mred\r", "\\033[31mred\\r"},
        {"back\\slash\x7F", "back\\\\slash\\177"},
        {"\xC2\x9B"
         "1m",
         "\\302\\2331m"}, /* what begins an escape sequence, in one character */
        {"\xFF\xC3", "\\377\\303"},
        {"\xE2\x80\xAEtxt", "\\342\\200\\256txt"}, /* from right to left */
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *found = fm_text_escaped(cases[i][0]);
        g_assert_cmpstr(found, ==, cases[i][1]);
    }
}

/* The word alone, and as bash reads it. */
static void words_are_read_back(void)
{
    static const char *const cases[][2] = {
        {"out.data", "out.data"},
        {"", "''"},
        {"a b", "'a b'"},
        {"it's", "'it'\\''s'"},
        {"$HOME", "'$HOME'"},
        {"{a,b}", "'{a,b}'"},
        {"\xC3\xB6", "\xC3\xB6"},
        {"a\nb", "$'a\\nb'"},
        {"it's\\\x1B[0m\xFF"
         "7",
         "$'it\\'s\\\\\\033[0m\\3777'"},
    };
    g_autofree char *bash = g_find_program_in_path("bash");
    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *word = fm_shell_word(cases[i][0]);
        g_assert_cmpstr(word, ==, cases[i][1]);
        if (bash == NULL)
            continue;
        g_autofree char *script = g_strdup_printf("printf %%s %s", word);
        char *const command[] = {bash, (char *)(uintptr_t) "-c", script, NULL};
        g_autofree char *said = NULL;
        g_autoptr(GError) error = NULL;
        g_assert_true(g_spawn_sync(NULL, (char **)(uintptr_t)command, NULL, G_SPAWN_DEFAULT, NULL,
                                   NULL, &said, NULL, NULL, &error));
        g_assert_cmpstr(said, ==, cases[i][0]);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/base/shell/lines", lines_are_kept);
    g_test_add_func("/base/shell/words", words_are_read_back);
    return g_test_run();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Percent-encoding. */
#include <string.h>

#include "base/error.h"
#include "query/query.h"

static void all_bytes_survive(void)
{
    char text[256];

    for (unsigned i = 0; i < 255; i++)
        text[i] = (char)(i + 1);
    text[255] = '\0';
    g_autofree char *encoded = fm_query_percent_encode(text);
    g_autofree char *decoded = fm_query_percent_decode(encoded, NULL);
    g_assert_cmpstr(decoded, ==, text);
    GString *part = g_string_new("x?");
    fm_query_append_part(part, text);
    g_assert_null(strpbrk(part->str + 2, "&=+?#\"'<> \x7F"));
    g_autofree char *decoded_part = fm_query_percent_decode(part->str + 2, NULL);
    g_assert_cmpstr(decoded_part, ==, text);
    g_string_free(part, TRUE);
}

static void what_is_kept_and_what_is_not(void)
{
    g_autofree char *encoded = fm_query_percent_encode("menu&a=b/c-d_e.f~g h%\"+\xC3\xA9");

    g_assert_cmpstr(encoded, ==, "menu&a=b/c-d_e.f~g%20h%25%22%2B%C3%A9");
    g_autofree char *lower = fm_query_percent_decode("%c3%A9+%2f", NULL);
    g_assert_cmpstr(lower, ==, "\xC3\xA9+/");
}

static void bad_escapes_are_refused_with_their_place(void)
{
    static const struct {
        const char *text;
        unsigned offset;
    } cases[] = {{"%", 0}, {"a%4", 1}, {"ab%zz", 2}, {"%00", 0}, {"%%41", 0}, {"a%4\xFF", 1}};

    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_autofree char *offset = g_strdup_printf("offset %u:", cases[i].offset);

        g_assert_null(fm_query_percent_decode(cases[i].text, &error));
        g_assert_error(error, FM_ERROR, FM_ERROR_USAGE);
        g_assert_nonnull(strstr(error->message, offset));
    }
}

static void urls_are_split_before_they_are_decoded(void)
{
    g_autoptr(GError) error = NULL;
    struct fm_query query;

    g_assert_true(fm_query_from_url("module/a%26b%3Dc", &query, &error));
    g_assert_cmpstr(query.command.module, ==, "a&b=c");
    g_assert_false(query.has_preferences);
    fm_query_done(&query);
    g_assert_true(fm_query_from_url("module/x&", &query, &error));
    g_assert_cmpstr(query.command.module, ==, "x");
    fm_query_done(&query);
    g_assert_true(fm_query_from_url(
        "%6Denu&p-q-s-%5F-w/box/cols/5/20/nosum/context/nc/th/mqwd/hhh/nodev", &query, &error));
    g_assert_cmpint(query.command.id, ==, FM_CMD_MENU);
    g_assert_true(query.has_preferences);
}

static void bad_urls_are_refused(void)
{
    static const char *const cases[] = {"",
                                        "&",
                                        "menu&x",
                                        "menu%",
                                        "menu&%",
                                        "module",
                                        "timeout/%ff",
                                        "menu&p-q-s-_-w/box/cols/5/20/"
                                        "nosum/context/nc/th/mqwd/hhh/"
                                        "nodev&x"};

    for (unsigned i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        struct fm_query query;

        g_assert_false(fm_query_from_url(cases[i], &query, &error));
        g_assert_error(error, FM_ERROR, FM_ERROR_USAGE);
        g_assert_true(g_utf8_validate(error->message, -1, NULL));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/query/url/bytes", all_bytes_survive);
    g_test_add_func("/query/url/kept", what_is_kept_and_what_is_not);
    g_test_add_func("/query/url/escapes", bad_escapes_are_refused_with_their_place);
    g_test_add_func("/query/url/split", urls_are_split_before_they_are_decoded);
    g_test_add_func("/query/url/bad", bad_urls_are_refused);
    return g_test_run();
}

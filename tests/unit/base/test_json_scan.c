/* SPDX-License-Identifier: Apache-2.0 */
/* Ends of JSON's containers and of plain text in strings, against readers of one byte at a time. */
#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "base/text/json_scan.h"

#define PADDING_MAX 140u /* bytes: two blocks and more */

static const char *close_by_bytes(const char *at)
{
    unsigned depth = 0;
    bool within = false;
    for (;; at++) {
        if (within && *at == '\\')
            at++;
        else if (*at == '"')
            within = !within;
        else if (!within && (*at == '[' || *at == '{'))
            depth++;
        else if (!within && (*at == ']' || *at == '}') && --depth == 0)
            return at + 1;
    }
}

static const char *plain_by_bytes(const char *at, const char *end)
{
    while (at < end && strchr("\"\\", *at) == NULL && (unsigned char)*at >= ' ' &&
           (unsigned char)*at < 0x80)
        at++;
    return at;
}

/* In memory of its own size, so that reading beyond it is found by the sanitizers. */
static void compare_close(const char *text)
{
    size_t size = strlen(text);
    g_autofree char *copy = g_memdup2(text, size);
    g_assert_cmpint(fm_json_close(copy, copy + size) - copy, ==, close_by_bytes(text) - text);
}

static void containers_close_at_every_place_of_a_block(void)
{
    static const char *const inner[] = {"\"]\"",           "\"\\\"]\"",           "\"\\\\\",[]",
                                        "{\"}\":[{},[]]}", "\"a\\\\\\\"}]\\\\\"", "[[[]]],{}",
                                        "\"\xc3\xa9[\""};
    for (unsigned i = 0; i < G_N_ELEMENTS(inner); i++) {
        for (unsigned before = 0; before < PADDING_MAX; before++) {
            for (unsigned after = 0; after < 4; after++) {
                g_autofree char *blanks = g_strnfill(before, ' ');
                g_autofree char *text =
                    g_strdup_printf("[%s%s%.*s],[\"]", blanks, inner[i], (int)after, "    ");
                compare_close(text);
            }
        }
    }
}

static void append_value(GString *to, GRand *numbers, unsigned depth)
{
    static const char *const strings[] = {"\"\"", "\"[\"", "\"\\\\\"", "\"\\\"}\"",
                                          "\"a longer name\""};
    unsigned kind = (unsigned)g_rand_int_range(numbers, 0, depth == 0 ? 2 : 4);
    if (kind == 0) {
        g_string_append(to, strings[g_rand_int_range(numbers, 0, G_N_ELEMENTS(strings))]);
    } else if (kind == 1) {
        g_string_append_printf(to, "%d", g_rand_int_range(numbers, -9, 99999));
    } else {
        g_string_append_c(to, kind == 2 ? '[' : '{');
        for (int items = g_rand_int_range(numbers, 0, 6); items > 0; items--) {
            g_string_append(to, kind == 2 ? "" : "\"}\":");
            append_value(to, numbers, depth - 1);
            g_string_append(to, items > 1 ? "," : "");
        }
        g_string_append_c(to, kind == 2 ? ']' : '}');
    }
}

static void any_container_closes(void)
{
    GRand *numbers = g_rand_new_with_seed(36);
    for (unsigned i = 0; i < 3000; i++) {
        g_autoptr(GString) text = g_string_new("[");
        append_value(text, numbers, 5);
        g_string_append(text, "]");
        compare_close(text->str);
    }
    g_rand_free(numbers);
}

static void plain_text_ends_at_every_byte(void)
{
    for (unsigned before = 0; before < PADDING_MAX; before++) {
        for (unsigned c = 0; c <= G_MAXUINT8; c++) {
            g_autofree char *text = g_strnfill(before + 20, 'x');
            text[before] = (char)c;
            g_autofree char *copy = g_memdup2(text, before + 20);
            const char *end = copy + before + 20;
            g_assert_true(fm_json_plain_end(copy, end) == plain_by_bytes(copy, end));
        }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/json/scan/places", containers_close_at_every_place_of_a_block);
    g_test_add_func("/json/scan/any", any_container_closes);
    g_test_add_func("/json/scan/plain", plain_text_ends_at_every_byte);
    return g_test_run();
}

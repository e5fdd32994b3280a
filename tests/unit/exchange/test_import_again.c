/* SPDX-License-Identifier: Apache-2.0 */
/* Stacks that come again in a file are taken apart once, which no figure shows. */
#include <string.h>

#include "base/error.h"
#include "exchange/import/import.h"
#include "own.h"

static bool import(const char *text, struct fm_profile **ret, GError **error)
{
    const struct fm_import_options options = {0};
    size_t size = strlen(text);
    g_autofree uint8_t *copy = g_memdup2(text, size); /* so that reading beyond its end shows */
    return fm_import_bytes("made", copy, size, &options, ret, error);
}

static struct fm_profile *imported(const char *text)
{
    struct fm_profile *profile;
    g_autoptr(GError) error = NULL;
    if (!import(text, &profile, &error))
        g_error("%s", error->message);
    return profile;
}

#define LONG "a_function_with_a_long_name;another_with_a_long_name"

static void folded_lines(void)
{
    static const char text[] = LONG " 1\nother;f 2\n" LONG " 4\n" LONG ";leaf 8\n" LONG " 16\n" LONG
                                    ";leaf 32\nother;f;g 64\n";
    g_autoptr(FmProfile) p = imported(text);
    g_assert_cmpint(own(p, LONG, FM_QUANTA), ==, 1 + 4 + 16);
    g_assert_cmpint(own(p, LONG ";leaf", FM_QUANTA), ==, 8 + 32);
    g_assert_cmpint(own(p, "other;f", FM_QUANTA), ==, 2);
    g_assert_cmpint(own(p, "other;f;g", FM_QUANTA), ==, 64);
    g_assert_cmpuint(p->pd_count, ==, 1 + 3 + 3);
}

/* Stacks of three functions, which are on them again and again; 300 stacks, each of which comes
 * several times. */
static char *recursive_stacks(const char *suffix)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(GPtrArray) stacks = g_ptr_array_new_with_free_func(g_free);
    GRand *numbers = g_rand_new_with_seed(36);
    for (unsigned i = 0; i < 300; i++) {
        GString *stack = g_string_new(NULL);
        for (int depth = g_rand_int_range(numbers, 3, 9); depth > 0; depth--)
            g_string_append_printf(stack, "%s%c%s", stack->len > 0 ? ";" : "",
                                   g_rand_int_range(numbers, 'a', 'd'), suffix);
        g_ptr_array_add(stacks, g_string_free(stack, FALSE));
    }
    for (int i = 0; i < 2000; i++) {
        const char *stack = g_ptr_array_index(stacks, (guint)g_rand_int_range(numbers, 0, 300));
        g_string_append_printf(text, "%s %d\n", stack, i % 7);
    }
    g_rand_free(numbers);
    return g_string_free(g_steal_pointer(&text), FALSE);
}

/* Short lines are not remembered, so their stacks are built each time. */
static void recursions_have_the_same_totals(void)
{
    g_autofree char *short_lines = recursive_stacks(""),
                    *long_lines = recursive_stacks("_function_with_a_long_name");
    g_autoptr(FmProfile) one = imported(short_lines);
    g_autoptr(FmProfile) two = imported(long_lines);
    g_assert_cmpuint(one->csd_count, >, 40);
    g_assert_cmpuint(one->csd_count, ==, two->csd_count);
    g_assert_cmpuint(one->pd_count, ==, two->pd_count);
    for (uint32_t csd = 1; csd <= one->csd_count; csd++) {
        g_assert_cmpuint(one->csd_caller[csd], ==, two->csd_caller[csd]);
        g_assert_cmpuint(one->csd_callee[csd], ==, two->csd_callee[csd]);
        g_assert_cmpuint(fm_profile_own(one, csd, FM_QUANTA), ==,
                         fm_profile_own(two, csd, FM_QUANTA));
    }
    const struct fm_inclusive_info *first = &one->run_info.inclusive,
                                   *second = &two->run_info.inclusive;
    g_assert_cmpuint(first->count, >, 10);
    g_assert_cmpuint(first->width, ==, 1);
    g_assert_cmpuint(first->count, ==, second->count);
    for (uint32_t i = 0; i < first->count; i++) {
        g_assert_cmpuint(first->pds[i], ==, second->pds[i]);
        g_assert_cmpuint(first->values[i], ==, second->values[i]);
    }
}

/* The same numbers of frames below two threads are two contexts. */
static void samples_of_speedscope(void)
{
    g_autoptr(GString) text = g_string_new("{\"shared\":{\"frames\":[");
    static const char same[] = "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20]";
    for (unsigned i = 0; i <= 20; i++)
        g_string_append_printf(text, "%s{\"name\":\"f%u\"}", i > 0 ? "," : "", i);
    g_string_append(text, "]},\"profiles\":[");
    for (unsigned thread = 0; thread < 2; thread++)
        g_string_append_printf(text,
                               "%s{\"type\":\"sampled\",\"name\":\"t%u\",\"unit\":\"none\","
                               "\"samples\":[%s,[0],%s,%s],\"weights\":[1,2,4,%u]}",
                               thread > 0 ? "," : "", thread, same, same, same, 8 + thread);
    g_string_append(text, "]}");
    g_autoptr(GString) path = g_string_new("t0");
    for (unsigned i = 0; i <= 20; i++)
        g_string_append_printf(path, ";f%u", i);
    g_autoptr(FmProfile) p = imported(text->str);
    g_assert_cmpint(own(p, "t0;f0", FM_QUANTA), ==, 2);
    g_assert_cmpint(own(p, path->str, FM_QUANTA), ==, 13);
    path->str[1] = '1';
    g_assert_cmpint(own(p, path->str, FM_QUANTA), ==, 14);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/import/again/folded", folded_lines);
    g_test_add_func("/import/again/speedscope", samples_of_speedscope);
    g_test_add_func("/import/again/recursions", recursions_have_the_same_totals);
    return g_test_run();
}

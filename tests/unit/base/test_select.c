/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>

#include <glib.h>

#include "base/select.h"

/* By key, equal ones by number. */
static int by_key(uint32_t a, uint32_t b, void *user)
{
    const uint32_t *keys = user;
    if (keys[a] != keys[b])
        return keys[a] < keys[b] ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Each way of lying: random with repeats, ascending, descending, all the same. */
static uint32_t key_of(GRand *random, unsigned shape, uint32_t i)
{
    return shape == 0 ? g_rand_int(random) % 20 : shape == 1 ? i : shape == 2 ? 1000 - i : 7;
}

static void test_first_of_all(void)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(1);
    uint32_t keys[100], chosen[100], sorted[100];
    for (unsigned round = 0; round < 400; round++) {
        uint32_t count = (uint32_t)g_rand_int_range(random, 0, 100);
        size_t wanted = (size_t)g_rand_int_range(random, 0, 110);
        for (uint32_t i = 0; i < count; i++) {
            keys[i] = key_of(random, round % 4, i);
            chosen[i] = sorted[i] = i;
        }
        fm_select_first(sorted, count, count, by_key, keys);
        for (uint32_t i = 1; i < count; i++)
            g_assert_cmpint(by_key(sorted[i - 1], sorted[i], keys), <, 0);
        fm_select_first(chosen, count, wanted, by_key, keys);
        bool seen[100] = {false};
        for (uint32_t i = 0; i < count; i++) { /* none is lost, none twice */
            g_assert_false(seen[chosen[i]]);
            seen[chosen[i]] = true;
            if (i < wanted)
                g_assert_cmpuint(chosen[i], ==, sorted[i]);
        }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/select/first_of_all", test_first_of_all);
    return g_test_run();
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <stdint.h>

#define KEYS 100000u

/* How many values the keys, which differ in steps of `step` from `first`, have. */
static guint distinct(uint64_t first, uint64_t step)
{
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
    for (uint64_t i = 0; i < KEYS; i++) {
        uint64_t key = first + i * step;
        g_hash_table_add(seen, GUINT_TO_POINTER(fm_int64_hash(&key)));
    }
    return g_hash_table_size(seen);
}

static void test_halves(void)
{
    g_assert_cmpuint(distinct(7, UINT64_C(1) << 32), ==, KEYS); /* pairs with one second number */
    g_assert_cmpuint(distinct(UINT64_C(7) << 32, 1), >, KEYS - KEYS / 1000);
    g_assert_cmpuint(distinct(UINT64_C(0x7f0000000000), 16), >, KEYS - KEYS / 1000); /* addresses */
    uint64_t a = 5, b = 5;
    g_assert_cmpuint(fm_int64_hash(&a), ==, fm_int64_hash(&b));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/base/hash/halves", test_halves);
    return g_test_run();
}

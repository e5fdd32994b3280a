/* SPDX-License-Identifier: Apache-2.0 */
/* The loaded object of an address, as the loader finds it (glibc 2.35 and later) and by a walk over
 * all objects (before): both give the same. */
#include <dlfcn.h>
#include <glib.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "unwind/loaded.h"

/* Compiled with another name for _dl_find_object(), which nothing defines. */
bool fm_loaded_before_2_35(uint64_t address, struct fm_loaded *ret);

static void check_same(uint64_t address, const char *name_ends)
{
    struct fm_loaded one = {0}, other = {0};
    g_assert_true(fm_loaded_at(address, &one));
    g_assert_true(fm_loaded_before_2_35(address, &other));
    /* Of an object with gaps between its segments the loader tells the segment alone. */
    g_assert_cmpuint(one.start, >=, other.start);
    g_assert_cmpuint(one.end, <=, (other.end + 4095) & ~4095ull);
    g_assert_cmpuint(one.start, <=, address);
    g_assert_cmpuint(address, <, one.end);
    g_assert_cmpuint(one.bias, ==, other.bias);
    g_assert_true(one.header == other.header);
    g_assert_cmpstr(one.name, ==, other.name);
    g_assert_true(g_str_has_suffix(other.name, name_ends));
    g_assert_cmpuint(other.start, <=, address);
    g_assert_cmpuint(address, <, other.end);
}

static void test_objects(void)
{
    static int data = 1;
    check_same((uint64_t)check_same, "");
    check_same((uint64_t)&data, "");
    check_same((uint64_t)dlsym(RTLD_NEXT, "gnu_get_libc_version"), "/libc.so.6");
    check_same((uint64_t)dlsym(RTLD_NEXT, "g_strdup"), ".so.0");
    check_same((uint64_t)_r_debug.r_ldbase, "/ld-linux-x86-64.so.2");
}

static void test_edges(void)
{
    struct fm_loaded own, found;
    g_assert_true(fm_loaded_before_2_35((uint64_t)test_edges, &own));
    g_assert_true(fm_loaded_before_2_35(own.start, &found));
    g_assert_cmpuint(found.start, ==, own.start);
    g_assert_true(fm_loaded_before_2_35(own.end - 1, &found));
    g_assert_cmpuint(found.end, ==, own.end);
    if (fm_loaded_before_2_35(own.start - 1, &found)) /* another object may be there */
        g_assert_cmpuint(found.end, <=, own.start);
}

static void test_none(void)
{
    struct fm_loaded found;
    g_autofree char *heap = g_malloc(100);
    const uint64_t others[] = {0, 1, (uint64_t)&found, (uint64_t)heap, UINT64_MAX};
    for (size_t i = 0; i < G_N_ELEMENTS(others); i++) {
        g_assert_false(fm_loaded_at(others[i], &found));
        g_assert_false(fm_loaded_before_2_35(others[i], &found));
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/loaded/objects", test_objects);
    g_test_add_func("/loaded/edges", test_edges);
    g_test_add_func("/loaded/none", test_none);
    return g_test_run();
}

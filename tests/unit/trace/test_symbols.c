/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions, from this program's own file. */
#include <glib/gstdio.h>
#include <link.h>
#include <string.h>

#include "trace/state/pack.h"
#include "trace/model/symbols.h"

int a_function_to_find(int x);
__attribute__((noinline)) int a_function_to_find(int x)
{
    return x * 3 + 1;
}

static int first_object(struct dl_phdr_info *info, size_t size, void *user)
{
    (void)size;
    *(uint64_t *)user = info->dlpi_addr;
    return 1; /* the program itself comes first */
}

static void check_found(struct fm_symbols *symbols)
{
    uint64_t address = (uint64_t)(uintptr_t)a_function_to_find;
    char *name = fm_symbols_name(symbols, address);
    g_assert_cmpstr(name, ==, "a_function_to_find");
    g_free(name);
    name = fm_symbols_name(symbols, address + 1); /* inside it */
    g_assert_cmpstr(name, ==, "a_function_to_find");
    g_free(name);
    name = fm_symbols_name(symbols, 0x123);
    g_assert_cmpstr(name, ==, "0x123");
    g_free(name);
}

static struct fm_symbols *make_symbols(void)
{
    char *path = g_file_read_link("/proc/self/exe", NULL);
    g_assert_nonnull(path);
    uint64_t bias = 0;
    dl_iterate_phdr(first_object, &bias);
    uint64_t address = (uint64_t)(uintptr_t)a_function_to_find;
    uint64_t base = address - MIN(address - 4096, (uint64_t)1 << 20);
    struct fm_symbols *symbols = fm_symbols_new();
    fm_symbols_add(symbols, base, (uint64_t)1 << 22, bias, path, strlen(path));
    fm_symbols_add(symbols, base, (uint64_t)1 << 22, bias, path, strlen(path)); /* told again */
    g_free(path);
    return symbols;
}

static void test_own_function(void)
{
    g_assert_cmpint(a_function_to_find(2), ==, 7);
    struct fm_symbols *symbols = make_symbols();
    check_found(symbols);
    GByteArray *bytes = g_byte_array_new();
    fm_symbols_write(symbols, bytes);
    struct fm_symbols *again = fm_symbols_new();
    struct fm_unpack from = {.at = bytes->data, .end = bytes->data + bytes->len};
    g_assert_true(fm_symbols_read(again, &from));
    g_assert_true(from.at == from.end);
    check_found(again);
    struct fm_symbols *cut = fm_symbols_new();
    from = (struct fm_unpack){.at = bytes->data, .end = bytes->data + bytes->len - 1};
    g_assert_false(fm_symbols_read(cut, &from));
    fm_symbols_free(cut);
    fm_symbols_free(again);
    fm_symbols_free(symbols);
    g_byte_array_unref(bytes);
}

/* Files that are none: they are not opened as such, or give nothing. */
static void test_other_files(void)
{
    static const char *const paths[] = {"/nonexistent", "/dev/zero", "/proc/self/status", "/"};
    for (unsigned i = 0; i < G_N_ELEMENTS(paths); i++) {
        struct fm_symbols *symbols = fm_symbols_new();
        fm_symbols_add(symbols, 0x1000, 0x1000, 0, paths[i], strlen(paths[i]));
        char *name = fm_symbols_name(symbols, 0x1234);
        g_assert_cmpstr(name, ==, "0x1234");
        g_free(name);
        fm_symbols_free(symbols);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/symbols/own function", test_own_function);
    g_test_add_func("/symbols/other files", test_other_files);
    return g_test_run();
}

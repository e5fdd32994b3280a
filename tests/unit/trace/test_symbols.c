/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions, from this program's own file. */
#include <glib/gstdio.h>
#include <link.h>
#include <string.h>

#include "base/files/build_id.h"
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

/* With this program's own build id there is a name, with another the place in the object. */
static void test_build_ids(void)
{
    uint64_t bias = 0, address = (uint64_t)(uintptr_t)a_function_to_find;
    uint8_t id[FM_SYMBOLS_BUILD_ID_MAX];
    size_t length = 0;
    const char *digits = fm_program_build_id();
    dl_iterate_phdr(first_object, &bias);
    for (; digits[0] != '\0' && digits[1] != '\0' && length < sizeof id; digits += 2)
        id[length++] =
            (uint8_t)(g_ascii_xdigit_value(digits[0]) << 4 | g_ascii_xdigit_value(digits[1]));
    if (length != 20) {
        g_test_skip("the linker wrote no build id");
        return;
    }
    static const char path[] = "/proc/self/exe";
    const struct fm_symbols_object object = {bias, (uint64_t)1 << 24, path, strlen(path), false};
    struct fm_symbols *symbols = fm_symbols_new();
    fm_symbols_set_build_id(symbols, bias, id, length); /* of nothing */
    fm_symbols_add_object(symbols, &object);
    fm_symbols_set_build_id(symbols, bias, id, length);
    check_found(symbols);
    id[19] ^= 1;
    fm_symbols_set_build_id(symbols, bias, id, length);
    char *name = fm_symbols_name(symbols, address);
    char *place = g_strdup_printf("exe+0x%" G_GINT64_MODIFIER "x", address - bias);
    g_assert_cmpstr(name, ==, place);
    g_free(name);
    g_free(place);
    GByteArray *bytes = g_byte_array_new();
    fm_symbols_write(symbols, bytes);
    struct fm_symbols *again = fm_symbols_new();
    struct fm_unpack from = {.at = bytes->data, .end = bytes->data + bytes->len};
    g_assert_true(fm_symbols_read(again, &from));
    id[19] ^= 1;
    fm_symbols_set_build_id(again, bias, id, length);
    check_found(again);
    g_byte_array_unref(bytes);
    fm_symbols_free(again);
    fm_symbols_free(symbols);
}

/* Objects whose told lengths overlap: the nearest below; the last of those at one base. */
static void test_overlapping_objects(void)
{
    static const struct fm_symbols_object objects[] = {
        {0x10000, 0x400000, "/no/far.so", 10, false},
        {0x20000, 0x400000, "/no/old.so", 10, false},
        {0x20000, 0x300000, "/no/near.so", 11, false},
        {0x8000, 0x400000, "/no/fixed", 9, true},
    };
    static const struct {
        uint64_t address;
        const char *name;
    } places[] = {{0x20010, "near.so+0x10"},
                  {0x1fff0, "far.so+0xfff0"},
                  {0x9000, "fixed@0x9000"},
                  {0x7fff, "0x7fff"},
                  {0x900000, "0x900000"}};
    struct fm_symbols *symbols = fm_symbols_new();
    for (unsigned i = 0; i < G_N_ELEMENTS(objects); i++)
        fm_symbols_add_object(symbols, &objects[i]);
    for (unsigned i = 0; i < G_N_ELEMENTS(places); i++) {
        char *name = fm_symbols_name(symbols, places[i].address);
        g_assert_cmpstr(name, ==, places[i].name);
        g_free(name);
    }
    fm_symbols_free(symbols);
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
    g_test_add_func("/symbols/build ids", test_build_ids);
    g_test_add_func("/symbols/overlapping", test_overlapping_objects);
    g_test_add_func("/symbols/other files", test_other_files);
    return g_test_run();
}

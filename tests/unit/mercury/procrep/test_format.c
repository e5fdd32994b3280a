/* SPDX-License-Identifier: Apache-2.0 */
/* Reading, printing and writing, against bytes and texts written by hand. */
#include <string.h>

#include "base/error.h"
#include "maker.h"

#define STRINGS                  \
    "\x00<too many variables>\0" \
    "a.m\0"                      \
    "X\0"                        \
    "m\0"                        \
    "q"

static const uint8_t vector5_head[] =
    "Mercury deep profiler procrep version 5\n\x01\x01m\x20" STRINGS;
static const uint8_t vector6_head[] =
    "Mercury deep profiler procrep version 6\n\x01\x01m\x20" STRINGS "\0\0";
static const uint8_t label[] = {1, 0, 1, 'm', 1, 'm', 1, 'p', 2, 0};
static const uint8_t size5[] = {0, 0, 0, 0x3a, 0, 0, 0, 0x2c, 0, 0, 0, 0, 1};
static const uint8_t size6[] = {0, 0, 0, 0x37, 0, 0, 0, 0x2c, 2, 1};
static const uint8_t rest[] = {1, 0, 0, 0,    0x34, 0,    0, 0,    2, 1, 1, 1, 2, 0, 1, 0x11,
                               0, 0, 0, 0x38, 0,    0,    0, 0x3c, 0, 0, 0, 2, 1, 2, 0, 0,
                               0, 0, 0, 0,    0,    0x0c, 0, 0,    0, 1, 2, 6, 6, 0, 0};

static GByteArray *vector(unsigned version)
{
    GByteArray *bytes = g_byte_array_new();
    if (version == 5) {
        g_byte_array_append(bytes, vector5_head, sizeof vector5_head);
        g_byte_array_append(bytes, label, sizeof label);
        g_byte_array_append(bytes, size5, sizeof size5);
    } else {
        g_byte_array_append(bytes, vector6_head, sizeof vector6_head);
        g_byte_array_append(bytes, label, sizeof label);
        g_byte_array_append(bytes, size6, sizeof size6);
    }
    g_byte_array_append(bytes, rest, sizeof rest);
    return bytes;
}

static struct fm_procrep *read_array(const GByteArray *bytes)
{
    struct fm_procrep *procrep;
    g_autoptr(GError) error = NULL;
    if (!fm_procrep_read_bytes("vector", bytes->data, bytes->len, &procrep, &error))
        g_error("%s", error->message);
    return procrep;
}

static void test_vectors(void)
{
    static const unsigned sizes[] = {146, 145};
    for (unsigned version = 5; version <= 6; version++) {
        GByteArray *bytes = vector(version);
        g_assert_cmpuint(bytes->len, ==, sizes[version - 5]);
        g_autoptr(FmProcrep) procrep = read_array(bytes);
        g_assert_cmpuint(procrep->version, ==, version);
        g_autoptr(GString) out = g_string_new(NULL);
        g_assert_true(fm_procrep_print_module(out, procrep, &procrep->modules[0], NULL));
        g_assert_cmpstr(out->str, ==,
                        "Module m\n"
                        "det pred m.p/2-0(X::(ground >> ground), V_2::(free >> ground)) :-\n"
                        "  % root goal\n"
                        "  % det\n"
                        "  m.q(X, V_2)\n"
                        "\n");
        struct fm_writer *writer = fm_writer_new_memory();
        g_assert_true(fm_procrep_encode(procrep, version, writer, NULL));
        g_autoptr(GBytes) again = fm_writer_finish_memory(writer);
        g_autoptr(GBytes) vector_bytes = g_bytes_new(bytes->data, bytes->len);
        g_assert_true(g_bytes_equal(again, vector_bytes));
        g_byte_array_unref(bytes);
    }
}

/* Coverage of the worked example; the numbers are given. */
static void append_counts(GString *out, uint32_t goal, const char *prefix, void *user)
{
    static const char *const counts[] = {
        "10 - 7", "10 - 10", "10 - 10", "10 - 6", "10 - 8", "8 - 6", "6 - 6", "6 - 6",
        "6 - 6",  "6 - 6",   "4 - 4",   "3 - 3",  "1 - 1",  "1 - 1", "1 - 1", "1 - 1",
        "10 - 7", "10 - 3",  "7 - 7",   "7 - 7",  "7 - 4",  "3 - 3", "7 - 7", "7 - 7"};
    (void)user;
    g_string_append_printf(out, "%sCoverage: %s\n", prefix, counts[goal]);
}

static void test_print_every_kind(void)
{
    g_autofree char *path =
        g_test_build_filename(G_TEST_DIST, "tests", "unit", "mercury", "procrep", "shop.txt", NULL);
    g_autofree char *expected = NULL;
    g_assert_true(g_file_get_contents(path, &expected, NULL, NULL));
    g_autoptr(FmBody) body = maker_shop();
    for (unsigned version = 5; version <= 6; version++) {
        GBytes *bytes;
        struct fm_body *bodies[] = {body};
        g_autoptr(FmProcrep) procrep =
            maker_procrep("shop", &maker_shop_label, bodies, 1, version, &bytes);
        g_autoptr(FmBody) read = NULL;
        g_assert_true(fm_procrep_body(procrep, 0, &read, NULL));
        g_autoptr(GString) out = g_string_new(NULL);
        struct fm_body_notes notes = {append_counts, NULL};
        fm_body_print(out, procrep, 0, read, &notes);
        g_assert_cmpstr(out->str, ==, expected);
        g_bytes_unref(bytes);
    }
}

static void test_paths(void)
{
    g_autoptr(FmBody) body = maker_shop();
    for (uint32_t goal = 0; goal < body->goal_count; goal++) {
        g_autoptr(GString) path = g_string_new(NULL);
        fm_body_append_path(path, body, goal);
        g_assert_cmpuint(fm_body_find(body, path->str), ==, goal);
    }
    g_assert_cmpuint(fm_body_find(body, "c2;e;s2-7;c3;"), ==, 15);
    g_assert_cmpuint(fm_body_find(body, "c2;e;s3-7;"), ==, FM_NO_GOAL);
    g_assert_cmpuint(fm_body_find(body, "c1;c1;"), ==, FM_NO_GOAL);
    g_assert_cmpuint(fm_body_find(body, "c2;~;"), ==, FM_NO_GOAL);
    g_assert_cmpuint(fm_body_find(body, "rubbish"), ==, FM_NO_GOAL);
}

/* --- generated names --- */

static void test_generated_names(void)
{
    static const struct {
        uint32_t code;
        const char *name;
    } cases[] = {
        {1u | 0u << 1 | 0u << 6 | 26u << 16, "STATE_VARIABLE_X"},
        {1u | 0u << 1 | 1u << 6 | 26u << 16, "STATE_VARIABLE_X_0"},
        {1u | 0u << 1 | 3u << 6 | 26u << 16, "STATE_VARIABLE_X_2"},
        {1u | 1u << 1 | 7u << 6, "TypeCtorInfo_7"},
        {1u | 2u << 1 | 1023u << 6, "TypeInfo_1023"},
        {1u | 3u << 1 | 0u << 6 | 28u << 16, "BaseTypeClassInfo_for_m"},
        {1u | 4u << 1 | 0u << 6 | 28u << 16, "TypeClassInfo_for_m"},
        {1u | 5u << 1 | 12u << 6, "PolyConst12"},
        {2, "<too many variables>"},
        {0, ""},
        {1u | 6u << 1, NULL}, /* a kind that does not exist */
        {64, NULL},           /* behind the table */
        {1u | 0u << 1 | 32u << 16, NULL},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        GByteArray *bytes = vector(5);
        /* The name of variable 1 stands behind label and sizes. */
        uint8_t *code = bytes->data + sizeof vector5_head + sizeof label + sizeof size5 + 1;
        uint32_t value = GUINT32_TO_BE(cases[i].code);
        memcpy(code, &value, sizeof value);
        g_autoptr(FmProcrep) procrep = read_array(bytes);
        struct fm_body *body = NULL;
        g_autoptr(GError) error = NULL;
        if (cases[i].name == NULL) {
            g_assert_false(fm_procrep_body(procrep, 0, &body, &error));
            g_assert_error(error, FM_ERROR, FM_ERROR_FORMAT);
        } else {
            g_assert_true(fm_procrep_body(procrep, 0, &body, &error));
            g_assert_cmpstr(fm_body_var_name(body, 1), ==, cases[i].name);
        }
        fm_body_free(body);
        g_byte_array_unref(bytes);
    }
}

/* --- the blocks of version 6 --- */

static void put(GByteArray *to, const char *bytes, guint count)
{
    g_byte_array_append(to, (const guint8 *)bytes, count);
}

static void put_u32(GByteArray *to, uint32_t value)
{
    uint32_t big = GUINT32_TO_BE(value);
    g_byte_array_append(to, (const guint8 *)&big, 4);
}

static GByteArray *file_with_types(const char *types, guint size, unsigned count)
{
    GByteArray *bytes = g_byte_array_new();
    put(bytes, "Mercury deep profiler procrep version 6\n", 40);
    put(bytes, "\x01\x01m\x01\x00\x01", 6);
    /* One state-update type with one creator and one destructor. */
    static const char oisu[] = "\x02st\x01\x00\x01m\x01m\x04make\x01\x00\x00\x01\x00\x01m\x01m\x03"
                               "end\x01\x00";
    put_u32(bytes, sizeof oisu - 1 + 4);
    put(bytes, oisu, sizeof oisu - 1);
    guint8 number = (guint8)count;
    g_byte_array_append(bytes, &number, 1);
    put_u32(bytes, size + 4);
    put(bytes, types, size);
    put(bytes, "\x00\x00", 2);
    return bytes;
}

static const char types_head[] = "\x05"                             /* 0 int */
                                 "\x0d\x01"                         /* 1 T1 */
                                 "\x01\x09list.list\x01"            /* 2 list.list(T1) */
                                 "\x0a\x02\x00\x02"                 /* 3 {int, list} */
                                 "\x0a\x00"                         /* 4 {} */
                                 "\x0b\x00"                         /* 5 pred () */
                                 "\x0b\x01\x00"                     /* 6 pred(int) */
                                 "\x04\x03m.t\x04\x00\x00\x00\x00"; /* 7 */

static void check_types(const char *function, guint size)
{
    GByteArray *types = g_byte_array_new();
    put(types, types_head, sizeof types_head - 1);
    put(types, function, size);
    GByteArray *bytes = file_with_types((const char *)types->data, types->len, 9);
    g_autoptr(FmProcrep) procrep = read_array(bytes);
    g_autoptr(GString) out = g_string_new(NULL);
    g_assert_true(fm_procrep_print_module(out, procrep, &procrep->modules[0], NULL));
    g_assert_cmpstr(out->str, ==,
                    "Module m\n"
                    "\n"
                    "OISU type constructor st\n"
                    "Creator procs:\n"
                    "pred m.make/1-0\n"
                    "\n"
                    "Mutator procs:\n"
                    "\n"
                    "Destructor procs:\n"
                    "pred m.end/1-0\n"
                    "\n"
                    "Type table:\n"
                    "0 -> int\n"
                    "1 -> T1\n"
                    "2 -> list.list(T1)\n"
                    "3 -> {int, list.list(T1)}\n"
                    "4 -> {}\n"
                    "5 -> pred ()\n"
                    "6 -> pred(int)\n"
                    "7 -> m.t(int, int, int, int)\n"
                    "8 -> func(int) = list.list(T1)\n"
                    "\n");
    g_byte_array_unref(bytes);
    g_byte_array_unref(types);
}

static void test_types(void)
{
    check_types("\x0c\x02\x00\x02", 4); /* as writers write it: the result is the last of two */
    check_types("\x0c\x01\x00\x02", 4); /* as the first reader wanted it: one, then the result */
}

/* A type that doubles at every step is cut when it is printed. */
static void test_types_that_grow(void)
{
    GByteArray *types = g_byte_array_new();
    put(types, "\x05", 1);
    for (guint8 i = 1; i < 100; i++) {
        const guint8 pair[] = {10, 2, (guint8)(i - 1), (guint8)(i - 1)};
        g_byte_array_append(types, pair, sizeof pair);
    }
    GByteArray *bytes = file_with_types((const char *)types->data, types->len, 100);
    g_autoptr(FmProcrep) procrep = read_array(bytes);
    g_autoptr(GString) out = g_string_new(NULL);
    g_assert_true(fm_procrep_print_module(out, procrep, &procrep->modules[0], NULL));
    g_assert_cmpuint(out->len, <, 2000000);
    g_byte_array_unref(bytes);
    g_byte_array_unref(types);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/procrep/vectors_of_both_versions", test_vectors);
    g_test_add_func("/procrep/print_every_kind_of_goal", test_print_every_kind);
    g_test_add_func("/procrep/paths_and_goals", test_paths);
    g_test_add_func("/procrep/generated_names", test_generated_names);
    g_test_add_func("/procrep/types_and_oisu", test_types);
    g_test_add_func("/procrep/types_that_grow", test_types_that_grow);
    return g_test_run();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles made of gmon.out: of this program, whose functions have the addresses. */
#include <string.h>

#include "arcs.h"
#include "exchange/import/import.h"
#include "exchange/import/machine/symbols.h"

static void append_u32(GByteArray *to, uint32_t value)
{
    value = GUINT32_TO_LE(value);
    g_byte_array_append(to, (const guint8 *)&value, sizeof value);
}

static void append_u64(GByteArray *to, uint64_t value)
{
    value = GUINT64_TO_LE(value);
    g_byte_array_append(to, (const guint8 *)&value, sizeof value);
}

static void append_head(GByteArray *to)
{
    static const uint8_t zeros[12] = {0};
    g_byte_array_append(to, (const guint8 *)"gmon", 4);
    append_u32(to, 1);
    g_byte_array_append(to, zeros, sizeof zeros);
}

static void append_histogram(GByteArray *to, uint64_t low, uint64_t high, const uint16_t *ticks,
                             uint32_t bins)
{
    g_byte_array_append(to, (const guint8 *)"\0", 1);
    append_u64(to, low);
    append_u64(to, high);
    append_u32(to, bins);
    append_u32(to, 100);
    g_byte_array_append(to, (const guint8 *)"seconds\0\0\0\0\0\0\0\0s", 16);
    for (uint32_t i = 0; i < bins; i++)
        g_byte_array_append(to, (const guint8[]){(guint8)(ticks[i] & 255), (guint8)(ticks[i] >> 8)},
                            2);
}

static void append_calls(GByteArray *to, uint64_t from, uint64_t callee, uint32_t count)
{
    g_byte_array_append(to, (const guint8 *)"\1", 1);
    append_u64(to, from);
    append_u64(to, callee);
    append_u32(to, count);
}

/* This program is the one that is profiled: its functions are those that stand below. */
#define SELF "/proc/self/exe"

static uint64_t address_of(const char *name)
{
    g_autoptr(GArray) symbols = NULL;
    g_autoptr(GError) error = NULL;
    if (!fm_import_symbols_read(SELF, &symbols, &error))
        g_error("%s", error->message);
    for (guint i = 0; i < symbols->len; i++) {
        const struct fm_import_symbol *symbol = &g_array_index(symbols, struct fm_import_symbol, i);
        if (strcmp(symbol->name, name) == 0)
            return symbol->address;
    }
    g_error("there is no %s", name);
}

/* main calls f and g, both call h, g calls itself; f has 10 ticks, h 8. */
#define F "bad_gmon_is_one_clear_error"
#define G "gmon_that_is_damaged_is_refused_or_holds"
#define H "gmon_has_functions_and_calls"

static GByteArray *gmon_of_this(void)
{
    GByteArray *bytes = g_byte_array_new();
    uint64_t f = address_of(F), g = address_of(G), h = address_of(H), main_at = address_of("main");
    append_head(bytes);
    append_histogram(bytes, f, f + 8, (const uint16_t[]){1, 2, 3, 4}, 4);
    append_histogram(bytes, h, h + 4, (const uint16_t[]){8}, 1);
    append_histogram(bytes, UINT64_MAX - 9, UINT64_MAX, (const uint16_t[]){5}, 1);
    append_calls(bytes, UINT64_MAX - 9, main_at, 1);
    append_calls(bytes, main_at + 1, f, 2);
    append_calls(bytes, main_at + 2, f, 1);
    append_calls(bytes, main_at + 3, g, 1);
    append_calls(bytes, f + 1, h, 1);
    append_calls(bytes, g + 1, h, 3);
    append_calls(bytes, g + 2, g, 30);
    g_byte_array_append(bytes, (const guint8 *)"\2", 1);
    append_u64(bytes, 1);
    append_u64(bytes, h + 1);
    append_u64(bytes, 44);
    return bytes;
}

static bool import_gmon(const uint8_t *bytes, size_t size, const char *program,
                        struct fm_profile **ret, GError **error)
{
    const struct fm_import_options options = {.program = program};
    g_autofree uint8_t *copy = g_memdup2(bytes, size);
    return fm_import_bytes("in", copy, size, &options, ret, error);
}

static void gmon_has_functions_and_calls(void)
{
    g_autoptr(GByteArray) bytes = gmon_of_this();
    g_autoptr(FmProfile) p = NULL;
    g_autoptr(GError) error = NULL;
    if (!import_gmon(bytes->data, bytes->len, SELF, &p, &error))
        g_error("%s", error->message);
    g_autoptr(FmAnalysis) a = analysed(p);
    g_assert_cmpuint(p->run_info.nature, ==, FM_NATURE_ARCS | FM_NATURE_AVERAGED);
    g_assert_cmpuint(p->ticks_per_second, ==, 100);
    g_assert_cmpuint(p->run_info.sample_count, ==, 23);
    g_assert_true(fm_profile_knows(p, FM_QUANTA));
    g_assert_false(fm_profile_knows(p, FM_ALLOCS));
    static const struct {
        const char *name;
        int64_t own, total, calls, blocks;
    } functions[] = {{"main", 0, 18, 1, 0},
                     {F, 10, 12, 3, 0},
                     {G, 0, 6, 31, 0},
                     {H, 8, 8, 4, 44},
                     {"[unknown]", 5, 5, 0, 0}};
    for (unsigned i = 0; i < G_N_ELEMENTS(functions); i++) {
        struct fm_cost of = cost(a, functions[i].name);
        g_assert_cmpint(of.own[FM_QUANTA], ==, functions[i].own);
        g_assert_cmpint(fm_cost_total(&of, FM_QUANTA), ==, functions[i].total);
        g_assert_cmpint(of.calls, ==, functions[i].calls);
        g_assert_cmpint(of.own[8], ==, functions[i].blocks);
    }
    /* Of h's 8 ticks a call is taken to have 2. */
    g_assert_cmpint(fm_analysis_csd_total(a, call(p, F, H), FM_QUANTA), ==, 2);
    g_assert_cmpint(fm_analysis_csd_total(a, call(p, G, H), FM_QUANTA), ==, 6);
    assert_invariants(a);
}

static void bad_gmon_is_one_clear_error(void)
{
    g_autoptr(GByteArray) good = gmon_of_this();
    const struct {
        const char *program, *text;
        size_t cut, at; /* cut: 0 = whole; at: a byte that is made 0xff */
    } bad[] = {
        {NULL, "in: it has addresses, but no names: give the program that wrote it", 0, 0},
        {"/no/such/program", "in: its program: /no/such/program: No such file", 0, 0},
        {"/proc/self/status", "expected a program in ELF", 0, 0},
        {SELF, "in: offset 0: unexpected end of file in the head", 19, 0},
        {SELF, "in: offset 21: unexpected end of file in a histogram's head", 50, 0},
        {SELF, "in: offset 61: unexpected end of file in a histogram", 64, 0},
        {SELF, "in: offset 4: version 255 of gmon.out, expected 1", 0, 4},
        {SELF, "in: offset 20: record of kind 255, expected a histogram", 0, 20},
        {SELF, "in: offset 21: a histogram of other than seconds", 0, 47},
        {SELF, "ticks per second, expected as many as before", 0, 90},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(bad); i++) {
        struct fm_profile *profile = NULL;
        g_autoptr(GError) error = NULL;
        g_autofree uint8_t *bytes = g_memdup2(good->data, good->len);
        if (bad[i].at != 0)
            bytes[bad[i].at] = 0xff;
        g_assert_false(import_gmon(bytes, bad[i].cut != 0 ? bad[i].cut : good->len, bad[i].program,
                                   &profile, &error));
        if (strstr(error->message, bad[i].text) == NULL)
            g_error("'%s' is not in '%s'", bad[i].text, error->message);
    }
    g_autoptr(GByteArray) many = g_byte_array_new();
    append_head(many);
    for (unsigned i = 0; i < 2000; i++)
        append_histogram(many, 0, UINT64_MAX, (const uint16_t[]){1}, 1);
    struct fm_profile *profile = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_false(import_gmon(many->data, many->len, SELF, &profile, &error));
    g_assert_nonnull(strstr(error->message, "more than 1024 histograms"));
}

static void gmon_that_is_damaged_is_refused_or_holds(void)
{
    g_autoptr(GByteArray) good = gmon_of_this();
    unsigned refused = 0, accepted = 0;
    for (size_t at = 0; at < (size_t)good->len * 2; at += at < good->len ? 1 : 3) {
        g_autofree uint8_t *bytes = g_memdup2(good->data, good->len);
        g_autoptr(FmProfile) profile = NULL;
        g_autoptr(FmAnalysis) a = NULL;
        g_autoptr(GError) error = NULL;
        if (at >= good->len)
            bytes[at - good->len] ^= (uint8_t)(1u << at % 8);
        if (import_gmon(bytes, MIN(at, good->len), SELF, &profile, &error)) {
            accepted++;
            a = analysed(profile);
        } else {
            refused++;
            g_assert_true(g_str_has_prefix(error->message, "in: "));
        }
    }
    g_assert_cmpuint(refused, >, 100);
    g_assert_cmpuint(accepted, >, 20);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/import/gmon", gmon_has_functions_and_calls);
    g_test_add_func("/import/gmon/bad", bad_gmon_is_one_clear_error);
    g_test_add_func("/import/gmon/damage", gmon_that_is_damaged_is_refused_or_holds);
    return g_test_run();
}

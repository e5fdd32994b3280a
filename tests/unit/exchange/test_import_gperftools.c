/* SPDX-License-Identifier: Apache-2.0 */
/* CPU profiles of gperftools: names come from the files that the process had in memory, here this
 * one's own. */
#include <gnu/libc-version.h>
#include <string.h>

#include "profile/file/profile.h"
#include "exchange/import/import.h"

/* No word of them is the address of another. */
__attribute__((noinline)) static int inner(int x)
{
    __asm__ volatile("" : "+r"(x));
    return x * 3;
}

__attribute__((noinline)) static int outer(int x)
{
    __asm__ volatile("" : "+r"(x));
    int y = inner(x) + 1;
    return y;
}

static void append(GByteArray *to, uint64_t word)
{
    word = GUINT64_TO_LE(word);
    g_byte_array_append(to, (const guint8 *)&word, sizeof word);
}

static void append_record(GByteArray *to, uint64_t samples, const uint64_t *frames, uint64_t depth)
{
    append(to, samples);
    append(to, depth);
    for (uint64_t i = 0; i < depth; i++)
        append(to, frames[i]);
}

static void append_head(GByteArray *to, uint64_t period)
{
    const uint64_t words[] = {0, 3, 0, period, 0};
    for (unsigned i = 0; i < G_N_ELEMENTS(words); i++)
        append(to, words[i]);
}

static void append_end(GByteArray *to)
{
    static const uint64_t zero;
    g_autofree char *maps = NULL;
    gsize size;
    append_record(to, 0, &zero, 1);
    if (!g_file_get_contents("/proc/self/maps", &maps, &size, NULL))
        g_error("no /proc/self/maps");
    g_byte_array_append(to, (const guint8 *)maps, (guint)size);
}

static int64_t quanta_of(const struct fm_profile *p, const char *name)
{
    int64_t sum = 0;
    for (uint32_t csd = 1; csd <= p->csd_count; csd++) {
        const struct fm_ps *ps = &p->ps[p->pd_ps[p->csd_callee[csd]]];
        if (strcmp(ps->name, name) == 0)
            sum += fm_profile_own(p, csd, FM_QUANTA);
    }
    return sum;
}

static void functions_are_named_by_their_files(void)
{
    const uint64_t in_inner = (uint64_t)(uintptr_t)inner, in_outer = (uint64_t)(uintptr_t)outer;
    const uint64_t stack[] = {in_inner, in_outer + 5}, alone[] = {in_outer};
    const struct fm_import_options options = {0};
    struct fm_profile *read = NULL;
    g_autoptr(GError) error = NULL;
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    append_head(bytes, 4000);
    append_record(bytes, 3, stack, 2);
    append_record(bytes, 2, alone, 1);
    append_record(bytes, 1, stack, 2);
    append_end(bytes);
    if (!fm_import_bytes("cpu.prof", bytes->data, bytes->len, &options, &read, &error))
        g_error("%s", error->message);
    g_autoptr(FmProfile) p = read;
    g_assert_cmpint(outer(1), ==, 4);
    g_assert_cmpstr(p->run_info.origin, ==, "gperftools");
    g_assert_cmpuint(p->ticks_per_second, ==, 1000000);
    g_assert_cmpuint(p->run_info.sample_count, ==, 6);
    g_assert_cmpint(quanta_of(p, "inner"), ==, 4 * 4000);
    g_assert_cmpint(quanta_of(p, "outer"), ==, 2 * 4000);
    g_assert_cmpuint(p->run_info.note_count, ==, 0);
}

/* Older libraries leave the code that returns from the signal's handler as the second frame. */
static void the_handlers_frame_is_left_out(void)
{
    const uint64_t in_inner = (uint64_t)(uintptr_t)inner, in_outer = (uint64_t)(uintptr_t)outer;
    const uint64_t in_libc = (uint64_t)(uintptr_t)gnu_get_libc_version; /* no sanitizer's */
    const struct fm_import_options options = {0};
    g_autoptr(GError) error = NULL;
    for (unsigned records = 4; records <= 40; records += 36) {
        struct fm_profile *read = NULL;
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        append_head(bytes, 1000);
        for (unsigned i = 0; i < records; i++) {
            const uint64_t stack[] = {in_inner, in_libc, in_outer + 5 + i % 2};
            append_record(bytes, 1, stack, 3);
        }
        append_end(bytes);
        if (!fm_import_bytes("cpu.prof", bytes->data, bytes->len, &options, &read, &error))
            g_error("%s", error->message);
        g_autoptr(FmProfile) p = read;
        unsigned of_libc = 0;
        for (uint32_t ps = 1; ps <= p->ps_count; ps++)
            of_libc += strstr(p->ps[ps].decl_module, "libc") != NULL;
        /* A few samples may have a caller of libc's in common, as a sort's. */
        g_assert_cmpuint(of_libc, ==, records < 10 ? 1 : 0);
        g_assert_cmpint(quanta_of(p, "inner"), ==, (int64_t)records * 1000);
    }
}

static void damage_is_refused_or_holds(void)
{
    const uint64_t stack[] = {0x1234, 0x5678};
    const struct fm_import_options options = {.format = "gperftools"};
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    append_head(bytes, 4000);
    append_record(bytes, 3, stack, 2);
    append_end(bytes);
    for (guint size = 0; size < 160; size++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            struct fm_profile *read = NULL;
            g_autoptr(GError) error = NULL;
            g_autofree uint8_t *copy = g_memdup2(bytes->data, MIN(size + 1, bytes->len));
            copy[size] ^= (uint8_t)(1u << bit);
            if (fm_import_bytes("bad", copy, size + 1, &options, &read, &error))
                fm_profile_free(read);
            else
                g_assert_true(g_str_has_prefix(error->message, "bad: "));
        }
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/import/gperftools", functions_are_named_by_their_files);
    g_test_add_func("/import/gperftools/handler", the_handlers_frame_is_left_out);
    g_test_add_func("/import/gperftools/damage", damage_is_refused_or_holds);
    return g_test_run();
}

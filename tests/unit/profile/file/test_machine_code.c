/* SPDX-License-Identifier: Apache-2.0 */
#include <glib/gstdio.h>
#include <string.h>

#include "base/error.h"
#include "profile/file/build.h"
#include "profile/file/machine/instructions.h"
#include "profile/file/attached/attached.h"
#include "profile/file/machine/machine_code.h"

/* Three procedures. */
static struct fm_profile *make_profile(void)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "prog");
    struct fm_ps ps = {.name = "f", .decl_module = "a.c", .def_module = "a.c", .file = "/a.c"};
    uint32_t first = fm_build_ps(build, &ps);
    fm_build_ps(build, &ps);
    fm_build_ps(build, &ps);
    fm_build_pd(build, first);
    struct fm_profile *profile;
    g_autoptr(GError) error = NULL;
    g_assert_true(fm_build_finish(build, &profile, &error));
    return profile;
}

/* The second procedure has no code, the third two parts. */
static struct fm_machine_code *make_code(void)
{
    static const uint8_t bytes[16] = {0x90, 0xc3};
    struct fm_machine_code *code = fm_machine_code_new(3, true);
    uint32_t image = fm_machine_code_add_image(code, "/bin/prog", "00ff");
    uint32_t file = fm_machine_code_add_file(code, "/a.c");
    uint32_t name = fm_machine_code_add_name(code, "strlen");
    fm_machine_code_add_part(code, 1, image, 0x1000, 16);
    fm_machine_code_add_row(code, &(struct fm_code_row){0x1000, file, 7});
    fm_machine_code_add_row(code, &(struct fm_code_row){0x1008, file, 9});
    fm_machine_code_add_sample(code, &(struct fm_code_sample){0x1009, 5});
    fm_machine_code_add_call(code, &(struct fm_code_call){0x100d, name});
    fm_machine_code_keep(code, 0, bytes);
    fm_machine_code_add_part(code, 3, image, 0x2000, 8);
    fm_machine_code_add_part(code, 3, image, 0x3000, 4);
    fm_machine_code_add_sample(code, &(struct fm_code_sample){0x3000, 1});
    return code;
}

static void check_code(const struct fm_machine_code *code)
{
    uint32_t count;
    g_autoptr(GError) error = NULL;
    const struct fm_code_part *parts = fm_machine_code_parts(code, 1, &count);
    g_assert_cmpuint(count, ==, 1);
    g_assert_cmpuint(parts->start, ==, 0x1000);
    g_assert_cmpuint(parts->size, ==, 16);
    g_assert_cmpuint(parts->row_count, ==, 2);
    g_assert_cmpuint(g_array_index(code->rows, struct fm_code_row, 1).address, ==, 0x1008);
    g_assert_cmpuint(g_array_index(code->rows, struct fm_code_row, 1).line, ==, 9);
    g_assert_cmpuint(g_array_index(code->samples, struct fm_code_sample, 0).quanta, ==, 5);
    g_assert_cmpuint(g_array_index(code->calls, struct fm_code_call, 0).address, ==, 0x100d);
    g_assert_cmpstr(code->names->pdata[0], ==, "strlen");
    g_autofree uint8_t *bytes = fm_machine_code_bytes(code, parts, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(bytes[1], ==, 0xc3);
    fm_machine_code_parts(code, 2, &count);
    g_assert_cmpuint(count, ==, 0);
    parts = fm_machine_code_parts(code, 3, &count);
    g_assert_cmpuint(count, ==, 2);
    g_assert_cmpuint(parts[1].sample_first, ==, 1);
    g_assert_null(fm_machine_code_bytes(code, parts, &error));
    g_assert_no_error(error);
}

static void test_round_trip(void)
{
    g_autoptr(FmProfile) profile = make_profile();
    g_autoptr(FmMachineCode) code = make_code();
    g_autoptr(FmMachineCode) read = NULL;
    g_autoptr(GError) error = NULL;
    check_code(code);
    fm_machine_code_attach(code, profile);
    g_assert_true(fm_machine_code_find(NULL, "/nowhere/x.data", profile, &read, &error));
    g_assert_no_error(error);
    check_code(read);
}

/* Each beginning of the file is refused, and each changed byte is read or refused. */
static void test_damage(void)
{
    g_autoptr(FmProfile) profile = make_profile();
    g_autoptr(FmMachineCode) code = make_code();
    struct fm_attached_bytes found;
    fm_machine_code_attach(code, profile);
    g_assert_true(fm_attached_find(NULL, "x.data", profile, FM_ATTACHED_CODE, &found, NULL));
    gsize size = found.size;
    g_autofree uint8_t *bytes = g_memdup2(found.bytes, size);
    g_assert_true(fm_attached_end(&found, true, NULL));
    for (gsize cut = 0; cut < size; cut++) {
        struct fm_machine_code *read = NULL;
        g_autoptr(GError) error = NULL;
        g_assert_false(fm_machine_code_read_bytes("x", bytes, cut, profile, &read, &error));
        g_assert_true(g_str_has_prefix(error->message, "x: offset"));
    }
    for (gsize at = 0; at < size; at++) {
        struct fm_machine_code *read = NULL;
        bytes[at] ^= 0x41;
        if (fm_machine_code_read_bytes("x", bytes, size, profile, &read, NULL)) {
            for (guint i = 0; i < read->parts->len; i++)
                g_free(fm_machine_code_bytes(
                    read, &g_array_index(read->parts, struct fm_code_part, i), NULL));
            fm_machine_code_free(read);
        }
        bytes[at] ^= 0x41;
    }
}

static void test_instructions(void)
{
    static const uint8_t code[] = {
        0x0f, 0x1f, 0x84, 0x00, 'F',  'T', 'F', 'B', 0x90, 0x90, /* a hook */
        0x0f, 0x1f, 0x84, 0x00, 'F',  'T', 'F', 'E',             /* its end */
        0xe8, 0x10, 0x00, 0x00, 0x00,                            /* call 17 + 5 + 16 */
        0x74, 0xfe,                                              /* je to itself */
        0x06,                                                    /* no instruction */
        0xff, 0xd0,                                              /* call rax */
        0xc3,
    };
    bool all;
    g_autoptr(GArray) found = fm_instructions(code, sizeof code, 0x100, 100, &all);
    const struct fm_instruction *at = (const struct fm_instruction *)(const void *)found->data;
    g_assert_true(all);
    g_assert_cmpuint(found->len, ==, 6);
    g_assert_cmpint(at[0].kind, ==, FM_INSTRUCTION_HOOK);
    g_assert_cmpuint(at[0].size, ==, 18);
    g_assert_cmpint(at[1].kind, ==, FM_INSTRUCTION_CALL);
    g_assert_cmpuint(at[1].target, ==, 0x100 + 18 + 5 + 16);
    g_assert_cmpint(at[2].kind, ==, FM_INSTRUCTION_JUMP);
    g_assert_cmpuint(at[2].target, ==, 0x100 + 23);
    g_assert_cmpint(at[3].kind, ==, FM_INSTRUCTION_BAD);
    g_assert_cmpstr(at[3].text, ==, ".byte 0x06");
    g_assert_cmpint(at[4].kind, ==, FM_INSTRUCTION_CALL);
    g_assert_cmpuint(at[4].target, ==, 0);
    g_assert_cmpint(at[5].kind, ==, FM_INSTRUCTION_PLAIN);
    g_autoptr(GArray) few = fm_instructions(code, sizeof code, 0x100, 2, &all);
    g_assert_cmpuint(few->len, ==, 2);
    g_assert_false(all);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/deep/machine_code/round-trip", test_round_trip);
    g_test_add_func("/deep/machine_code/damage", test_damage);
    g_test_add_func("/deep/machine_code/instructions", test_instructions);
    return g_test_run();
}

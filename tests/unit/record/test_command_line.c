/* SPDX-License-Identifier: Apache-2.0 */
#include <glib.h>
#include <glib/gstdio.h>

#include "base/error.h"
#include "record/toolchain/command_line.h"

static struct fm_command_line *parse(const char *text)
{
    g_auto(GStrv) words = g_strsplit(text, " ", -1);
    struct fm_command_line *line = NULL;
    g_autoptr(GError) error = NULL;
    bool ok = fm_command_line_parse((int)g_strv_length(words), words, &line, &error);
    g_assert_no_error(error);
    g_assert_true(ok);
    return line;
}

static void stages_are_told_apart(void)
{
    static const struct {
        const char *text;
        enum fm_stage stage;
        bool compiles;
    } cases[] = {
        {"-c a.c", FM_STAGE_ASSEMBLE, true},
        {"-O2 a.c -o a", FM_STAGE_LINK, true},
        {"a.o -o a -lm", FM_STAGE_LINK, false},
        {"-S a.cc", FM_STAGE_COMPILE, true},
        {"-E a.c", FM_STAGE_PREPROCESS, true},
        {"-c -E a.c", FM_STAGE_PREPROCESS, true},
        {"-M a.c", FM_STAGE_PREPROCESS, true},
        {"-MM a.c", FM_STAGE_PREPROCESS, true},
        {"-MMD -MF a.d -c a.c", FM_STAGE_ASSEMBLE, true},
        {"-fsyntax-only a.c", FM_STAGE_PREPROCESS, true},
        {"--version", FM_STAGE_QUERY, false},
        {"-v", FM_STAGE_QUERY, false},
        {"-print-search-dirs", FM_STAGE_QUERY, false},
        {"-dumpmachine", FM_STAGE_QUERY, false},
        {"-c a.S", FM_STAGE_ASSEMBLE, false},
        {"-x c - -c -o x.o", FM_STAGE_ASSEMBLE, true},
        {"-xc++ a.txt -o x", FM_STAGE_LINK, true},
        {"-x assembler a.c -c", FM_STAGE_ASSEMBLE, false},
        {"-x c a.txt -x none b.o", FM_STAGE_LINK, true},
        {"-c a.f90", FM_STAGE_ASSEMBLE, true},
        {"-c a.go", FM_STAGE_ASSEMBLE, false},
        {"--precompile a.cppm -o a.pcm", FM_STAGE_PREPROCESS, true},
        {"-c a.pcm", FM_STAGE_ASSEMBLE, true},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(FmCommandLine) line = parse(cases[i].text);
        g_test_message("%s", cases[i].text);
        g_assert_cmpint(line->stage, ==, cases[i].stage);
        g_assert_cmpint(fm_command_line_compiles(line), ==, cases[i].compiles);
    }
}

static void values_of_options_are_no_inputs(void)
{
    g_autoptr(FmCommandLine) line =
        parse("-I inc -include pre.h -D X.c -MF dep.c -o out.c -l m -Xlinker foo.o -T s.ld a.c");
    g_assert_cmpuint(line->inputs->len, ==, 1);
    g_assert_cmpstr(g_array_index(line->inputs, struct fm_input, 0).path, ==, "a.c");
    g_assert_cmpstr(line->output, ==, "out.c");
    g_autoptr(FmCommandLine) joined = parse("-oprog a.c");
    g_assert_cmpstr(joined->output, ==, "prog");
}

static void sources_without_includes_are_known(void)
{
    static const struct {
        const char *text;
        bool lacks;
    } cases[] = {
        {"-c a.c b.cc c.m", false},
        {"-c a.F90", true},
        {"-c a.c b.f", true},
        {"-c a.adb", true},
        {"-x d - -c", true},
        {"-J mods -c a.c", false},
        {"-fmodules-ts -c a.cc", true},
        {"-c a.cppm", true},
        {"-x c++-module a.cc -c", true},
        {"a.o b.o -o prog", false},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(FmCommandLine) line = parse(cases[i].text);
        g_test_message("%s", cases[i].text);
        g_assert_cmpint(fm_command_line_lacks_includes(line), ==, cases[i].lacks);
    }
    g_assert_true(fm_is_fortran_compiler("/usr/bin/gfortran-12"));
    g_assert_true(fm_is_fortran_compiler("x86_64-linux-gnu-gfortran"));
    g_assert_false(fm_is_fortran_compiler("gcc"));
}

static void mixed_languages_keep_their_own(void)
{
    g_autoptr(FmCommandLine) line = parse("a.c b.cpp c.s d.o libx.a e.so.3 f.h -shared -fPIC");
    static const enum fm_language expected[] = {
        FM_LANGUAGE_C,      FM_LANGUAGE_CPLUSPLUS, FM_LANGUAGE_ASSEMBLY, FM_LANGUAGE_OBJECT,
        FM_LANGUAGE_OBJECT, FM_LANGUAGE_OBJECT,    FM_LANGUAGE_HEADER,
    };
    g_assert_cmpuint(line->inputs->len, ==, G_N_ELEMENTS(expected));
    for (guint i = 0; i < line->inputs->len; i++)
        g_assert_cmpint(g_array_index(line->inputs, struct fm_input, i).language, ==, expected[i]);
    g_assert_true(line->shared);
}

static void flags_that_matter_are_seen(void)
{
    g_autoptr(FmCommandLine) lto = parse("-flto=auto a.c");
    g_assert_true(lto->lto);
    g_autoptr(FmCommandLine) undone = parse("-flto -fno-lto a.c");
    g_assert_false(undone->lto);
    g_autoptr(FmCommandLine) split = parse("-g -gsplit-dwarf -c a.c");
    g_assert_true(split->split_dwarf);
    g_autoptr(FmCommandLine) fully = parse("-static a.o");
    g_assert_true(fully->fully_static);
    g_autoptr(FmCommandLine) bare = parse("-nostdlib a.o");
    g_assert_true(bare->no_start_files);
    g_autoptr(FmCommandLine) without = parse("-nodefaultlibs a.o");
    g_assert_true(without->no_start_files && !without->names_libc);
    g_autoptr(FmCommandLine) named = parse("-nodefaultlibs a.o -lc");
    g_assert_true(!named->no_start_files && named->names_libc);
    g_autoptr(FmCommandLine) within = parse("-nodefaultlibs -static a.o -lc");
    g_assert_true(within->no_start_files);
    g_autoptr(FmCommandLine) relocatable = parse("-r a.o b.o -o c.o");
    g_assert_true(relocatable->relocatable);
    g_autoptr(FmCommandLine) checked = parse("-fsanitize=address,undefined a.c");
    g_assert_true(checked->sanitizers);
    g_autoptr(FmCommandLine) undefined = parse("-fsanitize=undefined a.c");
    g_assert_false(undefined->sanitizers);
}

static void response_files_are_opened(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *folder = g_dir_make_tmp("fathom-XXXXXX", &error);
    g_assert_no_error(error);
    g_autofree char *inner = g_build_filename(folder, "inner.rsp", NULL);
    g_autofree char *outer = g_build_filename(folder, "outer.rsp", NULL);
    g_autofree char *loop = g_build_filename(folder, "loop.rsp", NULL);
    g_autofree char *outer_text =
        g_strdup_printf("-c 'with space.c'\n-DX=\"a\\\"b\" back\\ slash.c @%s", inner);
    g_autofree char *loop_text = g_strdup_printf("@%s", loop);
    g_assert_true(g_file_set_contents(inner, "-o out.o\t-shared", -1, NULL));
    g_assert_true(g_file_set_contents(outer, outer_text, -1, NULL));
    g_assert_true(g_file_set_contents(loop, loop_text, -1, NULL));

    g_autofree char *at = g_strdup_printf("@%s @/does/not/exist", outer);
    g_autoptr(FmCommandLine) line = parse(at);
    g_assert_cmpuint(line->inputs->len, ==, 3);
    g_assert_cmpstr(g_array_index(line->inputs, struct fm_input, 0).path, ==, "with space.c");
    g_assert_cmpstr(g_array_index(line->inputs, struct fm_input, 1).path, ==, "back slash.c");
    g_assert_cmpstr(g_array_index(line->inputs, struct fm_input, 2).path, ==, "@/does/not/exist");
    g_assert_cmpstr(line->output, ==, "out.o");
    g_assert_true(line->shared);
    g_assert_cmpstr(g_ptr_array_index(line->arguments, 2), ==, "-DX=a\"b");

    struct fm_command_line *never = NULL;
    g_assert_false(fm_command_line_parse(1, (char *[]){loop_text}, &never, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_LIMIT);
    g_unlink(inner);
    g_unlink(outer);
    g_unlink(loop);
    g_rmdir(folder);
}

static void compilers_are_known_by_name(void)
{
    static const struct {
        const char *name;
        bool known, cplusplus, clang;
    } cases[] = {
        {"gcc", true, false, false},
        {"/usr/bin/gcc-12", true, false, false},
        {"x86_64-linux-gnu-g++-12", true, true, false},
        {"clang", true, false, true},
        {"/opt/llvm/bin/clang++-14.0.6", true, true, true},
        {"c++", true, true, false},
        {"cc", true, false, false},
        {"icc", false, false, false},
        {"a.c", false, false, false},
        {"ld", false, false, false},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        bool cplusplus = false, clang = false;
        g_test_message("%s", cases[i].name);
        g_assert_cmpint(fm_compiler_name(cases[i].name, &cplusplus, &clang), ==, cases[i].known);
        g_assert_cmpint(cplusplus, ==, cases[i].cplusplus);
        g_assert_cmpint(clang, ==, cases[i].clang);
    }
}

static void other_machines_are_seen(void)
{
    static const struct {
        const char *text;
        const char *option; /* NULL: ours */
    } cases[] = {
        {"-c a.c", NULL},
        {"-m32 -c a.c", "-m32"},
        {"-mx32 a.c", "-mx32"},
        {"-m32 -m64 a.c", NULL},
        {"--target=aarch64-linux-gnu a.c", "--target=aarch64-linux-gnu"},
        {"-target i386-pc-linux a.c", "i386-pc-linux"},
        {"-target x86_64-pc-linux-gnu a.c", NULL},
        {"-march=native -mtune=generic a.c", NULL},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(FmCommandLine) line = parse(cases[i].text);
        g_assert_cmpstr(line->other_machine, ==, cases[i].option);
    }
    g_assert_true(fm_compiler_is_foreign("/usr/bin/aarch64-linux-gnu-gcc-12"));
    g_assert_true(fm_compiler_is_foreign("i686-linux-gnu-g++"));
    g_assert_false(fm_compiler_is_foreign("x86_64-linux-gnu-gcc-12"));
    g_assert_false(fm_compiler_is_foreign("gcc-12"));
    g_assert_false(fm_compiler_is_foreign("/opt/my-tools/cc-that-drops"));
    g_assert_true(fm_is_compiler_launcher("/usr/bin/ccache"));
    g_assert_false(fm_is_compiler_launcher("gcc"));
}

static void a_forced_language_is_seen(void)
{
    g_autoptr(FmCommandLine) forced = parse("-x c - -o prog");
    g_assert_true(forced->language_forced);
    g_autoptr(FmCommandLine) ended = parse("-x c - -x none a.o -o prog");
    g_assert_false(ended->language_forced);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/command_line/stages_are_told_apart", stages_are_told_apart);
    g_test_add_func("/command_line/values_of_options_are_no_inputs",
                    values_of_options_are_no_inputs);
    g_test_add_func("/command_line/mixed_languages_keep_their_own", mixed_languages_keep_their_own);
    g_test_add_func("/command_line/sources_without_includes_are_known",
                    sources_without_includes_are_known);
    g_test_add_func("/command_line/flags_that_matter_are_seen", flags_that_matter_are_seen);
    g_test_add_func("/command_line/response_files_are_opened", response_files_are_opened);
    g_test_add_func("/command_line/compilers_are_known_by_name", compilers_are_known_by_name);
    g_test_add_func("/command_line/other_machines_are_seen", other_machines_are_seen);
    g_test_add_func("/command_line/a_forced_language_is_seen", a_forced_language_is_seen);
    return g_test_run();
}

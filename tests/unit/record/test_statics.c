/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles small programs with the hooks and checks what the extraction says about them. The
 * compilers are those of the machine; a case whose compiler is missing is skipped. */
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text/demangle.h"
#include "record/statics/statics.h"

static const char c_source[] = "#include <stdlib.h>\n"                                    /* 1 */
                               "#include <stdio.h>\n"                                     /* 2 */
                               "static int compare(const void *a, const void *b)\n"       /* 3 */
                               "{ return *(const int *)a - *(const int *)b; }\n"          /* 4 */
                               "static inline int square(int x) { return x * x; }\n"      /* 5 */
                               "int fib(int n)\n"                                         /* 6 */
                               "{ return n < 2 ? n :\n"                                   /* 7 */
                               "    fib(n - 1) +\n"                                       /* 8 */
                               "    fib(n - 2); }\n"                                      /* 9 */
                               "int (*volatile pointer)(int) = fib;\n"                    /* 10 */
                               "int never(int a, int b, ...) { return square(a) + b; }\n" /* 11 */
                               "int main(int argc, char **argv)\n"                        /* 12 */
                               "{ int a[3] = { 3, 1, 2 };\n"                              /* 13 */
                               "  qsort(a, 3, sizeof *a, compare);\n"                     /* 14 */
                               "  if (argc > 7) return never(1, 2);\n"                    /* 15 */
                               "  printf(\"%d\\n\", square(a[0]));\n"                     /* 16 */
                               "  return pointer(argc) != 1; }\n";                        /* 17 */

static const char cplusplus_source[] =
    "struct base { virtual int f(int x) { return x; } virtual ~base() {} };\n"
    "struct derived : base { int f(int x) override { return x + 1; } };\n"
    "namespace space { template <class T> T twice(T t) { return t + t; } }\n"
    "int go(base *b) { return b->f(1); }\n"
    "int (*pointer)(base *) = go;\n"
    "int main() { derived d; return pointer(&d) + space::twice(3) == 8; }\n";

struct fixture {
    char *folder;
};

static void set_up(struct fixture *fixture, gconstpointer data)
{
    (void)data;
    g_autoptr(GError) error = NULL;
    fixture->folder = g_dir_make_tmp("fathom-XXXXXX", &error);
    g_assert_no_error(error);
}

static void tear_down(struct fixture *fixture, gconstpointer data)
{
    (void)data;
    GDir *folder = g_dir_open(fixture->folder, 0, NULL);
    for (const char *name; (name = g_dir_read_name(folder)) != NULL;) {
        g_autofree char *path = g_build_filename(fixture->folder, name, NULL);
        g_unlink(path);
    }
    g_dir_close(folder);
    g_rmdir(fixture->folder);
    g_free(fixture->folder);
}

static bool run(const struct fixture *fixture, const char *command)
{
    g_auto(GStrv) words = NULL;
    g_assert_true(g_shell_parse_argv(command, NULL, &words, NULL));
    int status = 0;
    g_autoptr(GError) error = NULL;
    bool ran = g_spawn_sync(fixture->folder, words, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL,
                            NULL, &status, &error);
    return ran && g_spawn_check_wait_status(status, NULL);
}

/* Writes the source, compiles it to "prog"; false after g_test_skip. */
static bool build(const struct fixture *fixture, const char *compiler, const char *source,
                  const char *flags)
{
    g_autofree char *found = g_find_program_in_path(compiler);
    if (found == NULL) {
        g_test_skip("the compiler is not installed");
        return false;
    }
    bool cplusplus = strstr(compiler, "++") != NULL;
    g_autofree char *path =
        g_build_filename(fixture->folder, cplusplus ? "prog.cc" : "prog.c", NULL);
    g_assert_true(g_file_set_contents(path, source, -1, NULL));
    g_autofree char *command =
        g_strdup_printf("%s -finstrument-functions -fno-omit-frame-pointer %s %s -o prog", compiler,
                        flags, cplusplus ? "prog.cc" : "prog.c");
    g_assert_true(run(fixture, command));
    return true;
}

static struct fm_statics *extract(const struct fixture *fixture)
{
    g_autofree char *path = g_build_filename(fixture->folder, "prog", NULL);
    struct fm_statics_opts opts = {0};
    struct fm_statics *statics = NULL;
    g_autoptr(GError) error = NULL;
    bool ok = fm_statics_extract(path, &opts, &statics, &error);
    g_assert_no_error(error);
    g_assert_true(ok);
    return statics;
}

static const struct fm_proc *find_proc(const struct fm_statics *statics, const char *name)
{
    const struct fm_proc *found = NULL;
    for (uint32_t i = 0; i < statics->proc_count; i++) {
        if (strcmp(statics->procs[i].name, name) == 0 && statics->procs[i].instrumented) {
            g_assert_null(found);
            found = &statics->procs[i];
        }
    }
    g_assert_nonnull(found);
    return found;
}

static const struct fm_site *find_site(const struct fm_statics *statics, const struct fm_proc *proc,
                                       uint32_t line, const char *callee)
{
    const struct fm_site *found = NULL;
    for (uint32_t i = 0; i < proc->site_count; i++) {
        const struct fm_site *site = &statics->sites[proc->site_first + i];
        const char *name =
            site->callee != FM_NONE ? statics->procs[site->callee].name : site->callee_name;
        if (site->line == line && g_strcmp0(name, callee) == 0) {
            g_assert_null(found);
            found = site;
        }
    }
    g_assert_nonnull(found);
    return found;
}

static void check_c(const struct fixture *fixture)
{
    g_autoptr(FmStatics) statics = extract(fixture);
    g_assert_true(statics->has_debug);
    const struct fm_proc *fib = find_proc(statics, "fib");
    g_assert_cmpuint(fib->line, ==, 6);
    g_assert_cmpuint(fib->arity, ==, 1);
    g_assert_false(fib->variadic);
    g_assert_true(fib->external);
    g_assert_cmpuint(fib->site_count, ==, 2);
    g_assert_cmpint(find_site(statics, fib, 8, "fib")->kind, ==, FM_SITE_NORMAL);
    g_assert_cmpint(find_site(statics, fib, 9, "fib")->kind, ==, FM_SITE_NORMAL);
    const struct fm_proc *compare = find_proc(statics, "compare");
    g_assert_cmpuint(compare->arity, ==, 2);
    g_assert_cmpuint(compare->site_count, ==, 0);
    g_assert_false(compare->external);
    const struct fm_proc *never = find_proc(statics, "never");
    g_assert_true(never->variadic);
    g_assert_cmpuint(never->arity, ==, 2);
    g_assert_cmpint(find_site(statics, never, 11, "square")->kind, ==, FM_SITE_NORMAL);
    const struct fm_proc *start = find_proc(statics, "main");
    g_assert_cmpint(find_site(statics, start, 14, "qsort")->kind, ==, FM_SITE_CALLBACK);
    g_assert_cmpint(find_site(statics, start, 15, "never")->kind, ==, FM_SITE_NORMAL);
    g_assert_cmpint(find_site(statics, start, 16, "square")->kind, ==, FM_SITE_NORMAL);
    g_assert_cmpint(find_site(statics, start, 16, "printf")->kind, ==, FM_SITE_CALLBACK);
    g_assert_cmpint(find_site(statics, start, 17, NULL)->kind, ==, FM_SITE_HIGHER_ORDER);
    g_assert_cmpuint(start->site_count, ==, 5);
    g_assert_true(g_str_has_suffix(start->file, "/prog.c"));
    g_assert_cmpstr(start->unit, ==, start->file);
    g_assert_cmpuint(fm_statics_proc_at(statics, start->entry), ==,
                     (uint32_t)(start - statics->procs));
}

static void the_source_sites_are_the_same_however_compiled(struct fixture *fixture,
                                                           gconstpointer data)
{
    g_auto(GStrv) how = g_strsplit(data, " ", 2);
    if (build(fixture, how[0], c_source, how[1]))
        check_c(fixture);
}

static void symbols_stand_in_for_debug_information(struct fixture *fixture, gconstpointer data)
{
    (void)data;
    if (!build(fixture, "gcc", c_source, "-O1 -g0"))
        return;
    g_autoptr(FmStatics) statics = extract(fixture);
    g_assert_false(statics->has_debug);
    const struct fm_proc *fib = find_proc(statics, "fib");
    g_assert_cmpuint(fib->arity, ==, FM_ARITY_UNKNOWN);
    g_assert_cmpuint(fib->line, ==, 0);
    g_assert_cmpuint(fib->site_count, ==, 2);
    g_assert_true(find_proc(statics, "main")->site_count >= 4);
}

static void separate_debug_files_are_found(struct fixture *fixture, gconstpointer data)
{
    (void)data;
    if (!build(fixture, "gcc", c_source, "-O2 -g"))
        return;
    g_assert_true(run(fixture, "objcopy --only-keep-debug prog elsewhere.dbg"));
    g_assert_true(run(fixture, "strip prog"));
    g_autoptr(FmStatics) bare = extract(fixture);
    g_assert_false(bare->has_debug);
    g_assert_nonnull(bare->debug_note);
    g_assert_true(run(fixture, "objcopy --add-gnu-debuglink=elsewhere.dbg prog"));
    check_c(fixture);
}

static void another_build_is_refused(struct fixture *fixture, gconstpointer data)
{
    (void)data;
    if (!build(fixture, "gcc", c_source, "-g -Wl,--build-id=0x0123456789abcdef"))
        return;
    g_autofree char *path = g_build_filename(fixture->folder, "prog", NULL);
    static const uint8_t same[] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
    static const uint8_t other[] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xee};
    struct fm_statics_opts opts = {.build_id = same, .build_id_size = sizeof same};
    g_autoptr(FmStatics) statics = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_true(fm_statics_extract(path, &opts, &statics, &error));
    struct fm_statics *never = NULL;
    opts.build_id = other;
    g_assert_false(fm_statics_extract(path, &opts, &never, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_FORMAT);
    g_assert_nonnull(strstr(error->message, "build-id"));
}

static void split_debug_information_is_refused(struct fixture *fixture, gconstpointer data)
{
    (void)data;
    if (!build(fixture, "gcc", c_source, "-g -gsplit-dwarf"))
        return;
    g_autofree char *path = g_build_filename(fixture->folder, "prog", NULL);
    struct fm_statics_opts opts = {0};
    struct fm_statics *never = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_false(fm_statics_extract(path, &opts, &never, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE);
    g_assert_nonnull(strstr(error->message, "-gsplit-dwarf"));
}

static void virtual_calls_and_templates(struct fixture *fixture, gconstpointer data)
{
    g_auto(GStrv) how = g_strsplit(data, " ", 2);
    if (!build(fixture, how[0], cplusplus_source, how[1]))
        return;
    g_autoptr(FmStatics) statics = extract(fixture);
    const struct fm_proc *go = find_proc(statics, "go");
    g_assert_cmpstr(go->linkage, ==, "_Z2goP4base");
    g_assert_cmpint(find_site(statics, go, 4, NULL)->kind, ==, FM_SITE_METHOD);
    const struct fm_proc *start = find_proc(statics, "main");
    g_assert_cmpint(find_site(statics, start, 6, NULL)->kind, ==, FM_SITE_HIGHER_ORDER);
    g_assert_cmpint(find_site(statics, start, 6, "twice<int>")->kind, ==, FM_SITE_NORMAL);
    const struct fm_proc *twice = find_proc(statics, "twice<int>");
    g_assert_cmpuint(twice->arity, ==, 1);
    g_autofree char *plain = fm_demangle(twice->linkage);
    g_assert_cmpstr(plain, ==, "int space::twice<int>(int)");
    g_autofree char *unchanged = fm_demangle("_Znot a name");
    g_assert_cmpstr(unchanged, ==, "_Znot a name");
    static const char *const lambdas[][2] = {
        {"_ZZ3hotvENK3$_0clEl", "hot()::{lambda#1}::operator()(long) const"},
        {"_Z4callIZ4mainE3$_1EvT_", "void call<main::{lambda#2}>(main::{lambda#2})"},
        {"_ZN3$_06memberEv", "$_0::member()"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(lambdas); i++) {
        g_autofree char *named = fm_demangle(lambdas[i][0]);
        g_assert_cmpstr(named, ==, lambdas[i][1]);
    }
}

static void what_is_no_program_is_refused(struct fixture *fixture, gconstpointer data)
{
    (void)data;
    g_autofree char *path = g_build_filename(fixture->folder, "prog", NULL);
    g_assert_true(g_file_set_contents(path, "#!/bin/sh\n", -1, NULL));
    struct fm_statics_opts opts = {0};
    struct fm_statics *never = NULL;
    g_autoptr(GError) error = NULL;
    g_assert_false(fm_statics_extract(path, &opts, &never, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_IO);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    static const char *const builds[] = {
        "gcc -g -O0",       "gcc -g -O2",        "gcc -g -O3 -no-pie", "gcc -g -O2 -fno-plt",
        "gcc -g -O2 -flto", "gcc -gdwarf-4 -O1", "clang -g -O0",       "clang -g -O2"};
    for (size_t i = 0; i < G_N_ELEMENTS(builds); i++) {
        g_autofree char *name = g_strdup_printf("/statics/c/%s", builds[i]);
        g_test_add(name, struct fixture, builds[i], set_up,
                   the_source_sites_are_the_same_however_compiled, tear_down);
    }
    static const char *const cplusplus[] = {"g++ -g -O0", "g++ -g -O1 -fno-devirtualize",
                                            "clang++ -g -O0"};
    for (size_t i = 0; i < G_N_ELEMENTS(cplusplus); i++) {
        g_autofree char *name = g_strdup_printf("/statics/c++/%s", cplusplus[i]);
        g_test_add(name, struct fixture, cplusplus[i], set_up, virtual_calls_and_templates,
                   tear_down);
    }
#define ADD(function) \
    g_test_add("/statics/" #function, struct fixture, NULL, set_up, function, tear_down)
    ADD(symbols_stand_in_for_debug_information);
    ADD(separate_debug_files_are_found);
    ADD(another_build_is_refused);
    ADD(split_debug_information_is_refused);
    ADD(what_is_no_program_is_refused);
    return g_test_run();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* fathom cc, fathom c++: a compiler's command, carried out so that the program records itself. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/text/shell.h"
#include "cli/cli.h"
#include "record/run/call_log.h"
#include "record/toolchain/compiling.h"
#include "record/toolchain/note_filter.h"
#include "record/toolchain/toolchain.h"

struct wrapper {
    struct fm_toolchain toolchain;
    const char *name;    /* "cc" or "c++" */
    char *compiler;      /* as chosen by option, environment or place in the command */
    GPtrArray *launcher; /* elements: char *: what runs the compiler, as ccache; NULL at its end */
    bool show;
};

static const char help[] =
    "Usage:\n"
    "  fathom %s [OPTION...] [COMPILER] ARGUMENT...\n\n"
    "Compiles and links like the compiler, so that the program records itself.\n\n"
    "Options (before all others; the rest is the compiler's. --grade, --hooks, --exclude,\n"
    "--only and --include-system are also taken among these):\n"
    "  --grade=GRADE           Count calls at GRADE:\n"
    "                          deep (default): of functions that exist after inlining; inlined\n"
    "                          bodies are shown, but not counted\n"
    "                          full: all calls of the source\n"
    "                          coverage: as deep (clang, -flto: full), and each block of code\n"
    "  --hooks=KIND            frames (default), or slots: at half the cost, for programs that "
    "gcc\n"
    "                          compiles at --grade=deep; some things cannot be recorded with\n"
    "                          it, see the manual\n"
    "  --exclude=PATTERN       Leave out files and folders (with a '/' or a source ending) or\n"
    "                          functions whose names contain PATTERN; may be repeated\n"
    "  --only=PATTERN          Record only files, folders or functions whose names contain\n"
    "                          PATTERN; may be repeated\n"
    "  --trace=NAME[,NAME...]  Time each call of these functions, in each run\n"
    "  --include-system        Record functions of the system's headers, too\n"
    "  --cc=COMPILER           Use COMPILER (default: cc or c++; also $FATHOM_CC, $FATHOM_CXX,\n"
    "                          or the first argument as with launchers); ccache may precede it\n"
    "  --show                  Print the real command and do not run it\n"
    "  --help                  Show this help\n\n"
    "gcc also compiles Fortran, D, Ada and Objective-C so: fathom cc gfortran ARGUMENT...\n\n"
    "The environment variables FATHOM_GRADE, FATHOM_EXCLUDE and FATHOM_ONLY (patterns separated\n"
    "by ':') apply where no option is given.\n\n"
    "Example:\n"
    "  make CC=\"fathom cc\" CXX=\"fathom c++\"\n";

/* "ccache gcc" is two words, but a program's name may hold a space. */
static void choose_compiler(struct wrapper *wrapper, const char *given)
{
    g_auto(GStrv) words = NULL;
    g_autofree char *whole = g_find_program_in_path(given);
    int count = 0;
    g_clear_pointer(&wrapper->compiler, g_free);
    if (whole != NULL || !g_shell_parse_argv(given, &count, &words, NULL)) {
        wrapper->compiler = g_strdup(given);
        return;
    }
    for (int i = 0; i + 1 < count; i++)
        g_ptr_array_add(wrapper->launcher, g_strdup(words[i]));
    wrapper->compiler = g_strdup(words[count - 1]);
}

static void add_patterns(struct fm_choice *choice, const char *list)
{
    if (list == NULL)
        return;
    g_auto(GStrv) patterns = g_strsplit(list, ":", -1);
    for (char **pattern = patterns; *pattern != NULL; pattern++) {
        if (**pattern != '\0')
            fm_choice_add(choice, *pattern);
    }
}

/* Takes one of our own options; false when it is the compiler's. */
static bool take_option(struct wrapper *wrapper, const char *argument, GError **error)
{
    struct fm_toolchain *toolchain = &wrapper->toolchain;
    if (g_str_has_prefix(argument, "--grade=")) {
        toolchain->grade = argument + strlen("--grade=");
        return fm_grade_check(toolchain->grade, error);
    }
    if (g_str_has_prefix(argument, "--exclude=")) {
        fm_choice_add(&toolchain->exclude, argument + strlen("--exclude="));
    } else if (g_str_has_prefix(argument, "--only=")) {
        fm_choice_add(&toolchain->only, argument + strlen("--only="));
    } else if (g_str_has_prefix(argument, "--trace=")) {
        toolchain->traced = argument + strlen("--trace=");
        return fm_call_log_check_names(toolchain->traced, error);
    } else if (g_str_has_prefix(argument, "--cc=")) {
        choose_compiler(wrapper, argument + strlen("--cc="));
    } else if (g_str_has_prefix(argument, "--hooks=")) {
        const char *name = argument + strlen("--hooks=");
        toolchain->slots = strcmp(name, "slots") == 0;
        if (!toolchain->slots && strcmp(name, "frames") != 0) {
            g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                        "unknown hooks '%s', expected one of: frames, slots", name);
            return false;
        }
    } else if (strcmp(argument, "--include-system") == 0) {
        toolchain->include_system = true;
    } else if (strcmp(argument, "--show") == 0) {
        wrapper->show = true;
    } else {
        return false;
    }
    return true;
}

/* Those that no compiler has are ours behind its arguments, too. */
static bool take_options_behind(struct wrapper *wrapper, int *argc, char **argv, GError **error)
{
    static const char *const ours[] = {
        "--grade=", "--hooks=", "--exclude=", "--only=", "--include-system"};
    int kept = 0;
    for (int i = 0; i < *argc; i++) {
        bool taken = false;
        for (unsigned k = 0; k < G_N_ELEMENTS(ours) && !taken; k++)
            taken = g_str_has_prefix(argv[i], ours[k]) && take_option(wrapper, argv[i], error);
        if (*error != NULL)
            return false;
        if (!taken)
            argv[kept++] = argv[i];
    }
    *argc = kept;
    argv[kept] = NULL;
    return true;
}

static bool read_environment(struct wrapper *wrapper, GError **error)
{
    const char *grade = g_getenv("FATHOM_GRADE");
    add_patterns(&wrapper->toolchain.exclude, g_getenv("FATHOM_EXCLUDE"));
    add_patterns(&wrapper->toolchain.only, g_getenv("FATHOM_ONLY"));
    if (grade == NULL || grade[0] == '\0')
        return true;
    wrapper->toolchain.grade = grade;
    return fm_grade_check(grade, error);
}

/* The name "cc" does not say which compiler it is, but the file that it links to does. */
static void identify(struct wrapper *wrapper)
{
    struct fm_toolchain *toolchain = &wrapper->toolchain;
    bool cplusplus = strcmp(wrapper->name, "c++") == 0;
    toolchain->cplusplus = cplusplus;
    if (wrapper->compiler == NULL) {
        const char *given = g_getenv(cplusplus ? "FATHOM_CXX" : "FATHOM_CC");
        choose_compiler(wrapper, given != NULL && given[0] != '\0' ? given : wrapper->name);
    }
    toolchain->compiler = wrapper->compiler;
    g_ptr_array_add(wrapper->launcher, NULL);
    toolchain->launcher = (const char *const *)wrapper->launcher->pdata;
    if (fm_compiler_name(wrapper->compiler, &toolchain->cplusplus, &toolchain->clang) &&
        toolchain->clang)
        return;
    g_autofree char *found = g_find_program_in_path(wrapper->compiler);
    char real[4096];
    if (found != NULL && realpath(found, real) != NULL) {
        bool is_cplusplus = false, is_clang = false;
        g_autofree char *base = g_path_get_basename(real);
        toolchain->clang = (fm_compiler_name(real, &is_cplusplus, &is_clang) && is_clang) ||
                           g_str_has_prefix(base, "clang");
    }
}

static void show(char **arguments)
{
    for (char **argument = arguments; *argument != NULL; argument++) {
        g_autofree char *word = fm_shell_word(*argument);
        printf("%s%s", argument == arguments ? "" : " ", word);
    }
    printf("\n");
}

/* ccache does not know of the assembler's front, which makes another object of the same text when
 * it is another version's. */
static void tell_ccache(const char *folder)
{
    const char *others = g_getenv("CCACHE_EXTRAFILES");
    g_autofree char *front = g_build_filename(folder, "assembler", "as", NULL);
    g_autofree char *files =
        others != NULL && others[0] != '\0' ? g_strconcat(others, ":", front, NULL) : NULL;
    g_setenv("CCACHE_EXTRAFILES", files != NULL ? files : front, TRUE);
}

/* Never a silent build without hooks. */
static void tell_without_hooks(const struct wrapper *wrapper, const struct fm_command_line *line)
{
    for (guint i = 0; i < line->inputs->len; i++) {
        const struct fm_input *input = &g_array_index(line->inputs, struct fm_input, i);
        if (line->stage >= FM_STAGE_COMPILE && input->language == FM_LANGUAGE_OTHER)
            fprintf(stderr,
                    "fathom %s: note: %s is compiled without hooks, so its calls are not counted; "
                    "hooks are for C, C++, Objective-C, Fortran, D and Ada\n",
                    wrapper->name, input->path);
    }
}

static int carry_out(struct wrapper *wrapper, int argc, char **argv, GError **error)
{
    g_autoptr(FmCommandLine) line = NULL;
    if (!fm_command_line_parse(argc, argv, &line, error))
        return FM_EXIT_FAILED;
    bool links = line->stage == FM_STAGE_LINK;
    g_autofree char *folder = NULL;
    if (line->stage >= FM_STAGE_COMPILE && (folder = fm_toolchain_runtime_folder(error)) == NULL)
        return FM_EXIT_FAILED;
    if (line->stage == FM_STAGE_PREPROCESS)
        folder = fm_toolchain_runtime_folder(NULL); /* for its headers, if they are there */
    wrapper->toolchain.runtime_folder = folder;
    if (folder != NULL)
        tell_ccache(folder);
    g_auto(GStrv) arguments = fm_toolchain_arguments(&wrapper->toolchain, line, argc, argv, error);
    if (arguments == NULL)
        return FM_EXIT_FAILED;
    tell_without_hooks(wrapper, line);
    if (wrapper->show) {
        show(arguments);
        return FM_EXIT_DONE;
    }
    if (!links && !fm_note_filter_is_needed((const char *const *)arguments)) {
        execvp(arguments[0], arguments);
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: %s", arguments[0], g_strerror(errno));
        return FM_EXIT_FAILED;
    }
    int status = fm_compiling_run(wrapper->name, arguments);
    const char *output = line->output == NULL ? "a.out" : line->output;
    bool whole = links && !line->shared && !line->relocatable && !line->no_start_files;
    if (status == 0 && whole && !fm_toolchain_verify(output, error))
        return FM_EXIT_FAILED;
    if (status == 0 && links && !line->relocatable &&
        !fm_toolchain_verify_slots(output, line->shared, error)) {
        unlink(output);
        return FM_EXIT_FAILED;
    }
    if (status == 0 && whole && strcmp(wrapper->toolchain.grade, "fast") == 0)
        fprintf(stderr,
                "fathom %s: note: --grade=fast is the default grade now, which costs less\n",
                wrapper->name);
    return status;
}

static int run_wrapper(struct wrapper *wrapper, int argc, char **argv)
{
    GError *error = NULL;
    int at = 1;
    if (!read_environment(wrapper, &error))
        return fm_console_fail(wrapper->name, error);
    while (at < argc && take_option(wrapper, argv[at], &error))
        at++;
    if (error != NULL)
        return fm_console_fail(wrapper->name, error);
    if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        printf(help, wrapper->name);
        return FM_EXIT_DONE;
    }
    while (at < argc && fm_is_compiler_launcher(argv[at]))
        g_ptr_array_add(wrapper->launcher, g_strdup(argv[at++]));
    bool cplusplus, clang;
    if (at < argc && argv[at][0] != '-' && fm_compiler_name(argv[at], &cplusplus, &clang)) {
        g_free(wrapper->compiler);
        wrapper->compiler = g_strdup(argv[at++]);
    }
    if (at >= argc && argc == 1)
        return fm_console_usage(wrapper->name,
                                "expected the compiler's arguments; see `fathom %s --help`",
                                wrapper->name);
    argc -= at;
    if (!take_options_behind(wrapper, &argc, argv + at, &error))
        return fm_console_fail(wrapper->name, error);
    identify(wrapper);
    int status = carry_out(wrapper, argc, argv + at, &error);
    if (error != NULL)
        return fm_console_fail(wrapper->name, error);
    return status;
}

int fm_cmd_cc(int argc, char **argv)
{
    struct wrapper wrapper = {
        .name = argv[0],
        .toolchain.grade = "deep",
        .launcher = g_ptr_array_new_with_free_func(g_free),
    };
    fm_choice_init(&wrapper.toolchain.exclude);
    fm_choice_init(&wrapper.toolchain.only);
    int status = run_wrapper(&wrapper, argc, argv);
    fm_choice_done(&wrapper.toolchain.exclude);
    fm_choice_done(&wrapper.toolchain.only);
    g_ptr_array_unref(wrapper.launcher);
    g_free(wrapper.compiler);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "record/toolchain.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

/* What each grade adds. Frames are found by the frame pointer, and a tail call would leave without
 * the exit hook; partial inlining (gcc) would put entry and exit of a function into two frames. */
static const char *const always[] = {"-fno-omit-frame-pointer", "-fno-optimize-sibling-calls",
                                     NULL};
static const char *const always_gcc[] = {"-fno-partial-inlining", NULL};
static const char *const deep[] = {"-finstrument-functions", NULL};
static const char *const fast_gcc[] = {"-finstrument-functions", "-fno-inline", NULL};
static const char *const fast_clang[] = {"-finstrument-functions-after-inlining", NULL};
static const char *const coverage_gcc[] = {"-finstrument-functions", "-fsanitize-coverage=trace-pc",
                                           NULL};
static const char *const coverage_clang[] = {
    "-finstrument-functions", "-fsanitize-coverage=bb,no-prune,trace-pc-guard,pc-table", NULL};
static const char runtime_name[] = "libfathom.a";
/* malloc, longjmp and others in front of libc's: not where they have other definitions. */
static const char interpose_name[] = "libfathom_interpose.a";

bool fm_grade_parse(const char *text, enum fm_grade *ret, GError **error)
{
    static const char *const names[] = {"deep", "fast", "coverage"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        if (strcmp(text, names[i]) == 0) {
            *ret = (enum fm_grade)i;
            return true;
        }
    }
    g_set_error(error, FM_ERROR, FM_ERROR_USAGE, "there is no grade '%s': deep, fast or coverage",
                text);
    return false;
}

void fm_choice_init(struct fm_choice *choice)
{
    choice->files = g_ptr_array_new_with_free_func(g_free);
    choice->functions = g_ptr_array_new_with_free_func(g_free);
}

void fm_choice_add(struct fm_choice *choice, const char *pattern)
{
    static const char *const endings[] = {".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".C"};
    bool file = strchr(pattern, '/') != NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(endings); i++)
        file = file || g_str_has_suffix(pattern, endings[i]);
    if (g_str_has_prefix(pattern, "file:"))
        g_ptr_array_add(choice->files, g_strdup(pattern + strlen("file:")));
    else if (g_str_has_prefix(pattern, "function:"))
        g_ptr_array_add(choice->functions, g_strdup(pattern + strlen("function:")));
    else
        g_ptr_array_add(file ? choice->files : choice->functions, g_strdup(pattern));
}

void fm_choice_done(struct fm_choice *choice)
{
    g_ptr_array_unref(choice->files);
    g_ptr_array_unref(choice->functions);
}

static bool holds_runtime(const char *folder)
{
    g_autofree char *path = g_build_filename(folder, runtime_name, NULL);
    return access(path, R_OK) == 0;
}

char *fm_toolchain_runtime_folder(GError **error)
{
    const char *given = g_getenv("FATHOM_RUNTIME");
    if (given != NULL && holds_runtime(given))
        return g_strdup(given);
    g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
    g_autofree char *folder = g_path_get_dirname(self == NULL ? "." : self);
    /* build/src/cli/fathom and build/runtime; PREFIX/bin/fathom and PREFIX/lib... */
    static const char *const beside[] = {"../../runtime", "../" FATHOM_LIBDIR "/fathom",
                                         "../lib/fathom", "../" FATHOM_LIBDIR};
    for (size_t i = 0; i < G_N_ELEMENTS(beside); i++) {
        g_autofree char *path = g_build_filename(folder, beside[i], NULL);
        if (holds_runtime(path))
            return g_canonicalize_filename(path, NULL);
    }
    g_set_error(error, FM_ERROR, FM_ERROR_NOT_FOUND,
                "%s is neither in the build tree nor installed beside %s; FATHOM_RUNTIME may name "
                "its folder",
                runtime_name, self == NULL ? "fathom" : self);
    return NULL;
}

static void add_all(GPtrArray *arguments, const char *const *list)
{
    for (; *list != NULL; list++)
        g_ptr_array_add(arguments, g_strdup(*list));
}

static bool matches(const GPtrArray *patterns, const char *path)
{
    g_autofree char *absolute = g_canonicalize_filename(path, NULL);
    for (guint i = 0; i < patterns->len; i++) {
        const char *pattern = g_ptr_array_index(patterns, i);
        if (strstr(absolute, pattern) != NULL || strstr(path, pattern) != NULL)
            return true;
    }
    return false;
}

static bool is_left_out(const struct fm_toolchain *toolchain, const char *path)
{
    if (toolchain->only.files->len > 0 && !matches(toolchain->only.files, path))
        return true;
    return matches(toolchain->exclude.files, path);
}

static bool is_source(const struct fm_input *input)
{
    return input->language == FM_LANGUAGE_C || input->language == FM_LANGUAGE_CPLUSPLUS;
}

/* Commas separate the list's elements; a comma in a name is written \, . */
static void append_element(GString *list, const char *text)
{
    if (list->len > 0)
        g_string_append_c(list, ',');
    for (; *text != '\0'; text++) {
        if (*text == ',')
            g_string_append_c(list, '\\');
        g_string_append_c(list, *text);
    }
}

static void add_list(GPtrArray *arguments, const char *option, const GString *list)
{
    if (list->len > 0)
        g_ptr_array_add(arguments, g_strdup_printf("%s=%s", option, list->str));
}

/* gcc leaves out files and functions by parts of their names, also headers'. */
static void add_gcc_lists(const struct fm_toolchain *toolchain, const struct fm_command_line *line,
                          GPtrArray *arguments)
{
    g_autoptr(GString) files = g_string_new(NULL), functions = g_string_new(NULL);
    for (guint i = 0; i < toolchain->exclude.files->len; i++)
        append_element(files, g_ptr_array_index(toolchain->exclude.files, i));
    for (guint i = 0; i < line->inputs->len; i++) {
        const struct fm_input *input = &g_array_index(line->inputs, struct fm_input, i);
        if (is_source(input) && is_left_out(toolchain, input->path))
            append_element(files, input->path);
    }
    for (guint i = 0; i < toolchain->exclude.functions->len; i++)
        append_element(functions, g_ptr_array_index(toolchain->exclude.functions, i));
    add_list(arguments, "-finstrument-functions-exclude-file-list", files);
    add_list(arguments, "-finstrument-functions-exclude-function-list", functions);
}

/* How many sources the command has, and how many of them are left out. */
static guint count_left_out(const struct fm_toolchain *toolchain,
                            const struct fm_command_line *line, guint *ret_sources)
{
    guint left_out = 0;
    *ret_sources = 0;
    for (guint i = 0; i < line->inputs->len; i++) {
        const struct fm_input *input = &g_array_index(line->inputs, struct fm_input, i);
        if (!is_source(input))
            continue;
        (*ret_sources)++;
        left_out += is_left_out(toolchain, input->path);
    }
    return left_out;
}

static void add_grade(const struct fm_toolchain *toolchain, GPtrArray *arguments)
{
    switch (toolchain->grade) {
    case FM_GRADE_DEEP:
        add_all(arguments, deep);
        break;
    case FM_GRADE_FAST:
        add_all(arguments, toolchain->clang ? fast_clang : fast_gcc);
        break;
    case FM_GRADE_COVERAGE:
        add_all(arguments, toolchain->clang ? coverage_clang : coverage_gcc);
        break;
    }
}

static bool add_compile_flags(const struct fm_toolchain *toolchain,
                              const struct fm_command_line *line, GPtrArray *arguments,
                              GError **error)
{
    guint sources, left_out = count_left_out(toolchain, line, &sources);
    add_all(arguments, always);
    if (!toolchain->clang)
        add_all(arguments, always_gcc);
    if (sources > 0 && left_out == sources)
        return true;
    add_grade(toolchain, arguments);
    if (!toolchain->clang) {
        add_gcc_lists(toolchain, line, arguments);
        return true;
    }
    if (left_out > 0 || toolchain->exclude.functions->len > 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE, "clang cannot leave out %s: %s",
                    left_out > 0 ? "some files of one command" : "single functions",
                    left_out > 0 ? "compile them one by one"
                                 : "use gcc, or __attribute__((no_instrument_function))");
        return false;
    }
    return true;
}

static bool links_runtime(const struct fm_command_line *line)
{
    return line->stage == FM_STAGE_LINK && !line->shared && !line->relocatable &&
           !line->no_start_files;
}

/* The runtime stands before all else, whole: its hooks must win over libc's empty ones, and shared
 * libraries loaded later must find them. */
static void add_runtime(const struct fm_toolchain *toolchain, const struct fm_command_line *line,
                        GPtrArray *arguments)
{
    static const char *const before[] = {"-Wl,--whole-archive", NULL};
    static const char *const after[] = {
        "-Wl,--no-whole-archive",
        "-Wl,--export-dynamic-symbol=__cyg_profile_func_enter",
        "-Wl,--export-dynamic-symbol=__cyg_profile_func_exit",
        "-Wl,--export-dynamic-symbol=__sanitizer_cov_trace_*",
        "-Wl,--export-dynamic-symbol=fathom_*",
        "-Wl,--export-dynamic-symbol=fm_*",
        NULL,
    };
    add_all(arguments, before);
    g_ptr_array_add(arguments, g_build_filename(toolchain->runtime_folder, runtime_name, NULL));
    if (!line->fully_static && !line->sanitizers)
        g_ptr_array_add(arguments,
                        g_build_filename(toolchain->runtime_folder, interpose_name, NULL));
    add_all(arguments, after);
}

static void add_own(const struct fm_command_line *line, int argc, char **argv, GPtrArray *arguments)
{
    if (!line->split_dwarf) {
        for (int i = 0; i < argc; i++)
            g_ptr_array_add(arguments, g_strdup(argv[i]));
        return;
    }
    /* Finishing reads the debug information from the program itself. */
    for (guint i = 0; i < line->arguments->len; i++) {
        const char *argument = g_ptr_array_index(line->arguments, i);
        if (!g_str_has_prefix(argument, "-gsplit-dwarf"))
            g_ptr_array_add(arguments, g_strdup(argument));
    }
}

char **fm_toolchain_arguments(const struct fm_toolchain *toolchain,
                              const struct fm_command_line *line, int argc, char **argv,
                              GError **error)
{
    GPtrArray *arguments = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(arguments, g_strdup(toolchain->compiler));
    bool makes_code = line->stage >= FM_STAGE_COMPILE;
    bool compiles = makes_code && fm_command_line_compiles(line);
    bool ok = true;
    if (compiles)
        g_ptr_array_add(arguments, g_strdup("-g"));
    if (links_runtime(line)) {
        /* A language given by -x is for what follows it: the archive stands before. */
        add_runtime(toolchain, line, arguments);
    }
    if (makes_code)
        add_own(line, argc, argv, arguments);
    else
        for (int i = 0; i < argc; i++)
            g_ptr_array_add(arguments, g_strdup(argv[i]));
    if (compiles || (makes_code && line->lto))
        ok = add_compile_flags(toolchain, line, arguments, error);
    g_ptr_array_add(arguments, NULL);
    char **result = (char **)g_ptr_array_free(arguments, FALSE);
    if (ok)
        return result;
    g_strfreev(result);
    return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "record/toolchain/toolchain.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/helper.h"
#include "record/toolchain/first_lines.h"
#include "record/toolchain/refused.h"
#include "runtime/grades.h"

static const char runtime_name[] = "libfathom.a";

static const struct fm_grade *find_grade(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(fm_grades); i++) {
        if (strcmp(fm_grades[i].name, name) == 0)
            return &fm_grades[i];
    }
    return NULL;
}

bool fm_grade_check(const char *name, GError **error)
{
    if (find_grade(name) != NULL)
        return true;
    g_autoptr(GString) names = g_string_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(fm_grades); i++)
        g_string_append_printf(names, "%s%s", i > 0 ? ", " : "", fm_grades[i].name);
    g_set_error(error, FM_ERROR, FM_ERROR_USAGE, "unknown grade '%s', expected one of: %s", name,
                names->str);
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
    g_autofree char *self = fm_program_path();
    g_autofree char *folder = g_path_get_dirname(self == NULL ? "." : self);
    /* build/src/cli/fathom and build/runtime; PREFIX/bin/fathom and PREFIX/lib... */
    static const char *const beside[] = {"../../runtime", ("../" FATHOM_LIBDIR "/fathom"),
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

/* Adds a list of runtime/grades.h, with the folder in place of %L. Archives are linked completely,
 * because nothing refers to them yet when the linker reaches them. */
static void add_all(const struct fm_toolchain *toolchain, GPtrArray *arguments,
                    const char *const *list)
{
    for (; *list != NULL; list++) {
        g_auto(GStrv) parts = g_strsplit(*list, "%L", -1);
        bool archive = g_str_has_suffix(*list, ".a");
        if (archive)
            g_ptr_array_add(arguments, g_strdup("-Wl,--whole-archive"));
        g_ptr_array_add(arguments, g_strjoinv(toolchain->runtime_folder, parts));
        if (archive)
            g_ptr_array_add(arguments, g_strdup("-Wl,--no-whole-archive"));
    }
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
    return input->language == FM_LANGUAGE_C || input->language == FM_LANGUAGE_CPLUSPLUS ||
           input->language == FM_LANGUAGE_GCC;
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
    g_assert(left_out <= *ret_sources);
    return left_out;
}

static bool add_pattern(GString *text, const char *prefix, const char *pattern, GError **error)
{
    if (strpbrk(pattern, "\\\"\n") != NULL) {
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                    "a pattern cannot hold quotes, backslashes or ends of lines: %s", pattern);
        return false;
    }
    g_string_append_printf(text, "\t.asciz \\\"%s%s\\\"\\n", prefix, pattern);
    return true;
}

static bool add_patterns(GString *text, const char *prefix, const GPtrArray *patterns,
                         GError **error)
{
    for (guint i = 0; i < patterns->len; i++) {
        if (!add_pattern(text, prefix, g_ptr_array_index(patterns, i), error))
            return false;
    }
    return true;
}

/* Exclusions that the compiler cannot do itself are put into the object for finishing
 * (runtime/front/choice.h). lists: the compiler supports lists of files and functions to
 * exclude. */
static bool add_choice(const struct fm_toolchain *toolchain, const struct fm_command_line *line,
                       bool lists, GPtrArray *arguments, GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    if (!add_patterns(text, "+function:", toolchain->only.functions, error))
        return false;
    if (!lists && (!add_patterns(text, "-function:", toolchain->exclude.functions, error) ||
                   !add_patterns(text, "-file:", toolchain->exclude.files, error)))
        return false;
    for (guint i = 0; !lists && i < line->inputs->len; i++) {
        const struct fm_input *input = &g_array_index(line->inputs, struct fm_input, i);
        if (!is_source(input) || !is_left_out(toolchain, input->path))
            continue;
        g_autofree char *absolute = g_canonicalize_filename(input->path, NULL);
        if (!add_pattern(text, "-file:", absolute, error))
            return false;
    }
    if (toolchain->include_system && !lists && !add_pattern(text, "+system:", "", error))
        return false;
    if (text->len == 0)
        return true;
    if (fm_command_line_lacks_includes(line)) {
        fm_first_lines_add_strings("fathom_choice", "MS", text->str, arguments);
        return true;
    }
    g_ptr_array_add(arguments, g_strdup("-include"));
    g_ptr_array_add(arguments, g_build_filename(toolchain->runtime_folder, "choice.h", NULL));
    g_ptr_array_add(arguments, g_strdup_printf("-D__FATHOM_CHOICE=\"%s\"", text->str));
    return true;
}

/* The object carries the names to the runtime (runtime/front/trace.h). */
static bool add_traced(const struct fm_toolchain *toolchain, const struct fm_command_line *line,
                       GPtrArray *arguments, GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    if (toolchain->traced == NULL)
        return true;
    if (!add_pattern(text, "", toolchain->traced, error))
        return false;
    if (fm_command_line_lacks_includes(line)) {
        fm_first_lines_add_strings("fm_traced_names", "aMS", text->str, arguments);
        return true;
    }
    g_ptr_array_add(arguments, g_strdup("-include"));
    g_ptr_array_add(arguments, g_build_filename(toolchain->runtime_folder, "trace.h", NULL));
    g_ptr_array_add(arguments, g_strdup_printf("-D__FATHOM_TRACE=\"%s\"", text->str));
    return true;
}

/* LLVM refuses an option that comes twice: the user's stays. */
static void drop_repeated(const struct fm_command_line *line, GPtrArray *arguments, guint first)
{
    for (guint i = 0; i + 1 < line->arguments->len; i++) {
        const char *theirs = g_ptr_array_index(line->arguments, i + 1);
        if (strcmp(g_ptr_array_index(line->arguments, i), "-mllvm") != 0)
            continue;
        size_t length = strcspn(theirs, "=");
        for (guint at = first; at + 1 < arguments->len; at++) {
            const char *ours = g_ptr_array_index(arguments, at + 1);
            if (strcmp(g_ptr_array_index(arguments, at), "-mllvm") != 0 ||
                strcspn(ours, "=") != length || strncmp(ours, theirs, length) != 0)
                continue;
            g_ptr_array_remove_range(arguments, at, 2);
            break;
        }
    }
}

static void add_flags(const struct fm_toolchain *toolchain, const struct fm_command_line *line,
                      GPtrArray *arguments, const char *const *flags)
{
    guint before = arguments->len;
    add_all(toolchain, arguments, flags);
    drop_repeated(line, arguments, before);
    if (fm_command_line_lacks_includes(line))
        fm_first_lines_drop_headers(arguments, before);
    for (guint i = before; i < arguments->len && (line->lto || line->other_messages); i++) {
        char **flag = (char **)&g_ptr_array_index(arguments, i);
        if (strcmp(*flag, FM_LOOPS_ONLY) != 0)
            continue;
        g_free(*flag);
        *flag = g_strdup(FM_NO_LAST_JUMPS);
    }
}

/* clang from 17 on takes -fsanitize-coverage at the link for a wish to have a library of LLVM's,
 * which is not installed everywhere. A sanitizer of the program's own needs it. */
static void add_no_sanitizer_library(const struct fm_command_line *line, GPtrArray *arguments)
{
    for (guint i = 0; i < line->arguments->len; i++) {
        if (g_str_has_prefix(g_ptr_array_index(line->arguments, i), "-fsanitize"))
            return;
    }
    g_ptr_array_add(arguments, g_strdup("-fno-sanitize-link-runtime"));
}

/* Adds a grade's flags for the compiler. */
static bool add_compile_flags(const struct fm_toolchain *toolchain,
                              const struct fm_command_line *line, GPtrArray *arguments,
                              GError **error)
{
    guint sources, left_out = count_left_out(toolchain, line, &sources);
    if (!add_traced(toolchain, line, arguments, error))
        return false;
    const struct fm_grade *grade = find_grade(toolchain->grade);
    if (sources > 0 && left_out == sources) {
        /* Frames must be found in it all the same. */
        static const char *const frames[] = {FM_FRAME_FLAGS, NULL};
        static const char *const deep[] = {FM_FRAME, FM_LOOPS_ONLY, NULL};
        bool loops = !toolchain->clang && grade->gcc == fm_deep_gcc;
        add_flags(toolchain, line, arguments, loops ? deep : frames);
        return true;
    }
    const char *const *flags = toolchain->clang ? grade->clang : grade->gcc;
    if (flags == fm_deep_clang && line->lto)
        flags = fm_deep_clang_lto;
    else if (flags == fm_deep_clang && line->profiled)
        flags = fm_deep_clang_profiled;
    else if (flags == fm_full_clang && line->lto)
        flags = fm_full_clang_lto;
    else if (flags == fm_coverage_clang && line->lto)
        flags = fm_coverage_clang_lto;
    else if (flags == fm_coverage_gcc && line->lto)
        flags = fm_coverage_gcc_lto;
    add_flags(toolchain, line, arguments, flags);
    if (flags == fm_coverage_clang || flags == fm_coverage_clang_lto)
        add_no_sanitizer_library(line, arguments);
    if (toolchain->slots)
        add_flags(toolchain, line, arguments, fm_slots_gcc);
    if (fm_command_line_lacks_includes(line))
        fm_first_lines_add_grade(line,
                                 (struct fm_first_lines){
                                     .blocks = flags == fm_coverage_gcc,
                                     .told = flags == fm_deep_clang,
                                     .called = flags == fm_full_clang || flags == fm_coverage_clang,
                                 },
                                 arguments);
    /* The hooks to inline are AT&T's syntax. Called ones are as exact. */
    for (guint i = 0; !toolchain->clang && i < line->arguments->len; i++) {
        if (strcmp(g_ptr_array_index(line->arguments, i), "-masm=intel") == 0)
            g_ptr_array_add(arguments, g_strdup("-DFATHOM_INLINE_HOOKS"));
    }
    /* gcc's lists work on the hooks that it puts in before inlining. */
    bool lists = flags == fm_full_gcc || flags == fm_coverage_gcc_lto;
    if (lists)
        add_gcc_lists(toolchain, line, arguments);
    return add_choice(toolchain, line, lists, arguments, error);
}

/* The runtime comes before all else: its hooks must have priority over libc's empty ones. */
static void add_runtime(const struct fm_toolchain *toolchain, const struct fm_command_line *line,
                        GPtrArray *arguments)
{
    const char *const *flags = find_grade(toolchain->grade)->clang;
    if (toolchain->clang && line->lto && (flags == fm_full_clang || flags == fm_coverage_clang))
        add_all(toolchain, arguments, fm_link_lto_clang);
    if (line->relocatable || line->no_start_files)
        return;
    if (line->shared) {
        add_all(toolchain, arguments, fm_link_shared);
        return;
    }
    if (line->fully_static) {
        add_all(toolchain, arguments, fm_link_static);
        if (fm_is_fortran_compiler(toolchain->compiler))
            add_all(toolchain, arguments, fm_link_static_fortran);
        return;
    }
    add_all(toolchain, arguments, fm_link_core);
}

/* Behind "-x c -" an archive would be read as C. */
static void add_none_forced(const struct fm_command_line *line, GPtrArray *arguments)
{
    if (!line->language_forced)
        return;
    g_ptr_array_add(arguments, g_strdup("-x"));
    g_ptr_array_add(arguments, g_strdup("none"));
}

/* Whether the linker takes redirected functions (--wrap) out of archives, wherever they are called:
 * GNU linkers do. */
static bool sends_calls_on(const struct fm_command_line *line)
{
    if (line->linker != NULL)
        return strcmp(line->linker, "bfd") == 0 || strcmp(line->linker, "gold") == 0;
    g_autofree char *found = g_find_program_in_path("ld");
    char place[PATH_MAX];
    if (found == NULL || realpath(found, place) == NULL)
        return true;
    return strstr(place, "lld") == NULL && strstr(place, "mold") == NULL;
}

static bool is_archive(const char *argument)
{
    return (argument[0] != '-' && g_str_has_suffix(argument, ".a")) ||
           (g_str_has_prefix(argument, "-l") && argument[2] != '\0');
}

/* Adds the archives and libraries of the command line again. */
static void add_archives(const struct fm_command_line *line, GPtrArray *arguments)
{
    for (guint i = 0; i < line->arguments->len; i++) {
        const char *argument = g_ptr_array_index(line->arguments, i);
        bool further = i + 1 < line->arguments->len;
        if (is_archive(argument))
            g_ptr_array_add(arguments, g_strdup(argument));
        else if (strcmp(argument, "-l") == 0 && further)
            g_ptr_array_add(arguments,
                            g_strconcat("-l", g_ptr_array_index(line->arguments, ++i), NULL));
        else if (strcmp(argument, "-Xlinker") == 0 && further &&
                 is_archive(g_ptr_array_index(line->arguments, i + 1)))
            g_ptr_array_add(arguments, g_strdup(g_ptr_array_index(line->arguments, ++i)));
        if (!g_str_has_prefix(argument, "-Wl,"))
            continue;
        g_auto(GStrv) words = g_strsplit(argument, ",", -1);
        for (guint k = 1; words[k] != NULL; k++) {
            if (is_archive(words[k]))
                g_ptr_array_add(arguments, g_strdup(words[k]));
        }
    }
}

static const char *const *static_libraries(const struct fm_toolchain *toolchain,
                                           const struct fm_command_line *line)
{
    if (!toolchain->clang)
        return fm_link_static_gcc;
    const char *const *libraries =
        toolchain->cplusplus ? fm_link_static_clangxx : fm_link_static_clang;
    for (guint i = 0; i < line->arguments->len; i++) {
        const char *argument = g_ptr_array_index(line->arguments, i);
        if (strcmp(argument, "-nostdlib++") == 0)
            return fm_link_static_clang;
        if (toolchain->cplusplus && strcmp(argument, "-stdlib=libc++") == 0)
            libraries = fm_link_static_libcxx;
        else if (toolchain->cplusplus && strcmp(argument, "-stdlib=libstdc++") == 0)
            libraries = fm_link_static_clangxx;
    }
    return libraries;
}

static bool has_argument(const struct fm_command_line *line, const char *wanted)
{
    for (guint i = 0; i < line->arguments->len; i++) {
        if (strcmp(g_ptr_array_index(line->arguments, i), wanted) == 0)
            return true;
    }
    return false;
}

/* The fronts are behind the program's own archives: they give way to functions of theirs, which the
 * linker does not take any more where it has a weak one. */
static void add_fronts(const struct fm_toolchain *toolchain, const struct fm_command_line *line,
                       GPtrArray *arguments)
{
    if (line->relocatable || line->no_start_files || line->shared || line->sanitizers)
        return;
    add_none_forced(line, arguments);
    if (!line->fully_static) {
        add_all(toolchain, arguments, fm_link_fronts);
        if (toolchain->cplusplus && !has_argument(line, "-static-libstdc++"))
            add_all(toolchain, arguments, fm_link_new);
        return;
    }
    if (!sends_calls_on(line))
        return;
    add_all(toolchain, arguments, fm_link_static_first);
    add_archives(line, arguments);
    add_all(toolchain, arguments, fm_link_static_last);
    add_all(toolchain, arguments, static_libraries(toolchain, line));
}

/* The live event log, behind all else: the linker takes it only where the program uses it. */
static void add_eventlog(const struct fm_toolchain *toolchain, const struct fm_command_line *line,
                         GPtrArray *arguments)
{
    static const char *const places[] = {"eventlog", ".."}; /* build tree, installed */
    if (line->relocatable || line->no_start_files || line->shared)
        return; /* a shared object takes it from the program, or from libfathom.so */
    for (size_t i = 0; i < G_N_ELEMENTS(places); i++) {
        g_autofree char *path =
            g_build_filename(toolchain->runtime_folder, places[i], "libfathom-eventlog.a", NULL);
        if (access(path, R_OK) != 0)
            continue;
        add_none_forced(line, arguments);
        g_ptr_array_add(arguments, g_canonicalize_filename(path, NULL));
        g_ptr_array_add(arguments, g_strdup("-lpthread"));
        return;
    }
}

/* fathom/fathom.h and fathom/eventlog.h, if the compiler would not find them by itself. */
static void add_headers(const struct fm_toolchain *toolchain, GPtrArray *arguments)
{
    static const char *const places[] = {"../include", "../../include", "../../../include"};
    for (size_t i = 0; i < G_N_ELEMENTS(places); i++) {
        g_autofree char *folder = g_build_filename(toolchain->runtime_folder, places[i], NULL);
        g_autofree char *header = g_build_filename(folder, "fathom", "eventlog.h", NULL);
        if (access(header, R_OK) != 0)
            continue;
        g_ptr_array_add(arguments, g_strdup("-idirafter"));
        g_ptr_array_add(arguments, g_canonicalize_filename(folder, NULL));
        return;
    }
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
    g_return_val_if_fail(toolchain->compiler != NULL && toolchain->grade != NULL, NULL);
    if (!fm_toolchain_check(toolchain, line, error))
        return NULL;
    GPtrArray *arguments = g_ptr_array_new_with_free_func(g_free);
    for (const char *const *word = toolchain->launcher; word != NULL && *word != NULL; word++)
        g_ptr_array_add(arguments, g_strdup(*word));
    g_ptr_array_add(arguments, g_strdup(toolchain->compiler));
    bool makes_code = line->stage >= FM_STAGE_COMPILE;
    bool compiles = makes_code && fm_command_line_compiles(line);
    bool ok = true;
    if (line->stage == FM_STAGE_LINK)
        add_runtime(toolchain, line, arguments);
    if (makes_code)
        add_own(line, argc, argv, arguments);
    else
        for (int i = 0; i < argc; i++)
            g_ptr_array_add(arguments, g_strdup(argv[i]));
    if (line->stage == FM_STAGE_LINK) {
        add_fronts(toolchain, line, arguments);
        add_eventlog(toolchain, line, arguments);
        if (line->names_libc)
            add_all(toolchain, arguments, fm_link_libraries);
    }
    if (toolchain->runtime_folder != NULL && line->stage >= FM_STAGE_PREPROCESS &&
        fm_command_line_compiles(line) && !fm_command_line_lacks_includes(line))
        add_headers(toolchain, arguments);
    if (compiles || (makes_code && line->lto))
        ok = add_compile_flags(toolchain, line, arguments, error);
    else if (makes_code && !toolchain->clang && line->inputs->len > 0)
        add_all(toolchain, arguments, fm_assembler_gcc); /* assembly that the compiler made (-S) */
    g_ptr_array_add(arguments, NULL);
    char **result = (char **)g_ptr_array_free(arguments, FALSE);
    if (ok)
        return result;
    g_strfreev(result);
    return NULL;
}

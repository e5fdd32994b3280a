/* SPDX-License-Identifier: Apache-2.0 */
#include "record/toolchain/command_line.h"

#include <string.h>

#include "base/error.h"

/* @files inside @files. */
#define NESTING_MAX 32
#define ARGUMENTS_MAX 1000000

static void next_word(const char **at, GString *word)
{
    char quote = '\0';
    g_string_truncate(word, 0);
    for (; **at != '\0'; (*at)++) {
        char c = **at;
        if (c == '\\' && (*at)[1] != '\0') {
            (*at)++;
            g_string_append_c(word, **at);
        } else if (quote != '\0') {
            if (c == quote)
                quote = '\0';
            else
                g_string_append_c(word, c);
        } else if (c == '\'' || c == '"') {
            quote = c;
        } else if (g_ascii_isspace(c)) {
            break;
        } else {
            g_string_append_c(word, c);
        }
    }
}

static bool add_argument(struct fm_command_line *line, const char *argument, int nesting,
                         GError **error);

static bool open_at_file(struct fm_command_line *line, const char *path, const char *text,
                         int nesting, GError **error)
{
    if (nesting >= NESTING_MAX) {
        g_set_error(error, FM_ERROR, FM_ERROR_LIMIT,
                    "%s: response files nested deeper than %d (does one include itself?)", path,
                    NESTING_MAX);
        return false;
    }
    g_autoptr(GString) word = g_string_new(NULL);
    for (const char *at = text;;) {
        while (g_ascii_isspace(*at))
            at++;
        if (*at == '\0')
            return true;
        next_word(&at, word);
        if (!add_argument(line, word->str, nesting + 1, error))
            return false;
    }
}

static bool add_argument(struct fm_command_line *line, const char *argument, int nesting,
                         GError **error)
{
    g_autofree char *text = NULL;
    if (argument[0] == '@' && g_file_get_contents(argument + 1, &text, NULL, NULL))
        return open_at_file(line, argument + 1, text, nesting, error);
    if (line->arguments->len >= ARGUMENTS_MAX) {
        g_set_error(error, FM_ERROR, FM_ERROR_LIMIT, "more than %d arguments", ARGUMENTS_MAX);
        return false;
    }
    g_assert(nesting >= 0);
    g_ptr_array_add(line->arguments, g_strdup(argument));
    return true;
}

/* Options whose value may be the next argument. */
static bool takes_value(const char *option)
{
    static const char *const options[] = {
        "-o",
        "-x",
        "-I",
        "-J",
        "-L",
        "-D",
        "-U",
        "-A",
        "-B",
        "-T",
        "-u",
        "-z",
        "-e",
        "-l",
        "-G",
        "-V",
        "-include",
        "-imacros",
        "-isystem",
        "-iquote",
        "-idirafter",
        "-iprefix",
        "-iwithprefix",
        "-isysroot",
        "-imultilib",
        "-iwithprefixbefore",
        "-MF",
        "-MT",
        "-MQ",
        "-Xlinker",
        "-Xassembler",
        "-Xpreprocessor",
        "-Xclang",
        "-aux-info",
        "--param",
        "-target",
        "-arch",
        "-framework",
        "-mllvm",
        "-wrapper",
        "-dumpbase",
        "-dumpbase-ext",
        "-dumpdir",
        "--sysroot",
        "-ivfsoverlay",
        "--config",
        "-working-directory",
        "-fintrinsic-modules-path",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(options); i++) {
        if (strcmp(option, options[i]) == 0)
            return true;
    }
    return false;
}

static bool is_one_of(const char *text, const char *const *list)
{
    for (; *list != NULL; list++) {
        if (strcmp(text, *list) == 0)
            return true;
    }
    return false;
}

static enum fm_language language_of_name(const char *path)
{
    static const char *const c[] = {"c", "i", "m", "mi", NULL};
    static const char *const cplusplus[] = {"cc",   "cp",  "cxx",  "cpp", "CPP", "c++",
                                            "C",    "ii",  "cppm", "ixx", "mpp", "ccm",
                                            "cxxm", "pcm", "mm",   "M",   "mii", NULL};
    static const char *const assembly[] = {"s", "S", "sx", NULL};
    static const char *const header[] = {"h", "hh", "H", "hp", "hxx", "hpp", "h++", NULL};
    static const char *const gcc[] = {"f",   "for", "ftn", "fpp", "f77", "f90", "f95", "f03",
                                      "f08", "F",   "FOR", "FTN", "FPP", "F77", "F90", "F95",
                                      "F03", "F08", "d",   "di",  "adb", "ads", NULL};
    static const char *const other[] = {"go", "cu", NULL};
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash == NULL ? path : slash + 1, '.');
    if (dot == NULL)
        return FM_LANGUAGE_OBJECT;
    if (is_one_of(dot + 1, c))
        return FM_LANGUAGE_C;
    if (is_one_of(dot + 1, cplusplus))
        return FM_LANGUAGE_CPLUSPLUS;
    if (is_one_of(dot + 1, gcc))
        return FM_LANGUAGE_GCC;
    if (is_one_of(dot + 1, assembly))
        return FM_LANGUAGE_ASSEMBLY;
    if (is_one_of(dot + 1, header))
        return FM_LANGUAGE_HEADER;
    return is_one_of(dot + 1, other) ? FM_LANGUAGE_OTHER : FM_LANGUAGE_OBJECT;
}

/* The value of -x; false for "none", back to the names. */
static bool language_of_option(const char *value, enum fm_language *ret)
{
    static const char *const gcc[] = {"f77", "f77-cpp-input", "f95", "f95-cpp-input",
                                      "d",   "ada",           NULL};
    if (strcmp(value, "none") == 0)
        return false;
    if (g_str_has_suffix(value, "-header") || g_str_has_suffix(value, "-system-header"))
        *ret = FM_LANGUAGE_HEADER;
    else if (strcmp(value, "c") == 0 || strcmp(value, "cpp-output") == 0 ||
             g_str_has_prefix(value, "objective-c"))
        *ret = strstr(value, "++") == NULL ? FM_LANGUAGE_C : FM_LANGUAGE_CPLUSPLUS;
    else if (g_str_has_prefix(value, "c++"))
        *ret = FM_LANGUAGE_CPLUSPLUS;
    else if (is_one_of(value, gcc))
        *ret = FM_LANGUAGE_GCC;
    else if (g_str_has_prefix(value, "assembler"))
        *ret = FM_LANGUAGE_ASSEMBLY;
    else
        *ret = FM_LANGUAGE_OTHER;
    return true;
}

struct reading {
    struct fm_command_line *line;
    bool preprocess, compile, assemble, query;
    bool no_default_libs, libc;
    bool forced;
    enum fm_language forced_language;
};

static void read_mode(struct reading *reading, const char *option)
{
    static const char *const no_code[] = {"-E", "-M", "-MM", "-fsyntax-only", "--precompile", NULL};
    static const char *const query[] = {
        "--version",    "-###",       "--help",           "-dumpversion",
        "-dumpmachine", "-dumpspecs", "-dumpfullversion", NULL};
    static const char *const bare[] = {"-nostdlib", "-nostartfiles", NULL};
    struct fm_command_line *line = reading->line;
    if (is_one_of(option, no_code))
        reading->preprocess = true;
    else if (strcmp(option, "-S") == 0)
        reading->compile = true;
    else if (strcmp(option, "-c") == 0)
        reading->assemble = true;
    else if (strcmp(option, "-shared") == 0 || strcmp(option, "--shared") == 0)
        line->shared = true;
    else if (strcmp(option, "-fmodules-ts") == 0)
        line->modules = true;
    else if (strcmp(option, "-fPIC") == 0 || strcmp(option, "-fpic") == 0)
        line->position_independent = true;
    else if (strcmp(option, "-fPIE") == 0 || strcmp(option, "-fpie") == 0 ||
             strcmp(option, "-fno-pic") == 0 || strcmp(option, "-fno-PIC") == 0)
        line->position_independent = false;
    else if (strcmp(option, "-r") == 0)
        line->relocatable = true;
    else if (strcmp(option, "-static") == 0 || strcmp(option, "--static") == 0 ||
             strcmp(option, "-static-pie") == 0)
        line->fully_static = true;
    else if (is_one_of(option, bare))
        line->no_start_files = true;
    else if (strcmp(option, "-nodefaultlibs") == 0)
        reading->no_default_libs = true;
    else if (strcmp(option, "-lc") == 0)
        reading->libc = true;
    else if (is_one_of(option, query) || g_str_has_prefix(option, "-print-") ||
             g_str_has_prefix(option, "--print-") || g_str_has_prefix(option, "--help="))
        reading->query = true;
}

/* Is this the first part of a triplet: x86_64-linux-gnu? */
static bool is_our_machine(const char *triplet)
{
    return g_str_has_prefix(triplet, "x86_64-") || strcmp(triplet, "x86_64") == 0 ||
           g_str_has_prefix(triplet, "amd64-") || strcmp(triplet, "native") == 0;
}

static void read_machine(struct reading *reading, const char *option)
{
    static const char *const others[] = {"-m32", "-mx32", "-m16", NULL};
    const char *target = NULL;
    if (is_one_of(option, others))
        reading->line->other_machine = option;
    else if (strcmp(option, "-m64") == 0)
        reading->line->other_machine = NULL;
    else if (g_str_has_prefix(option, "--target="))
        target = option + strlen("--target=");
    if (target != NULL)
        reading->line->other_machine = is_our_machine(target) ? NULL : option;
}

static void read_flag(struct reading *reading, const char *option)
{
    struct fm_command_line *line = reading->line;
    read_machine(reading, option);
    if (strcmp(option, "-flto") == 0 || g_str_has_prefix(option, "-flto="))
        line->lto = true;
    else if (strcmp(option, "-fno-lto") == 0)
        line->lto = false;
    else if (strcmp(option, "-fsplit-stack") == 0 || strcmp(option, "-fno-split-stack") == 0)
        line->split_stack = option[2] == 's';
    else if (strcmp(option, "-pg") == 0)
        line->profiled = true;
    else if (strcmp(option, "-gsplit-dwarf") == 0 || g_str_has_prefix(option, "-gsplit-dwarf="))
        line->split_dwarf = true;
    else if (g_str_has_prefix(option, "-fdiagnostics-format="))
        line->other_messages = strcmp(option, "-fdiagnostics-format=text") != 0;
    else if (g_str_has_prefix(option, "-fdiagnostics-set-output=") ||
             g_str_has_prefix(option, "-fdiagnostics-add-output="))
        line->other_messages = true;
    else if (g_str_has_prefix(option, "-fuse-ld="))
        line->linker = option + strlen("-fuse-ld=");
    else if (g_str_has_prefix(option, "-fsanitize=") &&
             (strstr(option, "address") != NULL || strstr(option, "thread") != NULL ||
              strstr(option, "memory") != NULL || strstr(option, "leak") != NULL))
        line->sanitizers = true;
    else
        read_mode(reading, option);
}

static void read_value(struct reading *reading, const char *option, const char *value)
{
    if (strcmp(option, "-o") == 0)
        reading->line->output = value;
    else if (strcmp(option, "-x") == 0)
        reading->forced = language_of_option(value, &reading->forced_language);
    if (strcmp(option, "-x") == 0 && strcmp(value, "c++-module") == 0)
        reading->line->modules = true;
    else if (strcmp(option, "-target") == 0)
        reading->line->other_machine = is_our_machine(value) ? NULL : value;
}

static bool is_module(const char *path)
{
    return g_str_has_suffix(path, ".cppm") || g_str_has_suffix(path, ".ixx") ||
           g_str_has_suffix(path, ".mpp") || g_str_has_suffix(path, ".ccm") ||
           g_str_has_suffix(path, ".cxxm") || g_str_has_suffix(path, ".pcm");
}

static void read_arguments(struct reading *reading)
{
    struct fm_command_line *line = reading->line;
    for (guint i = 0; i < line->arguments->len; i++) {
        const char *argument = g_ptr_array_index(line->arguments, i);
        if (argument[0] != '-' || argument[1] == '\0') {
            struct fm_input input = {argument, language_of_name(argument)};
            line->modules |= !reading->forced && is_module(argument);
            if (reading->forced)
                input.language = reading->forced_language;
            g_array_append_val(line->inputs, input);
        } else if (takes_value(argument)) {
            if (++i < line->arguments->len)
                read_value(reading, argument, g_ptr_array_index(line->arguments, i));
        } else if (g_str_has_prefix(argument, "-o")) {
            read_value(reading, "-o", argument + 2);
        } else if (g_str_has_prefix(argument, "-x")) {
            read_value(reading, "-x", argument + 2);
        } else {
            read_flag(reading, argument);
        }
    }
}

bool fm_command_line_parse(int argc, char **argv, struct fm_command_line **ret, GError **error)
{
    g_autoptr(FmCommandLine) line = g_new0(struct fm_command_line, 1);
    line->inputs = g_array_new(FALSE, TRUE, sizeof(struct fm_input));
    line->arguments = g_ptr_array_new_with_free_func(g_free);
    for (int i = 0; i < argc; i++) {
        if (!add_argument(line, argv[i], 0, error))
            return false;
    }
    struct reading reading = {.line = line};
    read_arguments(&reading);
    line->language_forced = reading.forced;
    line->names_libc = reading.no_default_libs && reading.libc && !line->fully_static;
    line->no_start_files |= reading.no_default_libs && !line->names_libc;
    if (reading.query || line->inputs->len == 0)
        line->stage = FM_STAGE_QUERY;
    else if (reading.preprocess)
        line->stage = FM_STAGE_PREPROCESS;
    else if (reading.compile)
        line->stage = FM_STAGE_COMPILE;
    else
        line->stage = reading.assemble ? FM_STAGE_ASSEMBLE : FM_STAGE_LINK;
    *ret = g_steal_pointer(&line);
    return true;
}

void fm_command_line_free(struct fm_command_line *line)
{
    if (line == NULL)
        return;
    g_array_unref(line->inputs);
    g_ptr_array_unref(line->arguments);
    g_free(line);
}

bool fm_command_line_compiles(const struct fm_command_line *line)
{
    for (guint i = 0; i < line->inputs->len; i++) {
        enum fm_language language = g_array_index(line->inputs, struct fm_input, i).language;
        if (language == FM_LANGUAGE_C || language == FM_LANGUAGE_CPLUSPLUS ||
            language == FM_LANGUAGE_GCC || language == FM_LANGUAGE_HEADER)
            return true;
    }
    return false;
}

bool fm_command_line_lacks_includes(const struct fm_command_line *line)
{
    if (line->modules)
        return true;
    for (guint i = 0; i < line->inputs->len; i++) {
        if (g_array_index(line->inputs, struct fm_input, i).language == FM_LANGUAGE_GCC)
            return true;
    }
    return false;
}

struct compiler {
    const char *name;
    bool cplusplus, clang, fortran;
};

/* NULL: it is not the name of one that is known. */
static const struct compiler *find_compiler(const char *path)
{
    static const struct compiler known[] = {
        {.name = "gcc"},
        {.name = "cc"},
        {.name = "c99"},
        {.name = "c89"},
        {.name = "clang", .clang = true},
        {.name = "g++", .cplusplus = true},
        {.name = "c++", .cplusplus = true},
        {.name = "clang++", .cplusplus = true, .clang = true},
        {.name = "gfortran", .fortran = true},
        {.name = "f95", .fortran = true},
        {.name = "f77", .fortran = true},
        {.name = "gdc"},
        {.name = "gnatgcc"},
    };
    g_autofree char *base = g_path_get_basename(path);
    /* gcc-12, clang++-14.0 */
    char *dash = strrchr(base, '-');
    if (dash != NULL && g_ascii_isdigit(dash[1]) &&
        strspn(dash + 1, "0123456789.") == strlen(dash + 1))
        *dash = '\0';
    for (size_t i = 0; i < G_N_ELEMENTS(known); i++) {
        size_t length = strlen(known[i].name), have = strlen(base);
        bool same = strcmp(base, known[i].name) == 0;
        bool triplet = have > length + 1 && base[have - length - 1] == '-' &&
                       strcmp(base + have - length, known[i].name) == 0;
        if (same || triplet)
            return &known[i];
    }
    return NULL;
}

bool fm_compiler_name(const char *path, bool *ret_cplusplus, bool *ret_clang)
{
    const struct compiler *found = find_compiler(path);
    if (found == NULL)
        return false;
    *ret_cplusplus = found->cplusplus;
    *ret_clang = found->clang;
    return true;
}

bool fm_is_fortran_compiler(const char *path)
{
    const struct compiler *found = find_compiler(path);
    return found != NULL && found->fortran;
}

bool fm_is_compiler_launcher(const char *path)
{
    static const char *const names[] = {"ccache", "sccache", "buildcache", "distcc", "icecc", NULL};
    g_autofree char *base = g_path_get_basename(path);
    return is_one_of(base, names);
}

bool fm_compiler_is_foreign(const char *path)
{
    bool cplusplus, clang;
    g_autofree char *base = g_path_get_basename(path);
    /* aarch64-linux-gnu-gcc has more than one dash; gcc-12 and x86_64-linux-gnu-gcc compile for
     * this machine. */
    const char *dash = strchr(base, '-');
    return fm_compiler_name(path, &cplusplus, &clang) && dash != NULL &&
           !g_ascii_isdigit(dash[1]) && !is_our_machine(base);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A profile of another tool's file. */
#include <string.h>

#include "base/error.h"
#include "cli/cli.h"
#include "exchange/hint/hint.h"
#include "exchange/import/import.h"
#include "profile/file/build.h"

/* prof.pb.gz -> prof.data, beside it. */
static char *default_output(const char *path)
{
    static const char *const suffixes[] = {".gz",     ".pb",         ".prof",     ".pprof",
                                           ".folded", ".json",       ".txt",      ".perf",
                                           ".out",    ".speedscope", ".callgrind"};
    size_t size = strlen(path);
    while (size > 1 && path[size - 1] == '/') /* a folder may end so */
        size--;
    for (unsigned i = 0; i < G_N_ELEMENTS(suffixes); i++) {
        g_autofree char *rest = g_strndup(path, size);
        if (g_str_has_suffix(rest, suffixes[i]) && size > strlen(suffixes[i]) &&
            rest[size - strlen(suffixes[i]) - 1] != '/') {
            size -= strlen(suffixes[i]);
            i = (unsigned)-1; /* "a.pb.gz" has two */
        }
    }
    return g_strdup_printf("%.*s.data", (int)size, path);
}

static void tell_notes(const struct fm_profile *profile)
{
    for (uint32_t i = 0; i < profile->run_info.note_count; i++)
        fm_console_print_error(
            "fathom import: %s%s\n",
            g_str_has_prefix(profile->run_info.notes[i], FM_NOTE_WARNING) ? "" : "note: ",
            profile->run_info.notes[i]);
    if (!fm_profile_knows(profile, FM_EXITS))
        fm_console_print_error(
            "fathom import: note: the file has no numbers of calls: pages show a dash\n");
}

/* Nobody named the output, so it may only replace an earlier profile: "prof.data" may be a file of
 * perf's. */
static int check_default(const char *output)
{
    if (!g_file_test(output, G_FILE_TEST_EXISTS) || fm_hint_file_kind(output) == FM_FILE_PROFILE)
        return FM_EXIT_DONE;
    fm_console_print_error(
        "fathom import: %s exists and is not a profile of fathom: give another name "
        "with --output\n",
        output);
    return FM_EXIT_FAILED;
}

static int import(const char *path, const struct fm_import_options *options, const char *output)
{
    GError *error = NULL;
    g_autoptr(FmProfile) profile = NULL;
    if (!fm_import(path, options, &profile, &error))
        return fm_hint_fail_file("import", path, FM_FILE_FOREIGN, error);
    if (!fm_profile_write(profile, output, false, &error))
        return fm_console_fail("import", error);
    tell_notes(profile);
    g_print("%s: %u contexts of %u functions, from %s\n", output, profile->pd_count - 1,
            profile->ps_count - 1, profile->run_info.origin);
    return FM_EXIT_DONE;
}

static char *description(void)
{
    GString *text = g_string_new("Makes a profile from another tool's file:\n");
    for (const struct fm_import_format *f = fm_import_formats; f->name != NULL; f++)
        g_string_append_printf(text, "  %-11s %s\n", f->name, f->summary);
    g_string_append(text, "Figures that the file lacks (samples have no number of calls) are not "
                          "known in the profile\neither. FILE - is standard input. `fathom view "
                          "FILE` shows such a file without making a profile.");
    return g_string_free(text, FALSE);
}

int fm_cmd_import(int argc, char **argv)
{
    gboolean compile_time = FALSE;
    char *format = NULL, *unit = NULL, *output = NULL, *program = NULL, *symfs = NULL;
    const GOptionEntry entries[] = {
        {"from", 0, 0, G_OPTION_ARG_STRING, &format, "Read FORMAT (default: detected from content)",
         "FORMAT"},
        {"compile-time", 0, 0, G_OPTION_ARG_NONE, &compile_time,
         "Read all files of clang's -ftime-trace in the folder FILE: what a build took", NULL},
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output,
         "Write to OUT (default: NAME.data beside FILE)", "OUT"},
        {"program", 0, 0, G_OPTION_ARG_STRING, &program,
         "Name the program (default: FILE's name); only profiles of one name can be merged or "
         "compared. gmon.out: the program's file",
         "NAME"},
        {"symfs", 0, 0, G_OPTION_ARG_FILENAME, &symfs,
         "perf.data: look for programs and libraries in FOLDER, as if it were the root", "FOLDER"},
        {"unit", 0, 0, G_OPTION_ARG_STRING, &unit,
         "folded: read the numbers as samples (the default), bytes, ns, us, ms or s", "UNIT"},
        {NULL},
    };
    g_autofree char *about = description();
    int status =
        fm_cli_parse(&argc, &argv, entries, "FILE", about, "fathom import -o prof.data perf.data");
    g_autofree char *asked = format, *counted = unit, *given = output, *named = program;
    g_autofree char *looked_in = symfs;
    if (status >= 0)
        return status;
    if (argc != 2)
        return fm_console_usage("import", "expected one FILE; see --help");
    if (named != NULL && named[0] == '\0')
        return fm_console_usage("import", "--program: expected a name");
    if (given == NULL && strcmp(argv[1], "-") == 0)
        return fm_console_usage("import", "standard input has no name: expected --output=FILE");
    g_autofree char *written = given != NULL ? g_strdup(given) : default_output(argv[1]);
    const struct fm_import_options options = {.format = asked,
                                              .program = named,
                                              .symfs = looked_in,
                                              .unit = counted,
                                              .compile_time = compile_time};
    status = given == NULL ? check_default(written) : FM_EXIT_DONE;
    return status == FM_EXIT_DONE ? import(argv[1], &options, written) : status;
}

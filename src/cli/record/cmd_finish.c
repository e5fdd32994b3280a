/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cli/cli.h"
#include "record/run/joining.h"
#include "record/known/known.h"

/* NAME of NAME.rec and NAME.PID.N.rec; g_free(). */
static char *run_of(const char *path)
{
    char *name = g_strdup(path);
    if (!g_str_has_suffix(name, ".rec"))
        return name;
    *strrchr(name, '.') = '\0';
    size_t length = strlen(name), at = length;
    for (int part = 0; part < 2; part++) {
        size_t end = at;
        while (at > 0 && g_ascii_isdigit(name[at - 1]))
            at--;
        if (at == end || at < 2 || name[at - 1] != '.')
            return name;
        at--;
    }
    name[at] = '\0';
    return name;
}

static int finish_joined(const struct fm_finishing *how, enum fm_join join, const char *output,
                         char **names, unsigned count)
{
    g_autofree char *data = output == NULL ? NULL : fm_run_data_path(output);
    g_autofree char *base = data == NULL ? run_of(names[0]) : g_strndup(data, strlen(data) - 5);
    g_autoptr(GPtrArray) paths = g_ptr_array_new();
    g_autofree char *run = run_of(names[0]);
    g_autofree char *again = fm_run_join_command(join, run, output);
    struct fm_finishing joined = *how;
    uint64_t calls = 0;
    joined.again = again;
    for (unsigned i = 0; i < count; i++) {
        g_autofree char *own = run_of(names[i]);
        if (output == NULL && strcmp(own, base) != 0 && strstr(names[i], ".snap") == NULL)
            return fm_console_usage(
                "finish",
                "%s and %s have the names of two runs: expected recordings of one "
                "run, or a name (--output)",
                names[0], names[i]);
        g_ptr_array_add(paths, names[i]);
    }
    return fm_run_join(&joined, join, base, paths, false, &calls) ? FM_EXIT_DONE : FM_EXIT_FAILED;
}

int fm_cmd_finish(int argc, char **argv)
{
    g_autofree char *output = NULL, *root = NULL, *debug_path = NULL, *when = NULL, *since = NULL;
    g_autofree char *join_text = NULL;
    enum fm_join join = FM_JOIN_NONE;
    gboolean keep = FALSE, quiet = FALSE, keep_sources = FALSE;
    const GOptionEntry options[] = {
        {"output", 'o', 0, G_OPTION_ARG_FILENAME, &output,
         "Write NAME.data, of one recording or of joined ones (default: beside the recording)",
         "NAME"},
        {"join", 0, 0, G_OPTION_ARG_STRING, &join_text,
         "Make one profile for each program, one for all, or none joined: program, all, none",
         "HOW"},
        {"keep", 'k', 0, G_OPTION_ARG_NONE, &keep, "Keep the raw recording", NULL},
        {"keep-sources", 0, 0, G_OPTION_ARG_NONE, &keep_sources,
         "Store the source files beside the profile (NAME.sources)", NULL},
        {"quiet", 'q', 0, G_OPTION_ARG_NONE, &quiet, "Print no summary", NULL},
        {"when", 0, 0, G_OPTION_ARG_STRING, &when,
         "Keep only what happens within calls of FUNCTION", "FUNCTION"},
        {"since", 0, 0, G_OPTION_ARG_FILENAME, &since,
         "Keep only what was counted since the snapshot NAME.snapN.rec", "NAME.snapN.rec"},
        {"debug-path", 0, 0, G_OPTION_ARG_FILENAME, &debug_path,
         "Also look for programs, libraries and debug files in FOLDERS, separated by ':'",
         "FOLDERS"},
        {"root", 0, 0, G_OPTION_ARG_FILENAME, &root,
         "Look for all files below FOLDER: a copy of the file system that the program ran in",
         "FOLDER"},
        {NULL},
    };
    int status = fm_cli_parse(&argc, &argv, options, "NAME.rec...",
                              "Makes profiles (NAME.data) from raw recordings of programs that "
                              "were run by hand, were killed, or still run.",
                              "fathom finish Deep.rec");
    if (status >= 0)
        return status;
    if (argc < 2)
        return fm_console_usage("finish", "expected a recording: `fathom finish NAME.rec`");
    if (join_text != NULL && !fm_join_parse(join_text, &join))
        return fm_console_usage("finish", "--join=%s: expected program, all or none", join_text);
    if (output != NULL && argc > 2 && join == FM_JOIN_NONE)
        return fm_console_usage("finish", "--output needs one recording, not %d, or --join",
                                argc - 1);
    if (since != NULL && (argc > 2 || output == NULL || join != FM_JOIN_NONE))
        return fm_console_usage("finish", "--since needs one recording, and a name (-o)");
    struct fm_known *known = fm_known_new();
    struct fm_finishing how = {.command = "finish",
                               .root = root,
                               .debug_path = debug_path,
                               .when = when,
                               .since = since,
                               .keep = keep,
                               .keep_sources = keep_sources,
                               .quiet = quiet,
                               .known = known};
    status = FM_EXIT_DONE;
    if (join != FM_JOIN_NONE)
        status = finish_joined(&how, join, output, argv + 1, (unsigned)argc - 1);
    for (int i = 1; i < argc && join == FM_JOIN_NONE; i++) {
        if (!fm_run_finish(&how, argv[i], output, NULL))
            status = FM_EXIT_FAILED;
    }
    fm_known_free(known);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/error.h"
#include "cli/cli.h"
#include "exchange/hint/hint.h"
#include "profile/file/profile.h"

static int convert(const char *from, const char *to, bool strict_mercury)
{
    GError *error = NULL;
    struct fm_progress progress;
    g_autoptr(FmProfile) profile = NULL;
    fm_console_progress_begin(&progress);
    bool done = fm_profile_read(from, &progress, &profile, &error) &&
                fm_profile_write(profile, to, strict_mercury, &error);
    fm_console_progress_end(&progress);
    return done ? FM_EXIT_DONE : fm_hint_fail_file("convert", from, FM_FILE_PROFILE, error);
}

int fm_cmd_convert(int argc, char **argv)
{
    char *to = NULL;
    const GOptionEntry entries[] = {
        {"to", 0, 0, G_OPTION_ARG_STRING, &to,
         "Write FORMAT mercury (the default, for Mercury's own tools) or fathom (all measures)",
         "FORMAT"},
        {NULL},
    };
    int status = fm_cli_parse(&argc, &argv, entries, "IN OUT",
                              "Rewrites a profile, version 8 or 9, as version 9. OUT is replaced "
                              "in one step when it is complete.",
                              "fathom convert --to=mercury prof.data Deep.data");
    g_autofree char *format = to;
    if (status >= 0)
        return status;
    if (argc != 3)
        return fm_console_usage("convert", "expected IN and OUT; see --help");
    if (format == NULL)
        format = g_strdup("mercury");
    if (strcmp(format, "mercury") != 0 && strcmp(format, "fathom") != 0)
        return fm_console_usage("convert", "--to: expected mercury or fathom, not '%s'", format);
    return convert(argv[1], argv[2], strcmp(format, "mercury") == 0);
}

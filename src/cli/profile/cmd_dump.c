/* SPDX-License-Identifier: Apache-2.0 */
/* Every node of a profile, as text or JSON. An unreadable file gives status 1. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "exchange/hint/hint.h"
#include "profile/dump/dump.h"

static int dump_file(const char *path, const struct fm_dump_wish *wish)
{
    GError *error = NULL;
    struct fm_progress progress;
    g_autoptr(FmProfile) profile = NULL;
    fm_console_progress_begin(&progress);
    bool read = fm_profile_read(path, &progress, &profile, &error);
    fm_console_progress_end(&progress);
    if (!read)
        return fm_hint_fail_file("dump", path, FM_FILE_PROFILE, error);
    fm_dump(profile, wish, stdout);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return FM_EXIT_DONE;
    fprintf(stderr, "fathom dump: cannot write: %s\n", g_strerror(errno));
    return FM_EXIT_FAILED;
}

/* The sections of --only; 0 after a message when one is not known. */
static unsigned parse_sections(char **only)
{
    static const struct {
        const char *name;
        unsigned section;
    } names[] = {{"csd", FM_DUMP_CSD}, {"pd", FM_DUMP_PD},       {"css", FM_DUMP_CSS},
                 {"ps", FM_DUMP_PS},   {"facts", FM_DUMP_FACTS}, {"all", FM_DUMP_ALL}};
    unsigned sections = 0;
    for (char **name = only; name != NULL && *name != NULL; name++) {
        unsigned found = 0;
        for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
            found |= strcmp(*name, names[i].name) == 0 ? names[i].section : 0;
        if (found == 0) {
            fm_console_usage("dump", "--only: expected csd, pd, css, ps, facts or all, not '%s'",
                             *name);
            return 0;
        }
        sections |= found;
    }
    return sections == 0 ? FM_DUMP_ALL : sections;
}

/* Files made of a profile are printed by their own command. */
static int dump_companion(const char *path, enum fm_hint_file_kind kind, bool json)
{
    char *bodies[] = {(char *)(uintptr_t) "procrep", (char *)(uintptr_t) "--file",
                      (char *)(uintptr_t)path, (char *)(uintptr_t)(json ? "--json" : NULL), NULL};
    char *report[] = {(char *)(uintptr_t) "feedback", (char *)(uintptr_t) "report",
                      (char *)(uintptr_t)path, (char *)(uintptr_t)(json ? "--json" : NULL), NULL};
    int argc = json ? 4 : 3;
    return kind == FM_FILE_BODIES ? fm_cmd_procrep(argc, bodies) : fm_cmd_feedback(argc, report);
}

int fm_cmd_dump(int argc, char **argv)
{
    char **only = NULL;
    gboolean restricted = FALSE, json = FALSE;
    const GOptionEntry entries[] = {
        {"only", 'D', 0, G_OPTION_ARG_STRING_ARRAY, &only,
         "Print only nodes of KIND: csd, pd, css, ps, facts or all; may be repeated", "KIND"},
        {"restrict", 'r', 0, G_OPTION_ARG_NONE, &restricted,
         "Print only procedures that were called, and their call sites", NULL},
        {"json", 0, 0, G_OPTION_ARG_NONE, &json, "Print one JSON document", NULL},
        {NULL},
    };
    int status = fm_cli_parse(&argc, &argv, entries, "[FILE]",
                              "Prints the header and every node of a profile (default Deep.data), "
                              "without analysis. Of a .procrep file it prints all bodies, of a "
                              "feedback file the advice.",
                              "fathom dump --only ps --restrict Deep.data");
    g_auto(GStrv) kinds = only;
    if (status >= 0)
        return status;
    if (argc > 2)
        return fm_console_usage("dump", "expected one FILE");
    unsigned sections = parse_sections(kinds);
    if (sections == 0)
        return FM_EXIT_USAGE;
    const char *path = argc == 2 ? argv[1] : "Deep.data";
    enum fm_hint_file_kind kind = fm_hint_file_kind(path);
    if (kind == FM_FILE_BODIES || kind == FM_FILE_FEEDBACK)
        return dump_companion(path, kind, json);
    const struct fm_dump_wish wish = {
        .sections = sections, .json = json, .called_only = restricted};
    return dump_file(path, &wish);
}

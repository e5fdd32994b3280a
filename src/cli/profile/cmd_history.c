/* SPDX-License-Identifier: Apache-2.0 */
/* Measures of many profiles of a program, over time. */
#include <string.h>

#include "base/error.h"
#include "cli/cli.h"
#include "exchange/hint/hint.h"
#include "cli/page_output.h"
#include "pages/compare/history.h"

#define PROFILES_MAX 10000u

/* Adds the profiles in the folder, without its subfolders, by name. */
static bool add_folder(const char *folder, GPtrArray *paths, GError **error)
{
    GError *problem = NULL;
    g_autoptr(GDir) dir = g_dir_open(folder, 0, &problem);
    const char *name;
    if (dir == NULL) {
        g_set_error_literal(error, FM_ERROR, FM_ERROR_IO, problem->message);
        g_error_free(problem);
        return false;
    }
    while ((name = g_dir_read_name(dir)) != NULL) {
        if (g_str_has_suffix(name, ".data"))
            g_ptr_array_add(paths, g_build_filename(folder, name, NULL));
    }
    return true;
}

/* Reports each file that cannot be read, and shows the others without it. Returns the exit status;
 * 0 = all were read. */
static int read_all(const GPtrArray *paths, GArray *entries)
{
    int status = 0;
    for (guint i = 0; i < paths->len; i++) {
        struct fm_history_entry entry;
        GError *error = NULL;
        if (fm_history_read(paths->pdata[i], &entry, &error))
            g_array_append_val(entries, entry);
        else
            status = fm_hint_fail_file("history", paths->pdata[i], FM_FILE_PROFILE, error);
    }
    return status;
}

static int run(const struct fm_page_output *output, char **arguments)
{
    g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GArray) entries = g_array_new(FALSE, FALSE, sizeof(struct fm_history_entry));
    g_array_set_clear_func(entries, fm_history_entry_done);
    for (char **argument = arguments; *argument != NULL; argument++) {
        GError *error = NULL;
        if (!g_file_test(*argument, G_FILE_TEST_IS_DIR))
            g_ptr_array_add(paths, g_strdup(*argument));
        else if (!add_folder(*argument, paths, &error))
            return fm_console_fail("history", error);
    }
    if (paths->len == 0)
        return fm_console_usage("history", "there is no profile (NAME.data) in the folder");
    if (paths->len > PROFILES_MAX)
        return fm_console_usage("history", "%u profiles, expected %u at most", paths->len,
                                PROFILES_MAX);
    int unread = read_all(paths, entries);
    if (entries->len == 0)
        return unread;
    g_autoptr(FmDisplay) display = fm_history_page(entries);
    int status = fm_page_output_display(output, display, true);
    return status != 0 ? status : unread;
}

int fm_cmd_history(int argc, char **argv)
{
    struct fm_page_output output;
    fm_page_output_init(&output, "history");
    output.no_names = true;
    int status = fm_cli_parse(
        &argc, &argv, fm_page_output_entries(&output, NULL), "FOLDER|PROFILE...",
        "Shows the costs of many runs of a program, with their builds, in the order of recording:\n"
        "as a table, a chart (--html), or numbers for a script (--json, --csv).",
        "fathom history profiles/\n"
        "  fathom history --html profiles/ > history.html");
    if (status < 0 && argc < 2)
        status = fm_console_usage("history", "expected a FOLDER or PROFILEs; see --help");
    if (status < 0)
        status = run(&output, argv + 1);
    fm_page_output_done(&output);
    return status;
}

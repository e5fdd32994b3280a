/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between two profiles of a program, and why. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/cli.h"
#include "cli/hint.h"
#include "cli/page_output.h"
#include "pages/compare/compare.h"

struct diffing {
    char *by;
    int rows, contexts;
    gboolean no_renames;
};

static int choose_measure(const struct diffing *o, const struct fm_compare *compare,
                          enum fm_measure_id *ret)
{
    if (o->by == NULL)
        *ret = fm_compare_telling_measure(compare);
    else if (!fm_compare_parse_measure(compare, o->by, ret))
        return fm_cli_usage("diff", "--by: the profiles have no measure '%s'", o->by);
    return -1;
}

static int print_diff(const struct diffing *o, const struct fm_page_output *output,
                      const struct fm_profile *const *profiles, char **paths)
{
    struct fm_compare *compare;
    GError *error = NULL;
    const struct fm_compare_options options = {.no_renames = o->no_renames};
    if (!fm_compare_new(profiles[FM_BEFORE], profiles[FM_AFTER], &options, &compare, &error))
        return fm_cli_fail("diff", error);
    struct fm_compare_page_options page = {.causes_max = (unsigned)o->rows,
                                           .contexts_max = (unsigned)o->contexts,
                                           .names = {paths[FM_BEFORE], paths[FM_AFTER]}};
    int status = choose_measure(o, compare, &page.by);
    if (status < 0) {
        g_autoptr(FmDisplay) display = fm_compare_page(compare, &page);
        status =
            fm_page_output_display(output, display, profiles[FM_BEFORE]->flavour == FM_FLAVOUR_C);
    }
    fm_compare_free(compare);
    return status;
}

static int run(const struct diffing *o, const struct fm_page_output *output, char **paths)
{
    struct fm_profile *profiles[FM_SIDES] = {NULL};
    int status = -1;
    for (int side = FM_BEFORE; side < FM_SIDES && status < 0; side++) {
        struct fm_progress progress;
        GError *error = NULL;
        fm_cli_progress_begin(&progress);
        bool read = fm_profile_read(paths[side], &progress, &profiles[side], &error);
        fm_cli_progress_end(&progress);
        if (!read)
            status = fm_cli_fail_file("diff", paths[side], FM_FILE_PROFILE, error);
    }
    if (status < 0)
        status = print_diff(o, output, (const struct fm_profile *const *)profiles, paths);
    for (int side = FM_BEFORE; side < FM_SIDES; side++)
        fm_profile_free(profiles[side]);
    return status;
}

int fm_cmd_diff(int argc, char **argv)
{
    struct diffing o = {.rows = 20, .contexts = 3};
    struct fm_page_output output;
    fm_page_output_init(&output, "diff");
    const GOptionEntry entries[] = {
        {"by", 'b', 0, G_OPTION_ARG_STRING, &o.by,
         "calls, time, bytes, allocs, ... (default: the first of calls, allocs, bytes, time that "
         "differs)",
         "MEASURE"},
        {"rows", 0, 0, G_OPTION_ARG_INT, &o.rows, "Causes (default: 20)", "N"},
        {"contexts", 0, 0, G_OPTION_ARG_INT, &o.contexts, "Contexts of each cause (default: 3)",
         "N"},
        {"no-renames", 0, 0, G_OPTION_ARG_NONE, &o.no_renames,
         "Do not guess which functions were renamed", NULL},
        {0},
    };
    int status = fm_cli_parse(
        &argc, &argv, fm_page_output_entries(&output, entries), "BEFORE AFTER",
        "Compares two profiles of a program, of one build or of two. Calls and memory are counted\n"
        "exactly: what differs, differs. Time is sampled: only what chance does not explain is "
        "told.",
        "fathom diff before.data after.data\n"
        "  fathom diff --by=time before.data after.data");
    if (status < 0 && argc != 3)
        status = fm_cli_usage("diff", "expected BEFORE and AFTER; --help tells more");
    if (status < 0 && (o.rows < 1 || o.contexts < 0))
        status = fm_cli_usage("diff", "--rows is 1 or more, --contexts 0 or more");
    if (status < 0)
        status = run(&o, &output, argv + 1);
    g_free(o.by);
    fm_page_output_clear(&output);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What differs between two profiles of a program, and why. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/cli.h"
#include "cli/hint.h"
#include "cli/page_output.h"
#include "compare/runs.h"
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

/* The runs of one side. */
struct side {
    GPtrArray *paths;    /* char*, borrowed */
    GPtrArray *profiles; /* struct fm_profile, owned */
    unsigned middle;     /* the run that is compared */
};

static void clear_side(struct side *side)
{
    g_ptr_array_unref(side->paths);
    g_ptr_array_unref(side->profiles);
}

static int print_diff(const struct diffing *o, const struct fm_page_output *output,
                      const struct side *sides)
{
    struct fm_compare *compare;
    GError *error = NULL;
    const struct fm_compare_options options = {.no_renames = o->no_renames};
    const struct side *before = &sides[FM_BEFORE], *after = &sides[FM_AFTER];
    const struct fm_profile *chosen[FM_SIDES] = {before->profiles->pdata[before->middle],
                                                 after->profiles->pdata[after->middle]};
    const struct fm_runs runs = {
        .profiles = {(void *)before->profiles->pdata, (void *)after->profiles->pdata},
        .count = {before->profiles->len, after->profiles->len}};
    if (!fm_compare_new(chosen[FM_BEFORE], chosen[FM_AFTER], &options, &compare, &error))
        return fm_cli_fail("diff", error);
    struct fm_compare_page_options page = {
        .causes_max = (unsigned)o->rows,
        .contexts_max = (unsigned)o->contexts,
        .picture = output->html || output->json,
        .names = {before->paths->pdata[before->middle], after->paths->pdata[after->middle]},
        .runs = runs.count[FM_BEFORE] + runs.count[FM_AFTER] > FM_SIDES ? &runs : NULL};
    int status = choose_measure(o, compare, &page.by);
    if (status < 0) {
        g_autoptr(FmDisplay) display = fm_compare_page(compare, &page);
        status =
            fm_page_output_display(output, display, chosen[FM_BEFORE]->flavour == FM_FLAVOUR_C);
    }
    fm_compare_free(compare);
    return status;
}

/* By the measure that was asked for; else by calls, or by time where nobody counted them. */
static void choose_middle(const struct diffing *o, struct side *side)
{
    const struct fm_profile *first = side->profiles->pdata[0];
    const char *by = o->by != NULL ? o->by : fm_profile_knows(first, FM_EXITS) ? "calls" : "time";
    g_autofree double *amounts = g_new0(double, side->profiles->len);
    for (guint i = 0; i < side->profiles->len; i++) {
        if (!fm_runs_total(side->profiles->pdata[i], by, &amounts[i]))
            return;
    }
    side->middle = fm_runs_middle(amounts, side->profiles->len);
}

static int read_side(const struct diffing *o, struct side *side)
{
    for (guint i = 0; i < side->paths->len; i++) {
        struct fm_progress progress;
        struct fm_profile *profile;
        GError *error = NULL;
        fm_cli_progress_begin(&progress);
        bool read = fm_profile_read(side->paths->pdata[i], &progress, &profile, &error);
        fm_cli_progress_end(&progress);
        if (!read)
            return fm_cli_fail_file("diff", side->paths->pdata[i], FM_FILE_PROFILE, error);
        g_ptr_array_add(side->profiles, profile);
    }
    choose_middle(o, side);
    return -1;
}

static int run(const struct diffing *o, const struct fm_page_output *output, struct side *sides)
{
    int status = read_side(o, &sides[FM_BEFORE]);
    if (status < 0)
        status = read_side(o, &sides[FM_AFTER]);
    return status < 0 ? print_diff(o, output, sides) : status;
}

/* "--base A1 A2 --new B1 B2": takes the files that follow such words out of the arguments. */
static int take_sides(int argc, char **argv, struct side *sides)
{
    int kept = 0;
    struct side *to = NULL;
    for (int i = 0; i < argc; i++) {
        if (strcmp(argv[i], "--base") == 0 || strcmp(argv[i], "--new") == 0)
            to = &sides[argv[i][2] == 'b' ? FM_BEFORE : FM_AFTER];
        else if (to != NULL && argv[i][0] != '-')
            g_ptr_array_add(to->paths, argv[i]);
        else {
            to = NULL;
            argv[kept++] = argv[i];
        }
    }
    argv[kept] = NULL;
    return kept;
}

static int take_two(int argc, char **argv, struct side *sides)
{
    bool several = sides[FM_BEFORE].paths->len > 0 || sides[FM_AFTER].paths->len > 0;
    if (argc != (several ? 1 : 3))
        return fm_cli_usage("diff", "expected BEFORE and AFTER, or --base FILES --new FILES; see "
                                    "--help");
    for (int side = FM_BEFORE; side < FM_SIDES && !several; side++)
        g_ptr_array_add(sides[side].paths, argv[1 + side]);
    return sides[FM_BEFORE].paths->len > 0 && sides[FM_AFTER].paths->len > 0
               ? -1
               : fm_cli_usage("diff", "expected files behind --base and behind --new");
}

int fm_cmd_diff(int argc, char **argv)
{
    struct diffing o = {.rows = 20, .contexts = 3};
    struct fm_page_output output;
    fm_page_output_init(&output, "diff");
    const GOptionEntry entries[] = {
        {"by", 'b', 0, G_OPTION_ARG_STRING, &o.by,
         "Explain calls, time, bytes, allocs, ... (default: the first of calls, allocs, bytes, "
         "time that differs)",
         "MEASURE"},
        {"rows", 0, 0, G_OPTION_ARG_INT, &o.rows, "Print at most N causes (default: 20)", "N"},
        {"contexts", 0, 0, G_OPTION_ARG_INT, &o.contexts,
         "Print N contexts of each cause (default: 3)", "N"},
        {"no-renames", 0, 0, G_OPTION_ARG_NONE, &o.no_renames,
         "Do not guess which functions were renamed", NULL},
        {0},
    };
    struct side sides[FM_SIDES];
    for (int side = FM_BEFORE; side < FM_SIDES; side++)
        sides[side] = (struct side){
            .paths = g_ptr_array_new(),
            .profiles = g_ptr_array_new_with_free_func((GDestroyNotify)fm_profile_free)};
    argc = take_sides(argc, argv, sides);
    int status = fm_cli_parse(
        &argc, &argv, fm_page_output_entries(&output, entries),
        "BEFORE AFTER | --base FILES --new FILES",
        "Compares two profiles of a program, of one build or of two. Calls and memory are counted\n"
        "exactly, so every difference is real. Time is sampled: only significant differences are\n"
        "reported.",
        "fathom diff before.data after.data\n"
        "  fathom diff --by=time before.data after.data\n"
        "  fathom diff --base a1.data a2.data a3.data --new b1.data b2.data b3.data");
    if (status < 0)
        status = take_two(argc, argv, sides);
    if (status < 0 && (o.rows < 1 || o.contexts < 0))
        status = fm_cli_usage("diff", "--rows is 1 or more, --contexts 0 or more");
    if (status < 0)
        status = run(&o, &output, sides);
    for (int side = FM_BEFORE; side < FM_SIDES; side++)
        clear_side(&sides[side]);
    g_free(o.by);
    fm_page_output_clear(&output);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the differences between two profiles of a program, and their causes. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/text/shell.h"
#include "cli/cli.h"
#include "cli/page_output.h"
#include "runs/compare/given/given_runs.h"
#include "pages/compare/compare.h"

struct diffing {
    char *by;
    int rows, contexts;
    gboolean no_renames, all_runs, anyway;
    double variation; /* per cent; 0: the default */
};

#define VARIATION_MAX 100.0

static int refuse_measure(const struct fm_compare *compare, const char *word)
{
    g_autofree char *words = fm_compare_measure_list(compare);
    return fm_console_usage("diff", "--by=%s: both profiles have %s", word, words);
}

static int choose_measure(const struct diffing *o, const struct fm_compare *compare,
                          enum fm_measure_id *ret)
{
    if (o->by == NULL)
        *ret = fm_compare_telling_measure(compare);
    else if (!fm_compare_parse_measure(compare, o->by, ret))
        return refuse_measure(compare, o->by);
    return -1;
}

/* Profiles of one program have this part of their functions in common, or more. */
#define COMMON_PART 0.2

static unsigned functions_of(const struct fm_profile *p)
{
    unsigned count = 0;
    for (uint32_t ps = 1; ps <= p->ps_count; ps++)
        count += *p->ps[ps].file != '\0';
    return count;
}

/* False: the profiles are of two programs, by their names and by their functions; a message was
 * printed. */
static bool are_of_one_program(const struct fm_compare *c, const struct fm_given_runs *sides)
{
    const struct fm_profile *before = c->given[FM_BEFORE], *after = c->given[FM_AFTER];
    g_autofree char *one = g_path_get_basename(before->program_name);
    g_autofree char *other = g_path_get_basename(after->program_name);
    unsigned of_before = functions_of(before), of_after = functions_of(after), common = 0;
    for (guint i = 0; i < c->matches->len; i++) {
        const struct fm_match *match = &g_array_index(c->matches, struct fm_match, i);
        common += match->how != FM_MATCHED_RENAMED && *before->ps[match->before].file != '\0';
    }
    unsigned most = MAX(of_before, of_after);
    bool same = strcmp(one, other) == 0 || common >= COMMON_PART * most;
    g_autofree char *first = fm_shell_word(sides[FM_BEFORE].paths->pdata[sides[FM_BEFORE].middle]);
    g_autofree char *second = fm_shell_word(sides[FM_AFTER].paths->pdata[sides[FM_AFTER].middle]);
    if (!same)
        fm_console_print_error(
            "fathom diff: two programs: %s is of %s, %s of %s, and of %u functions "
            "they have %u in common\n"
            "To compare them all the same: fathom diff --anyway %s %s\n",
            first, one, second, other, most, common, first, second);
    return same;
}

static int print_diff(const struct diffing *o, const struct fm_page_output *output,
                      const struct fm_given_runs *sides, const char *left_out)
{
    struct fm_compare *compare;
    GError *error = NULL;
    const struct fm_compare_options options = {.no_renames = o->no_renames,
                                               .variation = o->variation / 100};
    const struct fm_given_runs *before = &sides[FM_BEFORE], *after = &sides[FM_AFTER];
    const struct fm_compare_runs runs[FM_SIDES] = {fm_given_runs_compared(before),
                                                   fm_given_runs_compared(after)};
    if (!fm_compare_new_runs(runs, &options, &compare, &error))
        return fm_console_fail("diff", error);
    if (!o->anyway && !are_of_one_program(compare, sides)) {
        fm_compare_free(compare);
        return FM_EXIT_FAILED;
    }
    struct fm_compare_page_options page = {
        .causes_max = (unsigned)o->rows,
        .contexts_max = (unsigned)o->contexts,
        .numbers = output->json || output->csv,
        .picture = output->html || output->json,
        .names = {before->paths->pdata[before->middle], after->paths->pdata[after->middle]},
        .left_out = left_out};
    int status = choose_measure(o, compare, &page.by);
    if (status < 0) {
        g_autoptr(FmDisplay) display = fm_compare_page(compare, &page);
        status = fm_page_output_display(output, display,
                                        compare->given[FM_BEFORE]->flavour == FM_FLAVOUR_C);
    }
    fm_compare_free(compare);
    return status;
}

static int run(const struct diffing *o, const struct fm_page_output *output,
               struct fm_given_runs *sides)
{
    g_autoptr(GString) left_out = g_string_new(NULL);
    int status = -1;
    for (int side = FM_BEFORE; side < FM_SIDES && status < 0; side++)
        status = fm_given_runs_read(&sides[side], "diff", o->by, o->all_runs ? NULL : left_out);
    return status < 0 ? print_diff(o, output, sides, left_out->len > 0 ? left_out->str : NULL)
                      : status;
}

/* "--base A1 A2 --new B1 B2": takes the files that follow such words out of the arguments. */
static int take_sides(int argc, char **argv, struct fm_given_runs *sides)
{
    int kept = 0;
    struct fm_given_runs *to = NULL;
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

static int take_two(int argc, char **argv, struct fm_given_runs *sides)
{
    bool several = sides[FM_BEFORE].paths->len > 0 || sides[FM_AFTER].paths->len > 0;
    if (argc != (several ? 1 : 3))
        return fm_console_usage("diff",
                                "expected BEFORE and AFTER, or --base FILES --new FILES; see "
                                "--help");
    for (int side = FM_BEFORE; side < FM_SIDES && !several; side++)
        g_ptr_array_add(sides[side].paths, argv[1 + side]);
    for (int side = FM_BEFORE; side < FM_SIDES; side++) {
        if (sides[side].paths->len > FM_COMPARE_RUNS_MAX)
            return fm_console_usage("diff", "expected at most %u files behind %s",
                                    FM_COMPARE_RUNS_MAX, side == FM_BEFORE ? "--base" : "--new");
    }
    return sides[FM_BEFORE].paths->len > 0 && sides[FM_AFTER].paths->len > 0
               ? -1
               : fm_console_usage("diff", "expected files behind --base and behind --new");
}

int fm_cmd_diff(int argc, char **argv)
{
    struct diffing o = {.rows = 20, .contexts = 3};
    struct fm_page_output output;
    fm_page_output_init(&output, "diff");
    output.no_names = true;
    const GOptionEntry entries[] = {
        {"by", 'b', 0, G_OPTION_ARG_STRING, &o.by,
         "Explain calls, time, bytes, allocs, ... (default: time where it differs significantly, "
         "else the first of calls, allocs, bytes that differs)",
         "MEASURE"},
        {"rows", 0, 0, G_OPTION_ARG_INT, &o.rows, "Print at most N causes (default: 20)", "N"},
        {"contexts", 0, 0, G_OPTION_ARG_INT, &o.contexts,
         "Print N contexts of each cause (default: 3)", "N"},
        {"no-renames", 0, 0, G_OPTION_ARG_NONE, &o.no_renames,
         "Do not guess which functions were renamed", NULL},
        {"variation", 0, 0, G_OPTION_ARG_DOUBLE, &o.variation,
         "Assume that times vary by PERCENT from run to run, until runs show more (default: 2)",
         "PERCENT"},
        {"anyway", 0, 0, G_OPTION_ARG_NONE, &o.anyway,
         "Compare profiles of two programs, which have few functions in common", NULL},
        {"all-runs", 0, 0, G_OPTION_ARG_NONE, &o.all_runs,
         "Keep runs whose time is far from that of the others of their side", NULL},
        {0},
    };
    struct fm_given_runs sides[FM_SIDES];
    for (int side = FM_BEFORE; side < FM_SIDES; side++)
        fm_given_runs_init(&sides[side]);
    argc = take_sides(argc, argv, sides);
    int status = fm_cli_parse(
        &argc, &argv, fm_page_output_entries(&output, entries),
        "BEFORE AFTER | --base FILES --new FILES",
        "Compares two profiles of a program, of one build or of two. Calls and memory are counted\n"
        "exactly, so every difference is real. Time is sampled: only significant differences are\n"
        "reported. A side has 1 to 20 runs, best recorded alternately.",
        "fathom diff before.data after.data\n"
        "  fathom diff --by=time before.data after.data\n"
        "  fathom diff --base a1.data a2.data a3.data --new b1.data b2.data b3.data");
    if (status < 0)
        status = take_two(argc, argv, sides);
    if (status < 0 && !(o.variation >= 0 && o.variation <= VARIATION_MAX))
        status = fm_console_usage("diff", "--variation is 0 to 100 per cent");
    if (status < 0 && (o.rows < 1 || o.contexts < 0))
        status = fm_console_usage("diff", "--rows is 1 or more, --contexts 0 or more");
    if (status < 0)
        status = run(&o, &output, sides);
    for (int side = FM_BEFORE; side < FM_SIDES; side++)
        fm_given_runs_done(&sides[side]);
    g_free(o.by);
    fm_page_output_done(&output);
    return status;
}

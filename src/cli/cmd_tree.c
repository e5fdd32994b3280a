/* SPDX-License-Identifier: Apache-2.0 */
/* Prints where a measure goes, context by context: the tree page on the terminal. */
#include <string.h>

#include "cli/cli.h"
#include "cli/page_output.h"

struct tree_options {
    char *by, *from;
    int depth;
    double least;
    char *least_text;
    gboolean up;
};

/* The query in its written form, so that there is one place that understands it. */
static char *query_text(const struct tree_options *options)
{
    g_autoptr(GString) levels = g_string_new(NULL);
    g_string_printf(levels, "%d", options->depth);
    if (options->least > 0) {
        char number[G_ASCII_DTOSTR_BUF_SIZE];
        g_string_append_printf(levels, "-p%s",
                               g_ascii_formatd(number, sizeof number, "%g", options->least));
    }
    return g_strdup_printf("tree/%s/%s/%s/%s", options->by ? options->by : "auto",
                           options->up ? "up" : "down", levels->str,
                           options->from ? options->from : "all");
}

static int tree(const struct tree_options *options, const struct fm_page_output *output,
                const char *path)
{
    GError *error = NULL;
    struct fm_query query = {0};
    enum fm_query_measure measure;
    if (options->by != NULL && !fm_tree_measure_find(options->by, &measure))
        return fm_cli_refuse_measure("tree", options->by, "");
    g_autofree char *text = query_text(options);
    if (!fm_command_parse(text, &query.command, &error))
        return fm_console_fail("tree", error);
    int status = fm_page_output_run(output, &query, path);
    fm_query_done(&query);
    return status;
}

int fm_cmd_tree(int argc, char **argv)
{
    struct tree_options options = {.depth = 3};
    struct fm_page_output output;
    fm_page_output_init(&output, "tree");
    const GOptionEntry entries[] = {
        {"by", 'b', 0, G_OPTION_ARG_STRING, &options.by,
         "Order by time, calls, bytes, allocs, waiting, live (bytes held at the end) or peak (held "
         "at the peak); default: time from 20 samples on, else calls",
         "MEASURE"},
        {"from", 0, 0, G_OPTION_ARG_STRING, &options.from,
         "Start at function NAME, or at the one context clique/main/f/g", "NAME"},
        {"up", 'u', 0, G_OPTION_ARG_NONE, &options.up, "Print callers instead of callees", NULL},
        {"depth", 'd', 0, G_OPTION_ARG_INT, &options.depth,
         "Print N levels of branching, 1 to 50 (default: 3)", "N"},
        {"min", 'm', 0, G_OPTION_ARG_STRING, &options.least_text,
         "Print only rows with at least PERCENT of the program (default: 0.1%)", "PERCENT"},
        {0},
    };
    int status = fm_cli_parse(
        &argc, &argv, fm_page_output_entries(&output, entries), "FILE",
        "Prints the tree of contexts (call paths) of a profile, most expensive first. Recursive\n"
        "functions that call each other are one row, with a row for each below it. For a running\n"
        "program, give NAME.rec or pid:N as FILE.",
        "fathom tree prog.data\n"
        "  fathom tree --by=bytes --from=buf_append --up prog.data");
    if (status < 0 && argc != 2)
        status = fm_console_usage("tree", "expected one FILE; see --help");
    if (status < 0 && (options.depth < 1 || options.depth > (int)FM_QUERY_DEPTH_MAX))
        status = fm_console_usage("tree", "--depth: expected 1 to 50");
    if (status < 0 && options.least_text &&
        !fm_cli_parse_percent(options.least_text, &options.least))
        status = fm_console_usage("tree", "--min: expected a percentage, such as 1%%");
    if (status < 0)
        status = tree(&options, &output, argv[1]);
    g_free(options.by);
    g_free(options.from);
    g_free(options.least_text);
    fm_page_output_done(&output);
    return status;
}

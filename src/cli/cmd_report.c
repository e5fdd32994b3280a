/* SPDX-License-Identifier: Apache-2.0 */
/* One page, on the terminal or for a script. */
#include <stdio.h>

#include "cli/cli.h"
#include "cli/page_output.h"

static int report(const struct fm_page_output *output, const char *query_text, const char *path)
{
    GError *error = NULL;
    struct fm_query query;
    if (!fm_query_parse(query_text, &query, &error)) {
        int status = fm_cli_fail("report", error);
        if (g_file_test(query_text, G_FILE_TEST_EXISTS))
            fprintf(stderr, "The query stands before the file: fathom report %s %s\n", path,
                    query_text);
        return status;
    }
    int status = fm_page_output_run(output, &query, path);
    fm_query_clear(&query);
    return status;
}

static bool is_query_without_file(int argc, char **argv)
{
    struct fm_command command = {0};
    if (argc != 2 || g_file_test(argv[1], G_FILE_TEST_EXISTS) ||
        !fm_command_parse(argv[1], &command, NULL))
        return false;
    fm_command_clear(&command);
    return true;
}

int fm_cmd_report(int argc, char **argv)
{
    struct fm_page_output output;
    fm_page_output_init(&output, "report");
    const GOptionEntry own[] = {
        {"dot", 0, 0, G_OPTION_ARG_NONE, &output.dot, "The picture of graph/..., for Graphviz",
         NULL},
        G_OPTION_ENTRY_NULL,
    };
    int status = fm_cli_parse(
        &argc, &argv, fm_page_output_entries(&output, own), "[QUERY] FILE",
        "Prints one page of a profile: the first page, or the one that QUERY asks for. QUERY is a\n"
        "command, with preferences after an & if wanted: menu, find/TEXT, proc/NAME,\n"
        "clique/main/NAME, tree/time/down/3/all, proc_callers/NAME/pr/1/100/nc, module/FILE,\n"
        "program_modules, top_procs/1-20/callseqs/self/oa, root/90 and others. Where a NAME has\n"
        "several meanings the page lists them, and what chooses each.",
        "fathom report proc/buf_append prog.data\n"
        "  fathom report top_procs/1-20/callseqs/self/oa Deep.data\n"
        "  fathom report --json menu Deep.data");
    if (status < 0 && argc != 2 && argc != 3)
        status = fm_cli_usage("report", "expected a FILE, or QUERY and FILE; --help tells more");
    if (status < 0 && is_query_without_file(argc, argv))
        status = fm_cli_usage("report", "%s is a query: a FILE is missing", argv[1]);
    if (status < 0)
        status = report(&output, argc == 3 ? argv[1] : "menu", argv[argc - 1]);
    fm_page_output_clear(&output);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Short names of the pages that are asked for most: each is `fathom report` of one query. */
#include <string.h>

#include "cli/cli.h"
#include "cli/page_output.h"

#define ROWS 20

static int print_page(const struct fm_page_output *output, const char *text, const char *path)
{
    GError *error = NULL;
    struct fm_query query = {0};
    if (!fm_command_parse(text, &query.command, &error))
        return fm_console_fail(output->command, error);
    int status = fm_page_output_run(output, &query, path);
    fm_query_done(&query);
    return status;
}

int fm_cmd_functions(int argc, char **argv)
{
    g_autofree char *by = NULL;
    int limit = ROWS;
    enum fm_query_measure measure = FM_QUERY_BY_AUTO;
    struct fm_page_output output;
    fm_page_output_init(&output, "functions");
    const GOptionEntry entries[] = {
        {"by", 'b', 0, G_OPTION_ARG_STRING, &by,
         "Order by the function's own time, calls, bytes, allocs, waiting, live (bytes held at the "
         "end) or peak, or by total (time with callees); default: time from 20 samples on, else "
         "calls",
         "MEASURE"},
        {"limit", 0, 0, G_OPTION_ARG_INT, &limit, "Print N functions (default: 20)", "N"},
        {0},
    };
    int status = fm_cli_parse(
        &argc, &argv, fm_page_output_entries(&output, entries), "FILE",
        "Prints the most expensive functions of a profile: self time, total time and calls. For a\n"
        "running program, give NAME.rec or pid:N as FILE.",
        "fathom functions prog.data\n"
        "  fathom functions --by=calls --limit=50 prog.data");
    bool total = g_strcmp0(by, "total") == 0;
    if (total)
        measure = FM_QUERY_BY_TIME;
    if (status < 0 && argc != 2)
        status = fm_console_usage("functions", "expected one FILE; see --help");
    if (status < 0 && by != NULL && !total && !fm_tree_measure_find(by, &measure))
        status = fm_cli_refuse_measure("functions", by, "total");
    if (status < 0 && (limit < 1 || limit > (int)FM_QUERY_ROWS_MAX))
        status = fm_console_usage("functions", "--limit: expected a number from 1 to %u, not %d",
                                  FM_QUERY_ROWS_MAX, limit);
    if (status < 0) {
        g_autofree char *query = g_strdup_printf("functions/%s/%s/%d", fm_tree_words[measure],
                                                 total ? "both" : "self", limit);
        status = print_page(&output, query, argv[1]);
    }
    fm_page_output_done(&output);
    return status;
}

int fm_cmd_lines(int argc, char **argv)
{
    g_autofree char *by = NULL;
    int limit = ROWS;
    enum fm_query_measure measure = FM_QUERY_BY_TIME;
    struct fm_page_output output;
    fm_page_output_init(&output, "lines");
    const GOptionEntry entries[] = {
        {"by", 'b', 0, G_OPTION_ARG_STRING, &by,
         "Order by time (default), or lines that allocate: by bytes (allocated), allocs, live "
         "(bytes "
         "held at the end) or peak",
         "MEASURE"},
        {"limit", 0, 0, G_OPTION_ARG_INT, &limit, "Print N lines (default: 20)", "N"},
        {0},
    };
    int status = fm_cli_parse(
        &argc, &argv, fm_page_output_entries(&output, entries), "FILE",
        "Prints the source lines of a profile that took the most CPU time, without the calls that\n"
        "they make, with their text where the source is at hand; or those that allocated memory.\n"
        "For a running program, give NAME.rec or pid:N as FILE.",
        "fathom lines prog.data\n"
        "  fathom lines --by=bytes prog.data\n"
        "  fathom lines --limit=50 prog.data");
    if (status < 0 && argc != 2)
        status = fm_console_usage("lines", "expected one FILE; see --help");
    if (status < 0 && by != NULL &&
        !(fm_tree_measure_find(by, &measure) && fm_query_has_lines(measure)))
        status = fm_console_usage("lines",
                                  "--by=%s: expected one of time, bytes, allocs, live, peak", by);
    if (status < 0 && (limit < 1 || limit > (int)FM_QUERY_ROWS_MAX))
        status = fm_console_usage("lines", "--limit: expected a number from 1 to %u, not %d",
                                  FM_QUERY_ROWS_MAX, limit);
    if (status < 0) {
        g_autofree char *query = g_strdup_printf("lines/%s/%d", fm_tree_words[measure], limit);
        status = print_page(&output, query, argv[1]);
    }
    fm_page_output_done(&output);
    return status;
}

/* NULL: there is no such. */
static const char *memory_page(const char *by)
{
    switch (by == NULL ? FM_WORDS : fm_measure_find(by)) {
    case FM_WORDS:
        return "memory/allocated";
    case FM_FREED_BYTES:
        return "memory/freed";
    case FM_LIVE_BYTES:
        return "memory/held";
    case FM_PEAK_BYTES:
        return "memory/peak";
    default:
        return NULL;
    }
}

int fm_cmd_memory(int argc, char **argv)
{
    g_autofree char *by = NULL;
    struct fm_page_output output;
    fm_page_output_init(&output, "memory");
    const GOptionEntry entries[] = {
        {"by", 'b', 0, G_OPTION_ARG_STRING, &by,
         "Order by allocated (default), freed, held (at the end) or peak", "MEASURE"},
        {0},
    };
    int status = fm_cli_parse(
        &argc, &argv, fm_page_output_entries(&output, entries), "FILE",
        "Prints which call paths allocated memory, freed it, or held it. For a running\n"
        "program, give NAME.rec or pid:N as FILE.",
        "fathom memory prog.data\n"
        "  fathom memory --by=held prog.data");
    const char *page = memory_page(by);
    if (status < 0 && argc != 2)
        status = fm_console_usage("memory", "expected one FILE; see --help");
    if (status < 0 && page == NULL)
        status =
            fm_console_usage("memory", "--by=%s: expected one of allocated, freed, held, peak", by);
    if (status < 0)
        status = print_page(&output, page, argv[1]);
    fm_page_output_done(&output);
    return status;
}

int fm_cmd_waits(int argc, char **argv)
{
    struct fm_page_output output;
    fm_page_output_init(&output, "waits");
    int status = fm_cli_parse(
        &argc, &argv, fm_page_output_entries(&output, NULL), "FILE",
        "Prints where a program waited: for locks and who held them, input and output,\n"
        "sleep. For a running program, give NAME.rec or pid:N as FILE.",
        "fathom waits prog.data");
    if (status < 0 && argc != 2)
        status = fm_console_usage("waits", "expected one FILE; see --help");
    if (status < 0)
        status = print_page(&output, "waits", argv[1]);
    fm_page_output_done(&output);
    return status;
}

int fm_cmd_recursion(int argc, char **argv)
{
    g_autofree char *by = NULL;
    enum fm_query_measure measure = FM_QUERY_BY_AUTO;
    struct fm_page_output output;
    fm_page_output_init(&output, "recursion");
    const GOptionEntry entries[] = {
        {"by", 'b', 0, G_OPTION_ARG_STRING, &by,
         "Order by time, calls, bytes, allocs, live or peak (default: time from 20 samples on, "
         "else calls)",
         "MEASURE"},
        {0},
    };
    int status =
        fm_cli_parse(&argc, &argv, fm_page_output_entries(&output, entries), "FILE",
                     "Prints the recursions of a profile: functions that call each other, as one.",
                     "fathom recursion prog.data\n"
                     "  fathom recursion --by=calls prog.data");
    if (status < 0 && argc != 2)
        status = fm_console_usage("recursion", "expected one FILE; see --help");
    if (status < 0 && by != NULL && !fm_tree_measure_find(by, &measure))
        status = fm_cli_refuse_measure("recursion", by, "");
    if (status < 0) {
        g_autofree char *query = g_strdup_printf("recursions/%s", fm_tree_words[measure]);
        status = print_page(&output, query, argv[1]);
    }
    fm_page_output_done(&output);
    return status;
}

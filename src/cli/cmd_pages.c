/* SPDX-License-Identifier: Apache-2.0 */
/* Short names of the pages that are asked for most: each is `fathom report` of one query. */
#include <string.h>

#include "cli/cli.h"
#include "cli/page_output.h"

#define FUNCTIONS_MAX 20

struct choice {
    const char *word, *query; /* as the option has it, as the query has it */
};

/* The meaning of a word; NULL = there is no such word. The list ends with a NULL word. */
static const char *chosen(const struct choice *choices, const char *word)
{
    for (; choices->word != NULL; choices++)
        if (strcmp(choices->word, word) == 0)
            return choices->query;
    return NULL;
}

static int refuse(const char *command, const struct choice *choices, const char *word)
{
    g_autoptr(GString) words = g_string_new(NULL);
    for (const struct choice *choice = choices; choice->word != NULL; choice++)
        g_string_append_printf(words, "%s%s", choice == choices ? "" : ", ", choice->word);
    return fm_console_usage(command, "--by=%s: expected one of %s", word, words->str);
}

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
    static const struct choice choices[] = {{"time", "time/self"},     {"total", "time/both"},
                                            {"calls", "calls/self"},   {"bytes", "words/self"},
                                            {"allocs", "allocs/self"}, {NULL, NULL}};
    char *by = NULL;
    int limit = FUNCTIONS_MAX;
    struct fm_page_output output;
    fm_page_output_init(&output, "functions");
    const GOptionEntry entries[] = {
        {"by", 'b', 0, G_OPTION_ARG_STRING, &by,
         "Order by time (default), total (time with callees), calls, bytes or allocs", "MEASURE"},
        {"limit", 0, 0, G_OPTION_ARG_INT, &limit, "Print N functions (default: 20)", "N"},
        {0},
    };
    int status = fm_cli_parse(
        &argc, &argv, fm_page_output_entries(&output, entries), "FILE",
        "Prints the most expensive functions of a profile: self time, total time and calls. For a\n"
        "running program, give NAME.rec or pid:N as FILE.",
        "fathom functions prog.data\n"
        "  fathom functions --by=calls --limit=50 prog.data");
    const char *order = chosen(choices, by == NULL ? "time" : by);
    if (status < 0 && argc != 2)
        status = fm_console_usage("functions", "expected one FILE; see --help");
    if (status < 0 && order == NULL)
        status = refuse("functions", choices, by);
    if (status < 0 && limit < 1)
        status = fm_console_usage("functions", "--limit: expected at least 1");
    if (status < 0) {
        g_autofree char *query = g_strdup_printf("top_procs/1-%d/%s/oa", limit, order);
        status = print_page(&output, query, argv[1]);
    }
    g_free(by);
    fm_page_output_done(&output);
    return status;
}

/* A page with one option, --by. */
static int print_by(int argc, char **argv, const char *command, const struct choice *choices,
                    const char *by_help, const char *description, const char *example)
{
    char *by = NULL;
    struct fm_page_output output;
    fm_page_output_init(&output, command);
    const GOptionEntry entries[] = {{"by", 'b', 0, G_OPTION_ARG_STRING, &by, by_help, "MEASURE"},
                                    {0}};
    int status = fm_cli_parse(&argc, &argv,
                              fm_page_output_entries(&output, by_help == NULL ? NULL : entries),
                              "FILE", description, example);
    const char *query = chosen(choices, by == NULL ? choices[0].word : by);
    if (status < 0 && argc != 2)
        status = fm_console_usage(command, "expected one FILE; see --help");
    if (status < 0 && query == NULL)
        status = refuse(command, choices, by);
    if (status < 0)
        status = print_page(&output, query, argv[1]);
    g_free(by);
    fm_page_output_done(&output);
    return status;
}

int fm_cmd_memory(int argc, char **argv)
{
    static const struct choice choices[] = {{"allocated", "memory/allocated"},
                                            {"freed", "memory/freed"},
                                            {"held", "memory/held"},
                                            {"peak", "memory/peak"},
                                            {NULL, NULL}};
    return print_by(
        argc, argv, "memory", choices,
        "Order by allocated (default), freed, held (at the end) or peak",
        "Prints which call paths allocated memory, freed it, or held it. For a running\n"
        "program, give NAME.rec or pid:N as FILE.",
        "fathom memory prog.data\n"
        "  fathom memory --by=held prog.data");
}

int fm_cmd_waits(int argc, char **argv)
{
    static const struct choice choices[] = {{"time", "waits"}, {NULL, NULL}};
    return print_by(
        argc, argv, "waits", choices, NULL,
        "Prints where a program waited: for locks and who held them, input and output,\n"
        "sleep. For a running program, give NAME.rec or pid:N as FILE.",
        "fathom waits prog.data");
}

int fm_cmd_recursion(int argc, char **argv)
{
    static const struct choice choices[] = {
        {"auto", "recursions/auto"},     {"time", "recursions/time"},
        {"calls", "recursions/calls"},   {"bytes", "recursions/bytes"},
        {"allocs", "recursions/allocs"}, {NULL, NULL}};
    return print_by(argc, argv, "recursion", choices,
                    "Order by auto (default: time from 20 samples on, else calls), time, calls,\n"
                    "                            bytes or allocs",
                    "Prints the recursions of a profile: functions that call each other, as one.",
                    "fathom recursion prog.data\n"
                    "  fathom recursion --by=calls prog.data");
}

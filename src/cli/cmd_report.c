/* SPDX-License-Identifier: Apache-2.0 */
/* One page, on the terminal or for a script. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text/shell.h"
#include "cli/cli.h"
#include "exchange/hint/hint.h"
#include "live/now.h"
#include "cli/page_output.h"
#include "open/profile.h"
#include "site/site.h"

/* Whether a function may be called so: its page is meant. */
static bool is_like_name(const char *text)
{
    return (g_ascii_isalpha(*text) || strchr("_~", *text) != NULL) &&
           text[strcspn(text, "/?#%")] == '\0' && !g_file_test(text, G_FILE_TEST_EXISTS);
}

static int report(const struct fm_page_output *output, const char *query_text, const char *path)
{
    GError *error = NULL;
    struct fm_query query;
    if (!fm_query_parse(query_text, &query, &error)) {
        bool name = is_like_name(query_text) && fm_hint_file_kind(path) == FM_FILE_PROFILE;
        g_autofree char *page = g_strconcat("proc/", query_text, NULL);
        if (name && !fm_command_is_word(query_text)) {
            bool near = strstr(error->message, "; perhaps ") != NULL; /* a page's word */
            int status = report(output, page, path);
            if (status == FM_EXIT_DONE || !near) {
                g_error_free(error);
                return status;
            }
        }
        int status = fm_console_fail("report", error);
        if (name) {
            g_autofree char *word = fm_shell_word(page), *file = fm_shell_word(path);
            fprintf(stderr, "The page of a function: fathom report %s %s\n", word, file);
        }
        if (g_file_test(query_text, G_FILE_TEST_EXISTS))
            fprintf(stderr, "The query stands before the file: fathom report %s %s\n", path,
                    query_text);
        return status;
    }
    int status = fm_page_output_run(output, &query, path);
    fm_query_done(&query);
    return status;
}

/* With --html, an argument that ends in .html and is no query is the output file. */
static bool is_html_file(const char *text)
{
    struct fm_command command = {0};
    if (!g_str_has_suffix(text, ".html") && !g_str_has_suffix(text, ".htm"))
        return false;
    if (!fm_command_parse(text, &command, NULL))
        return true;
    fm_command_done(&command);
    return false;
}

static int report_to_file(const char *out, const char *path)
{
    GError *error = NULL;
    struct fm_progress progress;
    struct fm_site_told told;
    struct fm_live_now now;
    g_autoptr(FmOpenProfile) recording = NULL;
    fm_console_progress_begin(&progress);
    bool opened = fm_live_now_take(path, &now, &error) &&
                  fm_profile_open_now(now.path, &progress, &recording, &error);
    bool done = opened && fm_site_write_file(recording, now.text, out, FM_SITE_FILE_BYTES,
                                             &progress, &told, &error);
    fm_console_progress_end(&progress);
    fm_live_now_done(&now);
    if (!opened)
        return fm_hint_fail_file("report", path, FM_FILE_PROFILE, error);
    if (!done)
        return fm_console_fail("report", error);
    printf("%s: %u pages, %" PRIu64 " bytes; %u more that they could lead to are not in it\n", out,
           told.pages, told.bytes, told.left_out);
    return FM_EXIT_DONE;
}

static bool is_query_without_file(int argc, char **argv)
{
    struct fm_command command = {0};
    if (argc != 2 || g_file_test(argv[1], G_FILE_TEST_EXISTS) ||
        !fm_command_parse(argv[1], &command, NULL))
        return false;
    fm_command_done(&command);
    return true;
}

int fm_cmd_report(int argc, char **argv)
{
    struct fm_page_output output;
    fm_page_output_init(&output, "report");
    const GOptionEntry own[] = {
        {"dot", 0, 0, G_OPTION_ARG_NONE, &output.dot, "Print the graph of graph/... for Graphviz",
         NULL},
        G_OPTION_ENTRY_NULL,
    };
    int status = fm_cli_parse(
        &argc, &argv, fm_page_output_entries(&output, own), "[QUERY] FILE",
        "Prints one page of a profile: the first page, or the page QUERY. For a running program,\n"
        "give NAME.rec or pid:N as FILE. QUERY is a command, optionally with preferences after\n"
        "an &: menu, find/TEXT, proc/NAME, clique/main/NAME, tree/time/down/3/all,\n"
        "proc_callers/NAME/pr/1/100/nc, module/FILE, program_modules,\n"
        "top_procs/1-20/callseqs/self/oa, root/90 and others. A function's name alone is "
        "proc/NAME.\n"
        "Where several functions fit NAME,\n"
        "the page lists them with the query for each. With --html and a file name that ends in\n"
        ".html in place of QUERY, writes the most important pages to that file.",
        "fathom report proc/buf_append prog.data\n"
        "  fathom report waits pid:1234\n"
        "  fathom report top_procs/1-20/callseqs/self/oa Deep.data\n"
        "  fathom report --json menu Deep.data\n"
        "  fathom report --html prog.html prog.data");
    if (status < 0 && argc != 2 && argc != 3)
        status = fm_console_usage("report", "expected a FILE, or QUERY and FILE; see --help");
    if (status < 0 && is_query_without_file(argc, argv))
        status = fm_console_usage("report", "%s is a query; expected a FILE after it", argv[1]);
    if (status < 0 && output.html && argc == 3 && is_html_file(argv[1]))
        status = report_to_file(argv[1], argv[2]);
    if (status < 0)
        status = report(&output, argc == 3 ? argv[1] : "menu", argv[argc - 1]);
    fm_page_output_done(&output);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* One page, on the terminal or for a script. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/cli.h"
#include "cli/hint.h"
#include "serve/profile.h"
#include "serve/render.h"

struct report_options {
    gboolean text, json, csv, html, no_pager;
    int width; /* -1 = not given */
    char *colour;
};

static unsigned terminal_width(void)
{
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

/* Through $PAGER, or less, which ends by itself when the page fits. False when none was started. */
static bool print_through_pager(const GString *page)
{
    if (getenv("LESS") == NULL)
        setenv("LESS", "FRX", 0);
    const char *pager = getenv("PAGER");
    fflush(stdout);
    FILE *pipe = popen(pager == NULL || pager[0] == '\0' ? "less -FRX" : pager, "w");
    if (pipe == NULL)
        return false;
    fwrite(page->str, 1, page->len, pipe);
    int status = pclose(pipe);
    return status != -1 && !(WIFEXITED(status) && WEXITSTATUS(status) == 127);
}

static int print_page(const GString *page, bool pager)
{
    if (pager && print_through_pager(page))
        return FM_EXIT_DONE;
    if (fwrite(page->str, 1, page->len, stdout) == page->len && fflush(stdout) == 0)
        return FM_EXIT_DONE;
    fprintf(stderr, "fathom report: cannot write: %s\n", g_strerror(errno));
    return FM_EXIT_FAILED;
}

static int choose_format(const struct report_options *options, enum fm_format *ret)
{
    *ret = options->json   ? FM_FORMAT_JSON
           : options->csv  ? FM_FORMAT_CSV
           : options->html ? FM_FORMAT_HTML
                           : FM_FORMAT_TEXT;
    if (options->text + options->json + options->csv + options->html > 1)
        return fm_cli_usage("report", "give one of --text, --json, --csv, --html");
    return -1;
}

static int choose_text(const struct report_options *options, bool terminal,
                       struct fm_text_options *ret)
{
    const char *colour = options->colour == NULL ? "auto" : options->colour;
    *ret = (struct fm_text_options){0};
    if (strcmp(colour, "always") == 0)
        ret->colour = true;
    else if (strcmp(colour, "auto") == 0)
        ret->colour = terminal && getenv("NO_COLOR") == NULL;
    else if (strcmp(colour, "never") != 0)
        return fm_cli_usage("report", "--color is always, auto or never, not '%s'", colour);
    if (options->width < -1)
        return fm_cli_usage("report", "--width is a number of columns, or 0 for no limit");
    ret->width = options->width >= 0 ? (unsigned)options->width : terminal ? terminal_width() : 0;
    return -1;
}

static int report(const char *query_text, const char *path, const struct fm_render_options *options,
                  bool pager)
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
    struct fm_progress progress;
    g_autoptr(FmRecording) recording = NULL;
    g_autoptr(GString) page = g_string_new(NULL);
    fm_cli_progress_begin(&progress);
    bool opened = fm_profile_open_now(path, &progress, &recording, &error);
    fm_cli_progress_end(&progress);
    bool made = opened && fm_render(recording, &query, options, page, &error);
    fm_query_clear(&query);
    if (made)
        return print_page(page, pager);
    return opened ? fm_cli_fail("report", error)
                  : fm_cli_fail_file("report", path, FM_FILE_PROFILE, error);
}

int fm_cmd_report(int argc, char **argv)
{
    struct report_options options = {.width = -1};
    const GOptionEntry entries[] = {
        {"text", 't', 0, G_OPTION_ARG_NONE, &options.text, "Aligned text (the default)", NULL},
        {"json", 'j', 0, G_OPTION_ARG_NONE, &options.json, "One JSON object, plain numbers", NULL},
        {"csv", 'c', 0, G_OPTION_ARG_NONE, &options.csv, "The page's tables as CSV", NULL},
        {"html", 0, 0, G_OPTION_ARG_NONE, &options.html, "A page with its stylesheet", NULL},
        {"width", 'w', 0, G_OPTION_ARG_INT, &options.width,
         "Columns of text; 0 = no limit (default: the terminal's)", "N"},
        {"color", 0, 0, G_OPTION_ARG_STRING, &options.colour,
         "always, never, or auto: on a terminal", "WHEN"},
        {"no-pager", 0, 0, G_OPTION_ARG_NONE, &options.no_pager, "Do not send text through a pager",
         NULL},
        {NULL},
    };
    int status = fm_cli_parse(
        &argc, &argv, entries, "[QUERY] FILE",
        "Prints one page of a profile: the first page, or the one that QUERY asks for. QUERY is a\n"
        "command, with preferences after an & if wanted: menu, find/TEXT, proc/NAME,\n"
        "clique/main/NAME, proc_callers/NAME/pr/1/100/nc, module/FILE, program_modules, root/90,\n"
        "top_procs/1-20/callseqs/self/oa and others. Where a NAME has several meanings the page\n"
        "lists them, and what chooses each.",
        "fathom report proc/buf_append prog.data\n"
        "  fathom report top_procs/1-20/callseqs/self/oa Deep.data\n"
        "  fathom report --json menu Deep.data");
    g_autofree char *owned_colour = options.colour; /* the option parser allocated it */
    options.colour = owned_colour;
    if (status >= 0)
        return status;
    if (argc != 2 && argc != 3)
        return fm_cli_usage("report", "expected a FILE, or QUERY and FILE; --help tells more");
    struct fm_command command = {0};
    if (argc == 2 && !g_file_test(argv[1], G_FILE_TEST_EXISTS) &&
        fm_command_parse(argv[1], &command, NULL)) {
        fm_command_clear(&command);
        return fm_cli_usage("report", "%s is a query: a FILE is missing", argv[1]);
    }
    bool terminal = isatty(STDOUT_FILENO);
    struct fm_render_options render = {.inline_assets = true};
    status = choose_format(&options, &render.format);
    if (status < 0)
        status = choose_text(&options, terminal, &render.text);
    if (status >= 0)
        return status;
    bool pager = terminal && !options.no_pager && render.format == FM_FORMAT_TEXT;
    return report(argc == 3 ? argv[1] : "menu", argv[argc - 1], &render, pager);
}

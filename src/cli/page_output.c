/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/page_output.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "cli/cli.h"
#include "exchange/hint/hint.h"
#include "live/now.h"
#include "open/profile.h"

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

static int print_page(const char *command, const GString *page, bool pager)
{
    if (pager && print_through_pager(page))
        return FM_EXIT_DONE;
    if (fwrite(page->str, 1, page->len, stdout) == page->len && fflush(stdout) == 0)
        return FM_EXIT_DONE;
    fprintf(stderr, "fathom %s: cannot write: %s\n", command, g_strerror(errno));
    return FM_EXIT_FAILED;
}

static int choose_format(const struct fm_page_output *options, enum fm_format *ret)
{
    *ret = options->json   ? FM_FORMAT_JSON
           : options->csv  ? FM_FORMAT_CSV
           : options->html ? FM_FORMAT_HTML
           : options->dot  ? FM_FORMAT_DOT
                           : FM_FORMAT_TEXT;
    if (options->text + options->json + options->csv + options->html + options->dot > 1)
        return fm_console_usage(options->command, "expected one of --text, --json, --csv, --html%s",
                                strcmp(options->command, "report") == 0 ? ", --dot" : "");
    return -1;
}

/* Unless the terminal shows none, or the reader wants none (no-color.org). */
static bool wants_colour(void)
{
    const char *none = getenv("NO_COLOR");
    return (none == NULL || none[0] == '\0') && g_strcmp0(getenv("TERM"), "dumb") != 0;
}

static int choose_text(const struct fm_page_output *options, bool terminal,
                       struct fm_text_options *ret)
{
    const char *colour = options->colour == NULL ? "auto" : options->colour;
    *ret = (struct fm_text_options){0};
    if (strcmp(colour, "always") == 0)
        ret->colour = true;
    else if (strcmp(colour, "auto") == 0)
        ret->colour = terminal && wants_colour();
    else if (strcmp(colour, "never") != 0)
        return fm_console_usage(options->command,
                                "--color: expected always, auto or never, not '%s'", colour);
    if (options->width < -1)
        return fm_console_usage(options->command,
                                "--width: expected a number of columns, or 0 for no limit");
    ret->width = options->width >= 0 ? (unsigned)options->width : terminal ? terminal_width() : 0;
    return -1;
}

const GOptionEntry *fm_page_output_entries(struct fm_page_output *output, const GOptionEntry *own)
{
    const GOptionEntry entries[] = {
        {"text", 't', 0, G_OPTION_ARG_NONE, &output->text, "Print aligned text (the default)",
         NULL},
        {"json", 'j', 0, G_OPTION_ARG_NONE, &output->json,
         "Print one JSON object with plain numbers", NULL},
        {"csv", 'c', 0, G_OPTION_ARG_NONE, &output->csv, "Print the page's tables as CSV", NULL},
        {"html", 0, 0, G_OPTION_ARG_NONE, &output->html, "Print an HTML page with its stylesheet",
         NULL},
        {"width", 'w', 0, G_OPTION_ARG_INT, &output->width,
         "Limit text to N columns; 0 = no limit (default: the terminal's)", "N"},
        {"color", 0, 0, G_OPTION_ARG_STRING, &output->colour,
         "Use colours: always, never, or auto (on a terminal)", "WHEN"},
        {"no-pager", 0, 0, G_OPTION_ARG_NONE, &output->no_pager, "Do not send text through a pager",
         NULL},
        {"full-names", 0, 0, G_OPTION_ARG_NONE, &output->full_names,
         "Print the whole names of functions, with their types", NULL}, /* last: see no_names */
    };
    g_assert(output->entries == NULL);
    output->entries = g_array_new(TRUE, TRUE, sizeof(GOptionEntry));
    for (; own != NULL && own->long_name != NULL; own++)
        g_array_append_vals(output->entries, own, 1);
    g_array_append_vals(output->entries, entries, G_N_ELEMENTS(entries) - output->no_names);
    return (const GOptionEntry *)(const void *)output->entries->data;
}

void fm_page_output_init(struct fm_page_output *output, const char *command)
{
    *output = (struct fm_page_output){.command = command, .width = -1};
}

void fm_page_output_done(struct fm_page_output *output)
{
    g_free(output->colour);
    g_clear_pointer(&output->entries, g_array_unref);
}

/* Format, colour, width; whether a pager is wanted. Returns -1 to go on. */
static int choose(const struct fm_page_output *output, struct fm_render_options *ret, bool *pager)
{
    bool terminal = isatty(STDOUT_FILENO);
    *ret = (struct fm_render_options){.inline_assets = true};
    int status = choose_format(output, &ret->format);
    *pager = terminal && !output->no_pager && ret->format == FM_FORMAT_TEXT;
    return status < 0 ? choose_text(output, terminal, &ret->text) : status;
}

static int render(const struct fm_page_output *output, const struct fm_query *query,
                  const char *path, const struct fm_render_options *options, bool pager)
{
    GError *error = NULL;
    struct fm_progress progress;
    struct fm_live_now now;
    struct fm_render_options with_notice = *options;
    g_autoptr(FmOpenProfile) recording = NULL;
    g_autoptr(GString) page = g_string_new(NULL);
    fm_console_progress_begin(&progress);
    bool opened = fm_live_now_take(path, &now, &error) &&
                  fm_profile_open_now(now.path, &progress, &recording, &error);
    fm_console_progress_end(&progress);
    with_notice.notice = now.text;
    struct fm_query named = *query;
    named.full_names = output->full_names;
    bool made = opened && fm_render(recording, &named, &with_notice, page, &error);
    fm_live_now_done(&now);
    if (made)
        return print_page(output->command, page, pager);
    return opened ? fm_console_fail(output->command, error)
                  : fm_hint_fail_file(output->command, path, FM_FILE_PROFILE, error);
}

int fm_page_output_run(const struct fm_page_output *output, const struct fm_query *query,
                       const char *path)
{
    struct fm_render_options options;
    bool pager;
    int status = choose(output, &options, &pager);
    return status < 0 ? render(output, query, path, &options, pager) : status;
}

int fm_page_output_display(const struct fm_page_output *output, const struct fm_display *display,
                           bool c_program)
{
    struct fm_render_options options;
    struct fm_preferences preferences;
    bool pager;
    g_autoptr(GString) page = g_string_new(NULL);
    int status = choose(output, &options, &pager);
    if (status >= 0)
        return status;
    fm_preferences_default(&preferences, true, c_program);
    fm_render_display(display, &preferences, NULL, &options, page);
    return print_page(output->command, page, pager);
}

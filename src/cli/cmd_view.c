/* SPDX-License-Identifier: Apache-2.0 */
/* Serves the pages and opens the browser. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "cli/cli.h"
#include "exchange/hint/hint.h"
#include "live/address.h"
#include "live/growing.h"
#include "live/token.h"
#include "live/imported.h"
#include "cli/log/cmd_log_trace.h"
#include "base/console/notices.h"
#include "record/run/kept.h"
#include "display/html/assets.h"
#include "serve/http/http.h"
#include "trace/format/open.h"

struct view_options {
    int port;
    gboolean no_open, sync;
    char **roots;
    char *assets, *listen, *token, *token_file;
    char *base; /* the profile that the FILE is compared with; NULL */
};

static void view_options_clear(struct view_options *options)
{
    g_strfreev(options->roots);
    g_free(options->assets);
    g_free(options->listen);
    g_free(options->token);
    g_free(options->token_file);
    g_free(options->base);
}

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool add(struct fm_server *server, const char *path, GError **error)
{
    if (is_folder(path) && !fm_trace_recognise(path))
        return fm_server_add_root(server, path, error);
    return fm_server_add(server, path, error);
}

/* Its pages say the same, and others may be served. */
static void tell_failure(void *user, const GError *error)
{
    (void)user;
    fm_console_notice("view", error->message);
}

/* Adds the newest of the runs that `fathom record --keep=N -o NAME` has kept. False when there are
 * none. */
static bool add_newest_run(struct fm_server *server, const char *name, int *status)
{
    if (g_file_test(name, G_FILE_TEST_EXISTS))
        return false;
    g_autoptr(GPtrArray) profiles = fm_kept_newest(name);
    for (guint i = 0; i < profiles->len; i++) {
        GError *error = NULL;
        if (!add(server, profiles->pdata[i], &error))
            *status = fm_hint_fail_file("view", profiles->pdata[i], FM_FILE_PROFILE, error);
    }
    return profiles->len > 0;
}

/* Reports each file that cannot be opened on a line. Returns the exit status. */
static int add_all(struct fm_server *server, char **paths, char **roots,
                   struct fm_live_imported *imported, struct fm_live_growing *growing)
{
    int status = FM_EXIT_DONE;
    for (char **path = paths; *path != NULL; path++) {
        GError *error = NULL;
        g_autofree char *shown = g_strdup(*path);
        if (add_newest_run(server, *path, &status))
            continue;
        if (!fm_live_growing_take(growing, &shown, &error) ||
            !fm_live_imported_take(imported, &shown, &error))
            status = fm_console_fail("view", error);
        else if (!add(server, shown, &error))
            status = fm_hint_fail_file("view", *path, FM_FILE_PROFILE, error);
    }
    for (char **root = roots; root != NULL && *root != NULL; root++) {
        GError *error = NULL;
        if (!fm_server_add_root(server, *root, &error))
            status = fm_console_fail("view", error);
    }
    return status;
}

/* Straight to the menu when there is one profile, or to the traces, all in one page; with a token
 * the login page comes first. */
static char *first_page(const struct fm_server *server, const struct fm_http *http, bool only,
                        bool compared)
{
    if (compared && only && fm_server_count(server) == 2) {
        g_autofree char *page =
            fm_server_compare_url(fm_server_path(server, 0), fm_server_path(server, 1));
        return g_strconcat(fm_http_url(http), page, NULL);
    }
    unsigned profiles = fm_server_count(server), traces = fm_server_trace_count(server);
    if (!only || (profiles != 0) == (traces != 0) || profiles > 1)
        return g_strdup(fm_http_url(http));
    if (traces > 0) {
        g_autofree char *page = fm_server_traces_url(server);
        return g_strconcat(fm_http_url(http), page, NULL);
    }
    g_autofree char *menu = fm_server_menu_url(fm_server_path(server, 0));
    return g_strconcat(fm_http_url(http), menu, NULL);
}

static int serve(struct fm_server *server, const struct view_options *options, GError **error)
{
    const struct fm_http_options http_options = {
        .port = (uint16_t)options->port,
        .listen = options->listen,
        .token = options->token,
    };
    struct fm_http *http;
    if (!fm_http_new(server, &http_options, &http, error))
        return FM_EXIT_FAILED;
    g_autofree char *url = first_page(
        server, http, options->roots == NULL && options->token == NULL, options->base != NULL);
    fm_http_heed_signals(http);
    fm_live_show_address(url, !options->no_open,
                         "Open it in a browser on this machine; Ctrl-C ends.", stdout);
    fm_console_notice_warnings("view");
    fm_http_run(http);
    fm_http_free(http);
    return FM_EXIT_DONE;
}

/* Clocks are corrected when the traces are opened. Tells what was found. */
static bool synchronize(char **paths, GError **error)
{
    g_autoptr(GPtrArray) traces = g_ptr_array_new();
    for (char **path = paths; *path != NULL; path++) {
        /* Not of programs that still run: all messages are read now. */
        if (g_file_test(*path, G_FILE_TEST_EXISTS) && fm_trace_recognise(*path))
            g_ptr_array_add(traces, *path);
    }
    if (traces->len < 2)
        return true;
    g_ptr_array_add(traces, NULL);
    g_autofree char *table = fm_cmd_log_synchronize((char **)traces->pdata, error);
    if (table != NULL)
        fputs(table, stdout);
    return table != NULL;
}

static int view(char **paths, const struct view_options *options)
{
    GError *error = NULL;
    if (options->sync && !synchronize(paths, &error))
        return fm_console_fail("view", error);
    if (options->assets != NULL) {
        if (!is_folder(options->assets))
            return fm_console_usage("view", "--assets: %s is not a folder", options->assets);
        fm_assets_set_folder(options->assets);
    }
    const struct fm_server_options server_options = {.background = true, .failed = tell_failure};
    struct fm_server *server = fm_server_new(&server_options);
    struct fm_live_imported imported = {0};
    struct fm_live_growing *growing = fm_live_growing_new();
    char *base[] = {options->base, NULL};
    /* The first of the two is the earlier profile. */
    int status = add_all(server, base, NULL, &imported, growing);
    if (status == FM_EXIT_DONE)
        status = add_all(server, paths, options->roots, &imported, growing);
    fm_live_growing_begin(growing, server);
    if (status == FM_EXIT_DONE)
        status = serve(server, options, &error);
    fm_server_free(server);
    fm_live_growing_free(growing);
    fm_live_imported_done(&imported);
    return error == NULL ? status : fm_console_fail("view", error);
}

int fm_cmd_view(int argc, char **argv)
{
    struct view_options options = {0};
    const GOptionEntry entries[] = {
        {"port", 'p', 0, G_OPTION_ARG_INT, &options.port,
         "Listen at port N; 0, the default: any free one", "N"},
        {"no-open", 'n', 0, G_OPTION_ARG_NONE, &options.no_open, "Do not start a browser", NULL},
        {"sync", 0, 0, G_OPTION_ARG_NONE, &options.sync,
         "Correct the clocks of several traces by the messages between them", NULL},
        {"base", 0, 0, G_OPTION_ARG_FILENAME, &options.base,
         "Show what differs in FILE from PROFILE, and why", "PROFILE"},
        {"root", 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &options.roots,
         "Let the pages open profiles below FOLDER", "FOLDER"},
        {"assets", 0, 0, G_OPTION_ARG_FILENAME, &options.assets,
         "Read stylesheet and scripts from FOLDER (development)", "FOLDER"},
        {"listen", 0, 0, G_OPTION_ARG_STRING, &options.listen,
         "Listen at ADDRESS instead of loopback; needs --token", "ADDRESS"},
        FM_CLI_TOKEN_OPTIONS(options.token, options.token_file,
                             "Answer only clients that send the secret TOKEN (at least 16 bytes)"),
        {NULL},
    };
    int status = fm_cli_parse(
        &argc, &argv, entries, "FILE|NAME|FOLDER|ADDRESS|pid:N...",
        "Serves the pages of profiles and traces to a browser on this machine, and opens it:\n"
        "  FILE             a deep profile, an event log or another tool's profile (fathom "
        "import)\n"
        "  NAME.rec, pid:N  a running program; its pages are kept up to date\n"
        "  ADDRESS          a program's live log (unix:PATH, tcp:HOST:PORT)\n"
        "  NAME             the newest run that `fathom record --keep=N -o NAME` has kept\n"
        "  FOLDER           a CTF trace, if its parts have one clock; else as --root=FOLDER",
        "fathom view Deep.data\n"
        "  fathom view server.rec\n"
        "  fathom view --base old.data new.data\n"
        "  fathom view server.eventlog client.eventlog\n"
        "  fathom view unix:/tmp/program.sock\n"
        "  fathom view --port 8080 --no-open old.data new.data");
    if (status < 0 && argc < 2 && options.roots == NULL)
        status = fm_console_usage("view", "expected a FILE or FOLDER; see --help");
    if (status < 0 && (options.port < 0 || options.port > 65535))
        status = fm_console_usage("view", "--port: expected 0 to 65535");
    if (status < 0 && options.base != NULL && argc != 2)
        status = fm_console_usage("view", "--base: expected one FILE to compare");
    GError *error = NULL;
    if (status < 0 && !fm_live_token_find(&options.token, options.token_file, &error))
        status = fm_console_fail("view", error);
    if (status < 0)
        status = view(argv + 1, &options);
    view_options_clear(&options);
    return status;
}

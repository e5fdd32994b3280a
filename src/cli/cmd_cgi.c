/* SPDX-License-Identifier: Apache-2.0 */
/* fathom cgi, also run as fathom.cgi: one request, from a web server's environment or from the
 * command line. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files/build_id.h"
#include "base/files/roots.h"
#include "cli/cli.h"
#include "engine/engine.h"
#include "serve/cgi/cgi.h"
#include "serve/cgi/config.h"
#include "serve/response.h"

#define WORK_US 5000 /* time for reading before the next check for clients */

struct cgi {
    struct fm_cgi_config config;
    struct fm_server *server;
    bool failed; /* the profile turned out to be bad */
};

/* --- the backend: the same handle() as the HTTP door --- */

static void note_failure(void *user, const GError *error)
{
    struct cgi *cgi = user;
    (void)error; /* the page itself reports the error */
    cgi->failed = true;
}

static struct fm_server *new_server(struct cgi *cgi)
{
    const struct fm_server_options options = {
        .recordings_max = 1,
        .background = true,
        .failed = note_failure,
        .failed_user = cgi,
    };
    struct fm_server *server = fm_server_new(&options);
    for (unsigned i = 0; i < fm_roots_count(cgi->config.roots); i++) {
        g_autoptr(GError) ignored = NULL; /* it was a folder a moment ago: then nothing is in it */
        if (!fm_server_add_root(server, fm_roots_folder(cgi->config.roots, i), &ignored))
            continue;
    }
    return server;
}

static bool load(void *user, const char *path, GError **error)
{
    struct cgi *cgi = user;
    cgi->server = new_server(cgi);
    return fm_server_open(cgi->server, path, error); /* beneath the roots */
}

static enum fm_cgi_work work(void *user)
{
    struct cgi *cgi = user;
    struct fm_engine *engine = fm_server_engine(cgi->server);
    gint64 end = g_get_monotonic_time() + WORK_US;
    while (fm_engine_has_work(engine)) {
        fm_engine_step(engine);
        if (g_get_monotonic_time() >= end)
            return FM_CGI_WORK_MORE;
    }
    return cgi->failed ? FM_CGI_WORK_FAILED : FM_CGI_WORK_DONE;
}

static void handle(void *user, const struct fm_request *request, struct fm_response *ret)
{
    struct cgi *cgi = user;
    fm_server_handle(cgi->server, request, ret);
}

/* --- a request --- */

static int print_message(const struct fm_request *request, unsigned status, const char *text)
{
    struct fm_response response;
    fm_response_message(request, status, text, &response);
    fm_cgi_print(STDOUT_FILENO, request, &response);
    fm_response_done(&response);
    return FM_EXIT_DONE;
}

/* Without PATH_INFO relative links would lead out of the program's address: redirects to an address
 * below it. */
static int redirect(const struct fm_request *request)
{
    const char *script = g_getenv("SCRIPT_NAME");
    bool has_query = request->query != NULL && request->query[0] != '\0';
    struct fm_response response;
    fm_response_message(request, 303, "The pages are one step below.", &response);
    response.location = g_strconcat(script != NULL ? script : "", has_query ? "/deep?" : "/",
                                    has_query ? request->query : "", NULL);
    fm_cgi_print(STDOUT_FILENO, request, &response);
    fm_response_done(&response);
    return FM_EXIT_DONE;
}

/* The front page and assets need no profile: no server is asked. */
static int answer_here(struct cgi *cgi, const struct fm_request *request)
{
    struct fm_response response;
    cgi->server = new_server(cgi);
    fm_server_handle(cgi->server, request, &response);
    fm_cgi_print(STDOUT_FILENO, request, &response);
    fm_response_done(&response);
    return FM_EXIT_DONE;
}

static bool is_page_of_profile(const struct fm_request *request)
{
    return g_str_has_prefix(request->path, "/deep") && request->query != NULL;
}

/* Whether it is the server that is meant, not the profile: then none is started for it. */
static bool is_server_command(const char *query, enum fm_command_id *ret)
{
    const char *end = strchr(query, '&');
    g_autofree char *encoded = end == NULL ? NULL : g_strndup(query, (gsize)(end - query));
    g_autofree char *text = encoded == NULL ? NULL : fm_query_percent_decode(encoded, NULL);
    struct fm_command command = {0};
    bool known = text != NULL && fm_command_parse(text, &command, NULL);
    *ret = command.id;
    fm_command_done(&command);
    return known && (*ret == FM_CMD_QUIT || *ret == FM_CMD_TIMEOUT);
}

static int answer_about(struct cgi *cgi, const struct fm_cgi_options *options, const char *path,
                        const struct fm_request *request)
{
    const struct fm_cgi_backend backend = {cgi, load, work, handle};
    enum fm_command_id id;
    if (!is_server_command(request->query, &id))
        return fm_cgi_answer(options, &backend, path, request, STDOUT_FILENO);
    if (id == FM_CMD_QUIT)
        return fm_cgi_command(options, path, request, 200, "No server was running.", STDOUT_FILENO);
    return fm_cgi_command(options, path, request, 404,
                          "No server of this profile is running: no time-out was set.",
                          STDOUT_FILENO);
}

static int answer(struct cgi *cgi, const struct fm_cgi_options *options,
                  const struct fm_request *request)
{
    if (request->path[0] == '\0')
        return redirect(request);
    if (!is_page_of_profile(request))
        return answer_here(cgi, request);
    const char *last = strrchr(request->query, '&');
    const char *encoded = last != NULL ? last + 1 : request->query;
    g_autoptr(GError) error = NULL;
    g_autofree char *name = fm_query_percent_decode(encoded, &error);
    g_autofree char *path = name == NULL ? NULL : fm_cgi_config_resolve(&cgi->config, name, &error);
    if (path == NULL)
        return print_message(request,
                             g_error_matches(error, FM_ERROR, FM_ERROR_NOT_FOUND) ? 404 : 400,
                             error->message);
    struct fm_request rewritten = *request;
    g_autofree char *query = NULL;
    if (g_str_has_suffix(name, ".localhost")) { /* links carry the plain name */
        g_autofree char *plain = fm_query_percent_encode(path);
        query = g_strdup_printf("%.*s%s", (int)(encoded - request->query), request->query, plain);
        rewritten.query = query;
    }
    return answer_about(cgi, options, path, &rewritten);
}

static bool is_foreign(void)
{
    const struct fm_request_source source = {
        .host = g_getenv("HTTP_HOST"),
        .fetch_site = g_getenv("HTTP_SEC_FETCH_SITE"),
        .origin = g_getenv("HTTP_ORIGIN"),
        .referer = g_getenv("HTTP_REFERER"),
        .purpose = g_getenv("HTTP_SEC_PURPOSE"),
        .user_agent = g_getenv("HTTP_USER_AGENT"),
    };
    return fm_request_is_foreign(&source);
}

static void request_from_environment(struct fm_request *ret)
{
    const char *method = g_getenv("REQUEST_METHOD");
    const char *path = g_getenv("PATH_INFO");
    *ret = (struct fm_request){
        .method = method != NULL ? method : "GET",
        .path = path != NULL ? path : "",
        .query = g_getenv("QUERY_STRING"),
        .if_none_match = g_getenv("HTTP_IF_NONE_MATCH"),
        .accept = g_getenv("HTTP_ACCEPT"),
        .foreign = is_foreign(),
    };
}

/* --- debugging: how text is understood, one line of standard input at a time --- */

enum decode { DECODE_NONE, DECODE_QUERY, DECODE_COMMAND, DECODE_PREFERENCES };

static char *decode_line(enum decode what, const char *line, GError **error)
{
    struct fm_query query = {0};
    struct fm_command command = {0};
    struct fm_preferences preferences;
    char *text = NULL;
    if (what == DECODE_QUERY && fm_query_parse(line, &query, error))
        text = fm_query_print(&query);
    else if (what == DECODE_COMMAND && fm_command_parse(line, &command, error))
        text = fm_command_print(&command);
    else if (what == DECODE_PREFERENCES && fm_preferences_parse(line, &preferences, error))
        text = fm_preferences_print(&preferences);
    fm_query_done(&query);
    g_free(command.module);
    return text;
}

static int decode(enum decode what)
{
    char *line = NULL;
    size_t size = 0;
    int status = FM_EXIT_DONE;
    while (getline(&line, &size, stdin) >= 0) {
        g_autoptr(GError) error = NULL;
        g_strchomp(line);
        g_autofree char *text = decode_line(what, line, &error);
        if (text != NULL) {
            printf("%s\n", text);
        } else {
            printf("error: %s\n", error->message);
            status = FM_EXIT_FAILED;
        }
    }
    free(line);
    return status;
}

/* --- the command --- */

struct settings {
    gboolean decode_query, decode_command, decode_preferences;
    gboolean no_server, no_detach, quit, list, version;
    gboolean root, modules, debug, write_query, canonical_clique, localhost;
    gboolean record_startup, record_loop;
    int clique, proc;
    int timeout_minutes;
    char *log_path;
};

static bool is_run_by_web_server(void)
{
    return g_getenv("GATEWAY_INTERFACE") != NULL || g_getenv("REQUEST_METHOD") != NULL;
}

static void fill_options(const struct settings *settings, const struct cgi *cgi,
                         struct fm_cgi_options *ret)
{
    bool by_hand = !is_run_by_web_server();
    enum fm_cgi_log_level level = settings->record_loop || settings->debug ? FM_CGI_LOG_ALL
                                  : settings->record_startup               ? FM_CGI_LOG_STARTUP
                                                                           : cgi->config.log_level;
    *ret = (struct fm_cgi_options){
        .runtime_dir = cgi->config.runtime_dir,
        .idle_ms = settings->timeout_minutes > 0 ? (uint64_t)settings->timeout_minutes * 60000
                                                 : cgi->config.idle_ms,
        .patience_ms = by_hand ? UINT64_MAX : cgi->config.patience_ms,
        .inhibit_fork = settings->no_server,
        .foreground = settings->no_detach,
        .servers_max = cgi->config.servers_max,
        .memory_max = cgi->config.memory_max,
        .roots = cgi->config.roots,
        .log_path = settings->log_path != NULL ? settings->log_path : cgi->config.log_path,
        .log_in_runtime =
            settings->record_startup || settings->record_loop || cgi->config.log_asked,
        .log_on_stderr = settings->debug,
        .log_level = level,
        .build_id = fm_program_build_id(),
    };
}

/* The original's options for the page to begin with; the first that is given counts. */
static char *first_command(const struct settings *settings)
{
    return settings->root         ? g_strdup("root/no")
           : settings->modules    ? g_strdup("program_modules")
           : settings->clique > 0 ? g_strdup_printf("clique/%d", settings->clique)
           : settings->proc > 0   ? g_strdup_printf("proc/%d", settings->proc)
                                  : NULL;
}

static void tell_query(const char *query)
{
    fm_console_print_error("fathom cgi: query: %s", query);
}

/* The real name of a file that may carry the old suffix, or NULL; free with g_free. */
static char *find_by_hand(const char *name)
{
    char *found = realpath(name, NULL);
    if (found == NULL && g_str_has_suffix(name, ".data.localhost")) {
        g_autofree char *plain = g_strndup(name, strlen(name) - strlen(".localhost"));
        found = realpath(plain, NULL);
    }
    char *ret = g_strdup(found);
    free(found);
    return ret;
}

/* Asks the servers of this user by the protocol, so that none that just starts is missed. */
static bool ask_own(struct cgi *cgi, const struct settings *settings, const char *path)
{
    g_autofree char *own = fm_cgi_directory_path(cgi->config.runtime_dir);
    struct stat status;
    if (stat(own, &status) != 0 || status.st_uid != geteuid())
        return true;
    g_autofree char *folder = g_path_get_dirname(path);
    GError *error = NULL;
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (!fm_roots_add(cgi->config.roots, folder, &error) || nowhere < 0) {
        if (nowhere >= 0)
            close(nowhere);
        return error == NULL || (fm_console_fail("cgi", error), false);
    }
    const struct fm_request request = {.method = "GET", .path = "/deep", .query = path};
    struct fm_cgi_options options;
    fill_options(settings, cgi, &options);
    (void)fm_cgi_quit(&options, path, &request, nowhere);
    close(nowhere);
    return true;
}

/* Other users' servers, and those of other builds, are told by a signal. */
static int quit(struct cgi *cgi, const struct settings *settings, const char *name)
{
    const char *runtime_dir = cgi->config.runtime_dir;
    g_autofree char *found = find_by_hand(name);
    g_autofree char *path = found != NULL ? g_strdup(found) : g_canonicalize_filename(name, NULL);
    if (runtime_dir != NULL && access(runtime_dir, R_OK | X_OK) != 0 && errno != ENOENT) {
        fm_console_print_error(
            "fathom cgi: runtime directory %s: %s, so its servers are not known\n", runtime_dir,
            g_strerror(errno));
        return FM_EXIT_FAILED;
    }
    unsigned servers = fm_cgi_servers_of(runtime_dir, path);
    if (found != NULL && !ask_own(cgi, settings, path))
        return FM_EXIT_FAILED;
    (void)fm_cgi_end_servers_of(runtime_dir, path);
    unsigned left = fm_cgi_servers_of(runtime_dir, path);
    if (left > 0) {
        fm_console_print_error("fathom cgi: %u of the servers of %s did not end: they are another "
                               "user's, or still answer (fathom cgi --list)\n",
                               left, path);
        return FM_EXIT_FAILED;
    }
    if (servers == 0)
        printf("No server of %s is running.\n", path);
    else
        printf("%u server%s of %s ended.\n", servers, servers == 1 ? "" : "s", path);
    return fflush(stdout) == 0 ? FM_EXIT_DONE : FM_EXIT_FAILED;
}

/* By hand: QUERY names the file itself, which need not be below a root. */
static int run_by_hand(struct cgi *cgi, const struct settings *settings, const char *query)
{
    const char *last = strrchr(query, '&');
    const char *name = last != NULL ? last + 1 : query;
    g_autofree char *canonical = find_by_hand(name);
    if (canonical == NULL) {
        fm_console_print_error("fathom cgi: %s: no such file", name);
        return FM_EXIT_FAILED;
    }
    g_autofree char *folder = g_path_get_dirname(canonical);
    GError *error = NULL;
    if (!fm_roots_add(cgi->config.roots, folder, &error))
        return fm_console_fail("cgi", error);
    g_autofree char *encoded = fm_query_percent_encode(canonical);
    g_autofree char *command =
        last != NULL ? g_strndup(query, (gsize)(last - query)) : first_command(settings);
    g_autofree char *whole =
        command == NULL ? g_strdup(encoded) : g_strconcat(command, "&", encoded, NULL);
    if (settings->write_query)
        tell_query(whole);
    const struct fm_request request = {.method = "GET", .path = "/deep", .query = whole};
    struct fm_cgi_options options;
    fill_options(settings, cgi, &options);
    return answer(cgi, &options, &request);
}

static int list(const struct cgi *cgi)
{
    g_autoptr(GString) text = g_string_new(NULL);
    fm_cgi_list(cgi->config.runtime_dir, text);
    fputs(text->str, stdout);
    return fflush(stdout) == 0 ? FM_EXIT_DONE : FM_EXIT_FAILED;
}

static int run(struct cgi *cgi, const struct settings *settings, int argc, char **argv)
{
    if (settings->list)
        return list(cgi);
    if (settings->quit && argc != 2)
        return fm_console_usage("cgi", "--quit: expected the FILE whose servers end");
    if (settings->quit)
        return quit(cgi, settings, argv[1]);
    if (argc > 1)
        return run_by_hand(cgi, settings, argv[1]);
    if (!is_run_by_web_server())
        return fm_console_usage("cgi", "no request: expected a web server's environment, or "
                                       "'CMD&PREFS&FILE' as argument");
    struct fm_request request;
    struct fm_cgi_options options;
    request_from_environment(&request);
    fill_options(settings, cgi, &options);
    return answer(cgi, &options, &request);
}

static int parse(struct settings *settings, int *argc, char ***argv)
{
    static gboolean accepted; /* options that change nothing */
    const GOptionEntry entries[] = {
        {"server-process", 's', G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &accepted, NULL, NULL},
        {"no-server-process", 0, 0, G_OPTION_ARG_NONE, &settings->no_server,
         "Answer one request and end; leave no server behind", NULL},
        {"detach-process", 0, G_OPTION_FLAG_HIDDEN, G_OPTION_ARG_NONE, &accepted, NULL, NULL},
        {"no-detach-process", 0, 0, G_OPTION_ARG_NONE, &settings->no_detach,
         "Serve in the foreground, without forking", NULL},
        {"quit", 'q', 0, G_OPTION_ARG_NONE, &settings->quit, "Tell the servers of FILE to end",
         NULL},
        {"list", 'l', 0, G_OPTION_ARG_NONE, &settings->list, "List the running servers", NULL},
        {"timeout", 't', 0, G_OPTION_ARG_INT, &settings->timeout_minutes,
         "End a server after MINUTES without requests", "MINUTES"},
        {"root", 'r', 0, G_OPTION_ARG_NONE, &settings->root, "Show the root clique", NULL},
        {"modules", 'm', 0, G_OPTION_ARG_NONE, &settings->modules, "Show the modules", NULL},
        {"clique", 'C', 0, G_OPTION_ARG_INT, &settings->clique, "Show clique N", "N"},
        {"proc", 'p', 0, G_OPTION_ARG_INT, &settings->proc, "Show procedure N", "N"},
        {"record-startup", 0, 0, G_OPTION_ARG_NONE, &settings->record_startup,
         "Log the start and end of a server", NULL},
        {"record-loop", 0, 0, G_OPTION_ARG_NONE, &settings->record_loop, "Log every query too",
         NULL},
        {"log", 0, 0, G_OPTION_ARG_FILENAME, &settings->log_path,
         "Log to FILE instead of cgi.log in the runtime directory", "FILE"},
        {"debug", 'd', 0, G_OPTION_ARG_NONE, &settings->debug,
         "Log everything on the standard error", NULL},
        {"write-query-string", 'w', 0, G_OPTION_ARG_NONE, &settings->write_query,
         "Print the query on the standard error", NULL},
        {"localhost", 0, 0, G_OPTION_ARG_NONE, &settings->localhost,
         "Do nothing (accepted; links are relative, so they work on any host)", NULL},
        {"canonical-clique", 'c', 0, G_OPTION_ARG_NONE, &settings->canonical_clique,
         "Do nothing (accepted; cliques are never merged)", NULL},
        {"decode", 0, 0, G_OPTION_ARG_NONE, &settings->decode_query,
         "Read queries from standard input and print how they are parsed", NULL},
        {"decode-cmd", 0, 0, G_OPTION_ARG_NONE, &settings->decode_command,
         "Read commands from standard input and print how they are parsed", NULL},
        {"decode-prefs", 0, 0, G_OPTION_ARG_NONE, &settings->decode_preferences,
         "Read preferences from standard input and print how they are parsed", NULL},
        {"version", 0, 0, G_OPTION_ARG_NONE, &settings->version, "Print version and build", NULL},
        {NULL},
    };
    return fm_cli_parse(argc, argv, entries, "[CMD[&PREFS]&FILE]",
                        "Answers one request as a CGI program. The first request for a "
                        "profile leaves a server\nbehind that answers the next ones.",
                        "fathom cgi --no-server-process 'menu&/srv/profiles/Deep.data'");
}

static int run_configured(const struct settings *settings, int argc, char **argv)
{
    struct cgi cgi = {0};
    g_autoptr(GError) error = NULL;
    if (!fm_cgi_config_read(&cgi.config, &error)) {
        fm_console_print_error("fathom cgi: %s", error->message); /* the web server's log */
        if (!is_run_by_web_server())
            return FM_EXIT_FAILED;
        struct fm_request request = {.method = "GET", .path = ""};
        return print_message(&request, 500, "The program is not configured properly.");
    }
    int status = run(&cgi, settings, argc, argv);
    fm_server_free(cgi.server);
    fm_cgi_config_done(&cgi.config);
    return status;
}

int fm_cmd_cgi(int argc, char **argv)
{
    fm_cgi_close_inherited();
    struct settings settings = {0};
    /* A web server may pass a query without "=" as arguments: what comes from outside must never
     * be taken for options. */
    if (is_run_by_web_server())
        argc = 1;
    int status = parse(&settings, &argc, &argv);
    if (status >= 0)
        return status;
    enum decode what = settings.decode_query         ? DECODE_QUERY
                       : settings.decode_command     ? DECODE_COMMAND
                       : settings.decode_preferences ? DECODE_PREFERENCES
                                                     : DECODE_NONE;
    if (settings.version)
        printf("fathom %s (build %s)\n", FATHOM_VERSION, fm_program_build_id());
    else if (what != DECODE_NONE)
        status = decode(what);
    else
        status = run_configured(&settings, argc, argv);
    g_free(settings.log_path);
    return MAX(status, FM_EXIT_DONE);
}

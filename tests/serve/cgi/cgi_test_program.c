/* SPDX-License-Identifier: Apache-2.0 */
/* A CGI program with the same protocol, and answers that a test can distinguish: the query names
 * a marker, a size and a delay. Everything else comes from the environment:
 *
 *   CGI_DATA, CGI_RUNTIME        the data file, the runtime directory
 *   CGI_IDLE_MS, CGI_DEADLINE_MS, CGI_REPLY_MS, CGI_LOAD_MS, CGI_BUILD, CGI_LOG
 *   CGI_WORK_MS, CGI_PATIENCE_MS how long reading continues after loading, how long a page waits
 * for it CGI_WORK_UNTIL               a file: reading continues until it exists QUERY_STRING
 * "marker=M&size=BYTES&delay=MS", "quit", "quit=M", or "command&..." as an example of a command for
 * a running server CGI_SERVERS_MAX, CGI_MEMORY_MAX */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "serve/cgi/cgi.h"

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

static char *field_of(const char *query, const char *name)
{
    g_auto(GStrv) parts = g_strsplit(query, "&", -1);
    g_autofree char *prefix = g_strconcat(name, "=", NULL);
    for (char **part = parts; *part != NULL; part++) {
        if (g_str_has_prefix(*part, prefix))
            return g_strdup(*part + strlen(prefix));
    }
    return NULL;
}

struct loaded {
    char *content;
    uint64_t work_left_ms;
};

static bool is_read(const struct loaded *loaded)
{
    const char *until = getenv("CGI_WORK_UNTIL");
    return loaded->work_left_ms == 0 && (until == NULL || access(until, F_OK) == 0);
}

/* Each load appends a line to DATA.loads, so that a test can count them. */
static bool load(void *user, const char *path, GError **error)
{
    struct loaded *loaded = user;
    g_autofree char *note = g_strconcat(path, ".loads", NULL);
    FILE *loads = fopen(note, "a");
    if (loads != NULL) {
        fprintf(loads, "%d\n", (int)getpid());
        fclose(loads);
    }
    g_usleep(number_from("CGI_LOAD_MS", 0) * 1000);
    loaded->work_left_ms = number_from("CGI_WORK_MS", 0);
    return g_file_get_contents(path, &loaded->content, NULL, error);
}

static enum fm_cgi_work work(void *user)
{
    struct loaded *loaded = user;
    if (is_read(loaded))
        return getenv("CGI_WORK_FAILS") != NULL ? FM_CGI_WORK_FAILED : FM_CGI_WORK_DONE;
    g_usleep(5000);
    loaded->work_left_ms -= MIN(loaded->work_left_ms, 5);
    return FM_CGI_WORK_MORE;
}

static void handle(void *user, const struct fm_request *request, struct fm_response *ret)
{
    const struct loaded *loaded = user;
    const char *query = request->query != NULL ? request->query : "";
    g_autofree char *marker = field_of(query, "marker");
    g_autofree char *size_text = field_of(query, "size");
    g_autofree char *delay = field_of(query, "delay");
    if (delay != NULL)
        g_usleep(strtoull(delay, NULL, 10) * 1000);
    size_t size = size_text == NULL ? 0 : strtoull(size_text, NULL, 10);
    GString *body = g_string_sized_new(size + 256);
    g_string_append_printf(body, "marker=%s data=%s whole=%s query-bytes=%zu\n",
                           marker == NULL ? "" : marker, loaded->content,
                           is_read(loaded) ? "yes" : "no", strlen(query));
    guint32 seed = marker == NULL ? 0 : g_str_hash(marker);
    while (body->len < size) {
        seed = seed * 1664525u + 1013904223u;
        g_string_append_c(body, (char)('a' + (seed >> 24) % 26));
    }
    *ret = (struct fm_response){
        .status = 200,
        .content_type = "text/plain; charset=utf-8",
        .body = g_string_free_to_bytes(body),
        .quit = g_str_has_prefix(query, "quit"),
    };
}

int main(void)
{
    fm_cgi_close_inherited();
    struct loaded loaded = {NULL, 0};
    const struct fm_cgi_backend backend = {&loaded, load, work, handle};
    const char *query = getenv("QUERY_STRING");
    g_autofree char *long_query = NULL;
    /* the query is too long for the environment: it is in a file */
    if (query != NULL && query[0] == '@') {
        if (!g_file_get_contents(query + 1, &long_query, NULL, NULL))
            return 3;
        query = long_query;
    }
    const struct fm_cgi_options options = {
        .runtime_dir = getenv("CGI_RUNTIME"),
        .idle_ms = number_from("CGI_IDLE_MS", 1000),
        .deadline_ms = number_from("CGI_DEADLINE_MS", 20000),
        .reply_ms = number_from("CGI_REPLY_MS", 10000),
        .patience_ms = number_from("CGI_PATIENCE_MS", 0),
        .servers_max = (unsigned)number_from("CGI_SERVERS_MAX", 0),
        .memory_max = number_from("CGI_MEMORY_MAX", 0),
        .log_in_runtime = getenv("CGI_LOG") == NULL,
        .inhibit_fork = getenv("CGI_NO_SERVER") != NULL,
        .log_path = getenv("CGI_LOG"),
        .log_level = FM_CGI_LOG_ALL,
        .build_id = getenv("CGI_BUILD"),
    };
    const struct fm_request request = {
        .method = "GET",
        .path = "/",
        .query = query != NULL ? query : "",
    };
    if (g_str_has_prefix(request.query, "command"))
        return fm_cgi_command(&options, getenv("CGI_DATA"), &request, 404, "No server.",
                              STDOUT_FILENO);
    if (strcmp(request.query, "quit") == 0)
        return fm_cgi_quit(&options, getenv("CGI_DATA"), &request, STDOUT_FILENO);
    int status = fm_cgi_answer(&options, &backend, getenv("CGI_DATA"), &request, STDOUT_FILENO);
    g_free(loaded.content);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* All input is limited: the address, the body (which is never used), the time until a request is
 * complete, the number of connections. */
#include "serve/http/http.h"

#include <glib-unix.h>
#include <libsoup/soup.h>
#include <string.h>
#include <sys/socket.h>

#include "base/error.h"
#include "engine/source.h"
#include "serve/http/internal.h"
#include "serve/response.h"
#include "serve/stream.h"

#define URL_BYTES_MAX 20000
#define BODY_BYTES_MAX (64L * 1024)
#define READ_MS_DEFAULT 30000
#define LINGER_MS 1000

struct fm_http {
    struct fm_server *server;
    SoupServer *soup;
    GMainLoop *loop;
    char *url, *token, *hosts[4]; /* "localhost:8080" and so on; NULL entries at the end */
    bool remote, stopping;
    unsigned read_ms, idle_minutes;
    guint idle_source, linger_source, signal_sources[3];
    bool stopped; /* fm_http_stop() ended the loop */
    struct fm_http_streams streams;
    struct fm_http_laters laters;
    struct fm_http_connections connections;
};

/* --- limits --- */

static void drop_connection(SoupServerMessage *message)
{
    GSocket *socket = soup_server_message_get_socket(message);
    if (socket != NULL)
        g_socket_shutdown(socket, TRUE, TRUE, NULL);
}

static void clear_timer(gpointer source)
{
    g_source_remove(GPOINTER_TO_UINT(source));
}

static gboolean on_too_slow(gpointer user)
{
    SoupServerMessage *message = user;
    g_object_steal_data(G_OBJECT(message), "fathom-timer");
    drop_connection(message);
    return G_SOURCE_REMOVE;
}

static void set_header(const char *name, const char *value, void *user)
{
    soup_message_headers_replace(soup_server_message_get_response_headers(user), name, value);
}

/* Before 3.3.0, libsoup neither closes nor reads a connection after an error between two requests
 * (the client closed it, or it timed out). Each would cost a descriptor, and the browser's next
 * request on it would never be answered. */
static bool may_keep_connections(void)
{
    return soup_check_version(3, 3, 0);
}

static void begin_answer(SoupServerMessage *message)
{
    if (!may_keep_connections())
        set_header("Connection", "close", message);
}

static void on_got_body(SoupServerMessage *message, gpointer user)
{
    (void)user;
    g_object_set_data(G_OBJECT(message), "fathom-timer", NULL);
    fm_http_connections_set_busy(message, true);
    begin_answer(message); /* headers that were set before "100 Continue" have been cleared */
}

static void on_got_chunk(SoupServerMessage *message, GBytes *chunk, gpointer user)
{
    (void)user;
    if (g_object_get_data(G_OBJECT(message), "fathom-refused") != NULL)
        return;
    gsize *got = g_object_get_data(G_OBJECT(message), "fathom-got");
    if (got == NULL) {
        got = g_new0(gsize, 1);
        g_object_set_data_full(G_OBJECT(message), "fathom-got", got, g_free);
    }
    *got += g_bytes_get_size(chunk);
    if (*got > BODY_BYTES_MAX)
        drop_connection(message);
}

/* Emitted when a connection opens, and at the begin of each further request. In between, the
 * socket's own time-out applies. */
static void on_request_started(SoupServer *soup, SoupServerMessage *message, gpointer user)
{
    (void)soup;
    struct fm_http *http = user;
    fm_http_connections_begin(&http->connections, message);
    GSocket *socket = soup_server_message_get_socket(message);
    if (socket != NULL)
        g_socket_set_timeout(socket, (http->read_ms + 999) / 1000);
    begin_answer(message);
    guint timer = g_timeout_add(http->read_ms, on_too_slow, message);
    g_object_set_data_full(G_OBJECT(message), "fathom-timer", GUINT_TO_POINTER(timer), clear_timer);
    g_signal_connect(message, "got-body", G_CALLBACK(on_got_body), NULL);
    g_signal_connect(message, "got-chunk", G_CALLBACK(on_got_chunk), NULL);
}

/* The last page has a stylesheet, which the browser requests next. */
static gboolean on_linger_end(gpointer user)
{
    struct fm_http *http = user;
    http->linger_source = 0;
    g_main_loop_quit(http->loop);
    return G_SOURCE_REMOVE;
}

static void on_request_ended(SoupServer *soup, SoupServerMessage *message, gpointer user)
{
    (void)soup;
    struct fm_http *http = user;
    g_object_set_data(G_OBJECT(message), "fathom-timer", NULL);
    fm_http_connections_set_busy(message, false);
    if (http->stopping && http->linger_source == 0)
        http->linger_source = g_timeout_add(LINGER_MS, on_linger_end, http);
}

static gboolean on_idle_end(gpointer user)
{
    struct fm_http *http = user;
    http->idle_source = 0;
    g_main_loop_quit(http->loop);
    return G_SOURCE_REMOVE;
}

static void arm_idle(struct fm_http *http)
{
    if (http->idle_source != 0)
        g_source_remove(http->idle_source);
    http->idle_source = http->idle_minutes == 0
                            ? 0
                            : g_timeout_add_seconds(http->idle_minutes * 60, on_idle_end, http);
}

/* --- one request --- */

static const char *header(SoupServerMessage *message, const char *name)
{
    return soup_message_headers_get_list(soup_server_message_get_request_headers(message), name);
}

static void send_response(SoupServerMessage *message, const struct fm_response *response)
{
    fm_response_each_header(response, set_header, message);
    set_header("Vary", "Accept, Accept-Encoding", message);
    g_autoptr(GBytes) packed = NULL;
    if (response->status != 304 && fm_http_accepts_gzip(header(message, "Accept-Encoding")))
        packed = fm_http_gzip(response->body);
    if (packed != NULL)
        set_header("Content-Encoding", "gzip", message);
    /* A strong validator identifies bytes, and compressed bytes are different ones. */
    if (response->etag != NULL && (packed != NULL || response->status == 304)) {
        const char *asked = header(message, "If-None-Match");
        bool gzip = packed != NULL || fm_http_etag_is_gzip(asked, response->etag);
        g_autofree char *etag =
            gzip ? fm_http_etag_add_gzip(response->etag) : g_strdup(response->etag);
        set_header("ETag", etag, message);
    }
    GBytes *body = packed != NULL ? packed : response->body;
    if (g_bytes_get_size(body) > 0)
        soup_message_body_append_bytes(soup_server_message_get_response_body(message), body);
    soup_server_message_set_status(message, response->status, fm_response_reason(response->status));
}

/* fm_response_done(). */
static void say(SoupServerMessage *message, unsigned status, const char *text,
                struct fm_response *ret)
{
    g_assert(status >= 400 && text != NULL); /* an error without a page of its own */
    const struct fm_request request = {
        .method = soup_server_message_get_method(message),
        .path = "/",
        .accept = header(message, "Accept"),
    };
    fm_response_message(&request, status, text, ret);
}

static void send_message(SoupServerMessage *message, unsigned status, const char *text)
{
    struct fm_response response;
    say(message, status, text, &response);
    send_response(message, &response);
    fm_response_done(&response);
}

/* DNS rebinding: a page of another site can send requests here under a host name that its owner
 * points to this machine. The Host header reveals it. */
static bool host_is_ours(const struct fm_http *http, SoupServerMessage *message)
{
    const char *host = header(message, "Host");
    if (http->remote)
        return host != NULL;
    for (unsigned i = 0; host != NULL && i < G_N_ELEMENTS(http->hosts); i++) {
        if (http->hosts[i] != NULL && g_ascii_strcasecmp(host, http->hosts[i]) == 0)
            return true;
    }
    return false;
}

static bool is_authorized(const struct fm_http *http, SoupServerMessage *message)
{
    if (http->token == NULL)
        return true;
    return fm_http_has_bearer(header(message, "Authorization"), http->token) ||
           fm_http_has_cookie(header(message, "Cookie"), http->token);
}

/* "/login?TOKEN" puts the token into a cookie, so that it does not stay in the address. */
static void answer_login(const struct fm_http *http, SoupServerMessage *message, const char *query)
{
    g_autofree char *token = query == NULL ? NULL : fm_query_percent_decode(query, NULL);
    if (token == NULL || !fm_http_same_secret(token, http->token)) {
        send_message(message, 403, "this is not the token");
        return;
    }
    g_autoptr(GString) cookie = g_string_new(FM_HTTP_COOKIE "=");
    fm_query_append_part(cookie, http->token);
    g_string_append(cookie, "; HttpOnly; SameSite=Strict; Path=/");
    struct fm_response response = {
        .status = 303, .location = g_strdup("/"), .body = g_bytes_new_static("", 0)};
    set_header("Set-Cookie", cookie->str, message);
    send_response(message, &response);
    fm_response_done(&response);
}

static void send_later(SoupServerMessage *message, struct fm_response *response)
{
    send_response(message, response);
    fm_response_done(response);
}

static void answer(struct fm_http *http, SoupServerMessage *message, const char *path,
                   const char *query)
{
    g_autofree char *if_none_match = fm_http_etags_without_gzip(header(message, "If-None-Match"));
    const struct fm_request_source source = {
        .host = header(message, "Host"),
        .fetch_site = header(message, "Sec-Fetch-Site"),
        .origin = header(message, "Origin"),
        .referer = header(message, "Referer"),
        .purpose = header(message, "Sec-Purpose"),
        .user_agent = header(message, "User-Agent"),
    };
    const struct fm_request request = {
        .method = soup_server_message_get_method(message),
        .path = path,
        .query = query,
        .if_none_match = if_none_match,
        .accept = header(message, "Accept"),
        /* The cookie of the token is not sent with requests of other sites. */
        .foreign = http->token == NULL && fm_request_is_foreign(&source),
        .can_stream = true,
        .can_wait = true,
    };
    struct fm_response response;
    fm_server_handle(http->server, &request, &response);
    if (response.later != NULL)
        fm_http_laters_begin(&http->laters, message, g_steal_pointer(&response.later));
    else if (response.stream != NULL)
        fm_http_streams_begin(&http->streams, message, &response);
    else
        send_response(message, &response);
    http->stopping |= response.quit;
    if (response.timeout_minutes > 0)
        http->idle_minutes = (unsigned)response.timeout_minutes;
    fm_response_done(&response);
}

static void on_request(SoupServer *soup, SoupServerMessage *message, const char *soup_path,
                       GHashTable *soup_query, gpointer user)
{
    (void)soup;
    (void)soup_path;
    (void)soup_query;
    struct fm_http *http = user;
    GUri *uri = soup_server_message_get_uri(message);
    const char *query = g_uri_get_query(uri);
    g_autofree char *path = fm_query_percent_decode(g_uri_get_path(uri), NULL);
    arm_idle(http);
    if (!host_is_ours(http, message))
        send_message(message, 421, "this server does not answer under that name");
    else if (strlen(g_uri_get_path(uri)) + (query == NULL ? 0 : strlen(query)) > URL_BYTES_MAX)
        send_message(message, 414, "the address is too long");
    else if (path == NULL)
        send_message(message, 400, "the address has a bad escape");
    else if (http->token != NULL && strcmp(path, "/login") == 0)
        answer_login(http, message, query);
    else if (!is_authorized(http, message))
        send_message(message, 403, "this server wants its token: /login?TOKEN");
    else
        answer(http, message, path, query);
    arm_idle(http);
}

static void append_header(const char *name, const char *value, void *user)
{
    g_string_append_printf(user, "%s: %s\r\n", name, value);
}

/* libsoup answers only after the whole body, which may never come, so the answer is written
 * directly to the socket. Further input is read and ignored for a moment: closing at once would
 * make the kernel reset the connection, and the client might lose the answer. */
static void refuse_at_once(SoupServerMessage *message, unsigned status, const char *text)
{
    struct fm_response response;
    say(message, status, text, &response);
    g_autoptr(GString) out = g_string_new(NULL);
    gsize size;
    const char *body = g_bytes_get_data(response.body, &size);
    g_string_append_printf(out, "HTTP/1.1 %u %s\r\nConnection: close\r\nContent-Length: %zu\r\n",
                           status, fm_response_reason(status), size);
    fm_response_each_header(&response, append_header, out);
    g_string_append(out, "\r\n");
    g_string_append_len(out, body, (gssize)size);
    fm_response_done(&response);
    soup_server_message_set_status(message, status, fm_response_reason(status));
    soup_message_body_set_accumulate(soup_server_message_get_request_body(message), FALSE);
    g_object_set_data(G_OBJECT(message), "fathom-refused", message);
    guint timer = g_timeout_add(LINGER_MS, on_too_slow, message);
    g_object_set_data_full(G_OBJECT(message), "fathom-timer", GUINT_TO_POINTER(timer), clear_timer);
    GSocket *socket = soup_server_message_get_socket(message);
    if (socket != NULL) {
        g_socket_send_with_blocking(socket, out->str, out->len, FALSE, NULL, NULL);
        g_socket_shutdown(socket, FALSE, TRUE, NULL);
    }
}

/* Before the body is read: refuses requests that announce a long one. */
static void on_headers(SoupServer *soup, SoupServerMessage *message, const char *path,
                       GHashTable *query, gpointer user)
{
    (void)soup;
    (void)path;
    (void)query;
    (void)user;
    SoupMessageHeaders *headers = soup_server_message_get_request_headers(message);
    if (soup_message_headers_get_encoding(headers) == SOUP_ENCODING_CONTENT_LENGTH &&
        soup_message_headers_get_content_length(headers) > BODY_BYTES_MAX)
        refuse_at_once(message, 413, "the request is too long");
}

/* --- start and end --- */

static bool listen_local(struct fm_http *http, uint16_t port, GError **error)
{
    g_autoptr(GError) both = NULL;
    if (soup_server_listen_local(http->soup, port, 0, &both))
        return true;
    /* If IPv6 is missing, listens on IPv4 only. */
    if (g_error_matches(both, G_IO_ERROR, G_IO_ERROR_ADDRESS_IN_USE) ||
        !soup_server_listen_local(http->soup, port, SOUP_SERVER_LISTEN_IPV4_ONLY, NULL)) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "cannot listen at port %u: %s", port,
                    both->message);
        return false;
    }
    return true;
}

static bool listen_remote(struct fm_http *http, const char *address, uint16_t port, GError **error)
{
    g_autoptr(GSocketAddress) at = g_inet_socket_address_new_from_string(address, port);
    g_autoptr(GError) problem = NULL;
    if (at == NULL) {
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE, "'%s' is not a numeric address", address);
        return false;
    }
    if (!soup_server_listen(http->soup, at, 0, &problem)) {
        g_set_error(error, FM_ERROR, FM_ERROR_IO, "cannot listen at %s, port %u: %s", address, port,
                    problem->message);
        return false;
    }
    http->remote = true;
    return true;
}

/* GLib's backlog is ten. Further connections would be retried by the client's kernel only a second
 * later. */
static void lengthen_queues(struct fm_http *http)
{
    GSList *listeners = soup_server_get_listeners(http->soup);
    for (GSList *link = listeners; link != NULL; link = link->next)
        listen(g_socket_get_fd(link->data), SOMAXCONN); /* on failure, the short one stays */
    g_slist_free(listeners);
}

static unsigned bound_port(struct fm_http *http)
{
    GSList *uris = soup_server_get_uris(http->soup);
    unsigned port = uris == NULL ? 0 : (unsigned)g_uri_get_port(uris->data);
    g_assert(port <= UINT16_MAX);
    g_slist_free_full(uris, (GDestroyNotify)g_uri_unref);
    return port;
}

static void make_names(struct fm_http *http, const char *listen)
{
    unsigned port = bound_port(http);
    static const char *const names[] = {"localhost", "127.0.0.1", "[::1]"};
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++)
        http->hosts[i] = g_strdup_printf("%s:%u", names[i], port);
    GString *url = g_string_new("http://");
    bool v6 = listen != NULL && strchr(listen, ':') != NULL;
    g_string_append_printf(url, v6 ? "[%s]:%u/" : "%s:%u/", listen == NULL ? "127.0.0.1" : listen,
                           port);
    if (http->token != NULL) {
        g_string_append(url, "login?");
        fm_query_append_part(url, http->token);
    }
    http->url = g_string_free(url, FALSE);
}

static bool check_options(const struct fm_http_options *options, GError **error)
{
    if (options->listen != NULL && options->token == NULL)
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                    "listening at an address other than loopback needs a token");
    else if (options->token != NULL && strlen(options->token) < FM_HTTP_TOKEN_BYTES_MIN)
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE, "the token must have at least %d bytes",
                    FM_HTTP_TOKEN_BYTES_MIN);
    else
        return true;
    return false;
}

bool fm_http_new(struct fm_server *server, const struct fm_http_options *options,
                 struct fm_http **ret, GError **error)
{
    if (!check_options(options, error))
        return false;
    struct fm_http *http = g_new0(struct fm_http, 1);
    http->server = server;
    http->token = g_strdup(options->token);
    http->read_ms = options->read_ms == 0 ? READ_MS_DEFAULT : options->read_ms;
    http->idle_minutes = options->idle_minutes;
    http->loop = g_main_loop_new(NULL, FALSE);
    fm_http_streams_init(&http->streams);
    fm_http_laters_init(&http->laters, send_later);
    fm_http_connections_init(&http->connections);
    fm_streams_limit(server, http->connections.max / 2); /* the others are for ordinary requests */
    http->soup = soup_server_new("server-header", "fathom", NULL);
    g_signal_connect(http->soup, "request-started", G_CALLBACK(on_request_started), http);
    g_signal_connect(http->soup, "request-finished", G_CALLBACK(on_request_ended), http);
    g_signal_connect(http->soup, "request-aborted", G_CALLBACK(on_request_ended), http);
    soup_server_add_early_handler(http->soup, NULL, on_headers, http, NULL);
    soup_server_add_handler(http->soup, NULL, on_request, http, NULL);
    bool bound = options->listen == NULL
                     ? listen_local(http, options->port, error)
                     : listen_remote(http, options->listen, options->port, error);
    if (!bound) {
        fm_http_free(http);
        return false;
    }
    lengthen_queues(http);
    make_names(http, options->listen);
    *ret = http;
    return true;
}

const char *fm_http_url(const struct fm_http *http)
{
    return http->url;
}

void fm_http_stop(struct fm_http *http)
{
    http->stopped = true;
    g_main_loop_quit(http->loop);
}

static gboolean on_signal(gpointer user)
{
    fm_http_stop(user);
    return G_SOURCE_CONTINUE;
}

void fm_http_heed_signals(struct fm_http *http)
{
    if (http->signal_sources[0] != 0)
        return;
    http->signal_sources[0] = g_unix_signal_add(SIGINT, on_signal, http);
    http->signal_sources[1] = g_unix_signal_add(SIGTERM, on_signal, http);
    /* For a closed terminal; under nohup SIGHUP is ignored, and stays so. */
    struct sigaction hangup;
    bool ignored = sigaction(SIGHUP, NULL, &hangup) == 0 && hangup.sa_handler == SIG_IGN;
    http->signal_sources[2] = ignored ? 0 : g_unix_signal_add(SIGHUP, on_signal, http);
}

static void ignore_signals(struct fm_http *http)
{
    for (unsigned i = 0; i < G_N_ELEMENTS(http->signal_sources); i++)
        if (http->signal_sources[i] != 0)
            g_source_remove(http->signal_sources[i]);
    memset(http->signal_sources, 0, sizeof http->signal_sources);
}

bool fm_http_run_until_stopped(struct fm_http *http)
{
    http->stopped = false;
    arm_idle(http);
    GSource *work = fm_engine_source_new(fm_server_engine(http->server));
    g_source_attach(work, NULL);
    g_main_loop_run(http->loop);
    g_source_destroy(work);
    g_source_unref(work);
    if (http->idle_source != 0)
        g_source_remove(http->idle_source);
    if (http->linger_source != 0)
        g_source_remove(http->linger_source);
    http->idle_source = http->linger_source = 0;
    return http->stopped && !http->stopping;
}

bool fm_http_run(struct fm_http *http)
{
    fm_http_heed_signals(http);
    bool stopped = fm_http_run_until_stopped(http);
    ignore_signals(http);
    return stopped;
}

void fm_http_free(struct fm_http *http)
{
    if (http == NULL)
        return;
    g_signal_handlers_disconnect_by_data(http->soup, http);
    fm_http_laters_clear(&http->laters);
    fm_http_streams_clear(&http->streams);
    soup_server_disconnect(http->soup);
    g_object_unref(http->soup);
    fm_http_connections_clear(&http->connections);
    g_main_loop_unref(http->loop);
    for (unsigned i = 0; i < G_N_ELEMENTS(http->hosts); i++)
        g_free(http->hosts[i]);
    g_free(http->token);
    g_free(http->url);
    g_free(http);
}

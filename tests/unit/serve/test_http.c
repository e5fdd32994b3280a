/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds of the HTTP door that need short times: a thread is the client, the main loop the server.
 */
#include <gio/gio.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "serve/http/http.h"
#include "tests/patience.h"

static uint16_t port_of(const char *url)
{
    return (uint16_t)g_ascii_strtoull(strrchr(url, ':') + 1, NULL, 10);
}

static GSocketConnection *connect_to(uint16_t port)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GSocketClient) client = g_socket_client_new();
    g_socket_client_set_timeout(client, (guint)patience());
    GSocketConnection *connection =
        g_socket_client_connect_to_host(client, "127.0.0.1", port, NULL, &error);
    g_assert_no_error(error);
    return connection;
}

static void send_text(GSocketConnection *connection, const char *text)
{
    g_output_stream_write_all(g_io_stream_get_output_stream(G_IO_STREAM(connection)), text,
                              strlen(text), NULL, NULL, NULL);
}

/* Bytes until the server closes; fails the test when it does not within the socket's time. */
static gsize read_to_end(GSocketConnection *connection, char *buffer, gsize size)
{
    g_autoptr(GError) error = NULL;
    gsize got = 0;
    g_input_stream_read_all(g_io_stream_get_input_stream(G_IO_STREAM(connection)), buffer, size,
                            &got, NULL, &error);
    g_assert_false(g_error_matches(error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT));
    return got;
}

/* The pause keeps all lines together far below the bound of a request's size. */
static bool has_ended_before_next_line(GSocket *socket)
{
    g_usleep(50000);
    return g_socket_condition_check(socket, G_IO_IN | G_IO_HUP | G_IO_ERR) != 0 ||
           g_socket_send(socket, "A: b\r\n", 6, NULL, NULL) < 0;
}

/* Headers without end, a line now and then: each is something, and together they never are a
 * request. */
static void expect_end_of_trickle(uint16_t port)
{
    GSocketConnection *connection = connect_to(port);
    GSocket *socket = g_socket_connection_get_socket(connection);
    send_text(connection, "GET / HTTP/1.1\r\n");
    check_until(has_ended_before_next_line(socket));
    g_object_unref(connection);
}

/* The response to a request that does not ask for an end of the connection; "" when it was closed
 * before. Fails the test when there is neither within the socket's time. */
static char *ask(GSocketConnection *connection, uint16_t port)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *request =
        g_strdup_printf("HEAD / HTTP/1.1\r\nHost: localhost:%u\r\n\r\n", port);
    char buffer[4096];
    send_text(connection, request);
    gssize got = g_input_stream_read(g_io_stream_get_input_stream(G_IO_STREAM(connection)), buffer,
                                     sizeof buffer, NULL, &error);
    g_assert_false(g_error_matches(error, G_IO_ERROR, G_IO_ERROR_TIMED_OUT));
    return g_strndup(buffer, (gsize)MAX(got, 0));
}

static bool is_answered(uint16_t port, GSocketConnection **ret_connection, char **ret_answer)
{
    g_clear_object(ret_connection);
    g_free(*ret_answer);
    *ret_connection = connect_to(port);
    *ret_answer = ask(*ret_connection, port);
    return (*ret_answer)[0] != '\0';
}

/* The response to one who connects and asks at once. A client that was not given the processor in
 * between may be too slow for the server: it connects again, as browsers do. */
static GSocketConnection *ask_anew(uint16_t port, char **ret_answer)
{
    GSocketConnection *connection = NULL;
    *ret_answer = NULL;
    check_until(is_answered(port, &connection, ret_answer));
    return connection;
}

static gpointer slow_clients(gpointer user)
{
    uint16_t port = port_of(user);
    char buffer[4096];
    expect_end_of_trickle(port);
    /* Headers that never end, and a connection that says nothing. */
    GSocketConnection *half = connect_to(port), *silent = connect_to(port);
    send_text(half, "GET / HTTP/1.1\r\nHost: localhost\r\n");
    g_assert_cmpuint(read_to_end(half, buffer, sizeof buffer), ==, 0);
    g_assert_cmpuint(read_to_end(silent, buffer, sizeof buffer), ==, 0);
    /* A body that never comes. */
    GSocketConnection *body = connect_to(port);
    send_text(body, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nx");
    read_to_end(body, buffer, sizeof buffer);
    /* The server still answers others. */
    g_autofree char *answer = NULL;
    GSocketConnection *good = ask_anew(port, &answer);
    g_assert_true(g_str_has_prefix(answer, "HTTP/1.1 200"));
    GSocketConnection *all[] = {half, silent, body, good};
    for (size_t i = 0; i < G_N_ELEMENTS(all); i++)
        g_object_unref(all[i]);
    kill(getpid(), SIGTERM);
    return NULL;
}

/* A reader who looks at a page for longer than the server waits, and goes on then. */
static gpointer idle_client(gpointer user)
{
    uint16_t port = port_of(user);
    char rest[4096];
    g_autofree char *first = NULL, *again = NULL;
    GSocketConnection *kept = ask_anew(port, &first);
    g_assert_true(g_str_has_prefix(first, "HTTP/1.1 200"));
    g_usleep(2 * G_USEC_PER_SEC);
    g_autofree char *later = ask(kept, port);
    /* Browsers ask again when they are told of an end, and only then. */
    if (later[0] != '\0')
        g_assert_true(g_str_has_prefix(later, "HTTP/1.1 200"));
    GSocketConnection *fresh = ask_anew(port, &again);
    g_assert_true(g_str_has_prefix(again, "HTTP/1.1 200"));
    read_to_end(kept, rest, sizeof rest);
    read_to_end(fresh, rest, sizeof rest);
    g_object_unref(kept);
    g_object_unref(fresh);
    kill(getpid(), SIGTERM);
    return NULL;
}

static void serve_until_done(GThreadFunc client_function, unsigned read_ms)
{
    g_autoptr(GError) error = NULL;
    struct fm_server *server = fm_server_new(NULL);
    struct fm_http *http;
    bool bound = fm_http_new(server, &(struct fm_http_options){.read_ms = read_ms}, &http, &error);
    g_assert_no_error(error);
    g_assert_true(bound);
    g_autofree char *url = g_strdup(fm_http_url(http));
    url[strlen(url) - 1] = '\0';
    GThread *client = g_thread_new("client", client_function, url);
    fm_http_run(http); /* until SIGTERM */
    g_thread_join(client);
    fm_http_free(http);
    fm_server_free(server);
}

static void slow_clients_are_dropped(void)
{
    serve_until_done(slow_clients, 200);
}

static void idle_clients_are_served(void)
{
    serve_until_done(idle_client, 1000);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/serve/http/slow-clients", slow_clients_are_dropped);
    g_test_add_func("/serve/http/idle-clients", idle_clients_are_served);
    return g_test_run();
}

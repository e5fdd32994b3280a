/* SPDX-License-Identifier: Apache-2.0 */
/* The open connections of the HTTP server. libsoup reports only requests, and does not report the
 * end of connections without request. A connection is open as long as its socket object exists. */
#include <sys/resource.h>

#include "serve/http/internal.h"

#define CONNECTIONS_MAX 256
#define CONNECTIONS_MIN 16
#define KEY "fathom-connection"

struct connection {
    GSocket *socket;                 /* borrowed: it owns this */
    struct fm_http_connections *all; /* NULL: no longer in the list */
    bool busy;                       /* a complete request has not yet been answered */
};

static unsigned connections_max(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return CONNECTIONS_MAX;
    /* Most descriptors are needed for files. */
    return (unsigned)CLAMP(limit.rlim_cur / 4, CONNECTIONS_MIN, CONNECTIONS_MAX);
}

void fm_http_connections_init(struct fm_http_connections *all)
{
    *all = (struct fm_http_connections){.list = G_QUEUE_INIT, .max = connections_max()};
}

static void forget(gpointer data)
{
    struct connection *connection = data;
    if (connection->all != NULL)
        g_queue_remove(&connection->all->list, connection);
    g_free(connection);
}

/* Sockets may exist longer than the server. */
void fm_http_connections_clear(struct fm_http_connections *all)
{
    struct connection *connection;
    while ((connection = g_queue_pop_head(&all->list)) != NULL)
        connection->all = NULL;
}

static struct connection *of_message(SoupServerMessage *message)
{
    GSocket *socket = soup_server_message_get_socket(message);
    return socket == NULL ? NULL : g_object_get_data(G_OBJECT(socket), KEY);
}

/* Closes the connection that has been without a request for the longest time, the newest one last.
 * libsoup closes it when it next looks at it, but may keep the object for ever. */
static void make_room(struct fm_http_connections *all)
{
    for (GList *link = all->list.head; link != NULL; link = link->next) {
        struct connection *connection = link->data;
        if (!connection->busy) {
            g_queue_delete_link(&all->list, link);
            connection->all = NULL;
            g_socket_shutdown(connection->socket, TRUE, TRUE, NULL);
            return;
        }
    }
}

void fm_http_connections_begin(struct fm_http_connections *all, SoupServerMessage *message)
{
    GSocket *socket = soup_server_message_get_socket(message);
    if (socket == NULL || of_message(message) != NULL)
        return;
    struct connection *connection = g_new0(struct connection, 1);
    connection->socket = socket;
    connection->all = all;
    g_queue_push_tail(&all->list, connection);
    g_object_set_data_full(G_OBJECT(socket), KEY, connection, forget);
    if (all->list.length > all->max)
        make_room(all);
}

void fm_http_connections_set_busy(SoupServerMessage *message, bool busy)
{
    struct connection *connection = of_message(message);
    if (connection != NULL)
        connection->busy = busy;
}

void fm_http_connections_forget(GSocket *socket)
{
    g_object_set_data(G_OBJECT(socket), KEY, NULL);
}

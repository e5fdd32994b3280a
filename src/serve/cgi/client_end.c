/* SPDX-License-Identifier: Apache-2.0 */
/* Step C8: removes a client's files, and prints its page. */
#include <unistd.h>

#include "serve/cgi/internal.h"
#include "serve/response.h"

void fm_cgi_client_release_mutex(struct fm_cgi_client *client)
{
    if (client->mutex_fd >= 0 && client->serverless)
        unlinkat(client->place->dir_fd, client->place->mutex_name, 0); /* as a server does in T5 */
    fm_cgi_ending_note_mutex(false); /* before another process may hold it */
    if (client->mutex_fd >= 0)
        close(client->mutex_fd);
    client->mutex_fd = -1;
}

void fm_cgi_client_cleanup(struct fm_cgi_client *client)
{
    g_assert(client->place != NULL || (client->want_fd < 0 && client->mutex_fd < 0));
    if (client->want_fd >= 0) {
        /* it may have been made, but not opened */
        unlinkat(client->place->dir_fd, client->reply_name, 0);
        unlinkat(client->place->dir_fd, client->want_name, 0);
    }
    if (client->reply_fd >= 0)
        close(client->reply_fd);
    if (client->want_fd >= 0)
        close(client->want_fd);
    client->reply_fd = client->want_fd = -1;
    fm_cgi_client_release_mutex(client);
}

int fm_cgi_client_finish(struct fm_cgi_client *client, struct fm_response *response)
{
    g_assert(client->out_fd >= 0 && response->body != NULL);
    fm_cgi_client_cleanup(client);
    fm_cgi_stop_point("C8");
    fm_cgi_ending_note_printing();
    bool printed = fm_cgi_print(client->out_fd, client->request, response);
    fm_response_done(response);
    return printed ? 0 : 1;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "live/attached.h"

#include "base/console/notices.h"
#include "live/address.h"
#include "live/growing.h"
#include "live/token.h"
#include "serve/http/http.h"

static void tell_failure(void *user, const GError *error)
{
    (void)user;
    fm_console_notice("record", error->message);
}

static bool serve(struct fm_server *server, struct fm_live_growing *growing, const char *path,
                  const struct fm_live_options *options, const char *token, GError **error)
{
    const struct fm_http_options http_options = {
        .port = (uint16_t)options->port, .listen = options->listen, .token = token};
    struct fm_http *http;
    if (!fm_server_add(server, path, error) || !fm_http_new(server, &http_options, &http, error))
        return false;
    fm_live_growing_begin(growing, server);
    g_autofree char *menu = token != NULL ? g_strdup("") : fm_server_menu_url(path);
    g_autofree char *url = g_strconcat(fm_http_url(http), menu, NULL);
    fm_http_heed_signals(http);
    fm_live_show_address(url, !options->no_open,
                         "Open it in a browser on this machine; Ctrl-C ends.", stderr);
    fm_http_run(http);
    fm_live_growing_end(growing);
    fm_http_free(http);
    return true;
}

bool fm_live_attached(const struct fm_live_options *options,
                      const struct fm_sampler_options *sampler, const char *finished,
                      int *ret_status, GError **error)
{
    const struct fm_server_options server_options = {.background = true, .failed = tell_failure};
    g_autofree char *token = g_strdup(options->token), *path = NULL;
    if (!fm_live_token_find(&token, options->token_file, error))
        return false;
    struct fm_live_growing *growing = fm_live_growing_new();
    /* First, as the server may have threads. */
    bool done = fm_live_growing_sample(growing, sampler, finished, &path, error);
    if (done) {
        struct fm_server *server = fm_server_new(&server_options);
        done = serve(server, growing, path, options, token, error);
        *ret_status = fm_live_growing_end_sampling(growing);
        fm_server_free(server);
    }
    fm_live_growing_free(growing);
    return done;
}

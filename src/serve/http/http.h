/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP server: libsoup on a GLib main loop. It binds loopback addresses unless configured
 * otherwise, and then requires a token. */
#pragma once

#include "serve/serve.h"

#define FM_HTTP_TOKEN_BYTES_MIN 16

struct fm_http_options {
    uint16_t port;      /* 0 = any free one */
    const char *listen; /* NULL: 127.0.0.1 and ::1; else a numeric address, which needs a token */
    const char *token;  /* NULL: none; else every request must have it */
    unsigned idle_minutes; /* ends after that time without requests; 0 = never */
    unsigned read_ms;      /* a request must have arrived within this; 0 = 30 s */
};

struct fm_http;

/* Binds; requests are answered in fm_http_run(). The server is borrowed. Errors: FM_ERROR_IO (the
 * address cannot be bound), FM_ERROR_USAGE (a remote address without a token, a token that is too
 * short). */
FM_MUST_USE bool fm_http_new(struct fm_server *server, const struct fm_http_options *options,
                             struct fm_http **ret, GError **error);
/* "http://127.0.0.1:8080/", with the token when there is one; borrowed. */
const char *fm_http_url(const struct fm_http *http);
/* From now on SIGINT, SIGTERM and SIGHUP end fm_http_run(), which else begins to heed them. To be
 * called before the address is told: who reads that may end the server at once. */
void fm_http_heed_signals(struct fm_http *http);
/* Serves until a quit command, SIGINT, SIGTERM or the idle time-out. False: it was a quit command
 * or the time-out. */
bool fm_http_run(struct fm_http *http);
/* As fm_http_run(), for callers that handle signals: fm_http_stop() ends it, and then it returns
 * true. Either may be called again afterwards. */
FM_MUST_USE bool fm_http_run_until_stopped(struct fm_http *http);
void fm_http_stop(struct fm_http *http);
void fm_http_free(struct fm_http *http);

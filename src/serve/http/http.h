/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP door: libsoup on a GLib main loop. Binds loopback unless told otherwise, and then only
 * with a token. */
#pragma once

#include "serve/serve.h"

#define FM_HTTP_TOKEN_BYTES_MIN 16

struct fm_http_options {
    uint16_t port;      /* 0 = any free one */
    const char *listen; /* NULL: 127.0.0.1 and ::1; else a numeric address, which needs a token */
    const char *token;  /* NULL: none; else every request must bring it */
    unsigned idle_minutes; /* ends when nothing was asked for so long; 0 = never */
    unsigned read_ms;      /* a request must have arrived within this; 0 = 30 s */
};

struct fm_http;

/* Binds; answers begin with fm_http_run(). The server is borrowed. Errors: FM_ERROR_IO (the address
 * cannot be bound), FM_ERROR_USAGE (a remote address without a token, a token too short). */
FM_MUST_USE bool fm_http_new(struct fm_server *server, const struct fm_http_options *options,
                             struct fm_http **ret, GError **error);
/* "http://127.0.0.1:8080/", with the token when there is one; borrowed. */
const char *fm_http_url(const struct fm_http *http);
/* Serves until a quit command, SIGINT, SIGTERM or the idle time-out. False: it was a quit command
 * or the time-out. */
bool fm_http_run(struct fm_http *http);
/* As fm_http_run(), for callers that handle signals: ended by fm_http_stop(), and true then. May
 * be followed by either once more. */
FM_MUST_USE bool fm_http_run_until_stopped(struct fm_http *http);
void fm_http_stop(struct fm_http *http);
void fm_http_free(struct fm_http *http);

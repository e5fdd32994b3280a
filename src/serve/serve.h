/* SPDX-License-Identifier: Apache-2.0 */
/* handle(request) -> response, without sockets. HTTP, CGI, tests and the fuzzer call the same
 * function: the same request gives byte-equal bodies through each door. */
#pragma once

#include "report/report.h"

struct fm_server;

struct fm_server_options {
    bool inline_assets;
};

struct fm_server *fm_server_new(const struct fm_server_options *options);
void fm_server_free(struct fm_server *server);

/* Makes a recording available; opened at once, so that errors are told here. The server names it
 * by its path as given. Opening the same file (device and inode) twice gives one instance. */
FM_MUST_USE bool fm_server_add(struct fm_server *server, const char *path,
                               const struct fm_progress *progress, GError **error);
/* Files below this folder may be named in requests, and are opened when first asked for. */
FM_MUST_USE bool fm_server_add_root(struct fm_server *server, const char *folder, GError **error);

struct fm_request {
    const char *method;        /* "GET", "HEAD", "POST" */
    const char *path;          /* "/", "/deep", "/assets/style.css"; percent-decoded */
    const char *query;         /* raw, still encoded; NULL = none */
    const char *if_none_match; /* NULL = none */
    const char *accept;        /* NULL = none; "application/json" selects JSON */
};

struct fm_response {
    unsigned status;
    const char *content_type;
    char *etag;          /* NULL = none; quoted as in HTTP */
    char *location;      /* for redirects */
    GBytes *body;        /* never NULL */
    bool quit;           /* the server shall end after this answer */
    int timeout_minutes; /* > 0: new idle time-out */
};

void fm_server_handle(struct fm_server *server, const struct fm_request *request,
                      struct fm_response *ret);
void fm_response_clear(struct fm_response *response);

/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the HTTP server: tokens, gzip and its effect on ETag; open connections and streams. */
#pragma once

#include <libsoup/soup.h>
#include <stdbool.h>

#include "serve/serve.h"

#define FM_HTTP_COOKIE "fathom_token"

/* Compares in constant time. */
bool fm_http_same_secret(const char *a, const char *b);
/* "Bearer TOKEN"; NULL is allowed for the headers. */
bool fm_http_has_bearer(const char *authorization, const char *token);
/* "a=b; fathom_token=TOKEN", the token percent-encoded. */
bool fm_http_has_cookie(const char *cookies, const char *token);

bool fm_http_accepts_gzip(const char *accept_encoding);
/* NULL when the body is too short to be worth compressing. */
GBytes *fm_http_gzip(GBytes *body);
/* "\"abc\"" -> "\"abc-gz\"". */
char *fm_http_etag_add_gzip(const char *etag);
/* If-None-Match without the suffixes; NULL stays NULL. */
char *fm_http_etags_without_gzip(const char *if_none_match);
bool fm_http_etag_is_gzip(const char *if_none_match, const char *etag);

/* --- stream.c --- */

struct fm_http_streams {
    GPtrArray *list; /* struct fm_http_stream */
};
void fm_http_streams_init(struct fm_http_streams *all);
/* Ends all of them. */
void fm_http_streams_clear(struct fm_http_streams *all);
/* Takes ownership of response->stream, and of the message's connection as soon as libsoup has
 * released it. */
void fm_http_streams_begin(struct fm_http_streams *all, SoupServerMessage *message,
                           struct fm_response *response);

/* --- later.c --- */

/* An answer is complete: fm_response_done() is the receiver's. */
typedef void fm_http_later_function(SoupServerMessage *message, struct fm_response *response);
struct fm_http_laters {
    GPtrArray *list; /* struct waiting */
    fm_http_later_function *send;
};
void fm_http_laters_init(struct fm_http_laters *all, fm_http_later_function *send);
/* Drops all of them. */
void fm_http_laters_clear(struct fm_http_laters *all);
/* Takes ownership of `later`, and makes the answer in turns on the main loop; the first one now. */
void fm_http_laters_begin(struct fm_http_laters *all, SoupServerMessage *message,
                          struct fm_later *later);

/* --- connections.c --- */

struct fm_http_connections {
    GQueue list; /* struct connection, the oldest at the head */
    unsigned max;
};
void fm_http_connections_init(struct fm_http_connections *all);
void fm_http_connections_clear(struct fm_http_connections *all);
/* Called for each message that begins. With too many connections, closes one without request. */
void fm_http_connections_begin(struct fm_http_connections *all, SoupServerMessage *message);
/* Marks whether a complete request on its connection is unanswered. */
void fm_http_connections_set_busy(SoupServerMessage *message, bool busy);
/* Forgets a closed socket that was taken from libsoup, which may keep the object. */
void fm_http_connections_forget(GSocket *socket);

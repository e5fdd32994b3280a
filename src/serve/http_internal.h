/* SPDX-License-Identifier: Apache-2.0 */
/* Headers that the HTTP door reads and writes itself: tokens, gzip and what it does to ETag. */
#pragma once

#include <glib.h>
#include <stdbool.h>

#define FM_HTTP_COOKIE "fathom_token"

/* Takes the same time whatever the texts have in common. */
bool fm_http_same_secret(const char *a, const char *b);
/* "Bearer TOKEN"; NULL is allowed for the headers. */
bool fm_http_has_bearer(const char *authorization, const char *token);
/* "a=b; fathom_token=TOKEN", the token percent-encoded. */
bool fm_http_has_cookie(const char *cookies, const char *token);

bool fm_http_accepts_gzip(const char *accept_encoding);
/* NULL when the body is too short to gain from it. */
GBytes *fm_http_gzip(GBytes *body);
/* "\"abc\"" -> "\"abc-gz\"". */
char *fm_http_etag_add_gzip(const char *etag);
/* If-None-Match with the endings taken off; NULL stays NULL. */
char *fm_http_etags_without_gzip(const char *if_none_match);
bool fm_http_etag_is_gzip(const char *if_none_match, const char *etag);

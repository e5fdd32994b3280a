/* SPDX-License-Identifier: Apache-2.0 */
/* Error pages and headers, for both HTTP and CGI. */
#pragma once

#include "pages/render.h"
#include "serve/serve.h"

/* The format of an answer: true: that of the path's ending (".json"), which begins at *ret_stem;
 * false: what Accept says, and *ret_stem is the path's length. */
bool fm_request_format(const struct fm_request *request, size_t *ret_stem, enum fm_format *ret);
/* A page with one message, in the format that the request asks for (".json", ".txt", ".csv" at the
 * end of the path, or Accept); the status tells what kind of message. */
void fm_response_message(const struct fm_request *request, unsigned status, const char *text,
                         struct fm_response *ret);
/* Makes an error page, with a status for the kind of error; takes ownership of the error. */
void fm_response_error(const struct fm_request *request, GError *error, struct fm_response *ret);
/* The standard words of a status: "Not Found". */
const char *fm_response_reason(unsigned status);
/* Lines "Name: value\r\n" for all headers but Content-Length, with the security headers. For CGI
 * the first line is "Status: 404 Not Found". */
void fm_response_headers(const struct fm_response *response, GString *out);
/* As above, calling a visitor for each header. */
typedef void fm_response_header_visitor(const char *name, const char *value, void *user);
void fm_response_each_header(const struct fm_response *response, fm_response_header_visitor *visit,
                             void *user);

/* SPDX-License-Identifier: Apache-2.0 */
/* Error pages and headers, the same for HTTP and CGI. */
#pragma once

#include "serve/serve.h"

/* A page with one message, in the format that the request asks for (".json", ".txt", ".csv" at the
 * end of the path, or Accept); the status tells what kind of message. */
void fm_response_message(const struct fm_request *request, unsigned status, const char *text,
                         struct fm_response *ret);
/* An error's page, its status by the kind of error; takes the error. */
void fm_response_error(const struct fm_request *request, GError *error, struct fm_response *ret);
/* The standard words of a status: "Not Found". */
const char *fm_response_reason(unsigned status);
/* "Name: value\r\n" lines for all headers but Content-Length, the security headers among them; for
 * a CGI door they begin with "Status: 404 Not Found". */
void fm_response_headers(const struct fm_response *response, GString *out);
/* Visits each header instead. */
typedef void fm_response_header_visitor(const char *name, const char *value, void *user);
void fm_response_each_header(const struct fm_response *response, fm_response_header_visitor *visit,
                             void *user);

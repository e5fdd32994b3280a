/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of traces: /trace?file=PATH&..., /trace.json, /trace.txt, /trace.csv, and the stream of
 * events /trace/stream with its requests /trace/ask. For handle.c, registry.c and front.c. */
#pragma once

#include "serve/serve.h"

/* An address, or a file or folder that fm_trace_recognise() knows. Opened at once. */
FM_MUST_USE bool fm_trace_files_add(struct fm_server *server, const char *path, GError **error);
void fm_trace_files_clear(struct fm_server *server);
/* The real path that a request's name stands for, opened. Errors: FM_ERROR_NOT_FOUND. Borrowed. */
FM_MUST_USE const char *fm_trace_files_resolve(struct fm_server *server, const char *name,
                                               GError **error);

struct fm_trace_file_info {
    const char *name, *format; /* borrowed */
    uint64_t duration_ns;
    unsigned streams;
    bool grows, damaged;
};
unsigned fm_trace_files_count(const struct fm_server *server);
void fm_trace_files_describe(const struct fm_server *server, unsigned index,
                             struct fm_trace_file_info *ret);
/* "trace?file=...": all that were added, on one page. Caller frees. */
char *fm_trace_files_url(const struct fm_server *server);
/* "trace?file=PATH", relative to the server's root. Caller frees. */
char *fm_trace_page_url(const char *name);

/* True when the path is one of ours, and *ret is the answer. */
bool fm_trace_handle(struct fm_server *server, const struct fm_request *request,
                     struct fm_response *ret);

/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of traces: /trace?file=PATH&..., /trace.json, /trace.txt, /trace.csv, /trace/complete, and
 * the stream of events /trace/stream with its requests /trace/ask. */
#pragma once

#include "serve/serve.h"

/* True when the path belongs to traces; *ret is then the answer. */
bool fm_trace_handle(struct fm_server *server, const struct fm_request *request,
                     struct fm_response *ret);

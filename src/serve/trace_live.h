/* SPDX-License-Identifier: Apache-2.0 */
/* Pages of traces with a stream of events. */
#pragma once

#include "serve/serve.h"

/* Answer /trace/stream, /trace/ask and /trace/status. */
void fm_trace_live_stream(struct fm_server *server, const struct fm_request *request,
                          struct fm_response *ret);
void fm_trace_live_ask(struct fm_server *server, const struct fm_request *request,
                       struct fm_response *ret);
void fm_trace_live_status(struct fm_server *server, struct fm_response *ret);

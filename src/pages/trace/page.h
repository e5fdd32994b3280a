/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "viewers/viewers.h"

/* The page, in one of the formats. Errors: those of opening, of the filter and of positions. */
FM_MUST_USE bool trace_page_write(struct fm_server *server, struct fm_trace_query *query,
                                  enum fm_format format, GString *out, GError **error);
/* NULL for the set itself. */
const struct trace_viewer *trace_viewer_of(enum fm_trace_view view);
void trace_set_write_json(const struct trace_set *set, GString *out);

/* --- live.c: pages with a stream --- */

/* Answers /trace/stream and /trace/ask. */
void trace_live_stream(struct fm_server *server, const struct fm_request *request,
                       struct fm_response *ret);
void trace_live_ask(struct fm_server *server, const struct fm_request *request,
                    struct fm_response *ret);
void trace_live_status(struct fm_server *server, const struct fm_request *request,
                       struct fm_response *ret);
/* Looks whether traces that grow have grown; pages that show them are told. */
void trace_live_grow(struct fm_server *server);
/* What pages with a stream show of it is no longer true. */
void trace_live_changed(struct fm_server *server, const struct fm_trace *trace);

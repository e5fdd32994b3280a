/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the monitor's messages from a descriptor into a reader. Private to this folder. */
#pragma once

#include "eventlog/monitor/monitor.h"
#include "eventlog/input/source.h"

struct fm_monitor_stream;

/* Does not own the descriptor. */
struct fm_monitor_stream *fm_monitor_stream_new(int fd, const char *name, bool datagrams,
                                                const char *token);
void fm_monitor_stream_free(struct fm_monitor_stream *stream);
enum fm_eventlog_fill fm_monitor_stream_fill(struct fm_monitor_stream *stream,
                                             struct fm_eventlog_reader *reader, int timeout_ms,
                                             GError **error);

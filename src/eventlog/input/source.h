/* SPDX-License-Identifier: Apache-2.0 */
/* Where the bytes of a log come from: a file (whole, or as it grows), a pipe, a socket. */
#pragma once

#include "eventlog/reader/eventlog.h"

struct fm_eventlog_source;

enum fm_eventlog_fill {
    FM_EVENTLOG_FILL_BYTES,   /* the reader has more */
    FM_EVENTLOG_FILL_END,     /* the reader knows that there are no more */
    FM_EVENTLOG_FILL_TIMEOUT, /* nothing came */
    FM_EVENTLOG_FILL_FAILED,
};

/* path: "-" = standard input. A regular file is read through a window, up to the size that it has
 * now; one that is cut meanwhile is an error, FM_ERROR_IO, when its new end is met. */
struct fm_eventlog_source *fm_eventlog_source_open(const char *path, GError **error);
/* The same for a file that may still grow, shrink or be replaced. */
struct fm_eventlog_source *fm_eventlog_source_open_growing(const char *path, GError **error);
/* Takes the descriptor (pipe, socket); name is for messages. */
struct fm_eventlog_source *fm_eventlog_source_take(int fd, const char *name);
/* Connects to "unix:PATH", "tcp:HOST:PORT" (the plain log), "monitor:HOST:PORT" (framed messages)
 * or "udp:HOST:PORT" (a message a datagram); messages become a plain log again. Tries for
 * timeout_ms; token may be NULL. */
struct fm_eventlog_source *fm_eventlog_source_connect(const char *address, int timeout_ms,
                                                      const char *token, GError **error);
/* Takes a descriptor that carries the monitor's messages: frames of a stream, or datagrams. */
/* Of a connection that was made to a server: what it says when it refuses is an error. */
struct fm_eventlog_source *fm_eventlog_source_take_connection(int fd, const char *name);
struct fm_eventlog_source *fm_eventlog_source_take_monitor(int fd, const char *name, bool datagrams,
                                                           const char *token);
void fm_eventlog_source_free(struct fm_eventlog_source *source);

/* Gives the reader more bytes. timeout_ms: how long to wait on a pipe or socket, -1 = for ever.
 * A growing file never ends: when nothing has been added it answers TIMEOUT at once. A file that
 * shrank or was replaced starts again with a new reader; *ret_restarted (may be NULL) tells. */
enum fm_eventlog_fill fm_eventlog_source_fill(struct fm_eventlog_source *source, int timeout_ms,
                                              bool *ret_restarted, GError **error);
/* Reads until an item is there; never answers FM_EVENTLOG_MORE but for a growing file that has no
 * more yet. Failing to read is FM_EVENTLOG_FAILED with FM_ERROR_IO. */
enum fm_eventlog_status fm_eventlog_source_next(struct fm_eventlog_source *source,
                                                struct fm_eventlog_event *ret, GError **error);
struct fm_eventlog_reader *fm_eventlog_source_reader(struct fm_eventlog_source *source);
const char *fm_eventlog_source_name(const struct fm_eventlog_source *source);
/* Opened by open_growing, and a regular file: it has no end of its own. */
bool fm_eventlog_source_grows(const struct fm_eventlog_source *source);
/* Bytes of a regular file, 0 for others: for progress. */
uint64_t fm_eventlog_source_size(const struct fm_eventlog_source *source);

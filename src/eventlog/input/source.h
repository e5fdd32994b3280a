/* SPDX-License-Identifier: Apache-2.0 */
/* Sources of a log's bytes: a file (whole, or as it grows), a pipe, a socket. */
#pragma once

#include "eventlog/reader/eventlog.h"

struct fm_eventlog_source;

enum fm_eventlog_fill {
    FM_EVENTLOG_FILL_BYTES,   /* the reader has more */
    FM_EVENTLOG_FILL_END,     /* the reader knows that there are no more */
    FM_EVENTLOG_FILL_TIMEOUT, /* nothing came in time */
    FM_EVENTLOG_FILL_FAILED,
};

/* path: "-" = standard input. A regular file is mapped window by window, up to its present size. If
 * it is truncated meanwhile, reading beyond its new end is an error, FM_ERROR_IO. */
struct fm_eventlog_source *fm_eventlog_source_open(const char *path, GError **error);
/* As above, for a file that may still grow, shrink or be replaced. */
struct fm_eventlog_source *fm_eventlog_source_open_growing(const char *path, GError **error);
/* Takes ownership of the descriptor (pipe, socket); name is for messages. */
struct fm_eventlog_source *fm_eventlog_source_take(int fd, const char *name);
/* Connects to "unix:PATH", "tcp:HOST:PORT" (the plain log), "monitor:HOST:PORT" (framed messages)
 * or "udp:HOST:PORT" (one message a datagram). Messages are turned into a plain log. Tries for
 * timeout_ms; token may be NULL. */
struct fm_eventlog_source *fm_eventlog_source_connect(const char *address, int timeout_ms,
                                                      const char *token, GError **error);
/* Takes a descriptor that carries the monitor's messages: frames of a stream, or datagrams. */
/* As above, for a connection to a server: a refusal that it sends becomes the error. */
struct fm_eventlog_source *fm_eventlog_source_take_connection(int fd, const char *name);
struct fm_eventlog_source *fm_eventlog_source_take_monitor(int fd, const char *name, bool datagrams,
                                                           const char *token);
void fm_eventlog_source_free(struct fm_eventlog_source *source);

/* Gives the reader more bytes. timeout_ms: how long to wait on a pipe or socket, -1 = for ever. A
 * growing file never ends: when nothing has been added, it answers TIMEOUT at once. A file that
 * shrank or was replaced starts again with a new reader; then *ret_restarted (may be NULL) is
 * true. */
enum fm_eventlog_fill fm_eventlog_source_fill(struct fm_eventlog_source *source, int timeout_ms,
                                              bool *ret_restarted, GError **error);
/* Reads until there is an item. It answers FM_EVENTLOG_MORE only for a growing file that has no
 * more yet. A read error is FM_EVENTLOG_FAILED with FM_ERROR_IO. */
enum fm_eventlog_status fm_eventlog_source_next(struct fm_eventlog_source *source,
                                                struct fm_eventlog_event *ret, GError **error);
struct fm_eventlog_reader *fm_eventlog_source_reader(struct fm_eventlog_source *source);
const char *fm_eventlog_source_name(const struct fm_eventlog_source *source);
/* Whether it was opened by open_growing and is a regular file. Such a source never ends. */
bool fm_eventlog_source_grows(const struct fm_eventlog_source *source);
/* Bytes of a regular file, 0 for others: for progress. */
uint64_t fm_eventlog_source_size(const struct fm_eventlog_source *source);

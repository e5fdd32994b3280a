/* SPDX-License-Identifier: Apache-2.0 */
/* Writes logs: byte for byte as they were read, or in new blocks. */
#pragma once

#include "eventlog/reader/eventlog.h"

/* Writes all the bytes, or fails. */
typedef bool fm_eventlog_write(void *user, const uint8_t *bytes, size_t length, GError **error);

/* A fm_eventlog_write: user points to the descriptor (int). */
bool fm_eventlog_write_fd(void *user, const uint8_t *bytes, size_t length, GError **error);
/* A fm_eventlog_write: user is a GByteArray. */
bool fm_eventlog_write_bytes(void *user, const uint8_t *bytes, size_t length, GError **error);

struct fm_eventlog_writer;

struct fm_eventlog_writer *fm_eventlog_writer_new(fm_eventlog_write *write, void *user);
/* Frees it without flushing. */
void fm_eventlog_writer_free(struct fm_eventlog_writer *writer);

/* Writes the header's bytes unchanged. Must come before events; a second header begins another
 * log. */
bool fm_eventlog_writer_header(struct fm_eventlog_writer *writer,
                               const struct fm_eventlog_header *header, GError **error);
/* Writes an event exactly as it was read, block markers included. Passing on all events in file
 * order gives the same bytes. */
bool fm_eventlog_writer_raw(struct fm_eventlog_writer *writer,
                            const struct fm_eventlog_event *event, GError **error);
/* Writes an event in a new block of the writer. A block ends when the capability changes, and after
 * block_bytes. The header must declare the event's number with this size, and block markers. */
bool fm_eventlog_writer_event(struct fm_eventlog_writer *writer,
                              const struct fm_eventlog_event *event, GError **error);
/* Ends the open block. */
bool fm_eventlog_writer_end_block(struct fm_eventlog_writer *writer, GError **error);
/* Writes the end mark FF FF. */
bool fm_eventlog_writer_end(struct fm_eventlog_writer *writer, GError **error);
/* Writes what is buffered; the open block stays open. */
bool fm_eventlog_writer_flush(struct fm_eventlog_writer *writer, GError **error);

/* SPDX-License-Identifier: Apache-2.0 */
/* Writing logs: byte for byte as they were read, or with blocks of the writer's own. */
#pragma once

#include "eventlog/reader/eventlog.h"

/* Takes all the bytes, or fails. */
typedef bool fm_eventlog_write(void *user, const uint8_t *bytes, size_t length, GError **error);

/* A fm_eventlog_write: user points to the descriptor (int). */
bool fm_eventlog_write_fd(void *user, const uint8_t *bytes, size_t length, GError **error);
/* Another: user is a GByteArray. */
bool fm_eventlog_write_bytes(void *user, const uint8_t *bytes, size_t length, GError **error);

struct fm_eventlog_writer;

struct fm_eventlog_writer *fm_eventlog_writer_new(fm_eventlog_write *write, void *user);
/* Does not flush. */
void fm_eventlog_writer_free(struct fm_eventlog_writer *writer);

/* The header's bytes as they are. Comes before events; a second one begins another log. */
bool fm_eventlog_writer_header(struct fm_eventlog_writer *writer,
                               const struct fm_eventlog_header *header, GError **error);
/* An event exactly as it was read, block markers included: what the reader gives in file order,
 * passed through here, gives the same bytes. */
bool fm_eventlog_writer_raw(struct fm_eventlog_writer *writer,
                            const struct fm_eventlog_event *event, GError **error);
/* An event in a block of the writer's own: a new one begins when the capability changes and after
 * block_bytes. The header must declare its number with this size, and block markers. */
bool fm_eventlog_writer_event(struct fm_eventlog_writer *writer,
                              const struct fm_eventlog_event *event, GError **error);
/* Ends the block that is open. */
bool fm_eventlog_writer_end_block(struct fm_eventlog_writer *writer, GError **error);
/* FF FF. */
bool fm_eventlog_writer_end(struct fm_eventlog_writer *writer, GError **error);
/* Hands over what is held back (a block that is open stays open). */
bool fm_eventlog_writer_flush(struct fm_eventlog_writer *writer, GError **error);

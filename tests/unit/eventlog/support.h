/* SPDX-License-Identifier: Apache-2.0 */
/* Logs made in memory, and the items that a reader gives as one comparable text. */
#pragma once

#include "eventlog/reader/eventlog.h"
#include "eventlog/output/writer.h"

/* A small log: two capabilities and the global buffer, fixed and variable events, all field
 * kinds, an unknown type. end_mark: FF FF at the end. */
GByteArray *sample_log(bool end_mark);
/* The header of sample_log. */
struct fm_eventlog_header *sample_header(void);
/* One event with its payload given as bytes. */
void put_event(struct fm_eventlog_writer *writer, int32_t capability, uint16_t number,
               uint64_t time_ns, const void *payload, size_t length);

/* Pushes the bytes in pieces of `piece` bytes (0 = all at once) and tells all items, one a line:
 * "event OFFSET NUMBER TIME CAPABILITY BLOCK PAYLOAD", "gap OFFSET LENGTH REASON", ... */
char *items_of(const uint8_t *bytes, size_t length, size_t piece);
/* The same with pieces of random sizes. */
char *items_of_random(const uint8_t *bytes, size_t length, uint32_t seed);
/* Lines of items that begin with prefix. */
unsigned count_lines(const char *items, const char *prefix);
/* NULL with the test skipped when the folder of real recordings is not there. */
char *sample_path(const char *name);
GByteArray *read_file(const char *path);

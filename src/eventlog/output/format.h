/* SPDX-License-Identifier: Apache-2.0 */
/* Events as text, JSON and CSV, appended to a string. */
#pragma once

#include "eventlog/reader/eventlog.h"

enum fm_eventlog_format {
    FM_EVENTLOG_AS_TEXT, /* "1234.567890123  0  StopThread  thread=4 status=5 (finished)" */
    FM_EVENTLOG_AS_JSON, /* one object a line */
    FM_EVENTLOG_AS_CSV,  /* time_ns,capability,type,fields; RFC 4180 */
};

/* The first line of CSV; nothing for the others. */
void fm_eventlog_format_head(GString *out, enum fm_eventlog_format format);
/* header may be NULL; it has the descriptions of unknown types. names may be NULL; it maps an
 * interned string's id (GUINT_TO_POINTER) to its text (char *). Ends with a newline. */
void fm_eventlog_format_event(GString *out, enum fm_eventlog_format format,
                              const struct fm_eventlog_event *event,
                              const struct fm_eventlog_header *header, GHashTable *names);
/* CSV with a column for each field of that name, for events of one type. False: the event has
 * fields beside these. */
void fm_eventlog_format_column_names(GString *out, const GPtrArray *columns);
bool fm_eventlog_format_columns(GString *out, const struct fm_eventlog_event *event,
                                GHashTable *names, const GPtrArray *columns);
/* Remembers the text of an InternString event; ignores other events. */
void fm_eventlog_names_learn(GHashTable *names, const struct fm_eventlog_event *event);
/* Appends one event as a line of JSON, like fm_eventlog_format_event with FM_EVENTLOG_AS_JSON. */
void fm_eventlog_format_json(GString *out, const struct fm_eventlog_event *event,
                             const struct fm_eventlog_header *header, GHashTable *names);
/* Appends text without control characters: \n, \t, \\, and \xNN for other control characters and
 * invalid UTF-8. quote (0 = none) is escaped, too. */
void fm_eventlog_format_text(GString *out, const uint8_t *bytes, size_t length, char quote);

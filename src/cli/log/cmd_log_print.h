/* SPDX-License-Identifier: Apache-2.0 */
/* Choosing events and printing them: `fathom log cat` and `fathom log follow`. */
#pragma once

#include "eventlog/output/format.h"

struct fm_cmd_log_printer {
    /* Set by options. */
    char **types, **capabilities;
    char *from, *to, *format;
    gboolean json, csv, markers;
    /* Set by begin. */
    enum fm_eventlog_format as;
    bool by_type, by_capability;
    bool in_columns;       /* CSV of one type: a column a field */
    GPtrArray *columns;    /* names of the first event's fields; NULL: there was none yet */
    uint64_t beside;       /* events that have other fields, too */
    GHashTable *own_types; /* set before: names that only the trace knows -> whether it has them */
    uint8_t *type_chosen;  /* 65,536 */
    uint8_t *capability_chosen; /* 65,536; index 0 = none */
    uint64_t from_ns, to_ns;
    GHashTable *names; /* texts of interned strings */
    GString *out;
    bool failed; /* standard output cannot be written: stop */
    uint64_t printed;
};

/* The options that fill the structure; ends with a NULL entry. Free with g_free(). */
GOptionEntry *fm_cmd_log_printer_options(struct fm_cmd_log_printer *printer,
                                         const GOptionEntry *more);
bool fm_cmd_log_printer_begin(struct fm_cmd_log_printer *printer, GError **error);
void fm_cmd_log_printer_event(struct fm_cmd_log_printer *printer,
                              const struct fm_eventlog_event *event,
                              const struct fm_eventlog_header *header);
/* Writes the lines that are held back. */
void fm_cmd_log_printer_flush(struct fm_cmd_log_printer *printer);
void fm_cmd_log_printer_done(struct fm_cmd_log_printer *printer);

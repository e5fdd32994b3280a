/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of `fathom log` that read traces of any format, with filters: cat and stat of CTF folders,
 * or with --filter. */
#pragma once

#include "cli/log/cmd_log_print.h"
#include "trace/filter/filter.h"
#include "trace/format/open.h"

/* Whether the path must be read as a trace: it is a folder. */
bool fm_cmd_log_is_folder(const char *path);

struct fm_cmd_log_trace {
    struct fm_trace *trace;
    struct fm_state *state; /* NULL: no state is needed */
    bool wants_state;
    struct fm_filter *filter;
    uint64_t from_ns, to_ns;
    bool read, accepted; /* all has been read; some event was accepted */
    /* Called for each event that the filter accepts; true ends the reading. */
    bool (*event)(void *user, const struct fm_tracefile_context *at);
    void *user;
};

/* Opens the trace and waits until all of it is there; filters, ended by NULL, may be NULL. */
FM_MUST_USE bool fm_cmd_log_trace_open(struct fm_cmd_log_trace *reading, const char *path,
                                       char **filters, GError **error);
/* Until nothing more comes, or, of a file that may still be written, nothing more is there. */
FM_MUST_USE bool fm_cmd_log_trace_read_whole(struct fm_trace *trace, GError **error);
void fm_cmd_log_trace_read(struct fm_cmd_log_trace *reading);
/* Reports on standard error what could not be read. Returns the exit status. */
int fm_cmd_log_trace_done(struct fm_cmd_log_trace *reading, const char *command);

int fm_cmd_log_cat_trace(struct fm_cmd_log_printer *printer, const char *path, char **filters);
int fm_cmd_log_stat_trace(const char *path, char **filters, bool json);

/* Finds the corrections of the clocks of these traces and expects them of those opened from now on.
 * Returns the table for people (caller frees); NULL with an error. */
char *fm_cmd_log_synchronize(char **paths, GError **error);

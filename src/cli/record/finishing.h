/* SPDX-License-Identifier: Apache-2.0 */
/* What `fathom record` and `fathom finish` share. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

struct fm_finishing {
    const char *command;    /* for messages */
    const char *debug_path; /* folders of separate debug files; NULL */
    bool keep;              /* do not remove the raw recording */
    bool keep_sources;      /* store the source files beside the profile */
    bool quiet;             /* no summary */
    bool all;               /* children that only became another program, too */
    bool brief;             /* a line instead of the summary */
    bool several;           /* notes name the recording that they are of */
    struct fm_known *known; /* what the files say, for several recordings; NULL */
};

/* NAME.data, of NAME, NAME.data or NAME.rec: what -o NAME means. Caller frees. */
char *fm_cli_data_path(const char *name);

/* Turns the recording at rec_path into fm_cli_data_path(data_path) (NULL: beside it), prints notes
 * and, unless quiet, the summary on standard error. A recording that still grows, or whose modules
 * could not all be read, is kept in any case. *ret_calls may be NULL. False after a message on
 * standard error. */
bool fm_cli_finish(const struct fm_finishing *how, const char *rec_path, const char *data_path,
                   uint64_t *ret_calls);

/* SPDX-License-Identifier: Apache-2.0 */
/* The secret that clients must know. On the command line every user of the machine sees it in the
 * list of processes: so it may stand in a file, or in the environment. */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/compiler.h"

/* Rows of a table of options: token and file are char *, NULL at first. */
#define FM_CLI_TOKEN_OPTIONS(token, file, about)                                               \
    {"token",  0,                                                                              \
     0,        G_OPTION_ARG_STRING,                                                            \
     &(token), about "; the list of processes shows it to all users",                          \
     "TOKEN"},                                                                                 \
    {                                                                                          \
        "token-file", 0, 0, G_OPTION_ARG_FILENAME, &(file),                                    \
            "Take the token from the first line of FILE (default: from $FATHOM_TOKEN)", "FILE" \
    }

/* *token: as --token gave it, NULL = not at all. Becomes the token of the file, or, where neither
 * was given, FATHOM_TOKEN of the environment; NULL = there is none. g_free(). Errors: FM_ERROR_IO,
 * FM_ERROR_FORMAT (an empty line), FM_ERROR_USAGE (both). */
FM_MUST_USE bool fm_live_token_find(char **token, const char *file, GError **error);

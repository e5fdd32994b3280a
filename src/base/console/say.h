/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of commands on standard error, their progress, and their exit statuses. */
#pragma once

#include <glib.h>

#include "base/progress.h"

/* Exit statuses of every command. */
enum { FM_EXIT_DONE = 0, FM_EXIT_FAILED = 1, FM_EXIT_USAGE = 2 };

/* "fathom NAME: MESSAGE" on standard error; takes the error. Returns FM_EXIT_FAILED, or
 * FM_EXIT_USAGE for FM_ERROR_USAGE. */
int fm_console_fail(const char *command, GError *error);
/* Lines for standard error, with a newline at the end: what names and messages of files hold beside
 * plain text is made visible, as fm_utf8_append_clean() does. */
void fm_console_print_error(const char *format, ...) G_GNUC_PRINTF(1, 2);
int fm_console_usage(const char *command, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Progress on standard error when it is a terminal and the work takes over half a second. */
void fm_console_progress_begin(struct fm_progress *ret);
void fm_console_progress_end(struct fm_progress *progress);

/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the commands. One file a command: cmd_<name>.c with fm_cmd_<name>(); its manual page is
 * docs/man/fathom-<name>.1.scd. */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/progress.h"

/* Exit statuses of every command. */
enum { FM_EXIT_DONE = 0, FM_EXIT_FAILED = 1, FM_EXIT_USAGE = 2 };

/* argv[0] is the command's own name. Returns an exit status. */
typedef int fm_cli_run(int argc, char **argv);

struct fm_cli_command {
    const char *name;
    fm_cli_run *run;
    const char *summary; /* for `fathom --help` */
};

fm_cli_run fm_cmd_cc; /* also c++ */
fm_cli_run fm_cmd_cgi;
fm_cli_run fm_cmd_check;
fm_cli_run fm_cmd_convert;
fm_cli_run fm_cmd_ctl;
fm_cli_run fm_cmd_diff;
fm_cli_run fm_cmd_history;
fm_cli_run fm_cmd_dump;
fm_cli_run fm_cmd_export;
fm_cli_run fm_cmd_feedback;
fm_cli_run fm_cmd_finish;
fm_cli_run fm_cmd_import;
fm_cli_run fm_cmd_log;
fm_cli_run fm_cmd_merge;
fm_cli_run fm_cmd_procrep;
fm_cli_run fm_cmd_record;
fm_cli_run fm_cmd_report;
fm_cli_run fm_cmd_top;
fm_cli_run fm_cmd_tree;
fm_cli_run fm_cmd_view;

/* Parses options with GLib: `fathom NAME [OPTION...] ARGUMENTS`, the description and the example
 * below the options in --help. Returns -1 to go on, else the exit status to return at once
 * (--help: done, a bad option: usage, after a message on standard error). */
int fm_cli_parse(int *argc, char ***argv, const GOptionEntry *entries, const char *arguments,
                 const char *description, const char *example);

/* A percentage as an option's value, 0 to 100 with or without its sign: "1%", "0.5". */
bool fm_cli_parse_percent(const char *text, double *ret);

/* "fathom NAME: MESSAGE" on standard error; takes the error. Returns FM_EXIT_FAILED, or
 * FM_EXIT_USAGE for FM_ERROR_USAGE. */
int fm_cli_fail(const char *command, GError *error);
/* Lines for standard error, with a newline at the end: what names and messages of files hold beside
 * plain text is made visible, as fm_utf8_append_clean() does. */
void fm_cli_print_error(const char *format, ...) G_GNUC_PRINTF(1, 2);
int fm_cli_usage(const char *command, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Progress on standard error when it is a terminal and the work takes over half a second. */
void fm_cli_progress_begin(struct fm_progress *ret);
void fm_cli_progress_end(struct fm_progress *progress);

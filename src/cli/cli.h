/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the commands. One file a command: cmd_<name>.c with fm_cmd_<name>(); its manual page is
 * docs/man/fathom-<name>.1.scd. */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "base/console/say.h"

/* argv[0] is the command's own name. Returns an exit status. */
typedef int fm_cli_run(int argc, char **argv);

struct fm_cli_command {
    const char *name;
    fm_cli_run *run;
    const char *summary; /* for `fathom --help` */
    const char *group;   /* the heading before it there; NULL: that of the one before */
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
fm_cli_run fm_cmd_functions;
fm_cli_run fm_cmd_import;
fm_cli_run fm_cmd_lines;
fm_cli_run fm_cmd_log;
fm_cli_run fm_cmd_memory;
fm_cli_run fm_cmd_merge;
fm_cli_run fm_cmd_procrep;
fm_cli_run fm_cmd_record;
fm_cli_run fm_cmd_recursion;
fm_cli_run fm_cmd_report;
fm_cli_run fm_cmd_top;
fm_cli_run fm_cmd_tree;
fm_cli_run fm_cmd_view;
fm_cli_run fm_cmd_waits;

/* Parses options with GLib: `fathom NAME [OPTION...] ARGUMENTS`, the description and the example
 * below the options in --help. Returns -1 to go on, else the exit status to return at once
 * (--help: done, a bad option: usage, after a message on standard error). */
int fm_cli_parse(int *argc, char ***argv, const GOptionEntry *entries, const char *arguments,
                 const char *description, const char *example);

/* From then on libdw asks no debuginfod server for debug files: a profiler sends nothing of a
 * program away. Changes the environment, so a program's is copied before. */
void fm_cli_ask_no_server(void);

/* A percentage as an option's value, 0 to 100 with or without its sign: "1%", "0.5". */
bool fm_cli_parse_percent(const char *text, double *ret);

/* Says which words --by takes, `also` among them unless it is empty. Returns the exit status. */
int fm_cli_refuse_measure(const char *command, const char *word, const char *also);

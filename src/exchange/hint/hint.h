/* SPDX-License-Identifier: Apache-2.0 */
/* When a command is given a file that another command reads, the message names that one. */
#pragma once

#include <glib.h>

enum fm_hint_file_kind {
    FM_FILE_OTHER,
    FM_FILE_PROFILE,
    FM_FILE_BODIES, /* .procrep */
    FM_FILE_LINES,  /* .lines */
    FM_FILE_FEEDBACK,
    FM_FILE_RECORDING,
    FM_FILE_EVENT_LOG,
    FM_FILE_CTF,     /* a folder */
    FM_FILE_FOREIGN, /* a profile of another tool */
};
/* What to do with a source file of C or C++, with the commands; NULL = it is none; g_free. */
char *fm_hint_source_help(const char *path);
/* Says that a program could not be run (an errno), and what to run where it is plain. */
void fm_hint_cannot_run(const char *command, const char *program, int failure);
/* By the first bytes. */
enum fm_hint_file_kind fm_hint_file_kind(const char *path);
/* As fm_console_fail(), of a file that was to be a profile, recording or log (wanted), with a line
 * that says what it is and what reads it where it is something else. */
int fm_hint_fail_file(const char *command, const char *path, enum fm_hint_file_kind wanted,
                      GError *error);

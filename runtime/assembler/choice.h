/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which functions of an assembly text get no hooks: functions excluded by the user
 * (runtime/front/choice.h; the patterns are in the text), and functions of system headers unless
 * user functions were inlined into them: std::sort with the user's comparison is recorded.
 * Exclusions that need C++ names or debug information are left to finishing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct fm_choice {
    const char **patterns; /* pointing into the text, up to the closing quote */
    size_t pattern_count;
    char **files; /* paths by the numbers of .file and .loc; NULL: not known */
    size_t file_count;
    bool with_system;
};

/* Reads the patterns in the text. False: no memory. Release with fm_choice_done() in both cases. */
bool fm_choice_read(struct fm_choice *choice, const char *text);
void fm_choice_done(struct fm_choice *choice);

/* A line of the text, from its first word on: ".file 1 ..." is noted. */
void fm_choice_note(struct fm_choice *choice, const char *line);

/* file: the number in .loc of the function's first line. rest: the lines after its entry; .file
 * lines in it are noted. */
bool fm_choice_leaves_out(struct fm_choice *choice, const char *function, unsigned file,
                          const char *rest);

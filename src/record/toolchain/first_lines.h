/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of assembly that headers of runtime/front/ would write, for sources without -include: the
 * front of the assembler puts them before the compiler's text. */
#pragma once

#include <glib.h>
#include <stdbool.h>

#include "record/toolchain/command_line.h"

/* blocks: they are counted; told: clang's profiler calls tell the entries; called: hooks are calls.
 */
struct fm_first_lines {
    bool blocks, told, called;
};
void fm_first_lines_add_grade(const struct fm_command_line *line, struct fm_first_lines lines,
                              GPtrArray *arguments);
/* text: a macro's text of the compiler's option -D: \" and \n as two characters each. */
void fm_first_lines_add_strings(const char *section, const char *flags, const char *text,
                                GPtrArray *arguments);
/* Takes "-include FILE" and "-DNAME" out of the arguments from first on. */
void fm_first_lines_drop_headers(GPtrArray *arguments, guint first);

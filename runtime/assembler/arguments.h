/* SPDX-License-Identifier: Apache-2.0 */
/* Options of the assembler's front and its temporary file. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Options of as that take the next argument. */
bool fm_as_takes_argument(const char *option);
/* Takes out "--fathom-first=LINE": the lines that fathom cc wants in front of the text, where the
 * compiler has no -include that could write them (record/toolchain). For free(); NULL: no memory.
 */
char *fm_as_take_first_lines(int *argc, char **argv);
/* Takes both; returns the text with the lines in front of it, for free(). NULL: no memory, or one
 * of them was NULL. */
char *fm_as_put_first(char *lines, char *all);
/* Makes a file in the first folder that can be written among those that gcc tries. -1: in none. */
int fm_as_open_temporary(char *path, size_t size);

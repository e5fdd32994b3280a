/* SPDX-License-Identifier: Apache-2.0 */
/* Names are arbitrary bytes, and may hold a line's end or what steers a terminal: here as a line
 * shows them so that they can be told again. */
#pragma once

/* With "\n", "\t", "\r", "\\" and "\033" for what changes the line and for bytes that are no UTF-8;
 * all else stays. g_free. */
char *fm_text_escaped(const char *text);
/* As a POSIX shell takes it: as it is, or in quotes; with what changes the line as $'a\nb', which
 * bash, zsh and ksh take. g_free. */
char *fm_shell_word(const char *text);

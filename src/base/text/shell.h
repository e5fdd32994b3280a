/* SPDX-License-Identifier: Apache-2.0 */
/* Names may contain any bytes, such as newlines or terminal control characters. These functions
 * show them on one line, unambiguously. */
#pragma once

/* Escapes newlines, other control characters and invalid UTF-8 as "\n", "\t", "\r", "\\" and
 * "\033"; everything else stays. g_free. */
char *fm_text_escaped(const char *text);
/* Quotes a word for a POSIX shell if necessary. Control characters need $'a\nb', which bash, zsh
 * and ksh understand. g_free. */
char *fm_shell_word(const char *text);

/* SPDX-License-Identifier: Apache-2.0 */
/* Lines on standard error of a program that serves others. Nobody may be reading there:
 * a line that does not fit is left out, and nothing ever waits for it. */
#pragma once

/* Prints "fathom COMMAND: TEXT" as a line, unless the last line was the same. Line breaks within
 * become spaces; the text is cut after 4,000 bytes. Call it from one thread only. */
void fm_console_notice(const char *command, const char *text);
/* The libraries' warnings are such lines from now on. command: a literal. */
void fm_console_notice_warnings(const char *command);

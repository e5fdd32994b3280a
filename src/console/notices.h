/* SPDX-License-Identifier: Apache-2.0 */
/* Lines on standard error of a program that serves others. Nobody may be reading there:
 * a line that does not fit is left out, and nothing ever waits for it. */
#pragma once

/* "fathom COMMAND: TEXT" as a line, but not the same one twice running. Line breaks within are
 * spaces, what is longer than 4,000 bytes is cut. From one thread. */
void fm_cli_notice(const char *command, const char *text);
/* The libraries' warnings are such lines from now on. command: a literal. */
void fm_cli_notice_warnings(const char *command);

/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the compiler's command for `fathom cc`. */
#pragma once

/* Runs the command and waits for it. Returns its status, or a failure to run it, told on standard
 * error; a signal that ended the command ends this process, too. Where the command makes gcc say
 * that a pass is disabled (record/toolchain/note_filter.h) that note alone is taken out of what it
 * says; at a terminal the compiler stands at one, too, of the same size. */
int fm_compiling_run(const char *name, char **arguments);

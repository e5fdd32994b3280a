/* SPDX-License-Identifier: Apache-2.0 */
/* Helper programs of libexec: they need libraries that the fathom command does not link. */
#pragma once

#include <glib.h>

/* Path of the running program's file, also where it was started by the loader's own command
 * (`ld-linux-x86-64.so.2 PROGRAM`), whose path /proc/self/exe has then; g_free(). NULL: not known.
 */
char *fm_program_path(void);
/* Path of a helper: installed, or in the build tree in src/<folder>, or in the folder
 * FATHOM_LIBEXEC; g_free(). NULL: not found. */
char *fm_helper_path(const char *name, const char *folder);

/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of libexec, which need libraries that the command does not. */
#pragma once

#include <glib.h>

/* The path of a program that is installed, or built in src/<folder>, beside the running command, or
 * lies in FATHOM_LIBEXEC; g_free(). NULL: there is none. */
char *fm_helper_path(const char *name, const char *folder);

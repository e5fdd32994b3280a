/* SPDX-License-Identifier: Apache-2.0 */
/* How a program is recorded that was not built for it: a library is loaded into it. */
#pragma once

#include <stdbool.h>

/* The environment of the program that argv names, with the library that records it where it needs
 * one and can have it; g_strfreev(). Tells on standard error why it cannot: *ret_told then.
 * children: programs that it starts are recorded, too. ret_outside: NULL, or set where it is to be
 * sampled from outside instead; nothing is told if it is set before. */
char **fm_preloading_environment(char **argv, bool children, bool *ret_told, bool *ret_outside);

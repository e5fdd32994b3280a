/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that are recognised by their linker's name. */
#pragma once

#include <stdbool.h>

/* Is this the name of a function that `fathom cc` makes the program call: the hooks of libfathom,
 * those that compilers call, coverage callbacks? */
bool fm_statics_is_hook(const char *symbol);

/* Is it a compiler's coverage callback? Those are hooks too. */
bool fm_statics_is_coverage(const char *symbol);

/* Functions whose calls the compiler inserts: they are not call sites of the source. */
bool fm_statics_is_helper(const char *symbol);

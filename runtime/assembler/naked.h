/* SPDX-License-Identifier: Apache-2.0 */
/* Naked functions: they have no frame, and nothing in them but what inline assembler says. Some
 * compilers write hooks into them all the same. rest: the text behind the function's label. */
#pragma once

#include <stdbool.h>

/* Does a marker of inline_hooks.h stand in front of the frame that all other functions have? */
bool fm_naked_has_marker(const char *rest);
/* Does a call of a hook? (clang before 17) */
bool fm_naked_has_call(const char *rest);

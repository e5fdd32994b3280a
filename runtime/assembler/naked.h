/* SPDX-License-Identifier: Apache-2.0 */
/* Naked functions have no frame, and contain only inline assembler. Some compilers put hooks into
 * them nevertheless. rest: the text after the function's label. */
#pragma once

#include <stdbool.h>

/* Whether a marker of inline_hooks.h precedes the frame setup that all other functions have. */
bool fm_naked_has_marker(const char *rest);
/* Does a call of a hook? (clang before 17) */
bool fm_naked_has_call(const char *rest);

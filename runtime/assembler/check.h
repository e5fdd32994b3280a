/* SPDX-License-Identifier: Apache-2.0 */
/* Assertions for development builds (FM_AS_CHECKS, see meson.build). In normal builds the assembler
 * front end leaves code unchanged when it is not sure, and never fails a build. */
#pragma once

#ifdef FM_AS_CHECKS
#include <assert.h>
#define FM_AS_ASSERT(condition) assert(condition)
#else
#define FM_AS_ASSERT(condition) ((void)sizeof((condition) ? 1 : 0))
#endif

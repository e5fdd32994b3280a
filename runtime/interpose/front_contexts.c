/* SPDX-License-Identifier: Apache-2.0 */
/* makecontext in fully static programs: contexts.S under its name there. */
#include "front.h"

extern char fm_front_makecontext[] FM_HIDDEN;
FM_FRONT_WAY(makecontext, makecontext, &fm_makecontext_behind, NULL)

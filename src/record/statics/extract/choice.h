/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/statics/statics.h"

/* Removes the hooks of functions that the user excludes: they become left_out instead of
 * instrumented, and have no live scopes. choices: patterns of char *, runtime/front/choice.h. */
void fm_choice_leave_out(struct fm_statics *statics, const GPtrArray *choices);

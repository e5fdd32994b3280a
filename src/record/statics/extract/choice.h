/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/statics/statics.h"

/* What the user does not want to see has no hooks any more: left_out instead of instrumented, and
 * no live scopes. choices: patterns of char *, runtime/front/choice.h. */
void fm_choice_leave_out(struct fm_statics *statics, const GPtrArray *choices);

/* SPDX-License-Identifier: Apache-2.0 */
/* A feedback file for programs: docs/json.md. */
#pragma once

#include "mercury/feedback/feedback.h"

void fm_feedback_json(const struct fm_feedback *feedback, GString *out);
/* One row a conjunction. */
void fm_feedback_csv(const struct fm_feedback *feedback, GString *out);

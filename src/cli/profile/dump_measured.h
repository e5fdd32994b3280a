/* SPDX-License-Identifier: Apache-2.0 */
/* Data by context other than the measures: waits, locks, threads, the heap, durations. */
#pragma once

#include "base/text/json.h"
#include "deep/profile.h"

void fm_dump_measured(const struct fm_profile *profile);
/* Members of the object that is open: "waits", "locks", ... */
void fm_dump_measured_json(struct fm_json *json, const struct fm_profile *profile);

/* SPDX-License-Identifier: Apache-2.0 */
/* What tests ask of profiles without contexts: functions and calls by name. */
#pragma once

#include "profile/analysis/analysis.h"

struct fm_analysis *analysed(const struct fm_profile *profile);
uint32_t function(const struct fm_profile *p, const char *name);
struct fm_cost cost(const struct fm_analysis *a, const char *name);
/* The call of one function by another, of which there is one. */
uint32_t call(const struct fm_profile *p, const char *caller, const char *callee);
void assert_invariants(const struct fm_analysis *a);

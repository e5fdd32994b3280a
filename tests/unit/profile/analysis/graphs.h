/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs made in a few lines, for the tests of the analysis. */
#pragma once

#include "profile/analysis/analysis.h"
#include "profile/file/build.h"

/* The analysis of what was built, which it takes; done() frees it with its profile. */
struct fm_analysis *analyse(struct fm_build *build);
void done(struct fm_analysis *a);

uint32_t add_ps(struct fm_build *build, const char *name);
uint32_t add_site(struct fm_build *build, uint32_t ps, enum fm_site_kind kind, uint32_t callee);
/* own: exits and call sequence numbers of the csd. */
void add_call(struct fm_build *build, uint32_t caller, uint32_t slot, uint32_t callee,
              uint64_t own);
/* Call sequence numbers that are counted for nested activations of ps. */
int64_t pd_compensation(const struct fm_analysis *a, uint32_t pd, uint32_t ps);
int64_t csd_compensation(const struct fm_analysis *a, uint32_t csd, uint32_t ps);

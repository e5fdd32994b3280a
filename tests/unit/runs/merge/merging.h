/* SPDX-License-Identifier: Apache-2.0 */
/* Merging in tests: what must go well does. */
#pragma once

#include "runs/merge/merge.h"

struct fm_profile *merge_with(const struct fm_merge_options *options,
                              struct fm_profile *const *profiles, unsigned count);
struct fm_profile *merge_all(struct fm_profile *const *profiles, unsigned count);
/* To the last byte of their files. */
void assert_same(const struct fm_profile *a, const struct fm_profile *b);
/* b cannot be added to a, nothing of it stays, and the message has these words. */
void expect_refused(struct fm_profile *a, struct fm_profile *b, const char *words);

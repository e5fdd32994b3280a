/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "profile/file/build.h"
#include "profile/file/write.h"

/* Asserts that two profiles hold the same, but for the version that they were read from. */
void assert_same_profile(const struct fm_profile *left, const struct fm_profile *right);
GBytes *encode(const struct fm_profile *profile, unsigned version, bool strict);
/* Must succeed. */
struct fm_profile *decode(GBytes *bytes);
/* A small made-up profile with every kind of node and slot. */
struct fm_profile *small_profile(enum fm_flavour flavour, enum fm_coverage_kind coverage);

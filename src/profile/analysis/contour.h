/* SPDX-License-Identifier: Apache-2.0 */
/* Private to this folder. */
#pragma once

#include "profile/analysis/analysis.h"

/* The csd by which the nearest ancestor that the contour does not hide was left. */
uint32_t fm_contour_climb(const struct fm_contour *contour, const struct fm_analysis *a,
                          uint32_t csd);

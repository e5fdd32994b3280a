/* SPDX-License-Identifier: Apache-2.0 */
/* The source lines that allocate. Recordings tell which function allocated, in which context, not
 * by which of its calls of the allocator. So a function's amount stands at the line of that call
 * where it has one, its own or in a body that the compiler put inline in it, and is shared by
 * several lines where it has more. A wrapper of the allocator (wrappers.h) gives way to the line
 * that calls it, which is always known. */
#pragma once

#include "profile/digest/hottest.h"
#include "profile/digest/lines/hot_lines.h"

/* At most max lines with the most of a measure of memory; blocks: the measure of their numbers, 0
 * = none. The line is 0 where a function has no such call: it is among the amounts of libraries
 * that it calls. *ret: g_free. C programs only. */
uint32_t fm_allocating_lines(const struct fm_analysis *a, struct fm_hot *hot,
                             enum fm_measure_id amount, unsigned blocks, uint32_t max,
                             struct fm_hot_line **ret);

/* SPDX-License-Identifier: Apache-2.0 */
/* The time of what is nested in segments, which come in the order of their ends. */
#pragma once

#include <stdint.h>

struct fm_nests;

struct fm_nests *fm_nests_new(void);
void fm_nests_free(struct fm_nests *nests);
/* Takes each segment once, with its time. Returns the time of those that lie directly in it. */
uint64_t fm_nests_take(struct fm_nests *nests, uint32_t lane, uint32_t depth, uint64_t time);

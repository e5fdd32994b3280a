/* SPDX-License-Identifier: Apache-2.0 */
/* Things that reach each other: functions of one cycle. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* first: [count + 1] where the things begin in `to` that thing i leads to. Returns the group of
 * each thing, [count], from 1: a group's number is greater than those of all that it leads to.
 * g_free. */
uint32_t *fm_exchange_groups(uint32_t count, const size_t *first, const uint32_t *to,
                             uint32_t *ret_groups);

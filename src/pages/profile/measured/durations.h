/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "pages/profile/parts/page.h"

#define FM_DURATIONS_SHOWN 100u
/* Adds durations of single calls, by context, for a procedure (0: all), most expensive first;
 * returns the number of contexts. */
uint32_t fm_add_durations(struct fm_page *page, uint32_t ps);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "pages/profile/parts/page.h"

#define FM_DURATIONS_SHOWN 100u
/* How long single calls took, by context, of a procedure (0: of all), the dearest first; how many
 * contexts there are. */
uint32_t fm_add_durations(struct fm_page *page, uint32_t ps);

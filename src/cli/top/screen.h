/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "live/top/table.h"

/* Shows it in the terminal until the user ends it. Reads every `delay` seconds. Returns an exit
 * status; the terminal is as before whatever the end. */
int fm_top_screen(struct fm_top *top, double delay, GError **error);

/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the address that a server listens at, and prints it. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* A line on `to`, and the browser, if it shall be opened and there is a display; else the hint,
 * too.
 */
void fm_live_show_address(const char *url, bool open, const char *hint, FILE *to);

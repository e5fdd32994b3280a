/* SPDX-License-Identifier: Apache-2.0 */
/* A C program's run in plain words, for a recording whose costs are known. */
#pragma once

#include "pages/profile/measured/measure.h"
#include "pages/profile/parts/page.h"

/* "706 ms of CPU time in 188,056,028 calls of 1,079 functions; ..."; g_free. */
char *fm_summary_lead(const struct fm_page *page);
/* Threads, times, exactness, result of the checks; g_free. */
char *fm_summary_details(const struct fm_page *page);
/* That it mostly waited; NULL when it did not, or that is not known. g_free. */
char *fm_summary_waiting(const struct fm_page *page);

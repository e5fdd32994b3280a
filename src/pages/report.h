/* SPDX-License-Identifier: Apache-2.0 */
/* One opened recording and the pages of it. report_<first word of the command>.c holds the code of
 * each page: command + profile -> display tree. */
#pragma once

#include "display/display.h"
#include "query/query.h"
#include "open/deep.h"

/* The preferences of a query, or this recording's defaults. */
void fm_page_preferences_of(const struct fm_open_profile *recording, const struct fm_query *query,
                            struct fm_preferences *ret);

/* Whether the page is whole with what is known now; if not, fm_pages_make() makes one of what is
 * known: its text says so (fm_display_set_incomplete), the caller may say it better. */
bool fm_pages_is_complete(const struct fm_open_profile *recording, const struct fm_query *query);
/* The query in the form for a URL, with what lasts instead of the number of a function or context
 * (fm_query.lasting), g_free(); NULL: it has none, or what is known does not tell yet. */
char *fm_pages_lasting(const struct fm_open_profile *recording, const struct fm_query *query);
/* Makes the page. Errors: FM_ERROR_NOT_FOUND (an id or module that is not there),
 * FM_ERROR_UNAVAILABLE (the recording does not hold what the page needs; the message says why),
 * FM_ERROR_USAGE. quit, restart and timeout are the server's commands: FM_ERROR_USAGE here.
 * ret_preferences: those that it was made with, which the writers need, too. At least the header
 * must be known. */
FM_MUST_USE bool fm_pages_make(const struct fm_open_profile *recording,
                               const struct fm_query *query, struct fm_preferences *ret_preferences,
                               struct fm_display **ret, GError **error);

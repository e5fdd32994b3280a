/* SPDX-License-Identifier: Apache-2.0 */
/* durations: durations of single calls of chosen functions, by context. */
#include "pages/profile/measured/durations.h"

#include "pages/profile/overview/overview.h"
#include "pages/profile/parts/controls.h"

bool fm_page_durations(struct fm_page *page, GError **error)
{
    (void)error;
    fm_page_begin(page, "durations", g_strdup("Durations of calls"));
    const struct fm_duration_info *info = &page->profile->run_info.durations;
    fm_display_fact_bool(page->display, "recorded", info->count > 0);
    if (fm_add_durations(page, 0) == 0)
        fm_add_text(page->body, "No calls were timed one by one in this file: "
                                "`fathom record --trace=NAME` chooses functions.");
    if (info->count > FM_DURATIONS_SHOWN) {
        g_autofree char *text = g_strdup_printf("%u of %u contexts, the most expensive.",
                                                FM_DURATIONS_SHOWN, info->count);
        fm_add_text(page->body, text);
    }
    fm_controls_general(page);
    return true;
}

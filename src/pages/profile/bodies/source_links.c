/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/profile/bodies/source_links.h"

#include <inttypes.h>

#include "pages/profile/measured/measure.h"
#include "pages/profile/parts/names.h"
#include "pages/profile/parts/preferences.h"

#define HOTTEST_SHOWN 3
#define COPIES_SHOWN 6

/* The line with the most time behind `last`, by time and then by number; span.count: none. */
static uint32_t next_hottest(struct fm_line_span span, const struct fm_line_cost *costs,
                             uint32_t last)
{
    uint32_t best = span.count;
    for (uint32_t i = 0; i < span.count; i++) {
        uint64_t quanta = costs[i].quanta;
        bool listed = last < span.count &&
                      (quanta > costs[last].quanta || (quanta == costs[last].quanta && i <= last));
        if (quanta > 0 && !listed && (best == span.count || quanta > costs[best].quanta))
            best = i;
    }
    return best;
}

void fm_source_link_hottest(struct fm_page *page, const struct fm_query *page_link,
                            struct fm_line_span span, const struct fm_line_cost *costs)
{
    struct fm_measured time;
    struct fm_list *list = NULL;
    uint32_t last = span.count;
    fm_measured_init(&time, page->recording, FM_QUERY_BY_TIME);
    for (unsigned shown = 0; time.is_time && shown < HOTTEST_SHOWN; shown++) {
        last = next_hottest(span, costs, last);
        if (last == span.count)
            return;
        if (list == NULL)
            list = fm_add_list(page->body, FM_LIST_HORIZONTAL, "Hottest lines:");
        struct fm_query link = *page_link;
        link.line = span.first + last;
        g_autofree char *amount =
            fm_measured_text(&time, (int64_t)MIN(costs[last].quanta, (uint64_t)INT64_MAX));
        g_autofree char *label = g_strdup_printf("line %" PRIu32 ": %s", link.line, amount);
        fm_add_link(list, &link, label);
    }
}

/* A line that a body was inlined at, and what the calls of that copy cost. */
struct copy {
    uint32_t css;
    int64_t amount;
};

static int compare_copies(const void *a, const void *b)
{
    const struct copy *x = a, *y = b;
    return x->amount != y->amount ? (x->amount < y->amount) - (x->amount > y->amount)
                                  : (x->css > y->css) - (x->css < y->css);
}

void fm_source_link_copies(struct fm_page *page, uint32_t ps)
{
    const struct fm_profile *profile = page->profile;
    g_autoptr(GArray) copies = g_array_new(FALSE, FALSE, sizeof(struct copy));
    if (!profile->ps[ps].inlined)
        return;
    for (uint32_t css = 1; css <= profile->css_count; css++) {
        struct fm_cost cost;
        if (!profile->css[css].inlined || profile->css[css].callee_ps != ps)
            continue;
        fm_analysis_css_cost(page->analysis, css, &cost);
        const struct copy one = {
            css, fm_cost_total(&cost, fm_times_tell(profile) ? FM_QUANTA : FM_CALLSEQS)};
        g_array_append_val(copies, one);
    }
    if (copies->len == 0)
        return;
    g_array_sort(copies, compare_copies);
    struct fm_list *list = fm_add_list(page->body, FM_LIST_HORIZONTAL, "Inlined at:");
    for (guint i = 0; i < MIN(copies->len, COPIES_SHOWN); i++) {
        const struct fm_css *css = &profile->css[g_array_index(copies, struct copy, i).css];
        struct fm_query link = fm_page_link(page, FM_CMD_PROC, css->ps);
        link.line = css->line;
        g_autofree char *place = fm_name_place(
            page, css->file[0] != '\0' ? css->file : profile->ps[css->ps].file, css->line);
        g_autofree char *label = g_strdup_printf("%s in %s", place, fm_shown_name(page, css->ps));
        fm_add_link(list, &link, label);
    }
    if (copies->len > COPIES_SHOWN) {
        g_autofree char *more = g_strdup_printf("and %u more", copies->len - COPIES_SHOWN);
        fm_add_text(list, more);
    }
}

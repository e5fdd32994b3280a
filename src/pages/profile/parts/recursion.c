/* SPDX-License-Identifier: Apache-2.0 */
/* The sum that a caller pays for a recursion differs from the sums of its procedures. These rows
 * lead from one to the other; the pages that show both use them. */
#include "pages/profile/parts/recursion.h"

#include "pages/profile/parts/page.h"
#include "pages/profile/parts/perf_columns.h"

void fm_recursion_row(struct fm_page *page, struct fm_table *table, const struct fm_perf *perf,
                      const struct fm_recursion_row *row)
{
    g_return_if_fail(row->label != NULL && row->cost != NULL);
    fm_table_row(table, row->role, false);
    for (unsigned i = 0; i < row->before; i++)
        fm_cell_empty(table);
    fm_cell_string(table, row->label, row->style);
    fm_perf_cells(perf, page, table, row->cost);
}

void fm_recursion_others_row(struct fm_page *page, struct fm_table *table,
                             const struct fm_perf *perf, unsigned before,
                             const struct fm_callers_sum *sum)
{
    bool any = false;
    for (unsigned m = 0; m < FM_MEASURES_MAX; m++)
        any |= sum->others.desc[m] != 0;
    if (!any)
        return;
    g_autofree char *label =
        g_strdup_printf("less what other %s of its recursions cost", page->terms->procs);
    fm_recursion_row(
        page, table, perf,
        &(struct fm_recursion_row){"others", before, label, FM_STYLE_ITALIC, &sum->others});
}

void fm_recursion_text(struct fm_page *page, const char *where)
{
    g_autofree char *text = g_strdup_printf(
        "Calls inside a recursion have no total of their own, since the call from outside paid for "
        "the whole recursion: the rows %s account for the difference from the cost of the %s "
        "itself.%s",
        where, page->terms->proc,
        page->profile->flavour == FM_FLAVOUR_MERCURY
            ? " By Mercury's rule that is its own code and what it calls outside of the recursion."
            : "");
    fm_add_text(page->body, text);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The switch of the measure. */
#include "pages/profile/measured/switch.h"

#include "pages/profile/measured/measure.h"

void fm_add_measures(struct fm_page *page, enum fm_query_measure now)
{
    const enum fm_query_measure *measures;
    unsigned count = fm_measures_of(page->recording, &measures);
    struct fm_list *list = fm_add_list(page->body, FM_LIST_HORIZONTAL, "By:");
    fm_list_set_id(list, "measures");
    for (unsigned i = 0; i < count; i++) {
        struct fm_query query = fm_page_like(page);
        query.command.measure = measures[i];
        if (measures[i] == now)
            fm_add_text(list, fm_measure_label(now));
        else if (fm_measure_is_recorded(page->recording, measures[i]))
            fm_add_link(list, &query, fm_measure_label(measures[i]));
    }
}

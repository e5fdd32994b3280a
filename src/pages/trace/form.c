/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of a page's address that its forms keep. */
#include "pages/trace/show.h"

static void add_hidden(struct fm_form *form, const struct fm_trace_query *query)
{
    for (unsigned i = 0; i < query->files->len; i++)
        fm_form_hidden(form, "file", query->files->pdata[i]);
    if (query->view != FM_TRACE_VIEW_EVENTS)
        fm_form_hidden(form, "view", fm_trace_view_name(query->view));
    if (query->whole_trace)
        fm_form_hidden(form, "scope", "trace");
    for (unsigned i = 0; i < query->hidden->len; i++)
        fm_form_hidden(form, "hide", query->hidden->pdata[i]);
    for (unsigned i = 0; i < query->pinned->len; i++)
        fm_form_hidden(form, "pin", query->pinned->pdata[i]);
    for (unsigned i = 0; i < query->folded->len; i++)
        fm_form_hidden(form, "fold", query->folded->pdata[i]);
    if (query->order != FM_TRACE_ORDER_TREE)
        fm_form_hidden(form, "order", fm_trace_order_name(query->order));
    if (query->busy_only)
        fm_form_hidden(form, "busy", "1");
}

char *fm_trace_page_time_or_nothing(uint64_t time)
{
    return time == FM_TRACE_TIME_UNSET ? NULL : fm_trace_time_print(time);
}

/* The area stays as it is. */
static void add_area(struct fm_form *form, const struct fm_trace_query *query)
{
    const struct {
        const char *name;
        uint64_t time;
    } times[] = {{"area_start", query->area_start},
                 {"area_end", query->area_end},
                 {"least", query->least},
                 {"most", query->most}};
    for (unsigned i = 0; i < G_N_ELEMENTS(times); i++) {
        g_autofree char *text = fm_trace_page_time_or_nothing(times[i].time);
        if (text != NULL)
            fm_form_hidden(form, times[i].name, text);
    }
    for (unsigned i = 0; i < query->chosen->len; i++)
        fm_form_hidden(form, "in", query->chosen->pdata[i]);
    if (query->selected != NULL)
        fm_form_hidden(form, "selected", query->selected);
    if (query->by != FM_TRACE_BY_NAME)
        fm_form_hidden(form, "by", fm_trace_by_name(query->by));
}

void fm_trace_page_form_keep(struct fm_form *form, const struct fm_trace_query *query)
{
    add_hidden(form, query);
    add_area(form, query);
}

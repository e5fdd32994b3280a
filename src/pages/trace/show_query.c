/* SPDX-License-Identifier: Apache-2.0 */
/* A query: a form, examples, and its groups. */
#include "pages/trace/show.h"
#include "pages/trace/totals.h"

static const char *const examples[] = {
    "segment.state = waiting | group by segment.name, lane.name | show count, sum, p99, max",
    "segment.duration >= 1ms | group by segment.name",
    "group by segment.start every 100ms, segment.state | show sum(segment.self)",
    "events | group by event.name",
};

static void show_form(const struct fm_trace_page_show *show, const struct fm_viewer_query *query)
{
    struct fm_form *form = fm_add_form(show->body, "query-form", "A query");
    fm_trace_page_form_keep(form, show->query);
    fm_form_text(form, "query", "Query", show->query->query, examples[0], 70, query->wrong);
    fm_form_submit(form, "Ask");
    struct fm_list *list = fm_add_list(show->body, FM_LIST_BULLETS, "For example");
    struct fm_trace_query other = *show->query;
    for (unsigned i = 0; i < G_N_ELEMENTS(examples) && show->query->query == NULL; i++) {
        other.query = (char *)(uintptr_t)examples[i];
        g_autofree char *url = fm_trace_page_url(&other);
        fm_add_href(list, url, examples[i]);
    }
}

void fm_trace_page_show_query(const struct fm_trace_page_show *show, struct fm_viewer_query *query)
{
    bool html = show->format == FM_FORMAT_HTML;
    if (html)
        show_form(show, query);
    if (query->problem != NULL && query->wrong == NULL)
        fm_add_text(show->body, query->problem);
    for (unsigned i = 0; i < show->set->count; i++) {
        if (query->groups[i] == NULL)
            continue;
        struct fm_list *list = show->set->count == 1 ? show->body
                                                     : fm_add_list(show->body, FM_LIST_PLAIN,
                                                                   show->set->parts[i].name);
        fm_trace_page_add_groups(list, query->groupings[i], query->groups[i],
                                 html ? fm_trace_page_link_to : NULL, (void *)(uintptr_t)show);
        if (fm_groups_counted(query->groups[i]) == 0 && fm_viewer_job_is_done(&query->job))
            fm_add_text(list, "Nothing passes the query.");
    }
}

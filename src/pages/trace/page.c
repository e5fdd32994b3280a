/* SPDX-License-Identifier: Apache-2.0 */
/* A page of traces without stream: its viewers run to their ends, or for limited time, and what is
 * known then is written. It is made in steps. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/text/number.h"
#include "pages/trace/page.h"
#include "pages/trace/json.h"
#include "pages/trace/show.h"

#define PATIENCE_US 60000
/* for pages of long logs: their script requests the rest at once */
#define PATIENCE_LONG_US 10000
#define TITLE_FILES_MAX 4u
#define ZOOM 2
#define SETTLED_BYTES_MAX (8u << 20)

static const struct fm_viewer *const viewers[FM_TRACE_VIEW_COUNT] = {
    [FM_TRACE_VIEW_EVENTS] = &fm_viewer_of_events,
    [FM_TRACE_VIEW_STATISTICS] = &fm_viewer_of_statistics,
    [FM_TRACE_VIEW_RESOURCES] = &fm_viewer_of_resources,
    [FM_TRACE_VIEW_COUNTERS] = &fm_viewer_of_counters,
    [FM_TRACE_VIEW_AREA] = &fm_viewer_of_area,
    [FM_TRACE_VIEW_PATH] = &fm_viewer_of_path,
    [FM_TRACE_VIEW_DETAILS] = &fm_viewer_of_details,
    [FM_TRACE_VIEW_QUERY] = &fm_viewer_of_query,
    [FM_TRACE_VIEW_TIMELINE] = &fm_viewer_of_timeline,
    [FM_TRACE_VIEW_OVERVIEW] = &fm_viewer_of_overview,
    [FM_TRACE_VIEW_STEP] = &fm_viewer_of_step,
};

const struct fm_viewer *fm_trace_page_viewer_of(enum fm_trace_view view)
{
    g_return_val_if_fail(view < FM_TRACE_VIEW_COUNT, NULL);
    return viewers[view];
}

enum stage {
    SETTLING, /* a short log is known whole before its first page is written */
    BEGINNING,
    RUNNING,
    READY,
};

struct fm_trace_page {
    int64_t patience_us; /* 0 = as long as is good for most readers */
    struct fm_viewer_set *set;
    struct fm_trace_query all, without; /* without: the filter that is wrong; it owns nothing */
    const struct fm_trace_query *query;
    enum fm_format format;
    bool in_turns;
    enum stage stage;
    int64_t since;                 /* begin of the stage, monotonic us */
    struct fm_viewer_job *jobs[3]; /* overview, timeline, panel; those that the format needs */
    unsigned job_count;
    char *filter_problem; /* error of the filter: the page is made without it */
    GError *problem;
};

static int64_t patience_of(const struct fm_trace_page *page)
{
    if (page->patience_us != 0)
        return page->patience_us;
    bool is_long = fm_viewer_set_bytes(page->set) > SETTLED_BYTES_MAX;
    return page->format == FM_FORMAT_HTML && is_long ? PATIENCE_LONG_US : PATIENCE_US;
}

static bool is_settled(const struct fm_trace_page *page)
{
    bool settled = fm_viewer_set_precompute(page->set);
    enum fm_trace_view view = page->query->view;
    bool wants = view == FM_TRACE_VIEW_AREA || view == FM_TRACE_VIEW_PATH ||
                 view == FM_TRACE_VIEW_DETAILS || view == FM_TRACE_VIEW_QUERY ||
                 view == FM_TRACE_VIEW_STEP || page->query->arrows || page->query->busy_only ||
                 page->query->order == FM_TRACE_ORDER_BUSY;
    for (unsigned i = 0; wants && i < page->set->count; i++) {
        enum fm_request_result result =
            fm_background_request(page->set->engine, page->set->parts[i].trace, "segments");
        settled &= result == FM_REQUEST_READY || result == FM_REQUEST_FAILED;
    }
    return settled;
}

static void enter(struct fm_trace_page *page, enum stage stage)
{
    page->stage = stage;
    page->since = g_get_monotonic_time();
}

static bool settle(struct fm_trace_page *page)
{
    if (fm_viewer_set_bytes(page->set) > SETTLED_BYTES_MAX && page->patience_us == 0) {
        fm_viewer_set_precompute(page->set); /* it would not be done in time */
        return false;
    }
    if (is_settled(page) || g_get_monotonic_time() >= page->since + patience_of(page) / 2)
        return false;
    /* Others' requests come first. Where others have turns, they end. */
    if (fm_engine_has_foreground(page->set->engine))
        return page->in_turns;
    return fm_engine_step(page->set->engine);
}

static bool begin_job(struct fm_trace_page *page, enum fm_trace_view view, GError **error)
{
    g_assert(page->job_count < G_N_ELEMENTS(page->jobs) && viewers[view] != NULL);
    return fm_viewer_job_new(viewers[view], page->set, page->query, &page->jobs[page->job_count],
                             error) &&
           ++page->job_count > 0;
}

static bool has_panel(enum fm_trace_view view)
{
    return view < FM_TRACE_VIEW_TIMELINE;
}

/* The next of those that the format needs; false: all have begun. */
static bool begin_next(struct fm_trace_page *page, GError **error)
{
    enum fm_trace_view own = page->query->view;
    const enum fm_trace_view views[] = {FM_TRACE_VIEW_OVERVIEW, FM_TRACE_VIEW_TIMELINE, own};
    bool html = page->format == FM_FORMAT_HTML;
    unsigned count = html ? 2 + has_panel(own) : own != FM_TRACE_VIEW_SET;
    return page->job_count < count && begin_job(page, html ? views[page->job_count] : own, error) &&
           page->job_count < count;
}

static bool run(struct fm_trace_page *page)
{
    /* The last chunk takes pictures of what has been read. */
    bool last = g_get_monotonic_time() - page->since > patience_of(page);
    return !fm_viewer_jobs_are_done(page->jobs, page->job_count) &&
           fm_viewer_jobs_turn(page->jobs, page->job_count, last) && !last;
}

bool fm_trace_page_step(struct fm_trace_page *page)
{
    switch (page->stage) {
    case SETTLING:
        if (!settle(page))
            enter(page, BEGINNING);
        break;
    case BEGINNING:
        if (!begin_next(page, &page->problem))
            enter(page, page->problem == NULL ? RUNNING : READY);
        break;
    case RUNNING:
        if (!run(page))
            enter(page, READY);
        break;
    case READY:
        break;
    }
    return page->stage != READY;
}

void fm_trace_page_free(struct fm_trace_page *page)
{
    if (page == NULL)
        return;
    for (unsigned i = 0; i < page->job_count; i++)
        fm_viewer_job_free(page->jobs[i]);
    fm_viewer_set_free(page->set);
    fm_trace_query_done(&page->all);
    g_clear_error(&page->problem);
    g_free(page->filter_problem);
    g_free(page);
}

/* --- the page --- */

static void add_zoom(const struct fm_trace_page *page, struct fm_list *list, const char *label,
                     uint64_t start, uint64_t end)
{
    const struct fm_viewer_set *set = page->set;
    struct fm_trace_query query = *page->query;
    query.start = start <= set->start ? FM_TRACE_TIME_UNSET : start;
    query.end = end >= set->end ? FM_TRACE_TIME_UNSET : end;
    query.from = query.until = NULL;
    g_autofree char *url = fm_trace_page_url(&query);
    fm_add_href(list, url, label);
}

/* Zooms around the cursor if it is in the window, else around the middle. */
static void show_zooms(const struct fm_trace_page *page, struct fm_list *body, uint64_t start,
                       uint64_t end)
{
    const struct fm_viewer_set *set = page->set;
    struct fm_list *list = fm_add_list(body, FM_LIST_HORIZONTAL, "Window");
    uint64_t width = end - start, cursor = page->query->cursor;
    g_autofree char *from = fm_trace_page_time_text(start, 6);
    g_autofree char *to = fm_trace_page_time_text(end, 6);
    g_autofree char *length = fm_trace_page_duration_text(width);
    g_autofree char *text = g_strdup_printf("%s to %s (%s)", from, to, length);
    fm_add_text(list, text);
    double centre = cursor != FM_TRACE_TIME_UNSET && cursor > start && cursor < end
                        ? (double)(cursor - start) / (double)width
                        : 0.5;
    uint64_t left = width - width / ZOOM; /* part of the window that is not shown */
    uint64_t in = start + (uint64_t)(centre * (double)left);
    uint64_t out = (uint64_t)(centre * (double)(width * (ZOOM - 1)));
    if (width / ZOOM > 0)
        add_zoom(page, list, "Zoom in", in, in + MAX(width / ZOOM, 1));
    if (start > set->start || end < set->end) {
        uint64_t wide = start - MIN(out, start);
        add_zoom(page, list, "Zoom out", wide, wide + width * ZOOM);
        uint64_t step = width / 2 + 1, back = MIN(step, start - set->start);
        uint64_t forth = MIN(step, set->end - end);
        add_zoom(page, list, "Earlier", start - back, end - back);
        add_zoom(page, list, "Later", start + forth, end + forth);
        add_zoom(page, list, "Whole", set->start, set->end);
    }
}

static void show_form(const struct fm_trace_page *page, struct fm_list *body)
{
    const struct fm_trace_query *query = page->query;
    struct fm_form *form = fm_add_form(body, "controls-form", "What is shown");
    g_autofree char *start = fm_trace_page_time_or_nothing(query->start);
    g_autofree char *end = fm_trace_page_time_or_nothing(query->end);
    g_autofree char *at = fm_trace_page_time_or_nothing(query->at);
    fm_trace_page_form_keep(form, query);
    if (query->query != NULL)
        fm_form_hidden(form, "query", query->query);
    fm_form_text(form, "start", "From", start, "the begin", 12, NULL);
    fm_form_text(form, "end", "to", end, "the end", 12, NULL);
    fm_form_text(form, "at", "List events from", at, "1.5s, 20ms", 12, NULL);
    fm_form_text(form, "filter", "Events that pass", query->filter,
                 "event.name = RunThread & event.field.thread > 3", 44, page->filter_problem);
    fm_form_text(form, "find", "Lanes with", query->find, "part of a name", 12, NULL);
    fm_form_submit(form, "Show");
}

static void show_tabs(const struct fm_trace_page *page, struct fm_list *body)
{
    static const char *const labels[] = {
        "Events", "Statistics",    "Resources", "Counters and heap",
        "Area",   "Critical path", "Details",   "Query"};
    struct fm_list *list = fm_add_list(body, FM_LIST_HORIZONTAL, NULL);
    fm_list_set_id(list, "tabs");
    struct fm_trace_query query = *page->query;
    query.from = query.until = NULL;
    for (unsigned i = 0; i < G_N_ELEMENTS(labels); i++) {
        query.view = (enum fm_trace_view)i;
        g_autofree char *url = fm_trace_page_url(&query);
        if (query.view == page->query->view)
            fm_add_text(list, labels[i]);
        else
            fm_add_href(list, url, labels[i]);
    }
}

static void show_panel(const struct fm_trace_page_show *show, struct fm_viewer_job *job)
{
    switch (show->query->view) {
    case FM_TRACE_VIEW_EVENTS:
        fm_trace_page_show_events(show, (const struct fm_viewer_events *)job);
        break;
    case FM_TRACE_VIEW_STATISTICS:
        fm_trace_page_show_statistics(show, (struct fm_viewer_statistics *)job);
        break;
    case FM_TRACE_VIEW_RESOURCES:
        fm_trace_page_show_resources(show, (struct fm_viewer_timeline *)job);
        break;
    case FM_TRACE_VIEW_COUNTERS:
        fm_trace_page_show_counters(show, (struct fm_viewer_counters *)job);
        break;
    case FM_TRACE_VIEW_AREA:
        fm_trace_page_show_area(show, (struct fm_viewer_area *)job);
        break;
    case FM_TRACE_VIEW_PATH:
        fm_trace_page_show_path(show, (struct fm_viewer_path *)job);
        break;
    case FM_TRACE_VIEW_QUERY:
        fm_trace_page_show_query(show, (struct fm_viewer_query *)job);
        break;
    case FM_TRACE_VIEW_DETAILS:
        fm_trace_page_show_details(show, (const struct fm_viewer_details *)job);
        break;
    case FM_TRACE_VIEW_TIMELINE:
        fm_trace_page_show_timeline(show, (struct fm_viewer_timeline *)job);
        fm_trace_page_show_activity(show, (const struct fm_viewer_timeline *)job);
        break;
    case FM_TRACE_VIEW_OVERVIEW:
        fm_trace_page_show_overview(show, (struct fm_viewer_overview *)job);
        break;
    case FM_TRACE_VIEW_STEP:
        fm_trace_page_show_step(show, (const struct fm_viewer_step *)job);
        break;
    case FM_TRACE_VIEW_SET:
    case FM_TRACE_VIEW_COUNT:
        break;
    }
}

static void show_damage(const struct fm_trace_page *page, struct fm_display *display,
                        struct fm_list *body)
{
    g_autofree char *damage = fm_viewer_set_damage(page->set);
    if (damage == NULL)
        return;
    g_auto(GStrv) lines = g_strsplit(g_strstrip(damage), "\n", 21);
    unsigned count = g_strv_length(lines);
    g_autofree char *notice =
        g_strdup_printf("Part of this could not be read; what could be is shown. %s%s", lines[0],
                        count > 1 ? " More at the end of the page." : "");
    fm_display_set_notice(display, notice);
    fm_display_fact_string(display, "damage", damage);
    if (count < 2)
        return;
    struct fm_list *list = fm_add_list(body, FM_LIST_BULLETS, "Parts that could not be read");
    for (unsigned i = 0; i < MIN(count, 20); i++)
        fm_add_text(list, lines[i]);
}

/* Once where the traces have one clock; not where some do not know it. */
static void show_wall_clock(const struct fm_trace_page *page, struct fm_list *body)
{
    int64_t first = 0, wall;
    for (unsigned i = 0; i < page->set->count; i++) {
        if (!fm_viewer_part_wall_clock(page->set, &page->set->parts[i], &wall) ||
            (i > 0 && wall != first))
            return;
        first = wall;
    }
    g_autofree char *utc = fm_number_utc(first);
    g_autofree char *text = g_strdup_printf("Time 0 is %s.", utc);
    if (page->set->count > 0)
        fm_add_text(body, text);
}

static char *make_title(const struct fm_viewer_set *set)
{
    GString *title = g_string_new(NULL);
    for (unsigned i = 0; i < MIN(set->count, TITLE_FILES_MAX); i++) {
        g_autofree char *base = g_path_get_basename(set->parts[i].name);
        g_string_append_printf(title, "%s%s", i > 0 ? " + " : "", base);
    }
    if (set->count > TITLE_FILES_MAX)
        g_string_append(title, " ...");
    return g_string_free(title, FALSE);
}

static bool is_incomplete(const struct fm_trace_page *page)
{
    bool incomplete =
        !fm_viewer_jobs_are_done(page->jobs, page->job_count) || fm_viewer_set_is_behind(page->set);
    for (unsigned i = 0; i < page->job_count; i++)
        incomplete |= fm_viewer_job_is_incomplete(page->jobs[i]);
    return incomplete;
}

/* Never "100 %" for an incomplete page: the passes may be done while this page is still reading. */
static char *progress_text(const struct fm_viewer_set *set)
{
    double percent = floor(100 * fm_viewer_set_progress(set));
    return percent >= 100
               ? g_strdup("The window is still being read: this is what is known so far.")
               : g_strdup_printf("The trace is still being read (%.0f %%): this is what "
                                 "is known so far.",
                                 percent);
}

static struct fm_display *make_display(struct fm_trace_page *page)
{
    const struct fm_viewer_set *set = page->set;
    g_autofree char *title = make_title(set);
    struct fm_display *display = fm_display_new(title);
    struct fm_trace_page_show show = {
        .set = set, .query = page->query, .format = page->format, .body = fm_display_body(display)};
    fm_viewer_set_window(set, page->query, &show.start, &show.end);
    fm_display_set_name(display, "trace");
    if (is_incomplete(page)) {
        g_autofree char *text = progress_text(set);
        fm_display_set_incomplete(display, text);
    }
    if (page->format != FM_FORMAT_HTML) {
        show_panel(&show, page->job_count > 0 ? page->jobs[0] : NULL);
        show_damage(page, display, show.body);
        return display;
    }
    show_zooms(page, show.body, show.start - set->origin, show.end - set->origin);
    show_form(page, show.body);
    fm_trace_page_show_overview(&show, (struct fm_viewer_overview *)page->jobs[0]);
    fm_trace_page_show_activity(&show, (const struct fm_viewer_timeline *)page->jobs[1]);
    fm_trace_page_show_timeline(&show, (struct fm_viewer_timeline *)page->jobs[1]);
    show_tabs(page, show.body);
    if (page->job_count > 2)
        show_panel(&show, page->jobs[2]);
    show_wall_clock(page, show.body);
    show_damage(page, display, show.body);
    return display;
}

static void write_display(const struct fm_trace_page *page, const struct fm_display *display,
                          GString *out)
{
    static const char *const scripts[] = {"vendor/uplot/uPlot.iife.min.js", "trace/main.js", NULL};
    static const char *const modules[] = {
        "trace/activity.js", "trace/choice.js",     "trace/area.js",     "trace/counters.js",
        "trace/details.js",  "trace/events.js",     "trace/flame.js",    "trace/keys.js",
        "trace/lanes.js",    "trace/link.js",       "trace/overview.js", "trace/path.js",
        "trace/query.js",    "trace/statistics.js", "trace/util.js",     NULL};
    static const char *const styles[] = {"vendor/uplot/uPlot.min.css", "trace/trace.css", NULL};
    struct fm_preferences preferences;
    fm_preferences_default(&preferences, true, false);
    g_autofree char *query = fm_trace_page_url(page->query);
    g_autofree char *names = page->query->files->len == 1
                                 ? g_strdup(page->query->files->pdata[0])
                                 : g_strdup_printf("%u traces", page->set->count);
    const struct fm_render_page address = {
        .path = "trace",
        .query = query,
        .no_navigation = true,
        .scripts = scripts,
        .modules = modules,
        .styles = styles,
        .body_class = "trace",
    };
    const struct fm_render_options options = {.format = page->format, .page = &address};
    fm_render_display(display, &preferences, names, &options, out);
}

static void write_json(struct fm_trace_page *page, GString *out)
{
    struct fm_json json;
    fm_json_init(&json, out);
    if (page->query->view == FM_TRACE_VIEW_SET)
        fm_trace_page_json_set(&json, NULL, page->set);
    else
        fm_trace_page_json_job(&json, NULL, page->jobs[0]);
    g_string_append_c(out, '\n');
}

static void write_page(struct fm_trace_page *page, GString *out)
{
    if (page->format == FM_FORMAT_JSON) {
        write_json(page, out);
        return;
    }
    g_autoptr(FmDisplay) display = make_display(page);
    write_display(page, display, out);
}

/* A reader of pages gets the page without a filter that is wrong, and the reason; a script gets
 * the reason. */
static bool check_filter(struct fm_trace_page *page, GError **error)
{
    g_autoptr(GError) problem = NULL;
    if (page->all.filter == NULL)
        return true;
    struct fm_filter *filter = fm_filter_new(page->all.filter, &problem);
    if (filter != NULL) {
        fm_filter_free(filter);
        return true;
    }
    if (page->format != FM_FORMAT_HTML) {
        g_propagate_error(error, g_steal_pointer(&problem));
        return false;
    }
    page->filter_problem = g_strdup(problem->message);
    page->without = page->all;
    page->without.filter = NULL;
    page->query = &page->without;
    return true;
}

bool fm_trace_page_new(struct fm_open_files *recordings, int64_t patience_us,
                       const struct fm_trace_query *query, enum fm_format format, bool in_turns,
                       struct fm_trace_page **ret, GError **error)
{
    g_assert(recordings != NULL && patience_us >= 0);
    struct fm_trace_page *page = g_new0(struct fm_trace_page, 1);
    page->patience_us = patience_us;
    page->format = format;
    page->in_turns = in_turns;
    fm_trace_query_copy(query, &page->all);
    page->query = &page->all;
    if (!fm_viewer_set_open(recordings, &page->all, &page->set, error) ||
        !check_filter(page, error)) {
        fm_trace_page_free(page);
        return false;
    }
    enter(page, SETTLING);
    *ret = page;
    return true;
}

bool fm_trace_page_write(struct fm_trace_page *page, GString *out, GError **error)
{
    g_assert(page->stage == READY);
    if (page->problem != NULL) {
        g_propagate_error(error, g_steal_pointer(&page->problem));
        return false;
    }
    page->query = &page->all; /* the form shows the filter */
    write_page(page, out);
    return true;
}

enum fm_format fm_trace_page_format(const struct fm_trace_page *page)
{
    return page->format;
}

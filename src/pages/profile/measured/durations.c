/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/profile/measured/durations.h"

#include <stdlib.h>
#include <string.h>

#include "display/ranked.h"
#include "pages/profile/measured/path_text.h"

#define STEPS_SHOWN 8u
#define DATA ".data"
#define CALLS ".calls.eventlog"

static void add_column(struct fm_table *table, const char *title, const char *name,
                       unsigned priority, enum fm_column_class column_class, const char *help)
{
    fm_table_columns(table, &(struct fm_column_head){title, name, column_class}, 1,
                     FM_COLOUR_NEVER);
    fm_column_priority(table, priority);
    if (help != NULL)
        fm_column_help(table, help);
}

static int compare(const void *a, const void *b)
{
    const struct fm_durations *const *da = a, *const *db = b;
    if ((*da)->ns != (*db)->ns)
        return (*da)->ns > (*db)->ns ? -1 : 1;
    return (*da)->csd < (*db)->csd ? -1 : (*da)->csd > (*db)->csd;
}

static void time_cell(struct fm_table *table, const struct fm_durations *d, double ns)
{
    if (d->timed == 0)
        fm_cell_empty(table);
    else
        fm_cell_time_short(table, ns / 1e9);
}

/* The log of the calls beside the profile; NULL: it does not exist any more. */
static char *log_beside(const struct fm_page *page)
{
    const char *path = page->recording->path, *name = page->recording->name;
    if (path == NULL || name == NULL || !g_str_has_suffix(path, DATA) ||
        !g_str_has_suffix(name, DATA))
        return NULL;
    g_autofree char *log = g_strdup_printf("%.*s" CALLS, (int)(strlen(path) - strlen(DATA)), path);
    if (!g_file_test(log, G_FILE_TEST_IS_REGULAR))
        return NULL;
    return g_strdup_printf("%.*s" CALLS, (int)(strlen(name) - strlen(DATA)), name);
}

/* The spans of a context, which have its number as their detail. */
static void spans_cell(struct fm_table *table, const char *log, uint32_t csd)
{
    g_autofree char *file = g_uri_escape_string(log, "/", FALSE);
    g_autofree char *filter =
        g_strdup_printf("event.name = SpanDetail & event.field.value = %" PRIu32, csd);
    g_autofree char *filter_text = g_uri_escape_string(filter, NULL, FALSE);
    g_autofree char *url =
        g_strdup_printf("trace?file=%s&filter=%s&view=events", file, filter_text);
    fm_cell_href(table, url, "spans", FM_STYLE_PLAIN);
}

static void add_row(struct fm_page *page, struct fm_table *table, const struct fm_durations *d,
                    const char *log)
{
    const struct fm_profile *profile = page->profile;
    static const double shares[] = {0.5, 0.9, 0.99, 0.999};
    uint32_t clique = page->analysis->pd_clique[profile->csd_callee[d->csd]];
    struct fm_query link = fm_page_link(page, FM_CMD_CLIQUE, clique);
    g_autofree char *path = fm_clique_path(page, clique, STEPS_SHOWN);
    if (path[0] == '\0') {
        g_free(path);
        path = fm_clique_label(page, clique);
    }
    fm_table_row(table, "context", false);
    time_cell(table, d, (double)d->ns);
    fm_cell_int(table, fm_profile_calls(profile, d->csd));
    fm_cell_int(table, (int64_t)d->timed);
    time_cell(table, d, d->timed == 0 ? 0 : (double)d->ns / (double)d->timed);
    time_cell(table, d, (double)d->shortest_ns);
    for (size_t i = 0; i < G_N_ELEMENTS(shares); i++)
        time_cell(table, d, fm_durations_quantile(d, shares[i]));
    time_cell(table, d, (double)d->longest_ns);
    fm_cell_int(table, (int64_t)d->left);
    fm_cell_int(table, (int64_t)d->csd);
    if (log != NULL)
        spans_cell(table, log, d->csd);
    const struct fm_path_part parts[] = {{path, &link, FM_PART_STRONG}};
    fm_cell_path(table, parts, 1, 0);
}

uint32_t fm_add_durations(struct fm_page *page, uint32_t ps)
{
    const struct fm_profile *profile = page->profile;
    const struct fm_duration_info *info = &profile->run_info.durations;
    g_autoptr(GPtrArray) shown = g_ptr_array_new();
    for (uint32_t i = 0; i < info->count; i++) {
        if (ps == 0 || profile->pd_ps[profile->csd_callee[info->of[i].csd]] == ps)
            g_ptr_array_add(shown, &info->of[i]);
    }
    if (shown->len == 0)
        return 0;
    qsort(shown->pdata, shown->len, sizeof(gpointer), compare);
    fm_add_heading(page->body, "Durations of single calls");
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "durations");
    fm_table_ranked(table, NULL);
    add_column(table, "Together", "sum_seconds", 1, FM_COLUMN_NUMBER,
               "Of the timed calls, with their callees and waits");
    add_column(table, "Calls", "calls_count", 2, FM_COLUMN_NUMBER, NULL);
    add_column(table, "Timed", "timed_count", 1, FM_COLUMN_NUMBER,
               "Fewer than calls where calls were too frequent: a sample");
    add_column(table, "Mean", "mean_seconds", 2, FM_COLUMN_NUMBER, NULL);
    add_column(table, "Minimum", "least_seconds", 3, FM_COLUMN_NUMBER, NULL);
    add_column(table, "50 %", "p50_seconds", 1, FM_COLUMN_NUMBER,
               "Half of the timed calls took no longer; to 1 %");
    add_column(table, "90 %", "p90_seconds", 2, FM_COLUMN_NUMBER, NULL);
    add_column(table, "99 %", "p99_seconds", 1, FM_COLUMN_NUMBER, NULL);
    add_column(table, "99.9 %", "p999_seconds", 3, FM_COLUMN_NUMBER, NULL);
    add_column(table, "Longest", "longest_seconds", 1, FM_COLUMN_NUMBER, NULL);
    add_column(table, "Left", "left_count", 3, FM_COLUMN_NUMBER,
               "By longjmp, an exception, or the end of the thread");
    add_column(table, "Context", "context_number", 3, FM_COLUMN_NUMBER,
               "Number of the context in the event log of these calls");
    g_autofree char *log = log_beside(page);
    if (log != NULL)
        add_column(table, "Timeline", "timeline", 2, FM_COLUMN_PROC,
                   "The calls of this context one by one");
    add_column(table, "Path", "path", 1, FM_COLUMN_PROC, NULL);
    for (guint i = 0; i < MIN(shown->len, FM_DURATIONS_SHOWN); i++)
        add_row(page, table, shown->pdata[i], log);
    return shown->len;
}

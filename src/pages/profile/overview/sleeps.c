/* SPDX-License-Identifier: Apache-2.0 */
/* Part of the page of waits: where threads slept outside of calls that are seen to wait. */
#include "pages/profile/overview/overview.h"

#include <stdlib.h>

#include "pages/profile/measured/path_text.h"

#define CONTEXTS_SHOWN 30u
#define COMPARED_MAX 500u /* maximum number of contexts that are compared for equal paths */
#define WORTH_NS 10000000u
/* minimum share of a thread's time, 1/N: less is within the error of the figures */
#define WORTH_SHARE 100

static int compare_sleeps(const void *a, const void *b)
{
    const struct fm_sleep *sa = a, *sb = b;
    if (sa->ns != sb->ns)
        return sa->ns > sb->ns ? -1 : 1;
    return sa->csd < sb->csd ? -1 : sa->csd > sb->csd;
}

/* Joins rows of several threads with the same path. Most time first. */
static GArray *places_of(const struct fm_page *page)
{
    const struct fm_wait_info *info = &page->profile->run_info.wait_info;
    GArray *places = g_array_new(FALSE, FALSE, sizeof(struct fm_sleep));
    for (uint32_t i = 0; i < info->sleep_count; i++) {
        struct fm_sleep *sum = NULL;
        for (guint j = 0; j < MIN(places->len, COMPARED_MAX) && sum == NULL; j++) {
            struct fm_sleep *other = &g_array_index(places, struct fm_sleep, j);
            if (fm_is_same_place(page, other->csd, info->sleeps[i].csd))
                sum = other;
        }
        if (sum == NULL) {
            g_array_append_val(places, info->sleeps[i]);
            continue;
        }
        sum->samples += info->sleeps[i].samples;
        sum->ns += info->sleeps[i].ns;
    }
    if (places->len > 0)
        qsort(places->data, places->len, sizeof(struct fm_sleep), compare_sleeps);
    return places;
}

static void column(struct fm_table *table, const char *title, const char *name, unsigned priority,
                   enum fm_column_class column_class)
{
    fm_table_columns(table, &(struct fm_column_head){title, name, column_class}, 1,
                     FM_COLOUR_NEVER);
    fm_column_priority(table, priority);
}

/* Says that threads slept, but sleep was not sampled. */
static void add_not_looked(struct fm_page *page)
{
    const struct fm_wait_info *info = &page->profile->run_info.wait_info;
    for (uint32_t i = 0; i < info->thread_count; i++) {
        const struct fm_thread_time *time = &info->threads[i];
        uint64_t unseen = fm_thread_time_unseen(time);
        if (!time->queue_known || unseen < WORTH_NS || unseen * WORTH_SHARE < time->wall_ns)
            continue;
        fm_add_text(page->body, "Where threads slept otherwise is not recorded: only `fathom "
                                "record` samples it while it runs a program.");
        return;
    }
}

void fm_add_sleeps(struct fm_page *page, enum fm_time_unit unit)
{
    g_autoptr(GArray) places = places_of(page);
    uint64_t whole = 0;
    if (places->len == 0) {
        add_not_looked(page);
        return;
    }
    for (guint i = 0; i < places->len; i++)
        whole += g_array_index(places, struct fm_sleep, i).ns;
    fm_add_heading(page->body, "Other sleep, by samples");
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "other_sleep");
    fm_table_ranked(table, NULL);
    g_autofree char *title = g_strdup_printf("Other sleep %s", unit == FM_TIME_UNIT_S ? "s" : "ms");
    column(table, title, "sleep_seconds", 1, FM_COLUMN_NUMBER);
    fm_column_help(table, "Asleep outside of recorded waits: inline system calls, page faults. "
                          "Estimated from the samples");
    column(table, "%", "sleep_percent", 3, FM_COLUMN_NUMBER);
    column(table, "Samples", "samples_count", 2, FM_COLUMN_NUMBER);
    column(table, "Path", "path", 1, FM_COLUMN_PROC);
    for (guint i = 0; i < MIN(places->len, CONTEXTS_SHOWN); i++) {
        const struct fm_sleep *sleep = &g_array_index(places, struct fm_sleep, i);
        double share = whole > 0 ? (double)sleep->ns / (double)whole : 0;
        fm_table_row(table, "context", false);
        fm_cell_time_in(table, (double)sleep->ns / 1e9, unit);
        fm_cell_bar(table, share, share);
        fm_cell_share(table, share);
        fm_cell_int(table, (int64_t)sleep->samples);
        fm_context_cell(page, table, sleep->csd);
    }
}

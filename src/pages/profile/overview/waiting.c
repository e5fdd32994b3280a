/* SPDX-License-Identifier: Apache-2.0 */
/* waits: waiting of threads, by place, and the holders of locks. */
#include "pages/profile/overview/overview.h"

#include <stdlib.h>
#include <string.h>

#include "profile/digest/paths.h"
#include "profile/digest/waiting.h"
#include "display/ranked.h"
#include "pages/profile/measured/measure.h"
#include "pages/profile/measured/path_text.h"
#include "pages/profile/overview/summary_text.h"
#include "pages/profile/parts/controls.h"

#define CONTEXTS_SHOWN 30u
#define LOCKS_SHOWN 30u
#define PAIRS_SHOWN 50u
#define THREADS_SHOWN 100u
#define COMPARED_MAX 500u /* maximum number of contexts that are compared for equal paths */

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

static enum fm_time_unit unit_for(uint64_t ns)
{
    return ns >= 10000000000u ? FM_TIME_UNIT_S : FM_TIME_UNIT_MS;
}

static void add_column(struct fm_table *table, const char *title, const char *name,
                       unsigned priority, enum fm_column_class column_class)
{
    fm_table_columns(table, &(struct fm_column_head){title, name, column_class}, 1,
                     FM_COLOUR_NEVER);
    fm_column_priority(table, priority);
}

static void add_time_column(struct fm_table *table, const char *title, const char *name,
                            unsigned priority, enum fm_time_unit unit)
{
    g_autofree char *shown = g_strdup_printf("%s %s", title, unit == FM_TIME_UNIT_S ? "s" : "ms");
    add_column(table, shown, name, priority, FM_COLUMN_NUMBER);
}

static void share_cells(struct fm_table *table, uint64_t ns, uint64_t whole)
{
    double share = whole > 0 ? (double)ns / (double)whole : 0;
    fm_cell_bar(table, share, share);
    fm_cell_share(table, share);
}

/* --- by kind --- */

static void add_kinds(struct fm_page *page, const struct fm_wait_digest *digest)
{
    enum fm_time_unit unit = unit_for(digest->ns);
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "wait_kinds");
    fm_table_ranked(table, NULL);
    add_time_column(table, "Waited", "wait_seconds", 1, unit);
    add_column(table, "%", "wait_percent", 3, FM_COLUMN_NUMBER);
    add_column(table, "Waits", "waits_count", 1, FM_COLUMN_NUMBER);
    add_time_column(table, "Longest", "longest_seconds", 2, FM_TIME_UNIT_MS);
    add_column(table, "Calls", "calls_count", 2, FM_COLUMN_NUMBER);
    fm_column_help(table, "Including calls that did not wait");
    add_time_column(table, "On CPU", "cpu_seconds", 3, unit);
    fm_column_help(table, "Part of the waits in which the call used the processor, by samples");
    add_column(table, "For", "path", 1, FM_COLUMN_PROC);
    for (uint32_t i = 0; i < digest->sum_count; i++) {
        const struct fm_wait_sum *sum = &digest->sums[i];
        fm_table_row(table, "kind", false);
        fm_cell_time_in(table, seconds(sum->ns), unit);
        share_cells(table, sum->ns, digest->ns);
        fm_cell_int(table, (int64_t)sum->waits);
        fm_cell_time_in(table, seconds(sum->longest_ns), FM_TIME_UNIT_MS);
        fm_cell_int(table, (int64_t)sum->calls);
        fm_cell_time_in(table, sum->cpu_ns / 1e9, unit);
        const struct fm_path_part parts[] = {{sum->kind, NULL, FM_PART_STRONG},
                                             {sum->words, NULL, FM_PART_NOTE}};
        fm_cell_path(table, parts, 2, 0);
    }
}

/* --- by context --- */

static int compare_waiting(const void *a, const void *b)
{
    const struct fm_waiting *wa = a, *wb = b;
    if (wa->ns != wb->ns)
        return wa->ns > wb->ns ? -1 : 1;
    if (wa->waits != wb->waits)
        return wa->waits > wb->waits ? -1 : 1;
    return wa->csd < wb->csd ? -1 : wa->csd > wb->csd;
}

static bool is_same_wait(const void *page, const void *row, const void *other)
{
    const struct fm_waiting *x = row, *y = other;
    return strcmp(x->kind, y->kind) == 0 && fm_is_same_place(page, x->csd, y->csd);
}

static void add_wait(void *row, const void *other)
{
    struct fm_waiting *to = row;
    const struct fm_waiting *from = other;
    to->calls += from->calls;
    to->waits += from->waits;
    to->ns += from->ns;
    to->longest_ns = MAX(to->longest_ns, from->longest_ns);
    to->open += from->open;
}

static GArray *contexts_of(const struct fm_page *page)
{
    const struct fm_wait_info *info = &page->profile->run_info.wait_info;
    GArray *all = g_array_new(FALSE, FALSE, sizeof(struct fm_waiting));
    for (uint32_t i = 0; i < info->waiting_count; i++) {
        if (info->waiting[i].waits > 0)
            g_array_append_val(all, info->waiting[i]);
    }
    if (all->len > 0)
        qsort(all->data, all->len, sizeof(struct fm_waiting), compare_waiting);
    const struct fm_digest_rows rows = {
        all->data, sizeof(struct fm_waiting), all->len, page, is_same_wait, add_wait};
    g_array_set_size(all, fm_digest_join(&rows));
    if (all->len > 0)
        qsort(all->data, all->len, sizeof(struct fm_waiting), compare_waiting);
    return all;
}

void fm_add_waiting_contexts(struct fm_page *page, const struct fm_wait_digest *digest,
                             unsigned rows)
{
    g_autoptr(GArray) all = contexts_of(page);
    enum fm_time_unit unit = unit_for(digest->ns);
    if (all->len == 0)
        return;
    fm_add_heading(page->body, "Most waiting");
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "hot_waits");
    fm_table_ranked(table, NULL);
    add_time_column(table, "Waited", "wait_seconds", 1, unit);
    add_column(table, "%", "wait_percent", 3, FM_COLUMN_NUMBER);
    add_column(table, "Waits", "waits_count", 2, FM_COLUMN_NUMBER);
    add_time_column(table, "Longest", "longest_seconds", 3, FM_TIME_UNIT_MS);
    add_column(table, "For", "kind", 1, FM_COLUMN_DEFAULT);
    add_column(table, "Path", "path", 1, FM_COLUMN_PROC);
    for (guint i = 0; i < MIN(all->len, rows); i++) {
        const struct fm_waiting *wait = &g_array_index(all, struct fm_waiting, i);
        fm_table_row(table, "context", false);
        fm_cell_time_in(table, seconds(wait->ns), unit);
        share_cells(table, wait->ns, digest->ns);
        fm_cell_int(table, (int64_t)wait->waits);
        fm_cell_time_in(table, seconds(wait->longest_ns), FM_TIME_UNIT_MS);
        fm_cell_string(table, wait->kind, FM_STYLE_PLAIN);
        fm_context_cell(page, table, wait->csd);
    }
}

/* --- locks --- */

static void add_locks(struct fm_page *page, const struct fm_wait_digest *digest)
{
    if (digest->lock_count == 0)
        return;
    enum fm_time_unit unit = unit_for(digest->locks[0].ns);
    fm_add_heading(page->body, "Locks that were waited for");
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "locks");
    fm_table_ranked(table, NULL);
    add_time_column(table, "Waited", "wait_seconds", 1, unit);
    add_column(table, "%", "wait_percent", 3, FM_COLUMN_NUMBER);
    add_column(table, "Waits", "waits_count", 1, FM_COLUMN_NUMBER);
    add_time_column(table, "Longest", "longest_seconds", 2, FM_TIME_UNIT_MS);
    add_column(table, "Lock", "path", 1, FM_COLUMN_PROC);
    for (uint32_t i = 0; i < MIN(digest->lock_count, LOCKS_SHOWN); i++) {
        const struct fm_lock_sum *lock = &digest->locks[i];
        g_autofree char *name = fm_lock_text(page->profile, lock->lock);
        fm_table_row(table, "lock", false);
        fm_cell_time_in(table, seconds(lock->ns), unit);
        share_cells(table, lock->ns, digest->ns);
        fm_cell_int(table, (int64_t)lock->waits);
        fm_cell_time_in(table, seconds(lock->longest_ns), FM_TIME_UNIT_MS);
        const struct fm_path_part parts[] = {{name, NULL, FM_PART_STRONG},
                                             {lock->kind, NULL, FM_PART_NOTE}};
        fm_cell_path(table, parts, 2, 0);
    }
}

static int compare_pairs(const void *a, const void *b)
{
    const struct fm_blame *ba = a, *bb = b;
    if (ba->ns != bb->ns)
        return ba->ns > bb->ns ? -1 : 1;
    if (ba->csd != bb->csd)
        return ba->csd < bb->csd ? -1 : 1;
    return ba->holder < bb->holder ? -1 : ba->holder > bb->holder;
}

/* Joins rows of several threads with the same path. */
static GArray *pairs_of(const struct fm_page *page, const struct fm_wait_digest *digest)
{
    GArray *pairs = g_array_new(FALSE, FALSE, sizeof(struct fm_blame));
    for (uint32_t i = 0; i < digest->blame_count; i++) {
        const struct fm_blame *blame = &digest->blames[i];
        struct fm_blame *sum = NULL;
        for (guint j = 0; j < MIN(pairs->len, COMPARED_MAX) && sum == NULL; j++) {
            struct fm_blame *other = &g_array_index(pairs, struct fm_blame, j);
            if (other->lock == blame->lock && strcmp(other->kind, blame->kind) == 0 &&
                fm_is_same_place(page, other->csd, blame->csd) &&
                fm_is_same_place(page, other->holder, blame->holder))
                sum = other;
        }
        if (sum == NULL) {
            g_array_append_val(pairs, *blame);
            continue;
        }
        sum->waits += blame->waits;
        sum->ns += blame->ns;
        sum->longest_ns = MAX(sum->longest_ns, blame->longest_ns);
    }
    if (pairs->len > 0)
        qsort(pairs->data, pairs->len, sizeof(struct fm_blame), compare_pairs);
    return pairs;
}

static void add_pairs(struct fm_page *page, const struct fm_wait_digest *digest)
{
    g_autoptr(GArray) pairs = pairs_of(page, digest);
    if (pairs->len == 0)
        return;
    enum fm_time_unit unit = unit_for(g_array_index(pairs, struct fm_blame, 0).ns);
    fm_add_heading(page->body, "Lock waits, with the context of the holder");
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "lock_holders");
    fm_table_ranked(table, NULL);
    add_time_column(table, "Waited", "wait_seconds", 1, unit);
    add_column(table, "%", "wait_percent", 3, FM_COLUMN_NUMBER);
    add_column(table, "Waits", "waits_count", 2, FM_COLUMN_NUMBER);
    add_column(table, "Lock", "lock", 1, FM_COLUMN_DEFAULT);
    add_column(table, "Waited in", "path", 1, FM_COLUMN_PROC);
    add_column(table, "Held by", "holder", 1, FM_COLUMN_PROC);
    for (guint i = 0; i < MIN(pairs->len, PAIRS_SHOWN); i++) {
        const struct fm_blame *pair = &g_array_index(pairs, struct fm_blame, i);
        g_autofree char *name = fm_lock_text(page->profile, pair->lock);
        fm_table_row(table, "pair", false);
        fm_cell_time_in(table, seconds(pair->ns), unit);
        share_cells(table, pair->ns, digest->ns);
        fm_cell_int(table, (int64_t)pair->waits);
        fm_cell_string(table, name, FM_STYLE_PLAIN);
        fm_context_cell(page, table, pair->csd);
        fm_context_cell(page, table, pair->holder);
    }
}

/* --- threads --- */

static enum fm_time_unit unit_of_threads(const struct fm_page *page)
{
    const struct fm_wait_info *info = &page->profile->run_info.wait_info;
    uint64_t longest = 0;
    for (uint32_t i = 0; i < info->thread_count; i++)
        longest = MAX(longest, info->threads[i].wall_ns);
    return unit_for(longest);
}

static void add_threads(struct fm_page *page)
{
    const struct fm_wait_info *info = &page->profile->run_info.wait_info;
    if (info->thread_count == 0)
        return;
    enum fm_time_unit unit = unit_of_threads(page);
    fm_add_heading(page->body, "Each thread's time from its start to its end");
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "thread_times");
    fm_table_ranked(table, NULL);
    add_time_column(table, "Wall", "wall_seconds", 1, unit);
    add_time_column(table, "CPU", "cpu_seconds", 1, unit);
    add_time_column(table, "Waiting", "wait_seconds", 1, unit);
    add_time_column(table, "On CPU in waits", "inside_seconds", 3, unit);
    add_time_column(table, "No processor", "queued_seconds", 2, unit);
    fm_column_help(table, "Ready to run outside of waits, while another had the processor");
    add_time_column(table, "Other sleep", "unseen_seconds", 2, unit);
    fm_column_help(table, "Asleep outside of recorded waits: the rest of the wall time");
    add_column(table, "Thread", "path", 1, FM_COLUMN_PROC);
    bool all_known = true;
    for (uint32_t i = 0; i < MIN(info->thread_count, THREADS_SHOWN); i++) {
        const struct fm_thread_time *time = &info->threads[i];
        all_known = all_known && time->queue_known;
        fm_table_row(table, "thread", false);
        fm_cell_time_in(table, seconds(time->wall_ns), unit);
        fm_cell_time_in(table, seconds(time->cpu_ns), unit);
        fm_cell_time_in(table, seconds(time->wait_ns), unit);
        fm_cell_time_in(table, seconds(time->inside_ns), unit);
        if (time->queue_known)
            fm_cell_time_in(table, seconds(fm_thread_time_queued(time)), unit);
        else
            fm_cell_empty(table);
        if (time->queue_known)
            fm_cell_time_in(table, seconds(fm_thread_time_unseen(time)), unit);
        else
            fm_cell_empty(table);
        const struct fm_path_part parts[] = {{time->name, NULL, 0}};
        fm_cell_path(table, parts, 1, 0);
    }
    if (!all_known)
        fm_add_text(page->body, "Where the last two columns are empty, the time ready without a "
                                "processor is not recorded: a signal, _exit() or exec ended the "
                                "threads before it was read, or the system does not report it.");
}

/* For a program that slept though no recorded call waited. */
static void add_rest(struct fm_page *page)
{
    fm_add_sleeps(page, unit_of_threads(page));
    if (page->profile->run_info.wait_info.sleep_count > 0)
        add_threads(page);
}

/* --- the page --- */

static void add_not_recorded(struct fm_page *page)
{
    fm_add_text(page->body,
                "Waiting is not recorded in this file: times are of the processor alone.");
    if (page->profile->run_info.duration_ns > 0 && page->profile->ticks_per_second > 0) {
        double used = (double)page->profile->user_quanta / (double)page->profile->ticks_per_second;
        double all = (double)page->profile->run_info.duration_ns / 1e9;
        g_autofree char *used_text = fm_format_float(used, 2);
        g_autofree char *all_text = fm_format_float(all, 2);
        g_autofree char *text =
            g_strdup_printf("All threads together used %s s of processor time in the %s s from "
                            "start to end.",
                            used_text, all_text);
        fm_add_text(page->body, text);
    }
}

static void add_recorded(struct fm_page *page, const struct fm_wait_digest *digest)
{
    g_autofree char *lead = fm_summary_waiting(page);
    struct fm_query flame = fm_page_link(page, FM_CMD_FLAME, 0);
    struct fm_query tree = fm_page_link(page, FM_CMD_TREE, 0);
    uint64_t open = 0;
    fm_display_fact_int(page->display, "waits_count", (int64_t)digest->waits);
    fm_display_fact_double(page->display, "wait_seconds", seconds(digest->ns));
    if (lead != NULL)
        fm_add_text(page->body, lead);
    if (digest->waits == 0) {
        fm_add_text(page->body, "No call of the functions that were recorded waited.");
        add_rest(page);
        return;
    }
    flame.command.measure = tree.command.measure = FM_QUERY_BY_WAITING;
    flame.command.name = tree.command.name = (char *)(uintptr_t) "all";
    tree.command.depth = 3;
    struct fm_list *list = fm_add_list(page->body, FM_LIST_HORIZONTAL, NULL);
    fm_add_link(list, &flame, "Flame graph of waiting");
    fm_add_link(list, &tree, "Tree of waiting");
    for (uint32_t i = 0; i < digest->sum_count; i++)
        open += digest->sums[i].open;
    if (open > 0) {
        g_autofree char *text = g_strdup_printf(
            "%" G_GUINT64_FORMAT " of the waits %s not over %s.", open, open == 1 ? "was" : "were",
            page->profile->run_info.extent.unfinished ? "at that moment"
                                                      : "when the program ended");
        fm_add_text(page->body, text);
    }
    if (digest->sum_count > 0)
        add_kinds(page, digest);
    else
        fm_add_text(
            page->body,
            "Some of the profiles that are added up here have no record of waits and locks.");
    fm_add_waiting_contexts(page, digest, CONTEXTS_SHOWN);
    add_locks(page, digest);
    add_pairs(page, digest);
    fm_add_sleeps(page, unit_of_threads(page));
    add_threads(page);
}

bool fm_page_waits(struct fm_page *page, GError **error)
{
    g_autoptr(FmWaitDigest) digest = fm_wait_digest_new(page->profile);
    (void)error;
    fm_page_begin(page, "waits", g_strdup("Waiting"));
    fm_display_fact_bool(page->display, "recorded", digest->recorded);
    if (digest->recorded)
        add_recorded(page, digest);
    else
        add_not_recorded(page);
    fm_controls_general(page);
    return true;
}

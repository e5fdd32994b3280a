/* SPDX-License-Identifier: Apache-2.0 */
/* leaks: contexts whose blocks were never freed, which contexts freed blocks of others, and
 * realloc's effects. */
#include "pages/profile/overview/overview.h"

#include <inttypes.h>
#include <stdlib.h>

#include "profile/digest/paths.h"
#include "profile/digest/run/held.h"
#include "display/ranked.h"
#include "pages/profile/measured/path_text.h"
#include "pages/profile/parts/controls.h"

#define CONTEXTS_SHOWN 100u
#define FLOWS_SHOWN 100u
#define REALLOCS_SHOWN 50u
#define COMPARED_MAX 500u /* maximum number of rows that are compared for equal paths */

struct holder {
    uint32_t csd;
    uint64_t bytes, blocks, allocs;
};

static int by_amount(uint64_t a, uint64_t b, uint32_t first, uint32_t second)
{
    if (a != b)
        return a > b ? -1 : 1;
    return first < second ? -1 : first > second;
}

static int compare_holders(const void *a, const void *b)
{
    const struct holder *ha = a, *hb = b;
    int order = by_amount(ha->bytes, hb->bytes, 0, 0);
    return order != 0 ? order : by_amount(ha->blocks, hb->blocks, ha->csd, hb->csd);
}

static int compare_flows(const void *a, const void *b)
{
    const struct fm_flow *fa = a, *fb = b;
    int order = by_amount(fa->bytes, fb->bytes, 0, 0);
    order = order != 0 ? order : by_amount(fa->blocks, fb->blocks, fa->from, fb->from);
    return order != 0 ? order : by_amount(0, 0, fa->to, fb->to);
}

static int compare_reallocs(const void *a, const void *b)
{
    const struct fm_realloc *ra = a, *rb = b;
    int order = by_amount(ra->moved, rb->moved, 0, 0);
    return order != 0 ? order : by_amount(ra->kept, rb->kept, ra->csd, rb->csd);
}

static void add_column(struct fm_table *table, const char *title, const char *name,
                       unsigned priority, enum fm_column_class column_class)
{
    fm_table_columns(table, &(struct fm_column_head){title, name, column_class}, 1,
                     FM_COLOUR_NEVER);
    fm_column_priority(table, priority);
}

static bool is_same_holder(const void *page, const void *row, const void *other)
{
    return fm_is_same_place(page, ((const struct holder *)row)->csd,
                            ((const struct holder *)other)->csd);
}

static void add_holder(void *row, const void *other)
{
    struct holder *to = row;
    const struct holder *from = other;
    to->bytes += from->bytes;
    to->blocks += from->blocks;
    to->allocs += from->allocs;
}

/* The caller sorts again. */
static void join_holders(const struct fm_page *page, GArray *all)
{
    const struct fm_digest_rows rows = {all->data, sizeof(struct holder), all->len,
                                        page,      is_same_holder,        add_holder};
    g_array_set_size(all, fm_digest_join(&rows));
}

static GArray *holders_of(const struct fm_page *page, unsigned bytes, unsigned blocks)
{
    const struct fm_profile *profile = page->profile;
    GArray *all = g_array_new(FALSE, FALSE, sizeof(struct holder));
    for (uint32_t csd = 1; csd <= profile->csd_count; csd++) {
        const struct holder holder = {csd, fm_profile_own(profile, csd, bytes),
                                      fm_profile_own(profile, csd, blocks),
                                      fm_profile_own(profile, csd, FM_ALLOCS)};
        if (holder.blocks > 0)
            g_array_append_val(all, holder);
    }
    if (all->len == 0)
        return all;
    qsort(all->data, all->len, sizeof(struct holder), compare_holders);
    join_holders(page, all);
    qsort(all->data, all->len, sizeof(struct holder), compare_holders);
    return all;
}

static void say_shown(struct fm_page *page, uint32_t shown, uint32_t all)
{
    if (all <= shown)
        return;
    g_autofree char *text = g_strdup_printf("The first %u of %u.", shown, all);
    fm_add_text(page->body, text);
}

static void add_holders(struct fm_page *page, const GArray *holders, uint64_t whole)
{
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "leaks");
    fm_table_ranked(table, NULL);
    add_column(table, "Live", "held_bytes", 1, FM_COLUMN_NUMBER);
    add_column(table, "%", "held_percent", 3, FM_COLUMN_NUMBER);
    add_column(table, "Blocks", "held_blocks", 1, FM_COLUMN_NUMBER);
    add_column(table, "Allocated", "allocated_blocks", 2, FM_COLUMN_NUMBER);
    fm_column_help(table, "Blocks: where the number of live blocks is equal, none was ever freed");
    add_column(table, "Allocated in", "path", 1, FM_COLUMN_PROC);
    for (guint i = 0; i < MIN(holders->len, CONTEXTS_SHOWN); i++) {
        const struct holder *holder = &g_array_index(holders, struct holder, i);
        double share = whole > 0 ? (double)holder->bytes / (double)whole : 0;
        fm_table_row(table, "context", false);
        fm_cell_bytes(table, (int64_t)holder->bytes);
        fm_cell_bar(table, share, share);
        fm_cell_share(table, share);
        fm_cell_int(table, (int64_t)holder->blocks);
        fm_cell_int(table, (int64_t)holder->allocs);
        fm_context_cell(page, table, holder->csd);
    }
    say_shown(page, CONTEXTS_SHOWN, holders->len);
}

static void add_held_time(struct fm_table *table, const struct fm_flow *flow)
{
    if (flow->held_ns == 0) {
        fm_cell_empty(table);
        fm_cell_empty(table);
        return;
    }
    fm_cell_time_short(table, (double)flow->held_ns / (double)flow->blocks / 1e9);
    fm_cell_time_short(table, (double)flow->longest_ns / 1e9);
}

static int compare_lifetimes(const void *a, const void *b)
{
    const struct fm_durations *da = a, *db = b;
    return by_amount(da->timed, db->timed, da->csd, db->csd);
}

static void clear_lifetimes(void *data)
{
    g_free(((struct fm_durations *)data)->steps);
}

/* Joins rows of several threads with the same path. */
static GArray *lifetimes_of(const struct fm_page *page)
{
    const struct fm_duration_info *info = &page->profile->run_info.heap_info.lifetimes;
    g_autofree struct fm_durations *all = g_memdup2(info->of, info->count * sizeof *all);
    GArray *sums = g_array_new(FALSE, FALSE, sizeof(struct fm_durations));
    g_array_set_clear_func(sums, clear_lifetimes);
    qsort(all, info->count, sizeof *all, compare_lifetimes);
    for (uint32_t i = 0; i < info->count; i++) {
        struct fm_durations *sum = NULL;
        for (guint j = 0; j < (i < COMPARED_MAX ? sums->len : 0) && sum == NULL; j++) {
            struct fm_durations *other = &g_array_index(sums, struct fm_durations, j);
            if (fm_is_same_place(page, other->csd, all[i].csd))
                sum = other;
        }
        if (sum == NULL) {
            const struct fm_durations none = {.csd = all[i].csd};
            g_array_append_val(sums, none);
            sum = &g_array_index(sums, struct fm_durations, sums->len - 1);
        }
        fm_durations_add(sum, &all[i]);
    }
    g_array_sort(sums, compare_lifetimes);
    return sums;
}

/* Lifetimes of freed blocks, by the context that allocated them. */
static void add_lifetimes(struct fm_page *page)
{
    static const char *const names[] = {"p50_seconds", "p90_seconds", "p99_seconds"};
    static const char *const titles[] = {"50 %", "90 %", "99 %"};
    static const double shares[] = {0.5, 0.9, 0.99};
    const struct fm_duration_info *info = &page->profile->run_info.heap_info.lifetimes;
    fm_display_fact_bool(page->display, "lifetimes_recorded", info->count > 0);
    if (info->count == 0) {
        fm_add_text(
            page->body,
            "Lifetimes of blocks are not recorded: `fathom record --lifetimes` records them.");
        return;
    }
    g_autoptr(GArray) all = lifetimes_of(page);
    fm_add_heading(page->body, "Lifetimes of blocks");
    fm_add_text(page->body, "Freed blocks, by allocating context.");
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "lifetimes");
    fm_table_ranked(table, NULL);
    add_column(table, "Freed", "timed_count", 1, FM_COLUMN_NUMBER);
    add_column(table, "Mean", "mean_seconds", 1, FM_COLUMN_NUMBER);
    add_column(table, "Minimum", "least_seconds", 3, FM_COLUMN_NUMBER);
    for (size_t i = 0; i < G_N_ELEMENTS(shares); i++) {
        add_column(table, titles[i], names[i], 2, FM_COLUMN_NUMBER);
        fm_column_help(table, "This share of the blocks lived no longer; to 1 %");
    }
    add_column(table, "Longest", "longest_seconds", 1, FM_COLUMN_NUMBER);
    add_column(table, "Allocated in", "path", 1, FM_COLUMN_PROC);
    for (guint i = 0; i < MIN(all->len, CONTEXTS_SHOWN); i++) {
        const struct fm_durations *d = &g_array_index(all, struct fm_durations, i);
        fm_table_row(table, "context", false);
        fm_cell_int(table, (int64_t)d->timed);
        fm_cell_time_short(table, (double)d->ns / (double)MAX(d->timed, 1) / 1e9);
        fm_cell_time_short(table, (double)d->shortest_ns / 1e9);
        for (size_t k = 0; k < G_N_ELEMENTS(shares); k++)
            fm_cell_time_short(table, fm_durations_quantile(d, shares[k]) / 1e9);
        fm_cell_time_short(table, (double)d->longest_ns / 1e9);
        fm_context_cell(page, table, d->csd);
    }
    say_shown(page, CONTEXTS_SHOWN, all->len);
}

static bool is_same_flow(const void *page, const void *row, const void *other)
{
    const struct fm_flow *x = row, *y = other;
    return fm_is_same_place(page, x->from, y->from) && fm_is_same_place(page, x->to, y->to);
}

static void add_flow(void *row, const void *other)
{
    struct fm_flow *to = row;
    const struct fm_flow *from = other;
    to->bytes += from->bytes;
    to->blocks += from->blocks;
    to->held_ns += from->held_ns;
    to->longest_ns = MAX(to->longest_ns, from->longest_ns);
}

static uint32_t join_flows(const struct fm_page *page, struct fm_flow *flows, uint32_t count)
{
    const struct fm_digest_rows rows = {flows, sizeof *flows, count, page, is_same_flow, add_flow};
    return fm_digest_join(&rows);
}

static bool is_same_realloc(const void *page, const void *row, const void *other)
{
    return fm_is_same_place(page, ((const struct fm_realloc *)row)->csd,
                            ((const struct fm_realloc *)other)->csd);
}

static void add_realloc(void *row, const void *other)
{
    struct fm_realloc *to = row;
    const struct fm_realloc *from = other;
    to->moved += from->moved;
    to->kept += from->kept;
}

static uint32_t join_reallocs(const struct fm_page *page, struct fm_realloc *all, uint32_t count)
{
    const struct fm_digest_rows rows = {all,  sizeof *all,     count,
                                        page, is_same_realloc, add_realloc};
    return fm_digest_join(&rows);
}

static void add_flows(struct fm_page *page)
{
    const struct fm_heap_info *info = &page->profile->run_info.heap_info;
    if (info->flow_count == 0)
        return;
    g_autofree struct fm_flow *flows = g_memdup2(info->flows, info->flow_count * sizeof *flows);
    qsort(flows, info->flow_count, sizeof *flows, compare_flows);
    uint32_t count = join_flows(page, flows, info->flow_count);
    qsort(flows, count, sizeof *flows, compare_flows);
    fm_add_heading(page->body, "Allocated here, freed there");
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "flows");
    fm_table_ranked(table, NULL);
    add_column(table, "Bytes", "flow_bytes", 1, FM_COLUMN_NUMBER);
    add_column(table, "Blocks", "flow_blocks", 2, FM_COLUMN_NUMBER);
    add_column(table, "Allocated in", "path", 1, FM_COLUMN_PROC);
    if (info->lifetimes.count > 0) {
        add_column(table, "Mean lifetime", "mean_seconds", 2, FM_COLUMN_NUMBER);
        add_column(table, "Longest", "longest_seconds", 3, FM_COLUMN_NUMBER);
    }
    add_column(table, "Freed in", "freeing", 1, FM_COLUMN_PROC);
    for (uint32_t i = 0; i < MIN(count, FLOWS_SHOWN); i++) {
        fm_table_row(table, "flow", false);
        fm_cell_bytes(table, (int64_t)flows[i].bytes);
        fm_cell_int(table, (int64_t)flows[i].blocks);
        fm_context_cell(page, table, flows[i].from);
        if (info->lifetimes.count > 0)
            add_held_time(table, &flows[i]);
        fm_context_cell(page, table, flows[i].to);
    }
    say_shown(page, FLOWS_SHOWN, count);
}

static void add_reallocs(struct fm_page *page)
{
    const struct fm_heap_info *info = &page->profile->run_info.heap_info;
    if (info->realloc_count == 0)
        return;
    g_autofree struct fm_realloc *all =
        g_memdup2(info->reallocs, info->realloc_count * sizeof *all);
    qsort(all, info->realloc_count, sizeof *all, compare_reallocs);
    uint32_t count = join_reallocs(page, all, info->realloc_count);
    qsort(all, count, sizeof *all, compare_reallocs);
    fm_add_heading(page->body, "Blocks that realloc changed");
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "reallocs");
    fm_table_ranked(table, NULL);
    add_column(table, "Moved", "moved_blocks", 1, FM_COLUMN_NUMBER);
    fm_column_help(table, "Blocks that were copied to another place");
    add_column(table, "Left in place", "kept_blocks", 1, FM_COLUMN_NUMBER);
    add_column(table, "Called in", "path", 1, FM_COLUMN_PROC);
    for (uint32_t i = 0; i < MIN(count, REALLOCS_SHOWN); i++) {
        fm_table_row(table, "context", false);
        fm_cell_int(table, (int64_t)all[i].moved);
        fm_cell_int(table, (int64_t)all[i].kept);
        fm_context_cell(page, table, all[i].csd);
    }
    say_shown(page, REALLOCS_SHOWN, count);
}

static void say_blocks(struct fm_page *page, uint64_t blocks, uint64_t bytes, const char *what)
{
    if (blocks == 0)
        return;
    g_autofree char *bytes_text = fm_format_bytes_said((int64_t)MIN(bytes, (uint64_t)INT64_MAX));
    g_autofree char *text =
        g_strdup_printf("%" PRIu64 " block%s (%s) %s %s.", blocks, blocks == 1 ? "" : "s",
                        bytes_text, blocks == 1 ? "was" : "were", what);
    fm_add_text(page->body, text);
}

/* Says which blocks the tables leave out. */
static void add_beside(struct fm_page *page)
{
    const struct fm_heap_whole *whole = &page->profile->run_info.heap_info.whole;
    say_blocks(page, whole->unknown_blocks, whole->unknown_bytes,
               "freed, but allocated where nothing was recorded");
    say_blocks(page, whole->inherited_blocks, whole->inherited_bytes,
               "freed, but allocated by the parent process");
    say_blocks(page, whole->unseen_blocks, whole->unseen_bytes,
               "freed where it is not recorded who frees");
    say_blocks(page, whole->untold_blocks, whole->untold_bytes,
               "allocated without memory to note where");
    if (whole->dropped > 0) {
        g_autofree char *text = g_strdup_printf(
            "For %" PRIu64
            " freed blocks the recording had no room to note where they were allocated.",
            whole->dropped);
        fm_add_text(page->body, text);
    }
}

static void add_lead(struct fm_page *page, uint64_t bytes, uint64_t blocks, uint32_t contexts)
{
    fm_display_fact_int(page->display, "held_bytes", (int64_t)bytes);
    fm_display_fact_int(page->display, "held_blocks", (int64_t)blocks);
    fm_display_fact_int(page->display, "contexts_count", contexts);
    const struct fm_held_words *words = fm_held_words(page->profile);
    if (blocks == 0) {
        fm_add_text(page->body, fm_cost_total(&page->analysis->root_total, FM_ALLOCS) > 0
                                    ? words->none
                                    : "Nothing was allocated by functions that were recorded.");
        return;
    }
    g_autofree char *bytes_text = fm_format_bytes_said((int64_t)bytes);
    g_autofree char *blocks_text = fm_format_int((int64_t)blocks);
    g_autofree char *text = g_strdup_printf("%s in %s block%s of %u context%s %s. %s", bytes_text,
                                            blocks_text, blocks == 1 ? "" : "s", contexts,
                                            contexts == 1 ? "" : "s", words->lead, words->further);
    fm_add_text(page->body, text);
}

static void add_recorded(struct fm_page *page, unsigned bytes, unsigned blocks)
{
    g_autoptr(GArray) holders = holders_of(page, bytes, blocks);
    uint64_t all_bytes = 0, all_blocks = 0;
    for (guint i = 0; i < holders->len; i++) {
        all_bytes += g_array_index(holders, struct holder, i).bytes;
        all_blocks += g_array_index(holders, struct holder, i).blocks;
    }
    add_lead(page, all_bytes, all_blocks, holders->len);
    struct fm_query memory = fm_page_link(page, FM_CMD_MEMORY, 0);
    memory.command.memory = FM_QUERY_HELD;
    fm_add_link(page->body, &memory, "The same without wrappers of malloc");
    if (holders->len > 0)
        add_holders(page, holders, all_bytes);
    if (!page->profile->run_info.heap_info.recorded) {
        fm_add_text(page->body, "Which context freed the blocks of another is not recorded in this "
                                "file, or not in all parts of a sum.");
        return;
    }
    add_flows(page);
    add_lifetimes(page);
    add_reallocs(page);
    add_beside(page);
}

bool fm_page_leaks(struct fm_page *page, GError **error)
{
    unsigned bytes = fm_profile_measure(page->profile, FM_LIVE_BYTES);
    unsigned blocks = fm_profile_measure(page->profile, FM_LIVE_BLOCKS);
    (void)error;
    fm_page_begin(page, "leaks", g_strdup(fm_held_words(page->profile)->heading));
    fm_display_fact_bool(page->display, "recorded", bytes != 0 && blocks != 0);
    if (bytes != 0 && blocks != 0)
        add_recorded(page, bytes, blocks);
    else
        fm_add_text(
            page->body,
            "Live blocks at the end, and the contexts that allocated them, are not recorded.");
    fm_controls_general(page);
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* lines/ROWS: the source lines with the most self time; lines/MEASURE/ROWS: those that allocate
 * most.
 */
#include "pages/profile/bodies/hot_lines.h"

#include <string.h>

#include "pages/profile/bodies/bodies.h"
#include "pages/profile/bodies/source.h"
#include "pages/profile/bodies/source_text.h"
#include "pages/profile/measured/cost_table.h"
#include "pages/profile/parts/names.h"
#include "profile/digest/lines/allocating_lines.h"

#define CODE_CHARACTERS 60
#define ROWS_A_PAGE 100u
#define LEADING_SAMPLES 4
#define LEADING_SHARE 0.05

struct listing {
    struct fm_page *page;
    struct fm_table *table;
    struct fm_measured measured;
    unsigned blocks;   /* measure of a column of its own; 0 = none */
    GHashTable *texts; /* file -> its text, or NULL where it is not at hand */
    bool shown;        /* the text of a line was at hand */
};

/* With tabs and runs of spaces as one space. */
static char *squeeze(const char *from, size_t size)
{
    g_autofree char *line = g_strndup(from, size);
    g_autofree char *text = g_utf8_make_valid(line, -1);
    g_autoptr(GString) out = g_string_new(NULL);
    for (const char *p = text; *p != '\0'; p++) {
        bool space = (unsigned char)*p <= ' ' || *p == 0x7f;
        if (!space)
            g_string_append_c(out, *p);
        else if (out->len > 0 && out->str[out->len - 1] != ' ')
            g_string_append_c(out, ' ');
    }
    return g_strchomp(g_string_free(g_steal_pointer(&out), FALSE));
}

/* A cell with the beginning of a long line, and the whole of it where the pointer is over it. */
static void add_code(struct fm_table *table, const char *code)
{
    if (g_utf8_strlen(code, -1) <= CODE_CHARACTERS) {
        fm_cell_string(table, code, FM_STYLE_PLAIN);
        return;
    }
    g_autofree char *cut = g_utf8_substring(code, 0, CODE_CHARACTERS - 1);
    g_autofree char *shown = g_strconcat(g_strchomp(cut), "\u2026", NULL);
    fm_cell_string(table, shown, FM_STYLE_PLAIN);
    fm_cell_full(table, code);
}

/* g_free; NULL where the source is not at hand. */
static char *text_of_line(struct listing *listing, const char *file, uint32_t line)
{
    gpointer text;
    if (!g_hash_table_lookup_extended(listing->texts, file, NULL, &text)) {
        g_autofree char *note = NULL;
        text = fm_source_text_read(listing->page, file, &note);
        g_hash_table_insert(listing->texts, (char *)(uintptr_t)file, text);
    }
    const char *at = text == NULL || line == 0 ? NULL : fm_source_text_line(text, line - 1);
    return at == NULL ? NULL : squeeze(at, strcspn(at, "\n"));
}

/* Cells of the place: the line, how many others share the amount, and the text. */
static void add_place(struct listing *listing, const struct fm_hot_line *line,
                      const struct fm_query *link)
{
    struct fm_table *table = listing->table;
    g_autofree char *place = fm_name_place(listing->page, line->file, line->line);
    g_autofree char *shown =
        line->more_lines > 0 ? g_strdup_printf("%s +%" PRIu32, place, line->more_lines) : NULL;
    g_autofree char *full =
        line->more_lines > 0 ? g_strdup_printf("%s, and %" PRIu32 " further line%s", line->file,
                                               line->more_lines, line->more_lines == 1 ? "" : "s")
                             : NULL;
    fm_cell_link(table, link, shown != NULL ? shown : place, FM_STYLE_PLAIN);
    fm_cell_full(table, full != NULL ? full : line->file);
}

static void add_row(struct listing *listing, const struct fm_hot_line *line)
{
    struct fm_page *page = listing->page;
    struct fm_table *table = listing->table;
    struct fm_query link = fm_page_link(page, FM_CMD_PROC, line->ps);
    struct fm_query function = link;
    link.line = line->line;
    g_autofree char *more = line->functions > 1
                                ? g_strdup_printf("in %" PRIu32 " functions", line->functions)
                                : g_strdup("");
    const struct fm_path_part parts[] = {
        {fm_shown_name(page, line->ps), &function, 0, fm_full_name_ps(page, line->ps)},
        {more, NULL, FM_PART_NOTE}};
    g_autofree char *code =
        line->more_lines > 0 ? NULL : text_of_line(listing, line->file, line->line);
    double share = fm_measured_share(&listing->measured, (int64_t)line->amount);
    fm_table_row(table, "line", false);
    if (fm_measured_is_soft(&listing->measured, (int64_t)line->amount))
        fm_row_soft(table);
    fm_measured_cell(table, &listing->measured, (int64_t)line->amount);
    fm_cell_bar(table, share, share);
    fm_cell_share(table, share);
    if (listing->blocks != 0)
        fm_cell_int(table, (int64_t)line->blocks);
    add_place(listing, line, &link);
    fm_cell_path(table, parts, line->functions > 1 ? 2 : 1, 0);
    if (code != NULL)
        add_code(table, code);
    else
        fm_cell_empty(table);
    listing->shown = listing->shown || code != NULL;
}

static void add_table(struct fm_page *page, enum fm_query_measure by, unsigned blocks,
                      const struct fm_hot_line *lines, uint32_t count)
{
    bool timed = by == FM_QUERY_BY_TIME;
    g_autoptr(GHashTable) texts = g_hash_table_new_full(NULL, NULL, NULL, g_free);
    struct listing listing = {
        .page = page,
        .table = fm_add_table(page->body, FM_BOX_NEVER, timed ? "lines" : "allocating_lines"),
        .blocks = blocks,
        .texts = texts};
    fm_measured_init(&listing.measured, page->recording, by);
    fm_table_ranked(listing.table, NULL);
    fm_measured_column(listing.table, &listing.measured,
                       timed ? "Self" : fm_measure_label(page->recording, by), "self", 1);
    fm_cost_column(listing.table, "%", "self_percent", 3, FM_COLUMN_NUMBER);
    if (blocks != 0)
        fm_cost_column(listing.table, "Blocks", "self_blocks", 2, FM_COLUMN_NUMBER);
    fm_cost_column(listing.table, "Line", "place", 1, FM_COLUMN_SOURCE_CONTEXT);
    fm_cost_column(listing.table, "Function", "path", 1, FM_COLUMN_PROC);
    fm_cost_column(listing.table, "Source", "code", 2, FM_COLUMN_SOURCE_CONTEXT);
    for (uint32_t i = 0; i < count; i++)
        add_row(&listing, &lines[i]);
    if (!listing.shown)
        fm_add_text(page->body, "The source files are not here. `fathom record --keep-sources` "
                                "keeps them with the profile.");
}

/* The number of blocks that belongs to an amount of bytes; 0: none is recorded. */
static unsigned blocks_of(const struct fm_page *page, enum fm_query_measure by)
{
    if (by == FM_QUERY_BY_BYTES)
        return FM_ALLOCS;
    return by == FM_QUERY_BY_LIVE ? fm_profile_measure(page->profile, FM_LIVE_BLOCKS) : 0;
}

void fm_add_allocating_lines(struct fm_page *page, enum fm_query_measure by, uint32_t rows)
{
    if (!fm_measure_is_recorded(page->recording, by))
        return;
    struct fm_measured measured;
    fm_measured_init(&measured, page->recording, by);
    unsigned blocks = blocks_of(page, by);
    g_autofree struct fm_hot_line *lines = NULL;
    uint32_t count = fm_allocating_lines(page->analysis, page->recording->hot, measured.measure,
                                         blocks, rows, &lines);
    if (count == 0)
        return;
    bool shared = false, none = false, some = false;
    for (uint32_t i = 0; i < count; i++) {
        shared = shared || lines[i].more_lines > 0;
        none = none || lines[i].line == 0;
        some = some || lines[i].line > 0;
    }
    if (!some) {
        fm_add_text(page->body, "No line is known: that needs a program that was built with "
                                "`fathom cc -g`.");
        return;
    }
    fm_add_text(page->body,
                "A block is counted at the line that calls the allocator, or a wrapper of it. What "
                "libraries allocate for a function is counted there, too.");
    if (shared)
        fm_add_text(page->body, "\"+1\": one more line of the function calls the allocator. By "
                                "which of them it allocated is not recorded.");
    if (none)
        fm_add_text(page->body, "Without a line: no call of the allocator is known in the "
                                "function; libraries that it calls may have allocated.");
    add_table(page, by, blocks, lines, count);
}

static uint32_t find_lines(const struct fm_page *page, uint32_t rows, struct fm_hot_line **ret)
{
    return fm_hot_lines(page->profile, page->recording->source_map, rows, ret);
}

void fm_add_leading_lines(struct fm_page *page, uint32_t rows)
{
    g_autofree struct fm_hot_line *lines = NULL;
    uint32_t count = find_lines(page, rows, &lines);
    struct fm_measured time;
    fm_measured_init(&time, page->recording, FM_QUERY_BY_TIME);
    if (count == 0 || (double)lines[0].amount < LEADING_SAMPLES * time.sample ||
        fm_measured_share(&time, (int64_t)lines[0].amount) < LEADING_SHARE)
        return;
    fm_add_heading(page->body, "Hottest lines");
    add_table(page, FM_QUERY_BY_TIME, 0, lines, count);
    struct fm_query more = fm_page_link(page, FM_CMD_LINES, 0);
    more.command.last = ROWS_A_PAGE;
    fm_add_link(page->body, &more, "More lines");
}

static bool add_allocating_page(struct fm_page *page)
{
    enum fm_query_measure by = page->query.command.measure;
    fm_page_begin(page, "lines", g_strdup("Lines that allocate"));
    if (fm_measure_is_recorded(page->recording, by))
        fm_add_allocating_lines(page, by, page->query.command.last);
    else
        fm_add_text(page->body, "Nothing of this is recorded.");
    return true;
}

bool fm_page_lines(struct fm_page *page, GError **error)
{
    (void)error;
    if (page->query.command.measure != FM_QUERY_BY_TIME)
        return add_allocating_page(page);
    const struct fm_source_map *map = page->recording->source_map;
    fm_page_begin(page, "lines", g_strdup("Hottest lines"));
    g_autofree struct fm_hot_line *lines = NULL;
    uint32_t count = find_lines(page, page->query.command.last, &lines);
    fm_display_fact_int(page->display, "lines_shown_count", count);
    if (count > 0)
        add_table(page, FM_QUERY_BY_TIME, 0, lines, count);
    else if (page->recording->source_map_message != NULL)
        fm_add_text(page->body, page->recording->source_map_message);
    else if (map != NULL && map->has_times)
        fm_add_text(page->body, "No sample fell on a line of source.");
    else if (!fm_source_add_time_note(page))
        fm_add_text(page->body, "Time by line is not recorded.");
    return true;
}

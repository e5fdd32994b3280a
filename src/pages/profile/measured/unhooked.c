/* SPDX-License-Identifier: Apache-2.0 */
/* The table of code without hooks. */
#include <string.h>

#include "base/names/names.h"
#include "pages/profile/parts/names.h"
#include "profile/digest/run/unhooked.h"
#include "pages/profile/measured/hot_tables.h"

#define ROW_SHARE 0.01

static void add_row(struct fm_page *page, struct fm_table *table,
                    const struct fm_measured *measured, const struct fm_unhooked_file *file)
{
    const struct fm_profile *profile = page->profile;
    int64_t quanta = (int64_t)file->quanta;
    struct fm_query link = fm_page_link(page, FM_CMD_PROC, file->caller);
    bool has_page = fm_profile_is_function(profile, file->caller);
    const struct fm_path_part caller[] = {{fm_shown_name(page, file->caller),
                                           has_page ? &link : NULL, 0,
                                           fm_full_name_ps(page, file->caller)}};
    g_autofree char *name = fm_unhooked_file_name(file);
    fm_table_row(table, "unhooked", false);
    if (fm_measured_is_soft(measured, quanta))
        fm_row_soft(table);
    fm_measured_cell(table, measured, quanta);
    fm_cell_bar(table, fm_measured_share(measured, quanta), fm_measured_share(measured, quanta));
    fm_cell_share(table, fm_measured_share(measured, quanta));
    fm_cell_string(table, name, FM_STYLE_PLAIN);
    if (file->function[0] == '\0') {
        fm_cell_unknown(table);
    } else {
        g_autofree char *brief = fm_name_short_text(file->function, NULL);
        fm_cell_string(table, brief, FM_STYLE_PLAIN);
        if (strcmp(brief, file->function) != 0)
            fm_cell_full(table, file->function);
    }
    fm_cell_path(table, caller, 1, 0);
}

static void add_column(struct fm_table *table, const char *title, const char *name,
                       unsigned priority, enum fm_column_class column_class)
{
    fm_table_group(table, title, column_class, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, name, NULL);
    fm_column_priority(table, priority);
}

void fm_add_unhooked(struct fm_page *page, unsigned rows)
{
    g_autoptr(FmUnhookedDigest) digest = fm_unhooked_digest_new(page->profile);
    struct fm_measured time;
    fm_measured_init(&time, page->recording, FM_QUERY_BY_TIME);
    if (!digest->tells)
        return;
    fm_add_heading(page->body, "Code without hooks, by file");
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "unhooked");
    fm_table_ranked(table, NULL);
    fm_measured_column(table, &time, "Self", "self", 1);
    add_column(table, "%", "self_percent", 3, FM_COLUMN_NUMBER);
    add_column(table, "File", "file", 1, FM_COLUMN_DEFAULT);
    add_column(table, "Mostly in", "function", 2, FM_COLUMN_DEFAULT);
    add_column(table, "Called mostly from", "caller", 1, FM_COLUMN_PROC);
    for (guint i = 0; i < MIN(digest->files->len, rows); i++) {
        const struct fm_unhooked_file *file =
            &g_array_index(digest->files, struct fm_unhooked_file, i);
        if (i == 0 || fm_measured_share(&time, (int64_t)file->quanta) >= ROW_SHARE)
            add_row(page, table, &time, file);
    }
}

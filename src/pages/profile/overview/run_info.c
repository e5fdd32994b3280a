/* SPDX-License-Identifier: Apache-2.0 */
/* What the menu says of a C program's run beside its graph: phases and snapshots that the program
 * marked, and what the recording lost or finishing could not find. */
#include "pages/profile/overview/overview.h"

#include <string.h>

#include "pages/profile/parts/page.h"

#define PARTS_SHOWN_MAX 1000u

/* From one mark to the next, or to the end. */
struct phase {
    const char *name;
    uint64_t from_ns, to_ns; /* to 0 = not known: it ended without exit() */
    uint64_t quanta;
};

static void add_phase(struct fm_page *page, struct fm_table *table, const struct phase *phase)
{
    const struct fm_profile *profile = page->profile;
    fm_table_row(table, "phase", false);
    fm_cell_string(table, phase->name, FM_STYLE_PLAIN);
    fm_cell_time(table, (double)phase->from_ns / 1e9);
    if (phase->to_ns > phase->from_ns)
        fm_cell_time(table, (double)(phase->to_ns - phase->from_ns) / 1e9);
    else
        fm_cell_empty(table);
    if (profile->ticks_per_second > 0)
        fm_cell_time(table, (double)phase->quanta / (double)profile->ticks_per_second);
    else
        fm_cell_empty(table);
    if (profile->user_quanta > 0)
        fm_cell_percent(table, (double)phase->quanta / (double)profile->user_quanta);
    else
        fm_cell_empty(table);
}

/* The mark after number i that begins a phase; mark_count = none. */
static uint32_t next_phase(const struct fm_run_info *run_info, uint32_t i)
{
    while (i < run_info->mark_count && run_info->marks[i].snapshot != 0)
        i++;
    return i;
}

static void add_phases(struct fm_page *page)
{
    const struct fm_profile *profile = page->profile;
    const struct fm_run_info *run_info = &profile->run_info;
    uint32_t first = next_phase(run_info, 0);
    if (first == run_info->mark_count)
        return;
    fm_add_heading(page->body, "Phases");
    struct fm_table *table = fm_add_table(page->body, FM_BOX_IF_PREFERRED, "phases");
    static const struct {
        const char *title, *name;
    } columns[] = {
        {"Phase", "phase"},          {"Begins after", "begin_seconds"}, {"Lasts", "lasted_seconds"},
        {"CPU time", "cpu_seconds"}, {"% of all", "cpu_percent"},
    };
    for (unsigned i = 0; i < G_N_ELEMENTS(columns); i++) {
        fm_table_group(table, columns[i].title, i == 0 ? FM_COLUMN_DEFAULT : FM_COLUMN_NUMBER,
                       FM_COLOUR_NEVER);
        fm_table_column(table, NULL, columns[i].name, NULL);
    }
    struct phase phase = {.name = "before the first"};
    uint64_t quanta_before = 0;
    for (uint32_t i = first;; i = next_phase(run_info, i + 1)) {
        bool last = i == run_info->mark_count;
        const struct fm_mark *end = last ? NULL : &run_info->marks[i];
        uint64_t quanta = last ? profile->user_quanta : end->quanta;
        phase.to_ns = last ? run_info->duration_ns : end->ns;
        phase.quanta = quanta > quanta_before ? quanta - quanta_before : 0;
        add_phase(page, table, &phase);
        if (last)
            return;
        quanta_before = quanta;
        phase = (struct phase){.name = end->name, .from_ns = end->ns};
    }
}

static void add_snapshots(struct fm_page *page)
{
    const struct fm_run_info *run_info = &page->profile->run_info;
    const char *name = page->recording->name;
    size_t stem = strlen(name) - (g_str_has_suffix(name, ".data") ? strlen(".data") : 0);
    struct fm_list *list = NULL;
    for (uint32_t i = 0; i < run_info->mark_count; i++) {
        const struct fm_mark *mark = &run_info->marks[i];
        if (mark->snapshot == 0)
            continue;
        if (list == NULL)
            list = fm_add_list(page->body, FM_LIST_BULLETS,
                               "Snapshots (fathom finish makes pages of them)");
        g_autofree char *text =
            g_strdup_printf("%s: after %.3f s, %.*s.snap%u.rec", mark->name, (double)mark->ns / 1e9,
                            (int)stem, name, mark->snapshot);
        fm_add_text(list, text);
    }
}

static void add_time_cell(struct fm_table *table, uint64_t ns)
{
    g_autoptr(GDateTime) at = g_date_time_new_from_unix_utc((gint64)(ns / 1000000000u));
    g_autofree char *text =
        ns == 0 || at == NULL ? NULL : g_date_time_format(at, "%Y-%m-%d %H:%M:%S UTC");
    fm_cell_string(table, text == NULL ? "not recorded" : text, FM_STYLE_PLAIN);
}

static void add_known_cell(struct fm_table *table, uint64_t value)
{
    if (value == 0)
        fm_cell_string(table, "not recorded", FM_STYLE_PLAIN);
    else
        fm_cell_int(table, (int64_t)MIN(value, (uint64_t)INT64_MAX));
}

/* Of a sum: which profiles are in it. */
static void add_parts(struct fm_page *page)
{
    static const struct {
        const char *title, *name;
    } columns[] = {{"File (SHA-256)", "hash"},
                   {"Times", "times"},
                   {"Command", "command"},
                   {"Process", "process"},
                   {"Started", "started"},
                   {"Seconds", "seconds"},
                   {"Most heap, bytes", "peak_bytes"}};
    const struct fm_run_info *run_info = &page->profile->run_info;
    uint32_t shown = MIN(run_info->part_count, PARTS_SHOWN_MAX);
    fm_display_fact_int(page->display, "part_count", run_info->part_count);
    g_autofree char *heading =
        g_strdup_printf("Profiles that are added up here: %" PRIu32 "%s", run_info->part_count,
                        shown < run_info->part_count ? ", the first of them:" : "");
    fm_add_heading(page->body, heading);
    struct fm_table *table = fm_add_table(page->body, FM_BOX_IF_PREFERRED, "parts");
    for (size_t i = 0; i < G_N_ELEMENTS(columns); i++) {
        fm_table_group(table, columns[i].title, FM_COLUMN_DEFAULT, FM_COLOUR_NEVER);
        fm_table_column(table, NULL, columns[i].name, NULL);
    }
    for (uint32_t i = 0; i < shown; i++) {
        const struct fm_part *part = &run_info->parts[i];
        char hash[2 * FM_PART_HASH_BYTES + 1];
        for (size_t b = 0; b < FM_PART_HASH_BYTES; b++)
            g_snprintf(hash + 2 * b, 3, "%02x", part->hash[b]);
        bool known = part->process.command[0] != '\0';
        fm_table_row(table, "part", false);
        fm_cell_string(table, hash, FM_STYLE_PLAIN);
        fm_cell_int(table, (int64_t)MIN(part->times, (uint64_t)INT64_MAX));
        fm_cell_string(table, known ? part->process.command : "not recorded", FM_STYLE_PLAIN);
        add_known_cell(table, part->process.pid);
        add_time_cell(table, part->process.start_ns);
        if (part->duration_ns == 0)
            fm_cell_string(table, "not recorded", FM_STYLE_PLAIN);
        else
            fm_cell_time(table, (double)part->duration_ns / 1e9);
        add_known_cell(table, part->peak_bytes);
    }
}

void fm_add_run_info(struct fm_page *page)
{
    const struct fm_run_info *run_info = &page->profile->run_info;
    if (run_info->note_count > 0) {
        struct fm_list *list = fm_add_list(page->body, FM_LIST_BULLETS, "Notes on the recording");
        for (uint32_t i = 0; i < run_info->note_count; i++)
            fm_add_text(list, run_info->notes[i]);
    }
    add_phases(page);
    add_snapshots(page);
    if (run_info->part_count > 0)
        add_parts(page);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Adds facts about a C program's run to the menu: phases and snapshots that the program marked, and
 * what the recording lost or finishing could not find. */
#include "pages/profile/overview/overview.h"

#include <string.h>

#include "profile/digest/processes/roles.h"
#include "profile/digest/run/quality.h"
#include "profile/digest/run/run.h"
#include "pages/profile/parts/page.h"

#define PARTS_SHOWN_MAX 1000u

static void add_phase(struct fm_page *page, struct fm_table *table, const struct fm_phase *phase)
{
    const struct fm_profile *profile = page->profile;
    fm_table_row(table, "phase", false);
    fm_cell_string(table, phase->name == NULL ? "before the first" : phase->name, FM_STYLE_PLAIN);
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

static void add_phases(struct fm_page *page)
{
    g_autoptr(GArray) phases = fm_run_phases(page->profile);
    if (phases->len == 0)
        return;
    fm_add_heading(page->body, "Phases");
    struct fm_table *table = fm_add_table(page->body, FM_BOX_IF_PREFERRED, "phases");
    static const struct fm_column_head columns[] = {
        {"Phase", "phase", FM_COLUMN_DEFAULT},
        {"Begins after", "begin_seconds", FM_COLUMN_NUMBER},
        {"Lasts", "lasted_seconds", FM_COLUMN_NUMBER},
        {"CPU time", "cpu_seconds", FM_COLUMN_NUMBER},
        {"% of all", "cpu_percent", FM_COLUMN_NUMBER},
    };
    fm_table_columns(table, columns, G_N_ELEMENTS(columns), FM_COLOUR_NEVER);
    for (guint i = 0; i < phases->len; i++)
        add_phase(page, table, &g_array_index(phases, struct fm_phase, i));
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

static bool has_ranks(const struct fm_run_info *run_info)
{
    for (uint32_t i = 0; i < run_info->part_count; i++) {
        if (run_info->parts[i].process.rank != 0)
            return true;
    }
    return false;
}

static void add_rank_cells(struct fm_table *table, const struct fm_process_fact *process)
{
    g_autofree char *rank =
        process->rank == 0 ? g_strdup("not recorded")
        : process->rank_count == 0
            ? g_strdup_printf("%" PRIu32, process->rank - 1)
            : g_strdup_printf("%" PRIu32 " of %" PRIu32, process->rank - 1, process->rank_count);
    fm_cell_string(table, rank, FM_STYLE_PLAIN);
    fm_cell_string(table, process->host == NULL ? "not recorded" : process->host, FM_STYLE_PLAIN);
}

static const char *forked_in(const struct fm_process_fact *process, bool known)
{
    if (!process->forked)
        return known ? "" : "not recorded";
    return process->forked_in == NULL ? "a function not recorded" : process->forked_in;
}

static void add_cost_cells(struct fm_table *table, bool known, uint64_t calls, uint64_t cpu_ns)
{
    if (known) {
        fm_cell_int(table, (int64_t)MIN(calls, (uint64_t)INT64_MAX));
        fm_cell_time(table, (double)cpu_ns / 1e9);
        return;
    }
    fm_cell_string(table, "not recorded", FM_STYLE_PLAIN);
    fm_cell_string(table, "not recorded", FM_STYLE_PLAIN);
}

/* Most expensive first; recordings of an older fathom have no cost. */
static gint compare_costs(gconstpointer left, gconstpointer right)
{
    const struct fm_role *a = left, *b = right;
    if (a->has_cost != b->has_cost)
        return a->has_cost ? -1 : 1;
    if (a->cpu_ns != b->cpu_ns)
        return a->cpu_ns > b->cpu_ns ? -1 : 1;
    return a->calls == b->calls ? 0 : a->calls > b->calls ? -1 : 1;
}

void fm_add_roles(struct fm_page *page)
{
    static const struct fm_column_head columns[] = {
        {"Role", "role", FM_COLUMN_DEFAULT},
        {"Processes", "processes", FM_COLUMN_DEFAULT},
        {"Calls", "calls", FM_COLUMN_DEFAULT},
        {"CPU, seconds", "cpu_seconds", FM_COLUMN_DEFAULT},
        {"Longest, seconds", "longest_seconds", FM_COLUMN_DEFAULT}};
    g_autoptr(GArray) roles = fm_run_roles(page->profile);
    if (roles->len < 2)
        return;
    g_array_sort(roles, compare_costs);
    fm_add_heading(page->body, "Costs of each program's processes");
    struct fm_table *table = fm_add_table(page->body, FM_BOX_IF_PREFERRED, "roles");
    fm_table_columns(table, columns, G_N_ELEMENTS(columns), FM_COLOUR_NEVER);
    for (guint i = 0; i < roles->len; i++) {
        const struct fm_role *role = &g_array_index(roles, struct fm_role, i);
        g_autofree char *text = fm_run_role_text(role);
        fm_table_row(table, "role", false);
        fm_cell_string(table, text, FM_STYLE_PLAIN);
        fm_cell_int(table, (int64_t)MIN(role->processes, (uint64_t)INT64_MAX));
        add_cost_cells(table, role->has_cost, role->calls, role->cpu_ns);
        if (role->longest_ns == 0)
            fm_cell_string(table, "not recorded", FM_STYLE_PLAIN);
        else
            fm_cell_time(table, (double)role->longest_ns / 1e9);
    }
}

/* For a sum: lists the profiles in it, by rank if they have ranks. */
static void add_parts(struct fm_page *page)
{
    static const struct fm_column_head columns[] = {
        {"File (SHA-256)", "hash", FM_COLUMN_DEFAULT},
        {"Times", "times", FM_COLUMN_DEFAULT},
        {"Command", "command", FM_COLUMN_DEFAULT},
        {"Process", "process", FM_COLUMN_DEFAULT},
        {"Of", "parent", FM_COLUMN_DEFAULT},
        {"Forked in", "forked_in", FM_COLUMN_DEFAULT},
        {"Calls", "calls", FM_COLUMN_DEFAULT},
        {"CPU, seconds", "cpu_seconds", FM_COLUMN_DEFAULT},
        {"Started", "started", FM_COLUMN_DEFAULT},
        {"Seconds", "seconds", FM_COLUMN_DEFAULT},
        {"Peak heap, bytes", "peak_bytes", FM_COLUMN_DEFAULT}};
    static const struct fm_column_head rank_columns[] = {{"MPI rank", "rank", FM_COLUMN_DEFAULT},
                                                         {"Host", "host", FM_COLUMN_DEFAULT}};
    const struct fm_run_info *run_info = &page->profile->run_info;
    bool ranked = has_ranks(run_info);
    g_autofree uint32_t *places = fm_profile_places(page->profile);
    uint32_t shown = MIN(run_info->part_count, PARTS_SHOWN_MAX);
    fm_display_fact_int(page->display, "part_count", run_info->part_count);
    g_autofree char *heading =
        g_strdup_printf("Profiles that are added up here: %" PRIu32 "%s", run_info->part_count,
                        shown < run_info->part_count ? ", the first of them:" : "");
    fm_add_heading(page->body, heading);
    struct fm_table *table = fm_add_table(page->body, FM_BOX_IF_PREFERRED, "parts");
    fm_table_columns(table, columns, G_N_ELEMENTS(columns), FM_COLOUR_NEVER);
    if (ranked)
        fm_table_columns(table, rank_columns, G_N_ELEMENTS(rank_columns), FM_COLOUR_NEVER);
    for (uint32_t i = 0; i < shown; i++) {
        const struct fm_part *part = &run_info->parts[places[i]];
        char hash[2 * FM_PART_HASH_BYTES + 1];
        for (size_t b = 0; b < FM_PART_HASH_BYTES; b++)
            g_snprintf(hash + 2 * b, 3, "%02x", part->hash[b]);
        bool known = part->process.command[0] != '\0';
        fm_table_row(table, "part", false);
        fm_cell_string(table, hash, FM_STYLE_PLAIN);
        fm_cell_int(table, (int64_t)MIN(part->times, (uint64_t)INT64_MAX));
        fm_cell_string(table, known ? part->process.command : "not recorded", FM_STYLE_PLAIN);
        add_known_cell(table, part->process.pid);
        add_known_cell(table, part->process.parent_pid);
        fm_cell_string(table, forked_in(&part->process, known), FM_STYLE_PLAIN);
        add_cost_cells(table, part->has_cost, part->calls, part->cpu_ns);
        add_time_cell(table, part->process.start_ns);
        if (part->duration_ns == 0)
            fm_cell_string(table, "not recorded", FM_STYLE_PLAIN);
        else
            fm_cell_time(table, (double)part->duration_ns / 1e9);
        add_known_cell(table, part->peak_bytes);
        if (ranked)
            add_rank_cells(table, &part->process);
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

void fm_add_quality(struct fm_page *page)
{
    struct fm_quality quality;
    fm_quality_measure(page->analysis, &quality);
    g_autoptr(GPtrArray) sentences = fm_quality_sentences(page->profile, &quality);
    for (guint i = 0; i < sentences->len; i++)
        fm_add_text(page->body, g_ptr_array_index(sentences, i));
    if (!quality.sampled)
        return;
    fm_display_fact_double(page->display, "one_frame_percent", 100 * quality.one_frame);
    fm_display_fact_double(page->display, "cut_percent", 100 * quality.cut);
    fm_display_fact_double(page->display, "outermost_unnamed_percent", 100 * quality.outermost);
    fm_display_fact_double(page->display, "unnamed_percent", 100 * quality.unnamed);
    if (quality.samples > 0)
        fm_display_fact_int(page->display, "samples",
                            (int64_t)MIN(quality.samples, (uint64_t)INT64_MAX));
    else
        fm_display_fact_null(page->display, "samples");
}

/* Invariants are worded for Mercury's structures, which C programs have under other names. */
static char *in_terms_of(const struct fm_page *page, const char *text)
{
    static const char *const words[][2] = {
        {"call sequence numbers", "counted calls"},
        {"callseqs", "counted calls"},
        {"quanta", "ticks"},
        {"user ticks", "program's ticks"},
        {"proc dynamic", "context"},
        {"call site dynamic", "call in context"},
        {"call sites without a call port", "calling lines without counted calls"},
        {"clique", "group"},
        {"procedure", "function"},
    };
    char *out = g_strdup(text);
    for (size_t i = 0; page->profile->flavour == FM_FLAVOUR_C && i < G_N_ELEMENTS(words); i++) {
        g_auto(GStrv) parts = g_strsplit(out, words[i][0], -1);
        g_free(out);
        out = g_strjoinv(words[i][1], parts);
    }
    return out;
}

void fm_add_invariants(struct fm_page *page)
{
    const struct fm_open_profile *recording = page->recording;
    bool all = true;
    struct fm_table *table = fm_add_table(page->body, FM_BOX_NEVER, "invariants");
    fm_table_group(table, "Invariant", FM_COLUMN_DEFAULT, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "invariant", NULL);
    fm_table_group(table, "Holds", FM_COLUMN_DEFAULT, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "holds", NULL);
    fm_table_group(table, "Figures", FM_COLUMN_DEFAULT, FM_COLOUR_NEVER);
    fm_table_column(table, NULL, "detail", NULL);
    for (unsigned i = 0; i < recording->invariant_count; i++) {
        const struct fm_invariant *invariant = &recording->invariants[i];
        all = all && invariant->holds;
        fm_table_row(table, "invariant", false);
        g_autofree char *name = in_terms_of(page, invariant->name);
        g_autofree char *detail = in_terms_of(page, invariant->detail ? invariant->detail : "");
        fm_cell_string(table, name, FM_STYLE_PLAIN);
        fm_cell_string(table, invariant->holds ? "yes" : "NO",
                       invariant->holds ? FM_STYLE_PLAIN : FM_STYLE_BOLD);
        fm_cell_string(table, detail, FM_STYLE_PLAIN);
    }
    fm_display_fact_bool(page->display, "invariants_hold", all);
}

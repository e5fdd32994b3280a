/* SPDX-License-Identifier: Apache-2.0 */
#include "pages/compare/gate.h"

#include <string.h>

#include "display/ranked.h"

static void header(struct fm_table *table)
{
    static const struct fm_column_head columns[] = {
        {"Verdict", "verdict", FM_COLUMN_FIELD_NAME},
        {"Limit", "limit", FM_COLUMN_PROC},
        {"Before", "before", FM_COLUMN_NUMBER},
        {"After", "after", FM_COLUMN_NUMBER},
        {"Change", "change", FM_COLUMN_NUMBER},
        {"Allowed", "allowed", FM_COLUMN_NUMBER},
        {"Why", "why", FM_COLUMN_PROC},
        {"Where", "where", FM_COLUMN_PROC},
        {"Because", "because", FM_COLUMN_PROC},
    };
    fm_table_columns(table, columns, G_N_ELEMENTS(columns), FM_COLOUR_NEVER);
}

static void value(struct fm_table *table, const struct fm_judgement *it, bool known, double number)
{
    if (!known || it->verdict == FM_VERDICT_ERROR)
        fm_cell_empty(table);
    else if (it->estimated && strcmp(it->limit->measure, "time") == 0)
        fm_cell_time(table, number);
    else if (number == (double)(int64_t)number)
        fm_cell_int(table, (int64_t)number);
    else
        fm_cell_ratio(table, number);
}

static void text(struct fm_table *table, const char *string)
{
    if (string == NULL || *string == '\0')
        fm_cell_empty(table);
    else
        fm_cell_string(table, string, FM_STYLE_PLAIN);
}

static void row(struct fm_table *table, const struct fm_judgement *it)
{
    g_autofree char *change = fm_judgement_change(it);
    bool differs = it->limit->subject == FM_LIMIT_NEW;
    fm_table_row(table, "limit", false);
    fm_cell_string(table, fm_verdict_word(it->verdict),
                   it->verdict >= FM_VERDICT_BROKEN ? FM_STYLE_BOLD : FM_STYLE_PLAIN);
    fm_cell_string(table, it->limit->text, FM_STYLE_PLAIN);
    for (int side = FM_BEFORE; side < FM_SIDES; side++) {
        bool known = side == FM_AFTER || it->has_before;
        value(table, it, known, it->value[side]);
        if (known && it->at_most[side] && it->verdict != FM_VERDICT_ERROR)
            fm_cell_at_most(table, NULL, "Of its recursion: its own was not recorded");
    }
    text(table, differs ? NULL : change);
    value(table, it, true, it->allowed);
    text(table, it->why);
    text(table, it->path);
    text(table, it->cause);
}

struct fm_display *fm_gate_page(const struct fm_gate *gate)
{
    static const char *const counts[] = {"kept_count", "not_told_count", "broken_count",
                                         "error_count"};
    const char *before = gate->names[FM_BEFORE];
    g_autofree char *title = before != NULL
                                 ? g_strdup_printf("%s against %s", gate->names[FM_AFTER], before)
                                 : g_strdup_printf("%s against limits", gate->names[FM_AFTER]);
    g_autofree char *summary = fm_gate_summary(gate);
    struct fm_display *display = fm_display_new(title);
    struct fm_list *body = fm_display_body(display);
    fm_display_set_name(display, "limits");
    if (before != NULL)
        fm_display_fact_string(display, "before", before);
    fm_display_fact_string(display, "after", gate->names[FM_AFTER]);
    for (unsigned i = 0; i < G_N_ELEMENTS(counts); i++)
        fm_display_fact_int(display, counts[i], gate->count[i]);
    struct fm_table *table = fm_add_table(body, FM_BOX_IF_PREFERRED, "limits");
    header(table);
    for (guint i = 0; i < gate->judgements->len; i++)
        row(table, &g_array_index(gate->judgements, struct fm_judgement, i));
    fm_add_text(body, summary);
    return display;
}

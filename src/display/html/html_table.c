/* SPDX-License-Identifier: Apache-2.0 */
/* Tables and source listings in HTML. Shares are drawn by 101 classes p0 to p100 of the
 * stylesheet, since the pages carry no inline styles. */
#include <math.h>
#include <string.h>

#include "display/html/html_internal.h"
#include "display/ranked.h"

static const char *const class_names[] = {
    [FM_COLUMN_DEFAULT] = "default",
    [FM_COLUMN_ALLOCATIONS] = "allocations",
    [FM_COLUMN_CALLSEQS] = "callseqs",
    [FM_COLUMN_CLIQUE] = "clique",
    [FM_COLUMN_FIELD_NAME] = "field_name",
    [FM_COLUMN_MEMORY] = "memory",
    [FM_COLUMN_MODULE_NAME] = "module_name",
    [FM_COLUMN_NUMBER] = "number",
    [FM_COLUMN_ORDINAL_RANK] = "ordinal_rank",
    [FM_COLUMN_PORT_COUNTS] = "port_counts",
    [FM_COLUMN_PROC] = "proc",
    [FM_COLUMN_SOURCE_CONTEXT] = "source_context",
    [FM_COLUMN_TICKS_AND_TIMES] = "ticks_and_times",
};

static const char *column_class(const struct fm_table *table, unsigned column)
{
    const struct group *group = fm_table_group_of(table, column);

    g_assert(!group || (unsigned)group->column_class < G_N_ELEMENTS(class_names));
    return class_names[group ? group->column_class : FM_COLUMN_DEFAULT];
}

static bool names_a_row(const struct fm_table *table, unsigned column)
{
    const struct group *group = fm_table_group_of(table, column);

    if (!table->has_header)
        return column == 0 && table->width > 1;
    return group &&
           (group->column_class == FM_COLUMN_PROC || group->column_class == FM_COLUMN_MODULE_NAME ||
            group->column_class == FM_COLUMN_FIELD_NAME);
}

static bool group_is_tinted(const struct html *html, const struct group *group)
{
    return group->colour == FM_COLOUR_ALWAYS ||
           (group->colour == FM_COLOUR_IF_PREFERRED && html->colour);
}

/* Every other coloured group is tinted, in the order of the groups. */
static void append_colgroups(const struct html *html, const struct fm_table *table)
{
    unsigned coloured = 0;

    for (unsigned i = 0; i < table->group_count; i++) {
        const struct group *group = &table->groups[i];
        bool tint = group_is_tinted(html, group) && coloured++ % 2 == 0;

        if (group->count)
            g_string_append_printf(html->out, "<colgroup span=\"%u\"%s></colgroup>\n", group->count,
                                   tint ? " class=\"tint\"" : "");
    }
}

/* Whether following the link would leave the page as it is: the table is sorted by it. */
static const char *sort_state(const struct html *html, const struct column *column)
{
    if (!column->link || !column->link->preferences || !html->current || !html->preferences ||
        strcmp(column->link->preferences, html->current) != 0)
        return "";
    return html->preferences->order == FM_ORDER_COST ? " aria-sort=\"descending\""
                                                     : " aria-sort=\"ascending\"";
}

/* group: of several columns; its title tells headings of one name apart. NULL = none. */
static void append_heading(const struct html *html, const struct column *column, const char *title,
                           const char *group)
{
    bool sorts = column->link && fm_html_leads(html, column->link);

    if (sorts) {
        g_string_append(html->out, "<a class=\"sort\"");
        if (group && title) {
            g_string_append(html->out, " aria-label=\"");
            fm_html_escape(html->out, title, HTML_TEXT);
            g_string_append(html->out, ", ");
            fm_html_escape(html->out, group, HTML_TEXT);
            g_string_append_c(html->out, '"');
        }
        fm_html_href(html, column->link);
        g_string_append_c(html->out, '>');
    }
    fm_html_escape(html->out, title ? title : "", HTML_TEXT);
    if (sorts)
        g_string_append(html->out, "</a>");
}

/* One title over both header rows. */
static bool group_is_single(const struct fm_table *table, const struct group *group)
{
    return group->count == 1 && (!table->columns[group->first].title || !group->title);
}

static bool has_second_row(const struct fm_table *table)
{
    for (unsigned i = 0; i < table->group_count; i++) {
        if (table->groups[i].count && !group_is_single(table, &table->groups[i]))
            return true;
    }
    return false;
}

static void append_first_header_row(const struct html *html, const struct fm_table *table,
                                    bool two_rows)
{
    GString *out = html->out;

    g_string_append(out, "<tr>");
    for (unsigned i = 0; i < table->group_count; i++) {
        const struct group *group = &table->groups[i];

        if (!group->count)
            continue;
        const struct column *column = &table->columns[group->first];
        if (group_is_single(table, group)) {
            g_string_append_printf(out, "<th scope=\"col\"%s class=\"%s",
                                   two_rows ? " rowspan=\"2\"" : "",
                                   class_names[group->column_class]);
            if (column->priority > 1)
                g_string_append_printf(out, " k%u", column->priority);
            g_string_append_printf(out, "\"%s", sort_state(html, column));
            if (column->help) {
                g_string_append(out, " title=\"");
                fm_html_escape(out, column->help, HTML_TEXT);
                g_string_append_c(out, '"');
            }
            g_string_append_c(out, '>');
            append_heading(html, column, group->title ? group->title : column->title, NULL);
        } else {
            g_string_append_printf(out, "<th scope=\"colgroup\" colspan=\"%u\" class=\"group\">",
                                   group->count);
            fm_html_escape(out, group->title ? group->title : "", HTML_TEXT);
        }
        g_string_append(out, "</th>");
    }
    g_string_append(out, "</tr>\n");
}

static void append_help(const struct html *html, const struct column *column)
{
    if (!column->help)
        return;
    g_string_append(html->out, " title=\"");
    fm_html_escape(html->out, column->help, HTML_TEXT);
    g_string_append_c(html->out, '"');
}

static void append_header(const struct html *html, const struct fm_table *table)
{
    GString *out = html->out;
    bool two_rows = has_second_row(table);

    g_string_append(out, "<thead>\n");
    append_first_header_row(html, table, two_rows);
    if (two_rows) {
        g_string_append(out, "<tr>");
        for (unsigned i = 0; i < table->column_count; i++) {
            const struct column *column = &table->columns[i];

            g_assert(column->group < table->group_count);
            if (group_is_single(table, &table->groups[column->group]))
                continue;
            g_string_append_printf(out, "<th scope=\"col\" class=\"%s\"%s", column_class(table, i),
                                   sort_state(html, column));
            append_help(html, column);
            g_string_append_c(out, '>');
            append_heading(html, column, column->title, table->groups[column->group].title);
            g_string_append(out, "</th>");
        }
        g_string_append(out, "</tr>\n");
    }
    g_string_append(out, "</thead>\n");
}

static void append_style(GString *out, unsigned style, bool end)
{
    static const struct {
        unsigned bit;
        const char *start, *end;
    } tags[] = {{FM_STYLE_BOLD, "<b>", "</b>"},
                {FM_STYLE_ITALIC, "<i>", "</i>"},
                {FM_STYLE_UNDERLINE, "<u>", "</u>"}};

    for (unsigned i = 0; i < G_N_ELEMENTS(tags); i++) {
        unsigned n = end ? (unsigned)G_N_ELEMENTS(tags) - 1 - i : i;

        if (style & tags[n].bit)
            g_string_append(out, end ? tags[n].end : tags[n].start);
    }
}

static void append_part(const struct html *html, const struct path_part *part)
{
    GString *out = html->out;
    bool strong = part->flags & FM_PART_STRONG;

    g_string_append(out, part->flags & FM_PART_NOTE ? "<small>" : strong ? "<b>" : "");
    if (part->full) {
        g_string_append(out, "<span title=\"");
        fm_html_escape(out, part->full, HTML_TEXT);
        g_string_append(out, "\">");
    }
    bool leads = part->link.command && fm_html_leads(html, &part->link);
    if (leads) {
        g_string_append(out, part->flags & FM_PART_MARK ? "<a class=\"open\"" : "<a");
        fm_html_href(html, &part->link);
        if (part->flags & FM_PART_MARK)
            g_string_append(out, " aria-label=\"what is below\"");
        g_string_append_c(out, '>');
    } else if (part->flags & FM_PART_MARK) {
        g_string_append(out, "<span class=\"open\" aria-hidden=\"true\">");
    }
    fm_html_escape(out, part->link.label, HTML_NAME);
    if (leads)
        g_string_append(out, "</a>");
    else if (part->flags & FM_PART_MARK)
        g_string_append(out, "</span>");
    g_string_append(out, part->full ? "</span>" : "");
    g_string_append(out, part->flags & FM_PART_NOTE ? "</small>" : strong ? "</b>" : "");
}

static void append_path(const struct html *html, const struct path *path)
{
    bool first = true;

    for (unsigned i = 0; i < path->count; i++) {
        const struct path_part *part = &path->parts[i];
        bool step = !(part->flags & (FM_PART_MARK | FM_PART_NOTE));

        if (step && !first)
            g_string_append(html->out, " \u203a ");
        else if (i > 0)
            g_string_append_c(html->out, ' ');
        first = first && !step;
        append_part(html, part);
    }
}

static void append_folded(const struct html *html, const struct path *links)
{
    g_string_append(html->out, "<details><summary>");
    fm_html_escape(html->out, links->title, HTML_TEXT);
    g_string_append(html->out, "</summary><ul>");
    for (unsigned i = 0; i < links->count; i++) {
        const struct link *link = &links->parts[i].link;
        bool leads = fm_html_leads(html, link);

        g_string_append(html->out, leads ? "<li><a" : "<li>");
        if (leads) {
            fm_html_href(html, link);
            g_string_append_c(html->out, '>');
        }
        fm_html_escape(html->out, link->label, HTML_NAME);
        g_string_append(html->out, leads ? "</a></li>" : "</li>");
    }
    g_string_append(html->out, "</ul></details>");
}

static void append_cell_content(const struct html *html, const struct cell *cell,
                                enum html_mode mode)
{
    if (cell->bar_total)
        g_string_append_printf(html->out, "<i class=\"s%d t%d\"></i>", cell->bar_own - 1,
                               cell->bar_total - 1);
    if (cell->kind == CELL_PATH) {
        append_path(html, cell->path);
        return;
    }
    if (cell->kind == CELL_FOLDED) {
        append_folded(html, cell->path);
        return;
    }
    if (cell->most) {
        bool leads = cell->most->command != NULL && fm_html_leads(html, cell->most);
        if (leads) {
            g_string_append(html->out, "<a class=\"most\"");
            fm_html_href(html, cell->most);
            g_string_append_c(html->out, '>');
        }
        g_string_append(html->out, leads ? FM_AT_MOST "</a> " : FM_AT_MOST " ");
    }
    if (fm_append_cell_number(html->out, cell) || cell->kind == CELL_EMPTY)
        return;
    append_style(html->out, cell->style, false);
    if (cell->kind == CELL_LINK && fm_html_leads(html, cell->link)) {
        g_string_append(html->out, "<a");
        fm_html_href(html, cell->link);
        g_string_append_c(html->out, '>');
        fm_html_escape(html->out, cell->link->label, mode);
        g_string_append(html->out, "</a>");
    } else if (cell->kind == CELL_LINK) {
        fm_html_escape(html->out, cell->link->label, mode);
    } else {
        fm_html_escape(html->out, cell->text, mode);
    }
    append_style(html->out, cell->style, true);
}

/* Whether a number shows as nothing but zeros: those are shown faintly, or a page of a profile is
 * mostly noise. */
static bool shows_zero(const struct cell *cell)
{
    switch ((enum cell_kind)cell->kind) {
    case CELL_INT:
        return cell->integer == 0;
    case CELL_TIME:
        return fabs(cell->number) < 0.05e-12;
    case CELL_PERCENT:
        return fabs(cell->number) < 0.00005;
    case CELL_FLOAT:
        return fabs(cell->number) < 0.005;
    case CELL_MEMORY:
        return fabs(cell->number) < 0.5 * pow(10, -(double)cell->decimals);
    case CELL_EMPTY:
    case CELL_STRING:
    case CELL_LINK:
    case CELL_PATH:
    case CELL_FOLDED:
        return false;
    }
    return false;
}

static void append_span(GString *out, unsigned span)
{
    if (span > 1) {
        g_string_append(out, " colspan=\"");
        fm_append_plain_int(out, span);
        g_string_append_c(out, '"');
    }
}

/* column: the one whose class the cell has; where a name spans the columns before its own, that of
 * the name. */
static void append_cell(const struct html *html, const struct fm_table *table,
                        const struct cell *cell, unsigned column, bool heads_row)
{
    GString *out = html->out;
    const struct group *group = fm_table_group_of(table, column);
    /* Places in a file are short and are better not broken. */
    g_assert(column < table->width && cell->span >= 1);
    bool whole = group && group->column_class == FM_COLUMN_SOURCE_CONTEXT;

    g_string_append(out, heads_row ? "<th scope=\"row\" class=\"" : "<td class=\"");
    g_string_append(out, column_class(table, column));
    if (column < table->column_count && table->columns[column].priority > 1)
        g_string_append_printf(out, " k%u", table->columns[column].priority);
    if (cell->bar_total)
        g_string_append(out, " bar");
    if (cell->kind == CELL_PATH)
        g_string_append_printf(out, " path d%u", MIN(cell->form, 12));
    if (shows_zero(cell)) {
        g_string_append(out, " zero");
    } else if (cell->kind == CELL_PERCENT && isfinite(cell->number) && !table->ranked) {
        g_string_append(out, " pct p");
        fm_append_plain_int(out, (int64_t)(CLAMP(cell->number, 0, 1) * 100 + 0.5));
    }
    g_string_append_c(out, '"');
    if (cell->kind == CELL_INT && cell->form == INT_BYTES && cell->integer >= 10L * 1024) {
        g_string_append(out, " title=\"");
        fm_append_int(out, cell->integer);
        g_string_append(out, " bytes\"");
    }
    /* Scripts open rows in place; a class tells the first levels only. */
    if (cell->kind == CELL_PATH && cell->form > 0)
        g_string_append_printf(out, " data-depth=\"%u\"", cell->form);
    append_span(out, cell->span);
    if (cell->full) {
        g_string_append(out, " title=\"");
        fm_html_escape(out, cell->full, HTML_TEXT);
        g_string_append_c(out, '"');
    }
    g_string_append_c(out, '>');
    append_cell_content(html, cell, whole ? HTML_TEXT : HTML_NAME);
    g_string_append(out, heads_row ? "</th>" : "</td>");
}

/* A role as a class: other characters than letters, digits and _ become "-". */
static void append_row_start(GString *out, const char *role, bool developer, bool soft)
{
    if (!role && !developer && !soft) {
        g_string_append(out, "<tr>");
        return;
    }
    g_string_append(out, "<tr class=\"");
    if (role) {
        g_string_append(out, "r-");
        for (const char *c = role; *c; c++)
            g_string_append_c(out, g_ascii_isalnum(*c) || *c == '_' ? *c : '-');
    }
    g_string_append(out, !developer ? "" : role ? " dev" : "dev");
    g_string_append(out, soft ? " soft" : "");
    g_string_append(out, "\">");
}

static void append_data_row(const struct html *html, const struct fm_table *table,
                            const struct row *row)
{
    const struct cell *cells = fm_row_cells(table, row);
    unsigned column = 0;
    bool has_head = false;

    append_row_start(html->out, row->role ? table->roles[row->role - 1] : NULL, row->developer,
                     row->soft);
    for (uint32_t i = 0; i < row->cell_count; i++) {
        bool is_text = cells[i].kind == CELL_STRING || cells[i].kind == CELL_LINK ||
                       cells[i].kind == CELL_PATH;
        unsigned named = column;

        while (is_text && named < column + cells[i].span && !names_a_row(table, named))
            named++;
        bool heads_row = is_text && !has_head && named < column + cells[i].span;
        has_head = has_head || heads_row;
        append_cell(html, table, &cells[i], heads_row ? named : column, heads_row);
        column += cells[i].span;
    }
    if (column < table->width) {
        g_string_append(html->out, "<td");
        append_span(html->out, table->width - column);
        g_string_append(html->out, "></td>");
    }
    g_string_append(html->out, "</tr>\n");
}

static void append_section(const struct html *html, const struct fm_table *table,
                           const struct row *row)
{
    g_string_append(html->out, "<tr class=\"section\"><th scope=\"rowgroup\"");
    append_span(html->out, table->width);
    g_string_append_c(html->out, '>');
    append_style(html->out, row->bold ? FM_STYLE_BOLD : 0, false);
    fm_html_escape(html->out, row->text, HTML_NAME);
    append_style(html->out, row->bold ? FM_STYLE_BOLD : 0, true);
    g_string_append(html->out, "</th></tr>\n");
}

static void append_body(const struct html *html, const struct fm_table *table)
{
    GString *out = html->out;
    bool empty = true;

    g_string_append(out, "<tbody>\n");
    for (size_t i = 0; i < table->row_count; i++) {
        const struct row *row = &table->rows[i];

        if (!fm_row_is_shown(row, html->developer))
            continue;
        switch ((enum fm_row_kind)row->kind) {
        case FM_ROW_DATA:
            append_data_row(html, table, row);
            break;
        case FM_ROW_SEPARATOR:
            g_string_append(out, "<tr class=\"sep\"><td");
            append_span(out, table->width);
            g_string_append(out, "></td></tr>\n");
            break;
        case FM_ROW_SECTION:
            /* A section heads its own row group. */
            if (!empty)
                g_string_append(out, "</tbody>\n<tbody>\n");
            append_section(html, table, row);
            break;
        }
        empty = false;
    }
    g_string_append(out, "</tbody>\n");
}

void fm_html_table(const struct html *html, const struct fm_table *table)
{
    GString *out = html->out;
    bool boxed = table->box == FM_BOX_ALWAYS || (table->box == FM_BOX_IF_PREFERRED && html->box);

    bool wide = table->has_header && !table->ranked;

    /* A table wider than the window scrolls within a frame; keys reach it. */
    if (wide)
        g_string_append(out, "<div class=\"wide\" tabindex=\"0\">\n");
    g_string_append_printf(out, "<table class=\"%s%s%s\">\n", boxed ? "boxed" : "plain",
                           table->has_header ? "" : " pairs", table->ranked ? " ranked" : "");
    if (table->caption) {
        g_string_append(out, "<caption class=\"said\">");
        fm_html_escape(out, table->caption, HTML_NAME);
        g_string_append(out, "</caption>\n");
    } else if (table->name && *table->name) {
        g_autofree char *caption = g_strdelimit(g_strdup(table->name), "_", ' ');

        g_string_append(out, "<caption>");
        fm_html_escape(out, caption, HTML_TEXT);
        g_string_append(out, "</caption>\n");
    }
    append_colgroups(html, table);
    if (table->has_header)
        append_header(html, table);
    append_body(html, table);
    g_string_append(out, wide ? "</table>\n</div>\n" : "</table>\n");
}

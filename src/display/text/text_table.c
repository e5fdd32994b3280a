/* SPDX-License-Identifier: Apache-2.0 */
/* Tables for the terminal. All cells are formatted first, then columns are given their widths,
 * then rows are written. A table too wide for the terminal wraps its widest text columns. If even
 * that is not enough, it is written in parts: each has the leading columns that name the rows, and
 * as many of the other groups as fit. A group that does not fit by itself sticks out. */
#include <stdlib.h>
#include <string.h>

#include "display/text/text_internal.h"

#define WRAPPED_COLUMN_MIN 20
#define HOT_SHARE 0.25
#define WARM_SHARE 0.05

struct piece {
    size_t offset, size; /* in the pool */
    unsigned width;
};

struct layout {
    const struct text *text;
    const struct fm_table *table;
    GString *pool;        /* clean text of all cells */
    struct piece *pieces; /* one a cell of the table */
    unsigned *widths;     /* one a column */
    bool *right;          /* one a column: numbers stand at the right */
    struct piece *work;   /* one a column: what is left of a row's cells to be written */
    bool boxed;
    /* The part being written: columns 0 to keys, and first to last; each end excluded. */
    unsigned keys, first, last;
};

static struct piece add_piece(struct layout *layout, const char *raw)
{
    struct piece piece = {.offset = layout->pool->len};

    fm_text_clean(layout->pool, raw ? raw : "");
    piece.size = layout->pool->len - piece.offset;
    piece.width = fm_text_width(layout->pool->str + piece.offset, piece.size);
    return piece;
}

static unsigned gap_width(const struct layout *layout, unsigned before_column)
{
    g_assert(before_column > 0 && before_column <= layout->table->width);
    const struct group *left = fm_table_group_of(layout->table, before_column - 1);
    const struct group *right = fm_table_group_of(layout->table, before_column);

    return layout->boxed && left != right ? 3 : 2;
}

static void append_gap(const struct layout *layout, unsigned before_column, const char *fill)
{
    if (gap_width(layout, before_column) == 3)
        g_string_append_printf(layout->text->out, "%c%c%c", fill[0], fill[1], fill[0]);
    else
        g_string_append_printf(layout->text->out, "%c%c", fill[0], fill[0]);
}

/* Width of so many columns with the gaps between them. */
static unsigned span_width(const struct layout *layout, unsigned first, unsigned count)
{
    unsigned width = 0;
    g_assert(first + count <= layout->table->width);

    for (unsigned i = first; i < first + count; i++)
        width += layout->widths[i] + (i > first ? gap_width(layout, i) : 0);
    return width;
}

static const char *column_title(const struct fm_table *table, unsigned column)
{
    const struct group *group = &table->groups[table->columns[column].group];
    const char *title = table->columns[column].title;

    return title ? title : group->count == 1 ? group->title : NULL;
}

/* Whether the group's title stands above those of its columns. */
static bool group_has_own_line(const struct fm_table *table, const struct group *group)
{
    return group->title && group->count &&
           !(group->count == 1 && !table->columns[group->first].title);
}

static unsigned raw_width(const char *raw)
{
    GString *clean = g_string_new(NULL);

    fm_text_clean(clean, raw);
    unsigned width = fm_text_width(clean->str, clean->len);
    g_string_free(clean, TRUE);
    return width;
}

static void format_cells(struct layout *layout)
{
    const struct fm_table *table = layout->table;

    for (size_t i = 0; i < table->cell_count; i++) {
        const struct cell *cell = &table->cells[i];
        size_t offset = layout->pool->len;

        if (cell->most)
            g_string_append(layout->pool, FM_AT_MOST " ");
        if (fm_append_cell_number(layout->pool, cell)) {
            size_t size = layout->pool->len - offset;
            unsigned width = cell->form == FORM_USUAL && !cell->most
                                 ? (unsigned)size
                                 : fm_text_width(layout->pool->str + offset, size);
            layout->pieces[i] = (struct piece){offset, size, width};
        } else if (cell->kind == CELL_PATH || cell->kind == CELL_FOLDED) {
            g_autoptr(GString) path = g_string_new(NULL);
            if (cell->kind == CELL_PATH)
                fm_append_path(path, cell->path, cell->form);
            else
                fm_append_folded(path, cell->path);
            layout->pieces[i] = add_piece(layout, path->str);
        } else {
            layout->pieces[i] = add_piece(layout, cell->kind == CELL_STRING ? cell->text
                                                  : cell->kind == CELL_LINK ? cell->link->label
                                                                            : "");
        }
    }
}

/* Widens a column of the span so that the whole holds the width: the last one of text. */
static void widen_span(struct layout *layout, unsigned first, unsigned count, unsigned width)
{
    unsigned have = span_width(layout, first, count);
    unsigned chosen = first + count - 1;

    if (have >= width)
        return;
    for (unsigned i = first; i < first + count; i++) {
        if (!layout->right[i])
            chosen = i;
    }
    layout->widths[chosen] += width - have;
}

static bool row_has_text(const struct layout *layout, const struct row *row)
{
    return row->kind == FM_ROW_DATA && fm_row_is_shown(row, layout->text->developer);
}

static void measure_rows(struct layout *layout, bool spans)
{
    const struct fm_table *table = layout->table;

    for (size_t i = 0; i < table->row_count; i++) {
        const struct row *row = &table->rows[i];
        unsigned column = 0;

        for (uint32_t n = 0; row_has_text(layout, row) && n < row->cell_count; n++) {
            const struct cell *cell = &table->cells[row->first_cell + n];
            unsigned width = layout->pieces[row->first_cell + n].width;

            if (spans && cell->span > 1)
                widen_span(layout, column, cell->span, width);
            else if (!spans && cell->span == 1)
                layout->widths[column] = MAX(layout->widths[column], width);
            column += cell->span;
            g_assert(column <= table->width);
        }
    }
}

static void measure(struct layout *layout)
{
    const struct fm_table *table = layout->table;

    for (unsigned i = 0; i < table->column_count; i++) {
        const char *title = column_title(table, i);

        layout->right[i] =
            fm_column_class_is_right(table->groups[table->columns[i].group].column_class);
        if (title)
            layout->widths[i] = raw_width(title);
    }
    measure_rows(layout, false);
    for (unsigned i = 0; i < table->group_count; i++) {
        const struct group *group = &table->groups[i];

        if (group_has_own_line(table, group))
            widen_span(layout, group->first, group->count, raw_width(group->title));
    }
    measure_rows(layout, true);
}

/* Narrows the widest text columns among the first few until those columns take no more than the
 * room, or all are at their least width. Returns whether they do. */
static bool fit(struct layout *layout, unsigned columns, unsigned room)
{
    unsigned total = span_width(layout, 0, columns);

    while (total > room) {
        unsigned widest = UINT_MAX, second = WRAPPED_COLUMN_MIN;

        for (unsigned i = 0; i < columns; i++) {
            unsigned width = layout->widths[i];

            if (layout->right[i] || width <= WRAPPED_COLUMN_MIN)
                continue;
            if (widest == UINT_MAX || width > layout->widths[widest]) {
                if (widest != UINT_MAX)
                    second = MAX(second, layout->widths[widest]);
                widest = i;
            } else {
                second = MAX(second, width);
            }
        }
        if (widest == UINT_MAX)
            return false;
        /* Down to the next widest, and below it when they are level, so that they take turns. */
        unsigned target = MIN(second, layout->widths[widest] - 1);
        unsigned give = MIN(layout->widths[widest] - target, total - room);
        layout->widths[widest] -= give;
        g_assert(give > 0 && layout->widths[widest] >= target);
        total -= give;
    }
    return true;
}

/* Columns up to the last one of text: they name the rows. */
static unsigned key_columns(const struct fm_table *table)
{
    unsigned keys = 0;

    for (unsigned i = 0; i < table->group_count; i++) {
        const struct group *group = &table->groups[i];

        if (!fm_column_class_is_right(group->column_class))
            keys = group->first + group->count;
    }
    return keys;
}

/* The end of the groups from a column on that still fit beside the keys; at least one group. */
static unsigned part_end(const struct layout *layout, unsigned first)
{
    const struct fm_table *table = layout->table;
    unsigned end = first;
    unsigned room = layout->text->width;
    unsigned used = span_width(layout, 0, layout->keys);

    for (unsigned i = 0; i < table->group_count; i++) {
        const struct group *group = &table->groups[i];

        if (group->first < first || !group->count)
            continue;
        unsigned more =
            gap_width(layout, group->first) + span_width(layout, group->first, group->count);
        if (end > first && used + more > room)
            break;
        used += more;
        end = group->first + group->count;
    }
    g_assert(end >= first && end <= table->width);
    return end;
}

/* Settles widths, and which columns name the rows of each part; all of them when there is one
 * part. */
static void arrange(struct layout *layout)
{
    const struct fm_table *table = layout->table;
    unsigned room = layout->text->width, keys = key_columns(table), widest = 0;
    g_autofree unsigned *wanted = g_memdup2(layout->widths, (table->width + 1) * sizeof(unsigned));

    layout->keys = table->width;
    if (!room || fit(layout, table->width, room) || keys == 0 || keys >= table->column_count ||
        table->column_count < table->width)
        return;
    memcpy(layout->widths, wanted, (table->width + 1) * sizeof(unsigned));
    for (unsigned i = 0; i < table->group_count; i++) {
        const struct group *group = &table->groups[i];

        if (group->count && group->first >= keys)
            widest = MAX(widest, span_width(layout, group->first, group->count) + 3);
    }
    layout->keys = keys;
    /* When not even that is enough, the part sticks out. */
    (void)fit(layout, keys, room > widest ? room - widest : 0);
}

static bool is_shown(const struct layout *layout, unsigned column)
{
    return column < layout->keys || (column >= layout->first && column < layout->last);
}

/* How many of the columns of a cell are in this part, side by side. */
static unsigned shown_span(const struct layout *layout, unsigned column, unsigned span)
{
    bool cut = column < layout->keys && layout->first > layout->keys;

    return MIN(column + span, cut ? layout->keys : MAX(layout->last, layout->keys)) - column;
}

static void append_aligned(const struct layout *layout, const char *text, size_t size,
                           unsigned width, unsigned room, int align, unsigned paint)
{
    GString *out = layout->text->out;
    unsigned space = room > width ? room - width : 0;
    unsigned before = align < 0 ? 0 : align > 0 ? space : space / 2;

    fm_text_pad(out, before);
    if (size) {
        fm_text_paint(layout->text, paint);
        g_string_append_len(out, text, (gssize)size);
        fm_text_unpaint(layout->text, paint);
    }
    fm_text_pad(out, space - before);
}

static void append_title(const struct layout *layout, const char *raw, unsigned room, int align)
{
    GString *clean = g_string_new(NULL);

    fm_text_clean(clean, raw ? raw : "");
    append_aligned(layout, clean->str, clean->len, fm_text_width(clean->str, clean->len), room,
                   align, PAINT_BOLD);
    g_string_free(clean, TRUE);
}

static void append_group_line(const struct layout *layout)
{
    const struct fm_table *table = layout->table;
    bool any = false, first = true;

    for (unsigned i = 0; i < table->group_count; i++)
        any = any || group_has_own_line(table, &table->groups[i]);
    for (unsigned i = 0; any && i < table->group_count; i++) {
        const struct group *group = &table->groups[i];

        if (!group->count || !is_shown(layout, group->first))
            continue;
        if (!first)
            append_gap(layout, group->first, " |");
        first = false;
        append_title(layout, group_has_own_line(table, group) ? group->title : NULL,
                     span_width(layout, group->first, group->count), 0);
    }
    if (any)
        fm_text_end_line(layout->text->out);
}

static void append_header(const struct layout *layout)
{
    const struct fm_table *table = layout->table;
    GString *out = layout->text->out;

    append_group_line(layout);
    for (unsigned i = 0; i < table->column_count; i++) {
        if (!is_shown(layout, i))
            continue;
        if (i)
            append_gap(layout, i, " |");
        append_title(layout, column_title(table, i), layout->widths[i], layout->right[i] ? 1 : -1);
    }
    fm_text_end_line(out);
    fm_text_paint(layout->text, PAINT_FAINT);
    for (unsigned i = 0; i < table->width; i++) {
        if (!is_shown(layout, i))
            continue;
        if (i)
            append_gap(layout, i, layout->boxed ? "-+" : "  ");
        for (unsigned n = 0; n < layout->widths[i]; n++)
            g_string_append_c(out, '-');
    }
    fm_text_unpaint(layout->text, PAINT_FAINT);
    fm_text_end_line(out);
}

static unsigned cell_paint(const struct cell *cell)
{
    unsigned paint = PAINT_NONE;

    if (cell->kind == CELL_PERCENT && cell->number >= WARM_SHARE)
        return cell->number >= HOT_SHARE ? PAINT_HOT : PAINT_WARM;
    if (cell->style & FM_STYLE_BOLD)
        paint |= PAINT_BOLD;
    if (cell->style & FM_STYLE_ITALIC)
        paint |= PAINT_ITALIC;
    if (cell->style & FM_STYLE_UNDERLINE)
        paint |= PAINT_UNDERLINE;
    return paint;
}

/* Writes one line of a cell and takes what it wrote off the piece. */
static void append_cell_line(struct layout *layout, const struct cell *cell, struct piece *piece,
                             unsigned column, unsigned room)
{
    const char *at = layout->pool->str + piece->offset;
    bool is_text = cell->kind == CELL_STRING || cell->kind == CELL_LINK ||
                   cell->kind == CELL_PATH || cell->kind == CELL_FOLDED;
    bool right = layout->right[column] || !is_text;
    size_t take =
        piece->width > room && is_text ? fm_text_take(at, piece->size, room) : piece->size;
    size_t shown = take;

    while (shown && at[shown - 1] == ' ')
        shown--;
    append_aligned(layout, at, shown, fm_text_width(at, shown), room, right ? 1 : -1,
                   cell_paint(cell));
    piece->offset += take;
    piece->size -= take;
    piece->width = fm_text_width(at + take, piece->size);
}

static void append_row(struct layout *layout, const struct row *row)
{
    const struct fm_table *table = layout->table;
    bool more = true;

    if (row->cell_count)
        memcpy(layout->work, &layout->pieces[row->first_cell],
               row->cell_count * sizeof *layout->work);
    while (more) {
        unsigned column = 0;

        more = false;
        for (uint32_t n = 0; n < row->cell_count; n++) {
            const struct cell *cell = &table->cells[row->first_cell + n];

            if (is_shown(layout, column)) {
                unsigned room = span_width(layout, column, shown_span(layout, column, cell->span));
                if (column)
                    append_gap(layout, column, " |");
                append_cell_line(layout, cell, &layout->work[n], column, room);
                more = more || layout->work[n].size > 0;
            }
            column += cell->span;
        }
        fm_text_end_line(layout->text->out);
    }
}

/* Unless there is one already. */
static void append_blank_line(GString *out)
{
    if (!g_str_has_suffix(out->str, "\n\n"))
        g_string_append_c(out, '\n');
}

static void append_section(const struct layout *layout, const struct row *row)
{
    GString *clean = g_string_new(NULL);

    if (row != layout->table->rows)
        append_blank_line(layout->text->out);
    fm_text_clean(clean, row->text);
    append_aligned(layout, clean->str, clean->len, 0, 0, -1, PAINT_BOLD);
    fm_text_end_line(layout->text->out);
    g_string_free(clean, TRUE);
}

static void append_part(struct layout *layout)
{
    const struct fm_table *table = layout->table;

    if (table->has_header)
        append_header(layout);
    for (size_t i = 0; i < table->row_count; i++) {
        const struct row *row = &table->rows[i];

        if (!fm_row_is_shown(row, layout->text->developer))
            continue;
        if (row->kind == FM_ROW_DATA)
            append_row(layout, row);
        else if (row->kind == FM_ROW_SECTION)
            append_section(layout, row);
        else
            append_blank_line(layout->text->out);
    }
}

void fm_text_table(const struct text *text, const struct fm_table *table)
{
    struct layout layout = {
        .text = text,
        .table = table,
        .pool = g_string_sized_new(4096),
        .pieces = g_new0(struct piece, table->cell_count),
        .widths = g_new0(unsigned, table->width + 1),
        .right = g_new0(bool, table->width + 1),
        .work = g_new0(struct piece, table->width),
        .boxed = table->box == FM_BOX_ALWAYS || (table->box == FM_BOX_IF_PREFERRED && text->box),
    };

    format_cells(&layout);
    measure(&layout);
    arrange(&layout);
    layout.last = layout.keys;
    do {
        layout.first = layout.last;
        if (layout.keys < table->width)
            layout.last = part_end(&layout, layout.first);
        append_part(&layout);
        if (layout.last < table->width)
            g_string_append_c(text->out, '\n');
    } while (layout.last < table->width);
    g_string_free(layout.pool, TRUE);
    g_free(layout.pieces);
    g_free(layout.widths);
    g_free(layout.right);
    g_free(layout.work);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Coverage points, and the lines that have code.
 *
 * The compiler calls back at the start of each block of code, so a point represents the code
 * from there to the first branch, or to the next point, or to the target of a jump: its run. A
 * line ran as often as the block whose run contains its code; it may have code in several.
 * Blocks without statement (a lone break) have no callback, so the count of such a line is not
 * known. The first block of a function contains the entry hook; code before it ran as often as
 * there were calls. */
#include "record/statics/extract/points.h"

#include <stdlib.h>
#include <string.h>

#include "record/statics/extract/blocks.h"
#include "record/statics/extract/disassemble.h"

#define CALL_BYTES 5 /* length of a direct call */

struct run {
    uint64_t low, high;
    uint32_t point; /* or FM_POINT_ENTRY */
    uint32_t owner; /* live scope */
};

struct builder {
    struct fm_statics *statics;
    struct fm_units *units;
    const struct fm_bodies *bodies;
    const GArray *bounds; /* struct fm_block_bound, by address */
    bool physical;
    GArray *points;       /* struct fm_point */
    GArray *code_lines;   /* struct fm_code_line */
    GArray *runs;         /* struct run, ascending */
    uint64_t *first_hook; /* per scope: lowest entry hook in it */
    struct fm_blocks blocks;
};

static int bound_order(const void *a, const void *b)
{
    const struct fm_block_bound *left = a, *right = b;
    if (left->address != right->address)
        return left->address < right->address ? -1 : 1;
    return (int)left->kind - (int)right->kind;
}

/* The code of an inlined body before its entry hook still belongs to the body around. */
static uint32_t owner_of(const struct builder *b, uint32_t scope, uint64_t address)
{
    uint32_t owner = fm_statics_live_around(b->statics, b->physical, scope);
    while (owner != FM_NONE && b->statics->scopes[owner].parent != FM_NONE &&
           address < b->first_hook[owner] && b->first_hook[owner] != UINT64_MAX)
        owner = fm_statics_live_around(b->statics, b->physical, b->statics->scopes[owner].parent);
    return owner;
}

static void place_point(struct builder *b, struct fm_point *point)
{
    struct fm_place place;
    uint64_t begin;
    uint32_t unit = point->scope == FM_NONE
                        ? FM_NONE
                        : g_array_index(b->bodies->unit_of_scope, uint32_t, point->scope);
    point->file = "";
    /* A callback without its own place (gcc: before the exit hook) seems to be at the place before
     * it. */
    if (!fm_units_place(b->units, unit, point->return_address - 1, &place, &begin) ||
        begin != point->return_address - CALL_BYTES)
        return;
    point->file = place.file;
    point->line = place.line;
    point->column = place.column;
}

static uint32_t point_before(const struct builder *b)
{
    const GArray *points = b->points;
    if (points->len == 0)
        return FM_NONE;
    const struct fm_point *last = &g_array_index(points, struct fm_point, points->len - 1);
    return last->entry                ? FM_POINT_ENTRY
           : last->same_as != FM_NONE ? last->same_as
                                      : points->len - 1;
}

/* exit: the exit hook that ran just before, or NULL. */
static void add_point(struct builder *b, const struct fm_block_bound *bound,
                      const struct fm_block_bound *exit)
{
    struct fm_point point = {
        .return_address = bound->address,
        .scope = bound->scope,
        .owner = owner_of(b, bound->scope, bound->address),
        .same_as = FM_NONE,
    };
    place_point(b, &point);
    uint32_t left =
        exit == NULL ? FM_NONE : fm_statics_live_around(b->statics, b->physical, exit->scope);
    if (left != FM_NONE && left == point.owner) {
        uint32_t around = b->statics->scopes[left].parent;
        if (around == FM_NONE)
            point.same_as = point_before(b);
        else
            point.owner = fm_statics_live_around(b->statics, b->physical, around);
    }
    point.entry = point.owner != FM_NONE && b->statics->scopes[point.owner].parent == FM_NONE &&
                  b->first_hook[point.owner] != UINT64_MAX &&
                  bound->address < b->first_hook[point.owner];
    g_array_append_val(b->points, point);
}

/* Points of one body at one place are distinguished by their order in the code. */
static int place_order(const void *a, const void *b, void *data)
{
    const struct fm_point *points = data;
    const struct fm_point *left = &points[*(const uint32_t *)a];
    const struct fm_point *right = &points[*(const uint32_t *)b];
    if (left->owner != right->owner)
        return left->owner < right->owner ? -1 : 1;
    if (left->line != right->line)
        return left->line < right->line ? -1 : 1;
    if (left->column != right->column)
        return left->column < right->column ? -1 : 1;
    int files = left->file == right->file ? 0 : strcmp(left->file, right->file);
    if (files != 0)
        return files;
    return left->return_address < right->return_address ? -1 : 1;
}

static bool same_place(const struct fm_point *left, const struct fm_point *right)
{
    return left->owner == right->owner && left->line == right->line &&
           left->column == right->column && strcmp(left->file, right->file) == 0;
}

static void number_points(const GArray *all)
{
    struct fm_point *points = (struct fm_point *)(void *)all->data;
    uint32_t count = all->len;
    g_autofree uint32_t *order = g_new(uint32_t, count + 1);
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    g_qsort_with_data(order, (int)count, sizeof *order, place_order, points);
    for (uint32_t i = 1; i < count; i++) {
        if (points[order[i]].hook == 0 && same_place(&points[order[i - 1]], &points[order[i]]))
            points[order[i]].ordinal = points[order[i - 1]].ordinal + 1;
    }
}

static void add_run(struct builder *b, uint64_t low, uint64_t high, uint32_t point, uint32_t owner)
{
    struct run run = {low, high, point, owner};
    if (owner != FM_NONE && low < high)
        g_array_append_val(b->runs, run);
}

/* The run that begins at low, at bounds[at] or later: up to the first branch, point or target. */
static uint64_t end_of_run(const GArray *bounds, guint at, uint64_t low, uint64_t limit)
{
    for (; at < bounds->len; at++) {
        const struct fm_block_bound *bound = &g_array_index(bounds, struct fm_block_bound, at);
        if (bound->address >= limit)
            return limit;
        if (bound->kind == FM_BOUND_POINT && bound->address - CALL_BYTES > low)
            return bound->address - CALL_BYTES;
        if ((bound->kind == FM_BOUND_BRANCH || bound->kind == FM_BOUND_TARGET) &&
            bound->address > low)
            return bound->address;
    }
    return limit;
}

static guint first_bound(const GArray *bounds, uint64_t address)
{
    guint low = 0, high = bounds->len;
    while (low < high) {
        guint middle = low + (high - low) / 2;
        if (g_array_index(bounds, struct fm_block_bound, middle).address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The code of a body from its entry on, if that is live: no callback is needed to know its count.
 */
static void add_entry_run(struct builder *b, const struct fm_interval *interval)
{
    const GArray *bounds = b->bounds;
    const struct fm_scope *scope = &b->statics->scopes[interval->scope];
    if (interval->depth != 0 || b->statics->procs[scope->proc].entry != interval->low ||
        b->first_hook[interval->scope] == UINT64_MAX)
        return;
    uint32_t owner = fm_statics_live_around(b->statics, b->physical, interval->scope);
    uint64_t end =
        end_of_run(bounds, first_bound(bounds, interval->low), interval->low, interval->high);
    add_run(b, interval->low, end, FM_POINT_ENTRY, owner);
}

static int run_order(const void *a, const void *b)
{
    const struct run *left = a, *right = b;
    if (left->low != right->low)
        return left->low < right->low ? -1 : 1;
    return left->high < right->high ? -1 : left->high > right->high;
}

static void collect_runs(struct builder *b)
{
    const GArray *bounds = b->bounds;
    uint32_t point = 0;
    for (guint i = 0; i < bounds->len; i++) {
        const struct fm_block_bound *bound = &g_array_index(bounds, struct fm_block_bound, i);
        if (bound->kind != FM_BOUND_POINT)
            continue;
        const struct fm_point *at = &g_array_index(b->points, struct fm_point, point);
        uint64_t low = bound->address - CALL_BYTES;
        add_run(b, low, end_of_run(bounds, i + 1, low, UINT64_MAX),
                at->entry                ? FM_POINT_ENTRY
                : at->same_as != FM_NONE ? at->same_as
                                         : point,
                at->owner);
        point++;
    }
    for (guint i = 0; i < b->bodies->intervals->len; i++)
        add_entry_run(b, &g_array_index(b->bodies->intervals, struct fm_interval, i));
    g_array_sort(b->runs, run_order);
}

static void add_code_line(struct builder *b, uint32_t proc, uint32_t line, uint32_t point)
{
    struct fm_code_line entry = {proc, line, point};
    g_array_append_val(b->code_lines, entry);
}

/* One row of a table of lines: [low, high) has code of a line. */
static void use_row(struct builder *b, Dwarf_Die *unit, Dwarf_Line *row, uint64_t low,
                    uint64_t high)
{
    int line;
    uint32_t scope = fm_statics_scope_at(b->statics, low);
    if (scope == FM_NONE || dwarf_lineno(row, &line) != 0 || line <= 0)
        return;
    uint32_t owner = fm_statics_live_around(b->statics, b->physical, scope);
    if (owner == FM_NONE)
        return;
    /* Code of bodies that are not live is not counted for the owner's lines. */
    uint32_t proc = b->statics->scopes[owner].proc;
    const char *file = fm_units_path(b->units, unit, dwarf_linesrc(row, NULL, NULL));
    if (scope != owner || (uint32_t)line < b->statics->procs[proc].line ||
        strcmp(file, b->statics->procs[proc].file) != 0 ||
        fm_blocks_use_row(&b->blocks, owner, (uint32_t)line, low, high))
        return;
    bool known = false;
    guint from = 0, to = b->runs->len; /* the first run that ends behind low */
    while (from < to) {
        guint middle = from + (to - from) / 2;
        if (g_array_index(b->runs, struct run, middle).high <= low)
            from = middle + 1;
        else
            to = middle;
    }
    for (; from < b->runs->len; from++) {
        const struct run *run = &g_array_index(b->runs, struct run, from);
        if (run->low >= high)
            break;
        if (b->statics->scopes[run->owner].proc != proc || low < run->low)
            continue;
        add_code_line(b, proc, (uint32_t)line, run->point);
        known = true;
    }
    if (!known)
        add_code_line(b, proc, (uint32_t)line, FM_NONE);
}

static void use_unit(struct builder *b, Dwarf_Die *unit)
{
    Dwarf_Lines *lines;
    size_t count;
    if (dwarf_getsrclines(unit, &lines, &count) != 0)
        return;
    for (size_t i = 0; i + 1 < count; i++) {
        Dwarf_Line *row = dwarf_onesrcline(lines, i), *next = dwarf_onesrcline(lines, i + 1);
        Dwarf_Addr low, high;
        bool end;
        if (dwarf_lineendsequence(row, &end) != 0 || end || dwarf_lineaddr(row, &low) != 0 ||
            dwarf_lineaddr(next, &high) != 0 || low >= high)
            continue;
        use_row(b, unit, row, low, high);
    }
}

static int code_line_order(const void *a, const void *b)
{
    const struct fm_code_line *left = a, *right = b;
    if (left->proc != right->proc)
        return left->proc < right->proc ? -1 : 1;
    if (left->line != right->line)
        return left->line < right->line ? -1 : 1;
    return left->point < right->point ? -1 : left->point > right->point;
}

static void sort_code_lines(GArray *lines)
{
    g_array_sort(lines, code_line_order);
    guint kept = 0;
    for (guint i = 0; i < lines->len; i++) {
        struct fm_code_line line = g_array_index(lines, struct fm_code_line, i);
        if (kept > 0 &&
            code_line_order(&g_array_index(lines, struct fm_code_line, kept - 1), &line) == 0)
            continue;
        g_array_index(lines, struct fm_code_line, kept++) = line;
    }
    g_array_set_size(lines, kept);
}

static void add_points(struct builder *b)
{
    const struct fm_block_bound *exit = NULL;
    for (guint i = 0; i < b->bounds->len; i++) {
        const struct fm_block_bound *bound = &g_array_index(b->bounds, struct fm_block_bound, i);
        if (bound->kind == FM_BOUND_ENTER && bound->scope != FM_NONE)
            b->first_hook[bound->scope] = MIN(b->first_hook[bound->scope], bound->address);
    }
    for (guint i = 0; i < b->bounds->len; i++) {
        const struct fm_block_bound *bound = &g_array_index(b->bounds, struct fm_block_bound, i);
        if (bound->kind == FM_BOUND_POINT)
            add_point(b, bound, exit);
        if (bound->kind != FM_BOUND_TARGET)
            exit = bound->kind == FM_BOUND_EXIT ? bound : NULL;
    }
    if (b->points->len > 0)
        collect_runs(b);
}

static void add_code_lines(struct builder *b)
{
    for (uint32_t i = 0; i < b->statics->proc_count; i++) {
        const struct fm_proc *proc = &b->statics->procs[i];
        if (proc->instrumented && proc->line > 0)
            add_code_line(b, i, proc->line, FM_POINT_ENTRY);
    }
    for (guint i = 0; i < b->units->dies->len; i++)
        use_unit(b, fm_units_die(b->units, i));
}

static int address_order(const void *a, const void *b, void *data)
{
    const struct fm_point *points = data;
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    if (points[left].return_address != points[right].return_address)
        return points[left].return_address < points[right].return_address ? -1 : 1;
    return left < right ? -1 : left > right;
}

/* In a file with both kinds, callbacks come before the others in the list. */
static void reorder(struct builder *b)
{
    guint count = b->points->len;
    g_autofree uint32_t *order = g_new(uint32_t, count), *now = g_new(uint32_t, count);
    for (guint i = 0; i < count; i++)
        order[i] = i;
    g_qsort_with_data(order, (int)count, sizeof *order, address_order, b->points->data);
    for (guint i = 0; i < count; i++)
        now[order[i]] = i;
    GArray *sorted = g_array_sized_new(FALSE, TRUE, sizeof(struct fm_point), count);
    for (guint i = 0; i < count; i++) {
        struct fm_point point = g_array_index(b->points, struct fm_point, order[i]);
        if (point.same_as < count)
            point.same_as = now[point.same_as];
        g_array_append_val(sorted, point);
    }
    for (guint i = 0; i < b->code_lines->len; i++) {
        struct fm_code_line *line = &g_array_index(b->code_lines, struct fm_code_line, i);
        if (line->point < count)
            line->point = now[line->point];
    }
    g_array_unref(b->points);
    b->points = sorted;
}

/* Adds blocks that have counting code of their own. All are ordered by address. */
static void add_blocks(struct builder *b)
{
    GArray *points = b->points;
    guint callbacks = points->len;
    fm_blocks_add_points(&b->blocks, points);
    for (guint i = callbacks; i < points->len; i++) {
        const struct fm_point *point = &g_array_index(points, struct fm_point, i);
        if (point->line != 0)
            add_code_line(b, b->statics->scopes[point->owner].proc, point->line, i);
    }
    if (callbacks > 0 && callbacks < points->len)
        reorder(b);
    sort_code_lines(b->code_lines);
}

void fm_points_build(struct fm_statics *statics, struct fm_units *units,
                     const struct fm_bodies *bodies, GArray *bounds, const GArray *counters,
                     bool physical)
{
    g_assert(bodies->unit_of_scope->len == statics->scope_count);
    g_assert(statics->points == NULL && statics->code_lines == NULL);
    struct builder b = {
        .statics = statics,
        .units = units,
        .bodies = bodies,
        .bounds = bounds,
        .physical = physical,
        .points = g_array_new(FALSE, TRUE, sizeof(struct fm_point)),
        .code_lines = g_array_new(FALSE, TRUE, sizeof(struct fm_code_line)),
        .runs = g_array_new(FALSE, TRUE, sizeof(struct run)),
        .first_hook = g_new(uint64_t, statics->scope_count + 1),
    };
    memset(b.first_hook, 0xff, (statics->scope_count + 1) * sizeof *b.first_hook);
    g_array_sort(bounds, bound_order);
    add_points(&b);
    fm_blocks_find(&b.blocks, statics, counters, physical);
    add_code_lines(&b);
    add_blocks(&b);
    number_points(b.points);
    statics->point_count = b.points->len;
    statics->points = (struct fm_point *)(void *)g_array_free(b.points, FALSE);
    statics->code_line_count = b.code_lines->len;
    statics->code_lines = (struct fm_code_line *)(void *)g_array_free(b.code_lines, FALSE);
    g_array_unref(b.runs);
    fm_blocks_done(&b.blocks);
    g_free(b.first_hook);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Joins coverage points of the recording to those of the code, and to the lines that they
 * represent.
 *
 * The context of a point decides to which procedure its block belongs: clang loses the scope of
 * callbacks that were inlined, and an inlined body's first block is counted in its caller. */
#include "record/finish/coverage.h"

#include <string.h>

#include "record/finish/line_times.h"
#include "record/finish/notes.h"

static uint32_t add_point(struct fm_coverage *c, const char *key, const struct fm_node_point *point)
{
    gpointer known = g_hash_table_lookup(c->ids, key);
    if (known != NULL)
        return GPOINTER_TO_UINT(known) - 1;
    g_array_append_val(c->points, *point);
    uint32_t index = c->points->len - 1;
    const char *stored = fm_nodes_string(c->nodes, "%s", key);
    g_hash_table_insert(c->ids, (gpointer)(uintptr_t)stored, GUINT_TO_POINTER(index + 1));
    return index;
}

static uint32_t ps_of_owner(const struct fm_image_nodes *image, uint32_t owner)
{
    return owner == FM_NONE ? FM_NONE : image->ps_of_proc[image->statics->scopes[owner].proc];
}

/* Blocks at one place of the source in several copies of the code are one; blocks without line are
 * not joined. */
static uint32_t static_point(struct fm_coverage *c, const struct fm_image_nodes *image,
                             uint32_t index)
{
    const struct fm_point *at = &image->statics->points[index];
    struct fm_node_point point = {
        .ps = ps_of_owner(image, at->owner),
        .file = at->file,
        .line = at->line,
        .column = at->column,
        .ordinal = at->ordinal,
        .address = at->return_address,
    };
    if (point.ps == FM_NONE || at->entry || at->same_as != FM_NONE)
        return FM_NONE;
    g_autofree char *key =
        g_strdup_printf("%u %s %u %u %u %" G_GINT64_MODIFIER "x", point.ps, point.file, point.line,
                        point.column, point.ordinal, point.line == 0 ? (guint64)point.address : 0);
    return add_point(c, key, &point);
}

/* An inlined body without hooks: how often it was begun is not known. */
static bool begins_uncounted(const struct fm_statics *statics, uint32_t scope)
{
    if (statics->scopes[scope].parent == FM_NONE || statics->scopes[scope].live)
        return false;
    while (statics->scopes[scope].parent != FM_NONE)
        scope = statics->scopes[scope].parent;
    return statics->scopes[scope].live;
}

static void add_image(struct fm_coverage *c, uint32_t number)
{
    const struct fm_image_nodes *image = &c->nodes->of_image[number];
    const struct fm_statics *statics = image->statics;
    if (image->ps_of_proc == NULL || statics->point_count == 0)
        return;
    uint32_t *node_of_point = c->node_of_point[number] = g_new(uint32_t, statics->point_count);
    for (uint32_t i = 0; i < statics->point_count; i++)
        node_of_point[i] = static_point(c, image, i);
    for (uint32_t i = 0; i < statics->proc_count; i++) {
        if (image->ps_of_proc[i] == FM_NONE)
            continue;
        struct fm_node_point entry = {.ps = image->ps_of_proc[i], .file = "", .entry = true};
        g_autofree char *key = g_strdup_printf("entry %u", entry.ps);
        c->entry_of_ps[entry.ps] = add_point(c, key, &entry);
    }
    for (uint32_t i = 0; i < statics->scope_count; i++) {
        uint32_t ps = ps_of_owner(image, i);
        if (ps != FM_NONE && begins_uncounted(statics, i))
            g_array_index(c->points, struct fm_node_point, c->entry_of_ps[ps]).not_counted = true;
    }
}

/* The node for a point that was executed in a pd of another procedure than the code says. */
static uint32_t moved_point(struct fm_coverage *c, uint32_t number, uint32_t index, uint32_t ps)
{
    const struct fm_image_nodes *image = &c->nodes->of_image[number];
    const struct fm_point *at = &image->statics->points[index];
    struct fm_node_point point = {
        .ps = ps,
        .file = at->file,
        .line = at->line,
        .column = at->column,
        .address = at->return_address,
    };
    /* Inlined code counts for the line of its call. */
    for (uint32_t scope = at->scope; scope != FM_NONE;
         scope = image->statics->scopes[scope].parent) {
        const struct fm_scope *around = &image->statics->scopes[scope];
        if (image->ps_of_proc[around->proc] == ps)
            break;
        if (around->parent == FM_NONE)
            continue;
        point.file = around->call_file;
        point.line = around->call_line;
        point.column = around->call_column;
    }
    g_autofree char *key = g_strdup_printf("moved %u %u %u", ps, number, index);
    uint32_t node = add_point(c, key, &point);
    g_array_index(c->points, struct fm_node_point, node).at_home = true;
    return node;
}

/* The node of an executed point, in the procedure of its context; FM_NONE: its code is not
 * known. */
static uint32_t node_met(struct fm_coverage *c, const struct fm_raw_point *point)
{
    uint64_t file;
    uint32_t ps = c->nodes->pd_ps[point->pd];
    uint32_t at = fm_images_find(c->nodes->images, point->pc, point->epoch, &file);
    const uint32_t *node_of_point = at == FM_NONE ? NULL : c->node_of_point[at];
    if (node_of_point == NULL)
        return FM_NONE;
    const struct fm_image_nodes *image = &c->nodes->of_image[at];
    uint32_t index =
        point->block != FM_RAW_NONE ? point->place : fm_statics_point_at(image->statics, file);
    if (index == FM_NONE)
        return FM_NONE;
    uint32_t node = node_of_point[index];
    if (node != FM_NONE && g_array_index(c->points, struct fm_node_point, node).ps == ps) {
        g_array_index(c->points, struct fm_node_point, node).at_home = true;
        return node;
    }
    if (node != FM_NONE)
        g_array_index(c->points, struct fm_node_point, node).elsewhere = true;
    return moved_point(c, at, index, ps);
}

static void join_points(struct fm_coverage *c)
{
    const struct fm_raw_recording *recording = c->nodes->recording;
    for (uint32_t i = 0; i < recording->point_count; i++) {
        const struct fm_raw_point *point = &recording->points[i];
        if (c->nodes->pd_ps[point->pd] == FM_NONE)
            continue; /* left out */
        uint32_t node = node_met(c, point);
        if (node == FM_NONE) {
            c->unknown += point->block != FM_RAW_BLOCK_ENTRY;
            continue;
        }
        g_array_index(c->points, struct fm_node_point, node).met = true;
        struct fm_point_count count = {point->pd, node, point->count};
        g_array_append_val(c->counts, count);
    }
}

static int point_order(const void *a, const void *b, void *data)
{
    const GArray *points = data;
    const struct fm_node_point *left =
        &g_array_index(points, struct fm_node_point, *(const guint *)a);
    const struct fm_node_point *right =
        &g_array_index(points, struct fm_node_point, *(const guint *)b);
    if (left->ps != right->ps)
        return left->ps < right->ps ? -1 : 1;
    if (left->entry != right->entry)
        return left->entry ? -1 : 1;
    int files = strcmp(left->file, right->file);
    if (files != 0)
        return files;
    if (left->line != right->line)
        return left->line < right->line ? -1 : 1;
    if (left->column != right->column)
        return left->column < right->column ? -1 : 1;
    if (left->address != right->address)
        return left->address < right->address ? -1 : 1;
    return left->ordinal < right->ordinal ? -1 : left->ordinal > right->ordinal;
}

/* Numbers the points of each procedure in the order of the source. */
static void order_points(struct fm_coverage *c)
{
    guint count = c->points->len;
    c->order = g_new(guint, count + 1);
    for (guint i = 0; i < count; i++)
        c->order[i] = i;
    g_qsort_with_data(c->order, (int)count, sizeof *c->order, point_order, c->points);
    uint32_t number = 0, before = FM_NONE;
    for (guint i = 0; i < count; i++) {
        struct fm_node_point *point = &g_array_index(c->points, struct fm_node_point, c->order[i]);
        bool unknown = c->has_losses && !point->met;
        if ((point->elsewhere && !point->at_home) || unknown || point->not_counted) {
            point->number = FM_NONE;
            continue;
        }
        number = point->ps == before ? number + 1 : 0;
        before = point->ps;
        point->number = number;
    }
}

static bool has_losses(const struct fm_raw_recording *recording)
{
    for (uint32_t i = 0; i < recording->csd_count; i++)
        if (recording->pds[recording->csds[i].callee].fn == FM_REC_FN_LOST)
            return true;
    return false;
}

void fm_coverage_join(struct fm_coverage *c, const struct fm_raw_recording *recording,
                      struct fm_nodes *nodes, struct fm_finish_notes *notes)
{
    g_assert(nodes->recording == recording);
    *c = (struct fm_coverage){
        .nodes = nodes,
        .points = g_array_new(FALSE, TRUE, sizeof(struct fm_node_point)),
        .counts = g_array_new(FALSE, TRUE, sizeof(struct fm_point_count)),
        .ids = g_hash_table_new(g_str_hash, g_str_equal),
        .node_of_point = g_new0(uint32_t *, nodes->images->all->len + 1),
    };
    if ((recording->header.grade_flags & FM_REC_COVERAGE) == 0)
        return;
    c->has_losses = has_losses(recording);
    c->entry_of_ps = g_new(uint32_t, nodes->ps->len + 1);
    for (guint i = 0; i < nodes->ps->len; i++)
        c->entry_of_ps[i] = FM_NONE;
    for (guint i = 0; i < nodes->images->all->len; i++)
        add_image(c, i);
    for (uint32_t i = 0; i < recording->pd_count; i++) {
        if (nodes->pd_ps[i] == FM_NONE)
            continue; /* left out */
        uint32_t entry = c->entry_of_ps[nodes->pd_ps[i]];
        if (entry != FM_NONE)
            g_array_index(c->points, struct fm_node_point, entry).met = true;
    }
    join_points(c);
    order_points(c);
    if (c->unknown > 0)
        fm_notes_add(notes, "%u coverage points lie in code that could not be read", c->unknown);
}

void fm_coverage_done(struct fm_coverage *c)
{
    for (guint i = 0; i < c->nodes->images->all->len; i++)
        g_free(c->node_of_point[i]);
    g_free(c->node_of_point);
    g_free(c->entry_of_ps);
    g_free(c->order);
    g_array_unref(c->points);
    g_array_unref(c->counts);
    g_hash_table_unref(c->ids);
}

static const struct fm_node_point *point_at(const struct fm_coverage *c, uint32_t index)
{
    g_assert(index < c->points->len);
    return &g_array_index(c->points, struct fm_node_point, index);
}

/* "entry", "12", "12:5", "12:5.2" (the second block there), "other.h:12:5", "+0x1a" without lines.
 */
char *fm_coverage_path(const struct fm_coverage *c, const struct fm_node_point *point)
{
    const struct fm_node_ps *ps = fm_nodes_ps(c->nodes, point->ps);
    if (point->entry)
        return g_strdup("entry");
    if (point->line == 0) {
        uint64_t entry = 0;
        if (ps->image != FM_NONE && ps->proc != FM_NONE)
            entry = c->nodes->of_image[ps->image].statics->procs[ps->proc].entry;
        return g_strdup_printf("+0x%" G_GINT64_MODIFIER "x", (guint64)(point->address - entry));
    }
    GString *path = g_string_new(NULL);
    if (strcmp(point->file, ps->file) != 0) {
        g_autofree char *base = g_path_get_basename(point->file);
        g_string_append_printf(path, "%s:", base);
    }
    g_string_append_printf(path, "%u", point->line);
    if (point->column > 0)
        g_string_append_printf(path, ":%u", point->column);
    if (point->ordinal > 0)
        g_string_append_printf(path, ".%u", point->ordinal + 1);
    return g_string_free(path, FALSE);
}

struct line {
    uint32_t ps_id, line, point; /* point: number within the ps, FM_NONE */
    uint64_t quanta;
};

static int line_order(const void *a, const void *b)
{
    const struct line *left = a, *right = b;
    if (left->ps_id != right->ps_id)
        return left->ps_id < right->ps_id ? -1 : 1;
    if (left->line != right->line)
        return left->line < right->line ? -1 : 1;
    return left->point < right->point ? -1 : left->point > right->point;
}

static uint32_t point_number(const struct fm_coverage *c, uint32_t image, uint32_t ps,
                             uint32_t point)
{
    if (c->node_of_point[image] == NULL || point == FM_NONE)
        return FM_NONE;
    uint32_t node = point == FM_POINT_ENTRY ? c->entry_of_ps[ps] : c->node_of_point[image][point];
    if (node == FM_NONE || point_at(c, node)->ps != ps)
        return FM_NONE;
    return point_at(c, node)->number;
}

static void collect_lines(const struct fm_coverage *c, uint32_t index, const uint32_t *ps_ids,
                          GArray *lines)
{
    const struct fm_image_nodes *image = &c->nodes->of_image[index];
    if (image->ps_of_proc == NULL)
        return;
    for (uint32_t i = 0; i < image->statics->code_line_count; i++) {
        const struct fm_code_line *code = &image->statics->code_lines[i];
        uint32_t ps = image->ps_of_proc[code->proc];
        if (ps == FM_NONE)
            continue;
        struct line line = {ps_ids[ps], code->line, point_number(c, index, ps, code->point), 0};
        g_array_append_val(lines, line);
    }
}

static void collect_times(const struct fm_coverage *c, const uint32_t *ps_ids, GArray *lines)
{
    for (guint i = 0; c->times != NULL && i < c->times->len; i++) {
        const struct fm_line_time *time = &g_array_index(c->times, struct fm_line_time, i);
        const struct line line = {ps_ids[time->ps], time->line, FM_NONE, time->quanta};
        if (line.ps_id != 0)
            g_array_append_val(lines, line);
    }
}

struct fm_source_map *fm_coverage_lines(const struct fm_coverage *c, const uint32_t *ps_ids,
                                        uint32_t ps_count)
{
    g_autoptr(GArray) lines = g_array_new(FALSE, FALSE, sizeof(struct line));
    for (guint i = 0; i < c->nodes->images->all->len; i++)
        collect_lines(c, i, ps_ids, lines);
    collect_times(c, ps_ids, lines);
    g_array_sort(lines, line_order);
    struct fm_source_map_builder *builder = fm_source_map_builder_new();
    g_autoptr(GArray) points = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    uint64_t quanta = 0;
    if (c->times != NULL)
        fm_source_map_builder_has_times(builder);
    for (guint i = 0; i < lines->len; i++) {
        struct line line = g_array_index(lines, struct line, i);
        quanta += line.quanta;
        if (line.point != FM_NONE &&
            (points->len == 0 || g_array_index(points, uint32_t, points->len - 1) != line.point))
            g_array_append_val(points, line.point);
        const struct line *next = &g_array_index(lines, struct line, i + 1);
        if (i + 1 < lines->len && next->ps_id == line.ps_id && next->line == line.line)
            continue;
        fm_source_map_builder_add(builder, line.ps_id, line.line,
                                  (const uint32_t *)(const void *)points->data, points->len);
        if (c->times != NULL)
            fm_source_map_builder_add_time(builder, quanta);
        g_array_set_size(points, 0);
        quanta = 0;
    }
    return fm_source_map_builder_finish(builder, ps_count);
}

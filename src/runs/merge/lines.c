/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the source with code on them: those of each procedure united. */
#include "runs/merge/internal.h"

struct merged_line {
    uint32_t line;
    GArray *points; /* uint32_t, ascending; NULL = none */
    uint64_t quanta;
};

static void line_clear(gpointer data)
{
    struct merged_line *line = data;
    g_clear_pointer(&line->points, g_array_unref);
}

static GArray *lines_of(struct fm_merge *m, uint32_t proc)
{
    struct fm_merged_ps *of = fm_merge_proc(m, proc);
    if (of->lines == NULL) {
        of->lines = g_array_new(FALSE, TRUE, sizeof(struct merged_line));
        g_array_set_clear_func(of->lines, line_clear);
    }
    return of->lines;
}

/* The line's place; made where it is not there. at: where the search begins, since lines come
 * ascending. */
static struct merged_line *line_at(GArray *lines, guint *at, uint32_t line)
{
    while (*at < lines->len && g_array_index(lines, struct merged_line, *at).line < line)
        ++*at;
    if (*at == lines->len || g_array_index(lines, struct merged_line, *at).line != line) {
        struct merged_line made = {.line = line};
        g_array_insert_val(lines, *at, made);
    }
    return &g_array_index(lines, struct merged_line, *at);
}

static void add_point(struct merged_line *line, uint32_t point)
{
    guint at = 0;
    if (line->points == NULL)
        line->points = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    while (at < line->points->len && g_array_index(line->points, uint32_t, at) < point)
        at++;
    if (at == line->points->len || g_array_index(line->points, uint32_t, at) != point)
        g_array_insert_val(line->points, at, point);
}

void fm_merge_add_lines(struct fm_merge *m, const struct fm_source_map *map)
{
    if (m->last_procs->len != (guint)map->ps_count + 1)
        return; /* an empty profile, of which nothing was added */
    for (uint32_t ps = 1; ps <= map->ps_count; ps++) {
        guint at = 0;
        for (uint32_t i = map->line_first[ps]; i < map->line_first[ps + 1]; i++) {
            const struct fm_source_code *code = &map->lines[i];
            struct merged_line *line =
                line_at(lines_of(m, g_array_index(m->last_procs, uint32_t, ps)), &at, code->line);
            line->quanta += code->quanta;
            for (uint32_t p = 0; p < code->point_count; p++)
                add_point(line, map->points[code->point_first + p]);
        }
    }
    /* Times are known where they are of all parts. */
    m->has_line_times = map->has_times && (m->has_line_times || !m->has_lines);
    m->has_lines = true;
}

struct fm_source_map *fm_merge_lines_result(const struct fm_merge *m)
{
    struct fm_source_map_builder *builder = fm_source_map_builder_new();
    g_autofree uint32_t *by_id = g_new(uint32_t, m->procs->len + 1u);
    for (uint32_t proc = 0; proc < m->procs->len; proc++)
        by_id[fm_merge_proc(m, proc)->id] = proc;
    for (uint32_t id = 1; id <= m->procs->len; id++) {
        const GArray *lines = fm_merge_proc(m, by_id[id])->lines;
        for (guint i = 0; lines != NULL && i < lines->len; i++) {
            const struct merged_line *line = &g_array_index(lines, struct merged_line, i);
            bool points = line->points != NULL && m->coverage != FM_COVERAGE_NONE;
            fm_source_map_builder_add(builder, id, line->line,
                                      points ? (const uint32_t *)(const void *)line->points->data
                                             : NULL,
                                      points ? line->points->len : 0);
            if (m->has_line_times)
                fm_source_map_builder_add_time(builder, line->quanta);
        }
    }
    return fm_source_map_builder_finish(builder, m->procs->len);
}

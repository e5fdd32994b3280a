/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/export/coverage.h"

#include <string.h>

#include "base/error.h"

static int by_line(const void *left, const void *right)
{
    const struct fm_line_count *a = left, *b = right;
    return a->line < b->line ? -1 : a->line > b->line;
}

/* Lines of which the profile says how often they ran. */
static void add_lines(const struct fm_export_coverage *x, uint32_t ps, GArray *lines)
{
    g_autofree uint64_t *counts = NULL;
    if (x->a->profile->ps[ps].point_count == 0)
        return;
    counts = fm_analysis_point_counts(x->a, ps, 0);
    for (uint32_t i = x->map->line_first[ps]; i < x->map->line_first[ps + 1]; i++) {
        struct fm_line_count line = {x->map->lines[i].line,
                                     fm_source_map_count(x->map, &x->map->lines[i], counts)};
        if (line.count != UINT64_MAX)
            g_array_append_val(lines, line);
    }
}

GArray *fm_export_coverage_lines(const struct fm_export_coverage *x, const uint32_t *ps,
                                 uint32_t count)
{
    GArray *lines = g_array_new(FALSE, FALSE, sizeof(struct fm_line_count));
    guint kept = 0;
    for (uint32_t i = 0; i < count; i++)
        add_lines(x, ps[i], lines);
    g_array_sort(lines, by_line);
    for (guint i = 0; i < lines->len; i++) {
        struct fm_line_count line = g_array_index(lines, struct fm_line_count, i);
        if (kept > 0 && g_array_index(lines, struct fm_line_count, kept - 1).line == line.line)
            g_array_index(lines, struct fm_line_count, kept - 1).count += line.count;
        else
            g_array_index(lines, struct fm_line_count, kept++) = line;
    }
    g_array_set_size(lines, kept);
    return lines;
}

int64_t fm_export_coverage_calls(const struct fm_export_coverage *x, uint32_t ps)
{
    struct fm_cost cost;
    fm_analysis_ps_cost(x->a, ps, &cost);
    return MAX(cost.calls, 0);
}

static int by_file(const void *left, const void *right, void *user)
{
    const struct fm_export_coverage *x = user;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int order = strcmp(x->names.file[a], x->names.file[b]);
    return order != 0 ? order : a < b ? -1 : a > b;
}

const uint32_t *fm_export_coverage_file(const struct fm_export_coverage *x, uint32_t *at,
                                        uint32_t *ret_count)
{
    const uint32_t *ps = (const uint32_t *)(const void *)x->list->data;
    uint32_t first = *at, end = first + 1;
    if (first >= x->list->len)
        return NULL;
    while (end < x->list->len && strcmp(x->names.file[ps[first]], x->names.file[ps[end]]) == 0)
        end++;
    *ret_count = end - first;
    *at = end;
    return ps + first;
}

static bool is_unusable(const struct fm_analysis *a, const struct fm_export_options *options,
                        GError **error)
{
    if (a->profile->coverage != FM_COVERAGE_NONE && options->source != NULL)
        return false;
    g_set_error(
        error, FM_ERROR, FM_ERROR_UNAVAILABLE,
        a->profile->coverage == FM_COVERAGE_NONE
            ? "execution counts of lines are not recorded: build with fathom cc --grade=coverage"
            : "source lines of the code are not known: there is no NAME.lines beside the profile");
    return true;
}

bool fm_export_coverage_init(struct fm_export_coverage *x, const struct fm_analysis *a,
                             const struct fm_export_options *options, GError **error)
{
    *x = (struct fm_export_coverage){.a = a, .map = options->source};
    if (is_unusable(a, options, error))
        return false;
    fm_exchange_names_init(&x->names, a->profile, true, options->strip_path);
    x->list = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t ps = 1; ps <= a->profile->ps_count; ps++) {
        if (*x->names.file[ps] != '\0' && a->profile->ps[ps].line != 0)
            g_array_append_val(x->list, ps);
        else
            x->left_out++;
    }
    g_array_sort_with_data(x->list, by_file, x);
    return true;
}

void fm_export_coverage_done(struct fm_export_coverage *x)
{
    fm_exchange_names_done(&x->names);
    g_array_unref(x->list);
}

void fm_export_coverage_note(const struct fm_export_coverage *x, GPtrArray *notes)
{
    if (x->left_out > 0)
        fm_export_note(notes, "%u functions are left out: their place in the source is not known",
                       x->left_out);
    fm_export_note(notes, "lines without execution counts are omitted");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* lcov's tracefile: how often functions and lines ran. Lines of which that is not known are left
 * out: they did not run 0 times. */
#include <string.h>

#include "base/error.h"
#include "exchange/export/internal.h"

struct lcov {
    const struct fm_analysis *a;
    const struct fm_source_map *map;
    struct fm_exchange_names names;
    struct fm_writer *out;
};

struct line_count {
    uint32_t line;
    uint64_t count;
};

static int by_line(const void *left, const void *right)
{
    const struct line_count *a = left, *b = right;
    return a->line < b->line ? -1 : a->line > b->line;
}

/* Lines of which the profile says how often they ran. */
static void add_lines(struct lcov *x, uint32_t ps, GArray *lines)
{
    g_autofree uint64_t *counts = NULL;
    if (x->a->profile->ps[ps].point_count == 0)
        return;
    counts = fm_analysis_point_counts(x->a, ps, 0);
    for (uint32_t i = x->map->line_first[ps]; i < x->map->line_first[ps + 1]; i++) {
        struct line_count line = {x->map->lines[i].line,
                                  fm_source_map_count(x->map, &x->map->lines[i], counts)};
        if (line.count != UINT64_MAX)
            g_array_append_val(lines, line);
    }
}

/* A line of a header or a template has code in several functions: their counts add up. */
static void put_lines(struct lcov *x, GArray *lines)
{
    uint32_t found = 0, hit = 0;
    g_array_sort(lines, by_line);
    for (guint i = 0, next; i < lines->len; i = next) {
        struct line_count line = g_array_index(lines, struct line_count, i);
        for (next = i + 1; next < lines->len; next++) {
            struct line_count other = g_array_index(lines, struct line_count, next);
            if (other.line != line.line)
                break;
            line.count += other.count;
        }
        fm_export_put(x->out, "DA:%u,%" G_GUINT64_FORMAT "\n", line.line, line.count);
        found++;
        hit += line.count > 0;
    }
    fm_export_put(x->out, "LF:%u\nLH:%u\n", found, hit);
}

static int64_t calls_of(const struct lcov *x, uint32_t ps)
{
    struct fm_cost cost;
    fm_analysis_ps_cost(x->a, ps, &cost);
    return MAX(cost.calls, 0);
}

/* The functions of one file: ids from first to end - 1 of the list. */
static void put_file(struct lcov *x, const uint32_t *ps, uint32_t count)
{
    g_autoptr(GArray) lines = g_array_new(FALSE, FALSE, sizeof(struct line_count));
    uint32_t hit = 0;
    fm_export_put(x->out, "TN:\nSF:%s\n", x->names.file[ps[0]]);
    for (uint32_t i = 0; i < count; i++)
        fm_export_put(x->out, "FN:%u,%s\n", x->a->profile->ps[ps[i]].line, x->names.name[ps[i]]);
    for (uint32_t i = 0; i < count; i++) {
        int64_t calls = calls_of(x, ps[i]);
        fm_export_put(x->out, "FNDA:%" G_GINT64_FORMAT ",%s\n", calls, x->names.name[ps[i]]);
        hit += calls > 0;
        add_lines(x, ps[i], lines);
    }
    fm_export_put(x->out, "FNF:%u\nFNH:%u\n", count, hit);
    put_lines(x, lines);
    fm_export_put(x->out, "end_of_record\n");
}

static int by_file(const void *left, const void *right, void *user)
{
    const struct lcov *x = user;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    int order = strcmp(x->names.file[a], x->names.file[b]);
    return order != 0 ? order : a < b ? -1 : a > b;
}

static bool is_unusable(const struct fm_analysis *a, const struct fm_export_options *options,
                        GError **error)
{
    if (a->profile->coverage != FM_COVERAGE_NONE && options->source != NULL)
        return false;
    g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                a->profile->coverage == FM_COVERAGE_NONE
                    ? "how often lines ran is not recorded: build with fathom cc --grade=coverage"
                    : "which lines the code stands on is not known: there is no NAME.lines beside "
                      "the profile");
    return true;
}

bool fm_export_lcov(const struct fm_analysis *a, const struct fm_export_options *options,
                    struct fm_writer *out, GPtrArray *notes, GError **error)
{
    struct lcov x = {.a = a, .map = options->source, .out = out};
    uint32_t left_out = 0;
    if (is_unusable(a, options, error))
        return false;
    fm_exchange_names_init(&x.names, a->profile, true, options->strip_path);
    g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(uint32_t));
    for (uint32_t ps = 1; ps <= a->profile->ps_count; ps++) {
        if (*x.names.file[ps] != '\0' && a->profile->ps[ps].line != 0)
            g_array_append_val(list, ps);
        else
            left_out++;
    }
    g_array_sort_with_data(list, by_file, &x);
    const uint32_t *ps = (const uint32_t *)(const void *)list->data;
    for (uint32_t first = 0, end; first < list->len; first = end) {
        end = first + 1;
        while (end < list->len && strcmp(x.names.file[ps[first]], x.names.file[ps[end]]) == 0)
            end++;
        put_file(&x, ps + first, end - first);
    }
    if (left_out > 0)
        fm_export_note(notes, "%u functions are left out: their place in the source is not known",
                       left_out);
    fm_export_note(notes, "lines of which it is not known how often they ran are left out");
    fm_exchange_names_clear(&x.names);
    return true;
}

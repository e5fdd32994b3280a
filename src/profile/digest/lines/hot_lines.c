/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/digest/lines/hot_lines.h"

#include <string.h>

static int compare_places(const void *a, const void *b)
{
    const struct fm_hot_line *x = a, *y = b;
    int files = x->file == y->file ? 0 : strcmp(x->file, y->file);
    if (files != 0)
        return files;
    if (x->line != y->line)
        return (x->line > y->line) - (x->line < y->line);
    if (x->more_lines != y->more_lines)
        return (x->more_lines > y->more_lines) - (x->more_lines < y->more_lines);
    return (x->amount < y->amount) - (x->amount > y->amount);
}

static int compare_amounts(const void *a, const void *b)
{
    const struct fm_hot_line *x = a, *y = b;
    return x->amount != y->amount ? (x->amount < y->amount) - (x->amount > y->amount)
                                  : compare_places(a, b);
}

/* Lines that share an amount with others, and unknown ones, are one row a function. */
static bool is_same_row(const struct fm_hot_line *x, const struct fm_hot_line *y)
{
    return x->line == y->line && x->more_lines == y->more_lines &&
           ((x->more_lines == 0 && x->line != 0) || x->ps == y->ps) &&
           strcmp(x->file, y->file) == 0;
}

/* Joins equal places, which stand beside each other, the function with the most first. */
static void join(GArray *lines)
{
    guint kept = 0;
    for (guint i = 0; i < lines->len; i++) {
        const struct fm_hot_line one = g_array_index(lines, struct fm_hot_line, i);
        struct fm_hot_line *last =
            kept > 0 ? &g_array_index(lines, struct fm_hot_line, kept - 1) : NULL;
        if (last != NULL && is_same_row(last, &one)) {
            last->amount += one.amount;
            last->blocks += one.blocks;
            last->functions++;
        } else {
            g_array_index(lines, struct fm_hot_line, kept++) = one;
        }
    }
    g_array_set_size(lines, kept);
}

uint32_t fm_hot_lines_rank(GArray *lines, uint32_t max, struct fm_hot_line **ret)
{
    g_array_sort(lines, compare_places);
    join(lines);
    g_array_sort(lines, compare_amounts);
    g_array_set_size(lines, MIN(lines->len, max));
    uint32_t count = lines->len;
    *ret = (struct fm_hot_line *)(void *)g_array_free(lines, FALSE);
    return count;
}

uint32_t fm_hot_lines(const struct fm_profile *profile, const struct fm_source_map *map,
                      uint32_t max, struct fm_hot_line **ret)
{
    *ret = NULL;
    if (map == NULL || !map->has_times)
        return 0;
    g_assert(map->ps_count <= profile->ps_count);
    GArray *lines = g_array_new(FALSE, FALSE, sizeof(struct fm_hot_line));
    for (uint32_t ps = 1; ps <= map->ps_count; ps++) {
        for (uint32_t i = map->line_first[ps]; i < map->line_first[ps + 1]; i++) {
            const struct fm_hot_line one = {.file = profile->ps[ps].file,
                                            .line = map->lines[i].line,
                                            .amount = map->lines[i].quanta,
                                            .ps = ps,
                                            .functions = 1};
            if (one.amount > 0 && one.file[0] != '\0')
                g_array_append_val(lines, one);
        }
    }
    return fm_hot_lines_rank(lines, max, ret);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The tree of an area's segments, cut to what is large enough to be seen. */
#include "pages/trace/totals.h"

#define INDENT "\xE2\x80\x83" /* em space */

static int compare_totals(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left > right ? -1 : left < right;
}

/* Nodes must have that much. */
static uint64_t threshold(const struct fm_flame_node *nodes, guint count, unsigned max,
                          unsigned parts)
{
    uint64_t least = parts == 0 ? 0 : nodes[0].total / parts;
    if (count <= max)
        return least;
    g_autofree uint64_t *totals = g_new(uint64_t, count);
    for (guint i = 0; i < count; i++)
        totals[i] = nodes[i].total;
    qsort(totals, count, sizeof *totals, compare_totals);
    return MAX(least, totals[max] + 1);
}

GArray *fm_trace_page_flame_nodes(const struct fm_flame *flame, unsigned max, unsigned parts,
                                  unsigned *ret_left_out)
{
    g_autoptr(GArray) all = fm_flame_nodes(flame);
    const struct fm_flame_node *nodes = (const struct fm_flame_node *)(const void *)all->data;
    GArray *kept = g_array_new(false, false, sizeof(struct fm_flame_node));
    g_autofree uint32_t *places = g_new0(uint32_t, all->len); /* + 1; 0 = left out */
    uint64_t least = threshold(nodes, all->len, max, parts);
    for (guint i = 0; i < all->len; i++) {
        bool fits = i == 0 || (nodes[i].total >= least && places[nodes[i].parent] != 0);
        if (!fits)
            continue;
        struct fm_flame_node node = nodes[i];
        node.parent = i == 0 ? 0 : places[node.parent] - 1;
        g_array_append_val(kept, node);
        places[i] = kept->len;
    }
    *ret_left_out = all->len - kept->len;
    return kept;
}

/* --- as a table --- */

static void add_row(struct fm_table *table, const struct fm_trace *trace,
                    const struct fm_flame_node *node)
{
    GString *name = g_string_new(NULL);
    for (uint32_t i = 1; i < node->depth; i++)
        g_string_append(name, INDENT);
    g_string_append(name, fm_trace_value_name(trace, node->value));
    fm_table_row(table, "node", false);
    fm_cell_int(table, (int64_t)node->depth - 1);
    fm_cell_string(table, name->str, FM_STYLE_PLAIN);
    fm_cell_int(table, (int64_t)node->count);
    fm_cell_time(table, (double)node->total / 1e9);
    fm_cell_time(table, (double)node->self / 1e9);
    g_string_free(name, TRUE);
}

unsigned fm_trace_page_add_flame(struct fm_list *body, const struct fm_flame *flame, unsigned rows)
{
    static const struct fm_column_head columns[] = {
        {"Level", "level", FM_COLUMN_NUMBER},
        {"Name", "name", FM_COLUMN_PROC},
        {"Count", "count", FM_COLUMN_NUMBER},
        {"Total", "total_seconds", FM_COLUMN_TICKS_AND_TIMES},
        {"Self", "self_seconds", FM_COLUMN_TICKS_AND_TIMES},
    };
    unsigned left_out;
    g_autoptr(GArray) nodes = fm_trace_page_flame_nodes(flame, rows, 0, &left_out);
    const struct fm_flame_node *all = (const struct fm_flame_node *)(const void *)nodes->data;
    /* The first child, and the next one of the same parent. */
    g_autofree uint32_t *child = g_new0(uint32_t, nodes->len);
    g_autofree uint32_t *next = g_new0(uint32_t, nodes->len);
    for (guint i = nodes->len; i-- > 1;) {
        next[i] = child[all[i].parent];
        child[all[i].parent] = i;
    }
    struct fm_table *table = fm_add_table(body, FM_BOX_IF_PREFERRED, "stacks");
    fm_table_columns(table, columns, G_N_ELEMENTS(columns), FM_COLOUR_NEVER);
    const struct fm_trace *trace = fm_segments_trace(fm_flame_segments(flame));
    for (uint32_t at = child[0]; at != 0;) {
        add_row(table, trace, &all[at]);
        uint32_t following = child[at];
        while (following == 0 && at != 0) {
            following = next[at];
            at = all[at].parent;
        }
        at = following;
    }
    uint64_t lost = fm_flame_lost(flame);
    if (lost > 0) {
        g_autofree char *text = g_strdup_printf(
            "%" G_GUINT64_FORMAT " spans and states are in no row: there are over %d different "
            "stacks. Their time is in the rows around them.",
            (guint64)lost, FM_FLAME_NODES_MAX);
        fm_add_text(body, text);
    }
    return left_out;
}

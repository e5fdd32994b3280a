/* SPDX-License-Identifier: Apache-2.0 */
/* Folded stacks: "main;parse;term 12", a line for each context with own cost. */
#include <string.h>

#include "base/error.h"
#include "exchange/export/internal.h"

struct folded {
    const struct fm_exchange_nodes *nodes;
    struct fm_exchange_names names;
    bool lines;
    GString *path;
    gsize *length; /* [node] of the path up to and with the node's name */
};

/* ';' parts frames and has no way to be escaped. */
static void append_frame(struct folded *x, uint32_t index, GString *buffer)
{
    const struct fm_exchange_node *node = &x->nodes->nodes[index];
    uint32_t line = x->lines ? fm_exchange_call_line(x->nodes->a->profile, node->css) : 0;
    if (line != 0 && node->parent != 0)
        g_string_append_printf(x->path, ":%u", line);
    if (node->parent != 0)
        g_string_append_c(x->path, ';');
    gsize start = x->path->len;
    g_string_append(x->path, fm_exchange_node_name(&x->names, node, buffer));
    for (char *c = x->path->str + start; *c != '\0'; c++) {
        if (*c == ';')
            *c = ':';
    }
    x->length[index] = x->path->len;
}

static void write_all(struct folded *x, unsigned column, struct fm_writer *out)
{
    g_autoptr(GString) buffer = g_string_new(NULL);
    for (uint32_t i = 1; i < x->nodes->count; i++) {
        int64_t own = fm_exchange_own(x->nodes, column, i);
        char number[32];
        g_string_truncate(x->path, x->length[x->nodes->nodes[i].parent]);
        append_frame(x, i, buffer);
        if (own <= 0)
            continue;
        fm_writer_bytes(out, x->path->str, x->path->len);
        int size = g_snprintf(number, sizeof number, " %" G_GINT64_FORMAT "\n", own);
        fm_writer_bytes(out, number, (size_t)size);
    }
}

static char *column_names(const struct fm_exchange_nodes *nodes)
{
    GString *names = g_string_new(NULL);
    for (unsigned i = 0; i < nodes->column_count; i++)
        g_string_append_printf(names, "%s%s", i > 0 ? ", " : "", nodes->columns[i].name);
    return g_string_free(names, FALSE);
}

bool fm_export_folded(const struct fm_analysis *a, const struct fm_export_options *options,
                      struct fm_writer *out, GPtrArray *notes, GError **error)
{
    struct fm_exchange_nodes nodes;
    if (!fm_exchange_nodes_init(&nodes, a, options->min_share, error))
        return false;
    unsigned column = options->measure != NULL ? fm_exchange_column(&nodes, options->measure)
                                               : fm_exchange_main_column(&nodes);
    if (column == nodes.column_count) {
        g_autofree char *names = column_names(&nodes);
        g_set_error(error, FM_ERROR, FM_ERROR_USAGE,
                    "the profile has no measure '%s', expected one of %s", options->measure, names);
        fm_exchange_nodes_done(&nodes);
        return false;
    }
    struct folded x = {.nodes = &nodes,
                       .lines = options->lines,
                       .path = g_string_new(NULL),
                       .length = g_new0(gsize, nodes.count)};
    fm_exchange_names_init(&x.names, a->profile, true, options->strip_path);
    write_all(&x, column, out);
    fm_export_note(notes, "only the measure %s in %s is written: the format holds one",
                   nodes.columns[column].name, nodes.columns[column].unit);
    fm_export_note_folding(notes, &nodes);
    fm_exchange_names_done(&x.names);
    g_string_free(x.path, TRUE);
    g_free(x.length);
    fm_exchange_nodes_done(&nodes);
    return true;
}

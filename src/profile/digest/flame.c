/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/digest/flame.h"

#include <string.h>

#define NARROWEST_PX 0.5 /* narrower boxes are invisible */
#define SEPARATE_PX 2.0  /* narrower neighbours become one box */
#define OPEN_PX 160.0    /* a recursion as wide shows its functions */
/* minimum share of its parent for a box to be the only child of a chain */
#define CHAIN_SHARE 0.995
#define CHAIN_OWN 0.005
#define CHAIN_MAX 12u
#define NO_PARENT UINT32_MAX

struct layout {
    struct fm_digest_tree *tree;
    const struct fm_digest_flame_options *options;
    struct fm_digest_flame *flame;
    double whole, px; /* total of the focus; pixels */
    double least_px;  /* minimum width of a separate box */
    unsigned boxes_max, rows_max;
    bool full;
};

static struct fm_digest_node node_at(const struct fm_digest_flame *flame, guint index)
{
    return g_array_index(flame->nodes, struct fm_digest_node, index);
}

static void put(struct layout *layout, const struct fm_digest_box *box)
{
    struct fm_digest_flame *flame = layout->flame;
    if (flame->boxes->len >= layout->boxes_max) {
        layout->full = true;
        return;
    }
    g_array_append_val(flame->boxes, *box);
    flame->rows = MAX(flame->rows, box->row + 1);
}

static void place(struct layout *layout, uint32_t node, double x, unsigned row, uint32_t parent);

/* Places sibling nodes, most expensive first; those too narrow are joined. */
static void place_row(struct layout *layout, guint first, guint end, double x, unsigned row,
                      uint32_t parent, const struct fm_digest_node *above)
{
    guint i = first;
    if (row >= layout->rows_max) {
        layout->flame->deeper = layout->flame->deeper || first < end;
        return;
    }
    for (; i < end && !layout->full; i++) {
        struct fm_digest_node node = node_at(layout->flame, i);
        double width = (double)node.total / layout->whole;
        if (!(width * layout->px >= layout->least_px))
            break;
        place(layout, i, x, row, parent);
        x += width;
    }
    struct fm_digest_box rest = {.row = row,
                                 .x = x,
                                 .node = MIN(i, layout->flame->nodes->len - 1),
                                 .joined = 0,
                                 .chain = 1,
                                 .parent = parent};
    for (guint j = i; j < end; j++) {
        struct fm_digest_node node = node_at(layout->flame, j);
        if (node.total <= 0)
            break;
        rest.joined++;
        rest.own += node.own;
        rest.total += node.total;
        rest.at_most |= node.at_most && node.active == node.total;
    }
    if (above != NULL && above->left > 0) { /* contexts that were not followed */
        rest.joined += above->left;
        rest.total += above->left_total;
        rest.at_most |= above->at_most;
    }
    rest.active = rest.total;
    rest.width = (double)rest.total / layout->whole;
    if (parent == NO_PARENT)
        rest.parent = layout->flame->boxes->len;
    if (rest.joined == 1 && i < end)
        rest.joined = 0; /* a single one stays itself */
    if (rest.total > 0 && rest.width * layout->px >= NARROWEST_PX && !layout->full)
        put(layout, &rest);
}

static guint add_children(struct layout *layout, uint32_t index, bool members)
{
    struct fm_digest_node node = node_at(layout->flame, index);
    guint first = layout->flame->nodes->len;
    (members ? fm_digest_members : fm_digest_children)(layout->tree, &node, layout->flame->nodes);
    return first;
}

static bool shows_functions(const struct layout *layout, const struct fm_digest_node *node)
{
    if (node->kind != FM_NODE_RECURSION || layout->tree->up ||
        layout->options->recursions == FM_RECURSIONS_SHUT)
        return false;
    return layout->options->recursions == FM_RECURSIONS_OPEN ||
           (double)node->total / layout->whole * layout->px >= OPEN_PX;
}

static void place(struct layout *layout, uint32_t index, double x, unsigned row, uint32_t parent)
{
    struct fm_digest_node node = node_at(layout->flame, index);
    uint32_t own_box = layout->flame->boxes->len;
    const struct fm_digest_box box = {
        .row = row,
        .x = x,
        .width = (double)node.total / layout->whole,
        .node = index,
        .chain = 1,
        .parent = parent == NO_PARENT ? own_box : parent,
        .own = node.own,
        .total = node.total,
        .active = node.active,
        .at_most = node.at_most,
    };
    put(layout, &box);
    if (layout->full)
        return;
    guint first = add_children(layout, index, shows_functions(layout, &node));
    place_row(layout, first, layout->flame->nodes->len, x, row + 1, own_box, &node);
}

/* The only child, if it leads to nearly all of the cost and the node's self cost is nearly 0; 0 =
 * none. */
static guint only_way_on(struct layout *layout, uint32_t index)
{
    struct fm_digest_node node = node_at(layout->flame, index);
    if (node.kind != FM_NODE_FUNCTION && node.kind != FM_NODE_WHOLE)
        return 0;
    guint first = add_children(layout, index, false);
    if (first == layout->flame->nodes->len)
        return 0;
    struct fm_digest_node child = node_at(layout->flame, first);
    bool only = child.kind == FM_NODE_FUNCTION &&
                (double)child.total >= CHAIN_SHARE * (double)node.total &&
                (double)node.own < CHAIN_OWN * layout->whole;
    return only ? first : 0;
}

/* Functions that only lead to the rest are one row: their nodes in order. */
static void place_chain(struct layout *layout, uint32_t root)
{
    struct fm_digest_flame *flame = layout->flame;
    uint32_t chain[CHAIN_MAX], count = 0;
    chain[count++] = root;
    for (guint next; count < CHAIN_MAX && !layout->tree->up &&
                     (next = only_way_on(layout, chain[count - 1])) != 0;)
        chain[count++] = next;
    guint at = flame->nodes->len;
    for (uint32_t i = 0; i < count; i++) {
        struct fm_digest_node node = node_at(flame, chain[i]);
        g_array_append_val(flame->nodes, node);
    }
    place(layout, at + count - 1, 0, 0, NO_PARENT);
    if (flame->boxes->len > 0) {
        struct fm_digest_box *first = &g_array_index(flame->boxes, struct fm_digest_box, 0);
        first->node = at;
        first->chain = count;
    }
}

/* For the whole program, the functions called by the root are at the top. */
static void place_whole(struct layout *layout, uint32_t root)
{
    guint first = add_children(layout, root, false), end = layout->flame->nodes->len;
    if (end - first == 1) {
        place_chain(layout, first);
        return;
    }
    place_row(layout, first, end, 0, 0, NO_PARENT, NULL);
}

static void lay_out(struct layout *layout, const struct fm_digest_node *root)
{
    struct fm_digest_flame *flame = layout->flame;
    g_array_set_size(flame->boxes, 0);
    g_array_set_size(flame->nodes, 0);
    g_array_append_val(flame->nodes, *root);
    flame->rows = 0;
    flame->deeper = layout->full = false;
    flame->least_width = layout->least_px / layout->px;
    if (root->kind == FM_NODE_WHOLE)
        place_whole(layout, 0);
    else
        place_chain(layout, 0);
}

void fm_digest_flame_layout(struct fm_digest_tree *tree, const struct fm_digest_focus *focus,
                            const struct fm_digest_flame_options *options,
                            struct fm_digest_flame *ret)
{
    g_return_if_fail(tree != NULL && options != NULL && ret != NULL);
    struct fm_digest_node root;
    *ret = (struct fm_digest_flame){
        .boxes = g_array_new(FALSE, FALSE, sizeof(struct fm_digest_box)),
        .nodes = g_array_new(FALSE, FALSE, sizeof(struct fm_digest_node)),
    };
    tree->by_parts = true; /* boxes of a row do not overlap */
    fm_digest_root(tree, focus, &root);
    if (root.total <= 0)
        return;
    struct layout layout = {
        .tree = tree,
        .options = options,
        .flame = ret,
        .whole = (double)root.total,
        .px = MAX(options->width, 1u),
        .least_px = SEPARATE_PX,
        .boxes_max =
            options->boxes_max ? MIN(options->boxes_max, FM_FLAME_BOXES_MAX) : FM_FLAME_BOXES_MAX,
        .rows_max =
            options->rows_max ? MIN(options->rows_max, FM_FLAME_ROWS_MAX) : FM_FLAME_ROWS_MAX,
    };
    size_t kept = tree->pds->len;
    lay_out(&layout, &root);
    while (layout.full && layout.least_px < layout.px) { /* retries with fewer, wider boxes */
        layout.least_px *= 1.5;
        g_array_set_size(tree->pds, (guint)kept);
        g_array_set_size(tree->weights, (guint)kept);
        lay_out(&layout, &root);
    }
}

void fm_digest_flame_done(struct fm_digest_flame *flame)
{
    g_array_unref(flame->boxes);
    g_array_unref(flame->nodes);
    *flame = (struct fm_digest_flame){0};
}

unsigned fm_digest_module_slots(const struct fm_analysis *a, enum fm_measure_id measure,
                                const struct fm_module *ret[FM_DIGEST_SLOTS])
{
    unsigned count = 0;
    for (uint32_t i = 0; i < a->module_count; i++) {
        const struct fm_module *module = &a->modules[i];
        if (!module->name[0] || module->cost.own[measure] <= 0)
            continue;
        unsigned at = count;
        while (at > 0 && module->cost.own[measure] > ret[at - 1]->cost.own[measure])
            at--;
        if (at == FM_DIGEST_SLOTS)
            continue;
        count = MIN(count + 1, FM_DIGEST_SLOTS);
        memmove(&ret[at + 1], &ret[at], (count - 1 - at) * sizeof(ret[0]));
        ret[at] = module;
    }
    return count;
}

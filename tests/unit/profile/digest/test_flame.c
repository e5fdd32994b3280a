/* SPDX-License-Identifier: Apache-2.0 */
/* Flame graphs: each box lies within its parent, none overlap, and the widths are exact. */
#include "made.h"
#include "profile/digest/flame.h"

static struct fm_digest_box box_at(const struct fm_digest_flame *flame, guint i)
{
    return g_array_index(flame->boxes, struct fm_digest_box, i);
}

static struct fm_digest_node node_of(const struct fm_digest_flame *flame,
                                     const struct fm_digest_box *box)
{
    return g_array_index(flame->nodes, struct fm_digest_node, box->node);
}

static void assert_good(const struct fm_digest_flame *flame, unsigned width)
{
    g_autofree double *ends = g_new0(double, flame->boxes->len + 1); /* of the last child of each */
    g_autofree int64_t *below = g_new0(int64_t, flame->boxes->len + 1);
    const double slack = 1e-9;
    for (guint i = 0; i < flame->boxes->len; i++) {
        struct fm_digest_box box = box_at(flame, i), parent = box_at(flame, box.parent);
        ends[i] = box.x;
        g_assert_cmpfloat(box.x, >=, -slack);
        g_assert_cmpfloat(box.x + box.width, <=, 1 + slack);
        g_assert_cmpfloat(box.width * width, >=, 0.5 - slack);
        g_assert_cmpuint(box.row, <, flame->rows);
        if (box.parent == i) {
            g_assert_cmpuint(box.row, ==, 0);
            continue;
        }
        g_assert_cmpuint(box.row, ==, parent.row + 1);
        g_assert_cmpfloat(box.x, >=, ends[box.parent] - slack); /* right of the one before */
        g_assert_cmpfloat(box.x + box.width, <=, parent.x + parent.width + slack);
        ends[box.parent] = box.x + box.width;
        below[box.parent] += box.total;
        g_assert_cmpint(below[box.parent], <=, parent.total);
        if (!box.joined)
            g_assert_cmpint(box.total, ==, node_of(flame, &box).total);
    }
    g_assert_cmpuint(flame->boxes->len, <=, FM_FLAME_BOXES_MAX);
    g_assert_cmpuint(flame->rows, <=, FM_FLAME_ROWS_MAX);
}

static void generated(void)
{
    for (unsigned seed = 1; seed <= 10; seed++) {
        struct made made = made_generated(seed, "--nodes=20000", "--c", NULL);
        for (unsigned how = 0; how < 3; how++) {
            struct fm_digest_flame_options options = {.width = 1400,
                                                      .recursions = (enum fm_digest_recursions)how};
            struct fm_digest_tree tree;
            struct fm_digest_flame flame;
            fm_digest_tree_init(&tree, made.a, FM_CALLSEQS, false);
            fm_digest_flame_layout(&tree, &(struct fm_digest_focus){0}, &options, &flame);
            g_assert_cmpuint(flame.boxes->len, >, 10);
            assert_good(&flame, options.width);
            guint boxes = flame.boxes->len;
            fm_digest_flame_done(&flame);
            /* Fewer boxes when fewer are asked for; the widest stay. */
            options.boxes_max = MAX(boxes / 3, 2);
            fm_digest_flame_layout(&tree, &(struct fm_digest_focus){0}, &options, &flame);
            g_assert_cmpuint(flame.boxes->len, <=, options.boxes_max);
            assert_good(&flame, options.width);
            fm_digest_flame_done(&flame);
            options.rows_max = 3;
            fm_digest_flame_layout(&tree, &(struct fm_digest_focus){0}, &options, &flame);
            g_assert_cmpuint(flame.rows, <=, 3);
            fm_digest_flame_done(&flame);
            fm_digest_tree_done(&tree);
        }
        made_clear(&made);
    }
}

static void callers(void)
{
    struct made made = made_generated(3, "--nodes=20000", "--c", NULL);
    for (uint32_t ps = 2; ps <= made.profile->ps_count; ps += 9) {
        struct fm_digest_tree tree;
        struct fm_digest_flame flame;
        fm_digest_tree_init(&tree, made.a, FM_CALLSEQS, true);
        fm_digest_flame_layout(&tree, &(struct fm_digest_focus){.ps = ps},
                               &(struct fm_digest_flame_options){.width = 800}, &flame);
        if (flame.boxes->len > 0)
            assert_good(&flame, 800);
        fm_digest_flame_done(&flame);
        fm_digest_tree_done(&tree);
    }
    made_clear(&made);
}

static void by_hand(void)
{
    struct made made = made_program();
    struct fm_digest_tree tree;
    struct fm_digest_flame flame;
    fm_digest_tree_init(&tree, made.a, FM_QUANTA, false);
    fm_digest_flame_layout(&tree, &(struct fm_digest_focus){0},
                           &(struct fm_digest_flame_options){.width = 1000}, &flame);
    /* main 92 of 132; parse 81, the recursion 75 with its functions below it. */
    struct fm_digest_box main_box = box_at(&flame, 0), parse = box_at(&flame, 1);
    struct fm_digest_box recursion = box_at(&flame, 2), term = box_at(&flame, 3);
    g_assert_cmpfloat_with_epsilon(main_box.width, 92.0 / 132, 1e-12);
    g_assert_cmpfloat_with_epsilon(parse.width, 81.0 / 132, 1e-12);
    g_assert_cmpint(node_of(&flame, &recursion).kind, ==, FM_NODE_RECURSION);
    g_assert_cmpint(node_of(&flame, &term).kind, ==, FM_NODE_MEMBER);
    g_assert_cmpuint(term.row, ==, 3);
    g_assert_cmpfloat_with_epsilon(term.width, 45.0 / 132, 1e-12);
    assert_good(&flame, 1000);
    fm_digest_flame_done(&flame);
    /* Shut, what it calls hangs below the recursion itself. */
    fm_digest_flame_layout(
        &tree, &(struct fm_digest_focus){0},
        &(struct fm_digest_flame_options){.width = 1000, .recursions = FM_RECURSIONS_SHUT}, &flame);
    struct fm_digest_box leaf = box_at(&flame, 3);
    g_assert_cmpuint(node_of(&flame, &leaf).ps, ==, made_ps(&made, "xmalloc"));
    fm_digest_flame_done(&flame);
    fm_digest_tree_done(&tree);
    made_clear(&made);
}

/* one -> two -> three, nothing else: one row until it spreads. */
static void what_leads_on_alone_is_one_row(void)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "chain");
    static const char *const names[] = {"the program", "main", "run", "loop", "a", "b"};
    uint32_t pd[G_N_ELEMENTS(names)];
    for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
        const char *unit = i == 0 ? "" : "c.c";
        uint32_t ps = fm_build_ps(build, &(struct fm_ps){.label_kind = FM_LABEL_FUNCTION,
                                                         .decl_module = unit,
                                                         .def_module = unit,
                                                         .name = names[i],
                                                         .raw_name = names[i],
                                                         .file = unit});
        for (unsigned slot = 0; slot < 2; slot++)
            fm_build_css(build, ps, &(struct fm_css){.kind = FM_SITE_HIGHER_ORDER});
        pd[i] = fm_build_pd(build, ps);
    }
    static const unsigned edges[][4] = {
        {0, 0, 1, 0}, {1, 0, 2, 1}, {2, 0, 3, 0}, {3, 0, 4, 600}, {3, 1, 5, 399}};
    for (unsigned i = 0; i < G_N_ELEMENTS(edges); i++) {
        uint32_t csd = fm_build_csd(build, pd[edges[i][0]], edges[i][1], pd[edges[i][2]]);
        fm_build_add(build, csd, FM_EXITS, 1);
        fm_build_add(build, csd, FM_QUANTA, edges[i][3]);
    }
    struct made made = made_built(build);
    struct fm_digest_tree tree;
    struct fm_digest_flame flame;
    fm_digest_tree_init(&tree, made.a, FM_QUANTA, false);
    fm_digest_flame_layout(&tree, &(struct fm_digest_focus){0},
                           &(struct fm_digest_flame_options){.width = 1000}, &flame);
    g_assert_cmpuint(flame.boxes->len, ==, 3);
    g_assert_cmpuint(box_at(&flame, 0).chain, ==, 3);
    struct fm_digest_node last =
        g_array_index(flame.nodes, struct fm_digest_node, box_at(&flame, 0).node + 2);
    g_assert_cmpuint(last.ps, ==, made_ps(&made, "loop"));
    g_assert_cmpuint(box_at(&flame, 2).row, ==, 1);
    fm_digest_flame_done(&flame);
    fm_digest_tree_done(&tree);
    made_clear(&made);
}

int main(int argc, char **argv)
{
    made_init(&argc, &argv);
    g_test_add_func("/views/flame/generated", generated);
    g_test_add_func("/views/flame/callers", callers);
    g_test_add_func("/views/flame/by-hand", by_hand);
    g_test_add_func("/views/flame/chain", what_leads_on_alone_is_one_row);
    return g_test_run();
}

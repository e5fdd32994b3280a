/* SPDX-License-Identifier: Apache-2.0 */
/* Trees add up: own + children = total at each node, downwards; members = recursion; callers =
 * callee. On made-up programs with recursion, detected or not, and on a small one by hand. */
#include <string.h>

#include "made.h"
#include "profile/digest/paths.h"
#include "profile/digest/tree.h"

static GArray *children_of(struct fm_digest_tree *tree, const struct fm_digest_node *node,
                           bool members)
{
    GArray *nodes = g_array_new(FALSE, FALSE, sizeof(struct fm_digest_node));
    (members ? fm_digest_members : fm_digest_children)(tree, node, nodes);
    return nodes;
}

static struct fm_digest_node at(const GArray *nodes, guint i)
{
    g_assert_cmpuint(i, <, nodes->len);
    return g_array_index(nodes, struct fm_digest_node, i);
}

static int64_t sum(const GArray *nodes, bool own)
{
    int64_t all = 0;
    for (guint i = 0; i < nodes->len; i++)
        all += own ? at(nodes, i).own : at(nodes, i).total;
    return all;
}

/* --- sums --- */

struct walk {
    struct fm_digest_tree tree;
    uint32_t contexts, recursions;
    int64_t own;
};

static void assert_sorted(const struct walk *walk, const GArray *nodes)
{
    (void)walk;
    for (guint i = 1; i < nodes->len; i++)
        g_assert_cmpint(at(nodes, i - 1).total, >=, at(nodes, i).total);
}

static void walk_down(struct walk *walk, const struct fm_digest_node *node)
{
    g_autoptr(GArray) children = children_of(&walk->tree, node, false);
    assert_sorted(walk, children);
    g_assert_cmpint(node->own + sum(children, false), ==, node->total);
    g_assert_cmpint(node->own, >=, 0);
    walk->contexts += node->contexts;
    walk->own += node->own;
    if (node->kind == FM_NODE_RECURSION) {
        g_autoptr(GArray) members = children_of(&walk->tree, node, true);
        g_assert_cmpuint(node->procs, >, 1);
        g_assert_cmpuint(members->len, >=, node->procs);       /* others, in another context */
        g_assert_cmpint(sum(members, false), >=, node->total); /* they are active together */
        g_assert_cmpint(sum(members, true), ==, node->own);
        walk->tree.by_parts = true;
        g_autoptr(GArray) parts = children_of(&walk->tree, node, true);
        walk->tree.by_parts = false;
        g_assert_cmpint(sum(parts, false), ==, node->total);
        for (guint i = 0; i < members->len; i++) {
            struct fm_digest_node member = at(members, i);
            g_autoptr(GArray) leaves = children_of(&walk->tree, &member, false);
            g_assert_cmpint(member.own + sum(leaves, false), ==, member.total);
        }
        walk->recursions++;
    }
    for (guint i = 0; i < children->len; i++) {
        struct fm_digest_node child = at(children, i);
        walk_down(walk, &child);
    }
}

static const enum fm_measure_id measures[] = {FM_QUANTA, FM_CALLSEQS, FM_ALLOCS, FM_WORDS};

static void generated_trees_add_up(void)
{
    uint32_t recursions = 0;
    for (unsigned seed = 1; seed <= 12; seed++) {
        struct made made =
            made_generated(seed, "--nodes=2000", seed % 2 ? "--c" : "--procs=150", NULL);
        for (unsigned m = 0; m < G_N_ELEMENTS(measures); m++) {
            struct walk walk = {0};
            struct fm_digest_node root;
            fm_digest_tree_init(&walk.tree, made.a, measures[m], false);
            fm_digest_root(&walk.tree, &(struct fm_digest_focus){0}, &root);
            g_assert_cmpint(root.total, ==, fm_cost_total(&made.a->root_total, measures[m]));
            walk_down(&walk, &root);
            g_assert_cmpint(walk.own, ==, root.total);
            g_assert_cmpuint(walk.contexts, >=, made.a->clique_count - 1);
            recursions += walk.recursions;
            fm_digest_tree_done(&walk.tree);
        }
        made_clear(&made);
    }
    g_assert_cmpuint(recursions, >, 100);
}

/* A context is found again as its focus, with the same figures. */
static void each_context_is_in_its_node(void)
{
    struct made made = made_generated(7, "--nodes=1500", "--c", NULL);
    for (uint32_t clique = 1; clique <= made.a->clique_count; clique++) {
        struct fm_digest_tree tree;
        struct fm_digest_node node;
        bool inside = false;
        if (fm_digest_is_outside(made.a, clique))
            continue;
        fm_digest_tree_init(&tree, made.a, FM_CALLSEQS, false);
        fm_digest_root(&tree, &(struct fm_digest_focus){.clique = clique}, &node);
        g_assert_cmpuint(node.ps, ==, fm_digest_clique_name(made.a, clique));
        for (size_t i = 0; i < node.count; i++) {
            uint32_t pd = g_array_index(tree.pds, uint32_t, node.first + i);
            inside = inside || made.a->pd_clique[pd] == clique;
        }
        g_assert_true(inside);
        g_assert_cmpint(node.total, >=, fm_analysis_clique_total(made.a, clique, FM_CALLSEQS));
        fm_digest_tree_done(&tree);
    }
    made_clear(&made);
}

static void walk_up(struct fm_digest_tree *tree, const struct fm_digest_node *node, unsigned depth)
{
    g_autoptr(GArray) callers = children_of(tree, node, false);
    /* What the program's entry got from outside has no caller. */
    g_assert_cmpint(sum(callers, false), <=, node->total);
    for (guint i = 0; i < callers->len && depth < 100; i++) {
        struct fm_digest_node caller = at(callers, i);
        g_assert_cmpint(caller.total, >, 0);
        walk_up(tree, &caller, depth + 1);
    }
}

/* The callers of all functions share out what these cost: nothing twice, nothing lost. */
static void generated_callers_add_up(void)
{
    for (unsigned seed = 20; seed < 26; seed++) {
        struct made made = made_generated(seed, "--nodes=800", "--c", NULL);
        struct fm_digest_tree tree;
        struct fm_digest_node root;
        fm_digest_tree_init(&tree, made.a, FM_CALLSEQS, true);
        fm_digest_root(&tree, &(struct fm_digest_focus){0}, &root);
        g_autoptr(GArray) functions = children_of(&tree, &root, false);
        g_assert_cmpint(sum(functions, false), ==, root.total);
        for (guint i = 0; i < functions->len; i++) {
            struct fm_digest_node function = at(functions, i);
            struct fm_cost cost;
            fm_analysis_ps_cost(made.a, function.ps, &cost);
            g_assert_cmpint(function.total, ==, cost.own[FM_CALLSEQS]);
            g_assert_cmpint(function.own, ==, function.total);
            walk_up(&tree, &function, 0);
        }
        fm_digest_tree_done(&tree);
        made_clear(&made);
    }
}

/* --- by hand --- */

static struct fm_digest_node child_named(const struct made *made, const GArray *nodes,
                                         const char *name)
{
    for (guint i = 0; i < nodes->len; i++) {
        if (strcmp(made->profile->ps[at(nodes, i).ps].name, name) == 0)
            return at(nodes, i);
    }
    g_error("there is no node %s", name);
}

static void threads_and_lines_are_one_node(void)
{
    struct made made = made_program();
    struct fm_digest_tree tree;
    struct fm_digest_node root;
    fm_digest_tree_init(&tree, made.a, FM_QUANTA, false);
    fm_digest_root(&tree, &(struct fm_digest_focus){0}, &root);
    g_autoptr(GArray) entries = children_of(&tree, &root, false);
    g_assert_cmpuint(entries->len, ==, 2);
    struct fm_digest_node main_node = at(entries, 0), worker = at(entries, 1);
    g_assert_cmpuint(main_node.ps, ==, made_ps(&made, "main"));
    g_assert_cmpint(main_node.total, ==, 92);
    g_assert_cmpuint(worker.ps, ==, made_ps(&made, "worker"));
    g_assert_cmpint(worker.total, ==, 40);
    g_assert_cmpuint(worker.contexts, ==, 2);
    g_assert_cmpint(worker.calls, ==, 2);
    g_autoptr(GArray) below = children_of(&tree, &worker, false);
    g_assert_cmpuint(below->len, ==, 1);
    g_assert_cmpint(at(below, 0).own, ==, 40);
    g_assert_cmpint(at(below, 0).calls, ==, 16);
    g_autoptr(GArray) of_main = children_of(&tree, &main_node, false);
    struct fm_digest_node parse = child_named(&made, of_main, "parse");
    g_assert_cmpint(parse.total, ==, 2 + 10 + 40 + 20 + 5 + 4);
    g_assert_cmpint(parse.own, ==, 6);
    g_assert_cmpint(parse.calls, ==, 5);
    g_assert_cmpuint(parse.sites, ==, 2);
    fm_digest_tree_done(&tree);
    made_clear(&made);
}

static void a_recursion_is_one_node(void)
{
    struct made made = made_program();
    struct fm_digest_tree tree;
    struct fm_digest_node parse, recursion, member;
    fm_digest_tree_init(&tree, made.a, FM_QUANTA, false);
    fm_digest_root(&tree, &(struct fm_digest_focus){.ps = made_ps(&made, "parse")}, &parse);
    g_assert_cmpint(parse.total, ==, 81);
    g_autoptr(GArray) below = children_of(&tree, &parse, false);
    g_assert_cmpuint(below->len, ==, 1);
    recursion = at(below, 0);
    g_assert_cmpint(recursion.kind, ==, FM_NODE_RECURSION);
    g_assert_cmpuint(recursion.ps, ==, made_ps(&made, "term")); /* 40 of its 70 own samples */
    g_assert_cmpuint(recursion.procs, ==, 2);
    g_assert_cmpint(recursion.own, ==, 70);
    g_assert_cmpint(recursion.total, ==, 75);
    g_assert_cmpint(recursion.calls, ==, 2); /* from outside */
    g_autoptr(GArray) members = children_of(&tree, &recursion, true);
    member = child_named(&made, members, "term");
    g_assert_cmpint(member.own, ==, 40);
    g_assert_cmpint(member.total, ==, 75); /* it entered the recursion */
    g_assert_cmpint(member.calls, ==, 8);
    g_assert_cmpint(at(members, 0).total, ==, 75);
    g_assert_cmpint(at(members, 1).total, ==, 75); /* its own is not known: that at most */
    g_autoptr(GArray) leaves = children_of(&tree, &member, false);
    g_assert_cmpuint(leaves->len, ==, 2);
    g_assert_cmpint(at(leaves, 0).kind, ==, FM_NODE_RECURSION); /* the other one meanwhile */
    g_assert_cmpint(at(leaves, 0).total, ==, 30);
    g_assert_cmpint(at(leaves, 1).calls, ==, 16);
    tree.by_parts = true;
    g_autoptr(GArray) parts = children_of(&tree, &recursion, true);
    g_assert_cmpint(at(parts, 0).total, ==, 45);
    g_assert_cmpint(at(parts, 1).total, ==, 30);
    fm_digest_tree_done(&tree);
    made_clear(&made);
}

/* Upwards: function, its recursion, the caller outside. */
static void callers_of_a_function(void)
{
    struct made made = made_program();
    struct fm_digest_tree tree;
    struct fm_digest_node xmalloc;
    fm_digest_tree_init(&tree, made.a, FM_WORDS, true);
    fm_digest_root(&tree, &(struct fm_digest_focus){.ps = made_ps(&made, "xmalloc")}, &xmalloc);
    g_assert_cmpint(xmalloc.total, ==, 9256);
    g_autoptr(GArray) callers = children_of(&tree, &xmalloc, false);
    g_assert_cmpuint(callers->len, ==, 2);
    struct fm_digest_node load = at(callers, 0), term = at(callers, 1);
    g_assert_cmpuint(load.ps, ==, made_ps(&made, "load"));
    g_assert_cmpint(load.total, ==, 9000);
    g_assert_cmpint(load.calls, ==, 90);
    g_assert_cmpint(term.kind, ==, FM_NODE_MEMBER);
    g_assert_cmpuint(term.ps, ==, made_ps(&made, "term"));
    g_assert_cmpint(term.total, ==, 256);
    g_autoptr(GArray) above = children_of(&tree, &term, false);
    struct fm_digest_node recursion = at(above, 0);
    g_assert_cmpint(recursion.kind, ==, FM_NODE_RECURSION);
    g_autoptr(GArray) top = children_of(&tree, &recursion, false);
    struct fm_digest_node parse = at(top, 0);
    g_assert_cmpuint(parse.ps, ==, made_ps(&made, "parse"));
    g_assert_cmpint(parse.total, ==, 256);
    g_autoptr(GArray) entry = children_of(&tree, &parse, false);
    g_assert_cmpuint(at(entry, 0).ps, ==, made_ps(&made, "main"));
    fm_digest_tree_done(&tree);
    made_clear(&made);
}

int main(int argc, char **argv)
{
    made_init(&argc, &argv);
    g_test_add_func("/views/tree/sums", generated_trees_add_up);
    g_test_add_func("/views/tree/focus", each_context_is_in_its_node);
    g_test_add_func("/views/tree/callers-sums", generated_callers_add_up);
    g_test_add_func("/views/tree/threads", threads_and_lines_are_one_node);
    g_test_add_func("/views/tree/recursion", a_recursion_is_one_node);
    g_test_add_func("/views/tree/callers", callers_of_a_function);
    return g_test_run();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The tree that formats are written from: what its costs must add up to, on profiles of any shape.
 */
#include <string.h>

#include "base/error.h"
#include "exchange/exchange.h"
#include "exchange/nodes.h"
#include "made.h"

static struct made generated_profile(unsigned seed)
{
    return made_generated(seed, "--nodes=3000", seed % 2 ? "--c" : "--procs=150", NULL);
}

static void init(struct fm_exchange_nodes *nodes, const struct made *made, double least)
{
    g_autoptr(GError) error = NULL;
    if (!fm_exchange_nodes_init(nodes, made->a, least, &error))
        g_error("%s", error->message);
}

/* own + the children's totals = total; the root's is the sum of all own. */
static void assert_adds_up(const struct fm_exchange_nodes *nodes)
{
    for (unsigned c = 0; c < nodes->column_count; c++) {
        g_autofree int64_t *sums = g_new0(int64_t, nodes->count);
        int64_t all = 0;
        for (uint32_t i = nodes->count; i-- > 0;) {
            sums[i] += fm_exchange_own(nodes, c, i);
            g_assert_cmpint(sums[i], ==, fm_exchange_total(nodes, c, i));
            all += fm_exchange_own(nodes, c, i);
            if (i > 0)
                sums[nodes->nodes[i].parent] += sums[i];
        }
        g_assert_cmpint(all, ==, fm_exchange_total(nodes, c, 0));
    }
}

static void each_context_stands_once(void)
{
    uint32_t recursions = 0;
    for (unsigned seed = 1; seed <= 8; seed++) {
        struct made made = generated_profile(seed);
        struct fm_exchange_nodes nodes;
        init(&nodes, &made, 0);
        g_autofree bool *seen = g_new0(bool, made.profile->pd_count + 1);
        g_assert_cmpuint(nodes.count, ==, made.profile->pd_count);
        for (uint32_t i = 0; i < nodes.count; i++) {
            const struct fm_exchange_node *node = &nodes.nodes[i];
            g_assert_false(seen[node->pd]);
            seen[node->pd] = true;
            g_assert_cmpuint(node->ps, ==, made.profile->pd_ps[node->pd]);
            if (i == 0)
                continue;
            g_assert_cmpuint(node->parent, <, i);
            if (node->css != 0) {
                uint32_t csd = nodes.tree_csd[node->pd];
                g_assert_cmpuint(made.profile->csd_css[csd], ==, node->css);
                g_assert_cmpuint(made.profile->csd_caller[csd], ==, nodes.nodes[node->parent].pd);
            }
        }
        assert_adds_up(&nodes);
        recursions += nodes.recursions;
        fm_exchange_nodes_done(&nodes);
        made_clear(&made);
    }
    g_assert_cmpuint(recursions, >, 20);
}

/* What enters a recursion has all of it: the total that the analysis found by other means. */
static void entries_have_the_total_of_their_recursion(void)
{
    for (unsigned seed = 1; seed <= 8; seed++) {
        struct made made = generated_profile(seed);
        struct fm_exchange_nodes nodes;
        init(&nodes, &made, 0);
        for (uint32_t i = 1; i < nodes.count; i++) {
            uint32_t clique = made.a->pd_clique[nodes.nodes[i].pd];
            if (fm_analysis_clique_entry(made.a, clique) != nodes.nodes[i].pd)
                continue;
            for (unsigned c = 0; c < nodes.column_count; c++) {
                const struct fm_exchange_column *column = &nodes.columns[c];
                if (column->is_calls || column->id < FM_FIRST_INHERITED || column->divide != 1)
                    continue;
                g_assert_cmpint(fm_exchange_total(&nodes, c, i), ==,
                                fm_analysis_clique_total(made.a, clique, column->id) *
                                    (int64_t)column->multiply);
            }
        }
        fm_exchange_nodes_done(&nodes);
        made_clear(&made);
    }
}

/* Back into a recursion, of two calls on one level the one made more often leads. */
static void the_call_made_more_often_leads(void)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "made");
    static const char *const names[] = {"root", "main", "a", "b", "c"};
    uint32_t ps[5], pd[5];
    for (unsigned i = 0; i < 5; i++) {
        ps[i] = fm_build_ps(build, &(struct fm_ps){.name = names[i], .raw_name = names[i]});
        for (unsigned slot = 0; slot < 3; slot++)
            fm_build_css(build, ps[i], &(struct fm_css){.kind = FM_SITE_HIGHER_ORDER});
    }
    for (unsigned i = 0; i < 5; i++)
        pd[i] = fm_build_pd(build, ps[i]);
    /* main -> a -> {b, c} -> a; b -> c 7 times and a -> c 5 times: c stands below a all the same,
     * which is nearer; and b, c -> main, so that all are one recursion. */
    static const unsigned edges[][4] = {{0, 0, 1, 1}, {1, 0, 2, 1}, {1, 1, 2, 9}, {2, 0, 3, 3},
                                        {2, 1, 4, 5}, {3, 0, 4, 7}, {3, 1, 1, 2}, {4, 0, 1, 2}};
    uint32_t csd[G_N_ELEMENTS(edges)];
    for (unsigned i = 0; i < G_N_ELEMENTS(edges); i++) {
        csd[i] = fm_build_csd(build, pd[edges[i][0]], edges[i][1], pd[edges[i][2]]);
        fm_build_add(build, csd[i], FM_EXITS, edges[i][3]);
        fm_build_add(build, csd[i], FM_CALLSEQS, edges[i][3]);
    }
    struct made made = made_built(build);
    struct fm_exchange_nodes nodes;
    init(&nodes, &made, 0);
    g_assert_cmpuint(nodes.recursions, ==, 1);
    g_assert_cmpuint(nodes.largest, ==, 4);
    g_assert_cmpuint(nodes.tree_csd[pd[2]], ==, csd[2]); /* 9 calls, not 1 */
    g_assert_cmpuint(nodes.tree_csd[pd[4]], ==, csd[4]); /* a level above b -> c */
    g_assert_cmpuint(nodes.tree_csd[pd[1]], ==, csd[0]); /* the entry */
    assert_adds_up(&nodes);
    fm_exchange_nodes_done(&nodes);
    made_clear(&made);
}

static void small_contexts_are_joined(void)
{
    for (unsigned seed = 1; seed <= 6; seed++) {
        struct made made = generated_profile(seed);
        struct fm_exchange_nodes whole, less;
        uint32_t joined = 0;
        init(&whole, &made, 0);
        init(&less, &made, 0.02);
        g_assert_cmpuint(less.count, <, whole.count);
        for (uint32_t i = 0; i < less.count; i++)
            joined += less.nodes[i].pd == 0 ? less.nodes[i].joined : 1;
        g_assert_cmpuint(joined, ==, whole.count);
        for (unsigned c = 0; c < whole.column_count; c++)
            g_assert_cmpint(fm_exchange_total(&less, c, 0), ==, fm_exchange_total(&whole, c, 0));
        assert_adds_up(&less);
        for (uint32_t i = 1; i < less.count; i++) {
            bool large = false;
            g_assert_cmpuint(less.nodes[i].parent, <, i);
            g_assert_cmpuint(less.nodes[less.nodes[i].parent].pd, !=, 0);
            for (unsigned c = 0; c < less.column_count; c++)
                large = large || (double)fm_exchange_total(&less, c, i) >=
                                     0.02 * (double)fm_exchange_total(&less, c, 0);
            g_assert_true(large || less.nodes[i].pd == 0);
        }
        fm_exchange_nodes_done(&whole);
        fm_exchange_nodes_done(&less);
        made_clear(&made);
    }
}

static GBytes *exported(const struct made *made, const struct fm_export_format *format)
{
    struct fm_export_options options = {0};
    struct fm_writer *out = fm_writer_new_memory();
    g_autoptr(GPtrArray) notes = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GError) error = NULL;
    if (!fm_export(format, made->a, &options, out, notes, &error)) {
        g_assert_nonnull(strstr(format->summary, "coverage")); /* there is none in these */
        g_assert_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE);
    }
    return fm_writer_finish_memory(out);
}

static void equal_profiles_give_equal_bytes(void)
{
    for (const struct fm_export_format *format = fm_export_formats; format->name; format++) {
        struct made first = generated_profile(5), second = generated_profile(5);
        g_autoptr(GBytes) one = exported(&first, format), other = exported(&second, format);
        g_assert_true(g_bytes_equal(one, other));
        made_clear(&first);
        made_clear(&second);
    }
}

/* Threads and a recursion, written out. */
static void a_small_program_as_folded_stacks(void)
{
    struct made made = made_program();
    g_autoptr(GBytes) bytes = exported(&made, fm_export_format_named("folded"));
    g_autofree char *text = g_strndup(g_bytes_get_data(bytes, NULL), g_bytes_get_size(bytes));
    /* Samples of 10 ms. expr -> term -> expr: both below parse, what expr got from term too. */
    g_assert_cmpstr(text, ==,
                    "main thread;main 10000000\n"
                    "main thread;main;parse 20000000\n"
                    "main thread;main;parse;expr 300000000\n"
                    "main thread;main;parse;expr;term 400000000\n"
                    "main thread;main;parse;expr;term;xmalloc 50000000\n"
                    "main thread;main;load 70000000\n"
                    "main thread;main;load;xmalloc 30000000\n"
                    "main thread;main;parse 40000000\n"
                    "thread 2 (worker);worker;work 100000000\n"
                    "thread 3 (worker);worker;work 300000000\n");
    made_clear(&made);
}

static void a_sum_that_does_not_fit_is_an_error(void)
{
    struct fm_build *build = fm_build_new(FM_FLAVOUR_C, "made");
    uint32_t root = fm_build_ps(build, &(struct fm_ps){.name = "root", .raw_name = "root"});
    uint32_t leaf = fm_build_ps(build, &(struct fm_ps){.name = "leaf", .raw_name = "leaf"});
    fm_build_css(build, root, &(struct fm_css){.kind = FM_SITE_HIGHER_ORDER});
    uint32_t top = fm_build_pd(build, root), below = fm_build_pd(build, leaf);
    uint32_t csd = fm_build_csd(build, top, 0, below);
    fm_build_add(build, csd, FM_EXITS, 1);
    /* Fits as a number of quanta, but not as nanoseconds. */
    fm_build_add(build, csd, FM_QUANTA, UINT64_C(1) << 62);
    struct made made = made_built(build);
    struct fm_exchange_nodes nodes;
    g_autoptr(GError) error = NULL;
    g_assert_false(fm_exchange_nodes_init(&nodes, made.a, 0, &error));
    g_assert_error(error, FM_ERROR, FM_ERROR_LIMIT);
    g_assert_nonnull(strstr(error->message, "cpu"));
    made_clear(&made);
}

int main(int argc, char **argv)
{
    made_init(&argc, &argv);
    g_test_add_func("/exchange/nodes/once", each_context_stands_once);
    g_test_add_func("/exchange/nodes/recursions", entries_have_the_total_of_their_recursion);
    g_test_add_func("/exchange/nodes/leads", the_call_made_more_often_leads);
    g_test_add_func("/exchange/nodes/joined", small_contexts_are_joined);
    g_test_add_func("/exchange/nodes/overflow", a_sum_that_does_not_fit_is_an_error);
    g_test_add_func("/exchange/formats/equal", equal_profiles_give_equal_bytes);
    g_test_add_func("/exchange/formats/folded", a_small_program_as_folded_stacks);
    return g_test_run();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Joining edges of one source site against a plain fixed point over random graphs: small enough
 * that keys meet in the table, and many joins follow from one another. */
#include "record/finish/merge.h"

#define ROUNDS 60
#define PDS_MAX 400
#define CSDS_MAX 1200

struct graph {
    uint32_t pd_count, csd_count;
    uint32_t pd_ps[PDS_MAX];
    struct fm_raw_pd pds[PDS_MAX];
    struct fm_raw_csd csds[CSDS_MAX];
};

static void make_graph(struct graph *graph, GRand *rand)
{
    graph->pd_count = (uint32_t)g_rand_int_range(rand, 2, PDS_MAX);
    graph->csd_count = (uint32_t)g_rand_int_range(rand, 1, CSDS_MAX);
    uint32_t ps_count = (uint32_t)g_rand_int_range(rand, 1, 6);
    uint32_t css_count = (uint32_t)g_rand_int_range(rand, 1, 40);
    for (uint32_t i = 0; i < graph->pd_count; i++) {
        graph->pd_ps[i] = (uint32_t)g_rand_int_range(rand, 0, (gint32)ps_count);
        graph->pds[i] = (struct fm_raw_pd){.fn = 1 + graph->pd_ps[i], .maker = FM_RAW_NONE};
    }
    for (uint32_t i = 0; i < graph->csd_count; i++)
        graph->csds[i] = (struct fm_raw_csd){
            .caller = (uint32_t)g_rand_int_range(rand, 0, (gint32)graph->pd_count),
            .callee = (uint32_t)g_rand_int_range(rand, 0, (gint32)graph->pd_count),
            .css = (uint32_t)g_rand_int_range(rand, 0, (gint32)css_count),
            .calls = 1 + i,
        };
}

/* The least classes such that edges from one class by one site to one procedure lead to one class:
 * per pd the least member of its class. */
static void expect_classes(const struct graph *graph, uint32_t *classes)
{
    for (uint32_t i = 0; i < graph->pd_count; i++)
        classes[i] = i;
    for (bool changed = true; changed;) {
        changed = false;
        g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        for (uint32_t i = 0; i < graph->csd_count; i++) {
            const struct fm_raw_csd *csd = &graph->csds[i];
            char *key = g_strdup_printf("%u %u %u", classes[csd->caller], csd->css,
                                        graph->pd_ps[csd->callee]);
            gpointer found;
            if (!g_hash_table_lookup_extended(seen, key, NULL, &found)) {
                g_hash_table_insert(seen, key, GUINT_TO_POINTER(classes[csd->callee]));
                continue;
            }
            g_free(key);
            uint32_t left = GPOINTER_TO_UINT(found), right = classes[csd->callee];
            if (left == right)
                continue;
            changed = true;
            for (uint32_t k = 0; k < graph->pd_count; k++)
                if (classes[k] == MAX(left, right))
                    classes[k] = MIN(left, right);
            break; /* seen is stale */
        }
    }
}

static void check_graph(struct graph *graph)
{
    static uint32_t expected[PDS_MAX];
    expect_classes(graph, expected);
    struct fm_raw_heap heap = {0};
    struct fm_raw_recording recording = {.pd_count = graph->pd_count,
                                         .csd_count = graph->csd_count,
                                         .pds = graph->pds,
                                         .csds = graph->csds,
                                         .heaps = &heap,
                                         .heap_count = 1};
    uint64_t calls = 0;
    g_autofree uint32_t *classes = fm_merge_edges(&recording, graph->pd_ps, NULL);
    for (uint32_t i = 0; i < graph->pd_count; i++)
        for (uint32_t k = 0; k < i; k++)
            g_assert_cmpint(fm_merge_class(classes, i) == fm_merge_class(classes, k), ==,
                            expected[i] == expected[k]);
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (uint32_t i = 0; i < graph->csd_count; i++) {
        const struct fm_raw_csd *csd = &graph->csds[i];
        if (csd->caller == FM_RAW_NONE)
            continue;
        calls += csd->calls;
        g_assert_true(g_hash_table_add(
            seen, g_strdup_printf("%u %u %u", csd->caller, csd->css, graph->pd_ps[csd->callee])));
    }
    g_assert_cmpuint(calls, ==, (uint64_t)graph->csd_count * (graph->csd_count + 1) / 2);
}

static void random_graphs(void)
{
    static struct graph graph;
    g_autoptr(GRand) rand = g_rand_new_with_seed(1);
    for (unsigned round = 0; round < ROUNDS; round++) {
        make_graph(&graph, rand);
        check_graph(&graph);
    }
}

/* root > f > clone of f > g > f: one context of f, which calls itself and g, which calls it. */
static void clones(void)
{
    enum { ROOT, F, CLONE, G, AGAIN, PDS };
    const uint32_t pd_ps[PDS] = {0, 1, 1, 2, 1};
    struct fm_raw_pd pds[PDS] = {{0, .maker = FM_RAW_NONE},
                                 {.fn = 10, .maker = 0},
                                 {.fn = 20, .maker = 1},
                                 {.fn = 30, .maker = 2},
                                 {.fn = 10, .maker = 3}};
    struct fm_raw_csd csds[PDS - 1];
    for (uint32_t i = 0; i < PDS - 1; i++)
        csds[i] = (struct fm_raw_csd){.caller = i, .callee = i + 1, .css = i, .calls = 1};
    struct fm_raw_heap heap = {0};
    struct fm_raw_recording recording = {.pd_count = PDS,
                                         .csd_count = PDS - 1,
                                         .pds = pds,
                                         .csds = csds,
                                         .heaps = &heap,
                                         .heap_count = 1};
    g_autofree uint32_t *classes = fm_merge_edges(&recording, pd_ps, NULL);
    uint32_t f = fm_merge_class(classes, F);
    g_assert_cmpuint(fm_merge_class(classes, CLONE), ==, f);
    g_assert_cmpuint(fm_merge_class(classes, AGAIN), ==, f);
    g_assert_cmpuint(fm_merge_class(classes, G), !=, f);
    g_assert_cmpuint(csds[1].caller, ==, f);
    g_assert_cmpuint(csds[1].callee, ==, f);
    g_assert_cmpuint(csds[3].callee, ==, f);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/record/merge/random", random_graphs);
    g_test_add_func("/record/merge/clones", clones);
    return g_test_run();
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <glib.h>

#include "base/priority_queue.h"

struct item {
    unsigned key, number;
};

static bool before(const void *first, const void *second)
{
    const struct item *a = first, *b = second;
    return a->key != b->key ? a->key < b->key : a->number < b->number;
}

static struct item *make(GRand *random, size_t count, void ***ret)
{
    struct item *items = g_new(struct item, count);
    *ret = g_new(void *, count);
    for (size_t i = 0; i < count; i++) {
        items[i] = (struct item){g_rand_int(random) % 50, (unsigned)i};
        (*ret)[i] = &items[i];
    }
    return items;
}

/* Takes all out: each exactly once, none before its turn. */
static void take_all(void **queue, size_t count)
{
    const struct item *last = NULL;
    size_t left = count;
    for (size_t taken = 0; taken < count; taken++) {
        const struct item *item = fm_queue_pop(queue, &left, before);
        g_assert_cmpuint(left, ==, count - taken - 1);
        if (last != NULL)
            g_assert_true(before(last, item));
        last = item;
    }
}

static void test_make(void)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(1);
    for (size_t count = 1; count < 200; count++) {
        void **queue;
        struct item *items = make(random, count, &queue);
        fm_queue_make(queue, count, before);
        take_all(queue, count);
        g_free(queue);
        g_free(items);
    }
}

static void test_push(void)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(2);
    for (size_t count = 1; count < 200; count++) {
        void **queue;
        struct item *items = make(random, count, &queue);
        for (size_t i = 0; i < count; i++)
            fm_queue_sift_up(queue, i, before);
        take_all(queue, count);
        g_free(queue);
        g_free(items);
    }
}

/* As a merge does: the first moves back in the order, again and again. */
static void test_first_moves_back(void)
{
    g_autoptr(GRand) random = g_rand_new_with_seed(3);
    enum { COUNT = 37 };
    void **queue;
    struct item *items = make(random, COUNT, &queue);
    fm_queue_make(queue, COUNT, before);
    for (unsigned step = 0; step < 5000; step++) {
        struct item *first = queue[0];
        for (unsigned i = 1; i < COUNT; i++)
            g_assert_true(before(first, queue[i]));
        first->key += g_rand_int(random) % 20;
        fm_queue_sift_down(queue, COUNT, 0, before);
    }
    take_all(queue, COUNT);
    g_free(queue);
    g_free(items);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/priority_queue/an-array-of-any-order-is-given-in-order", test_make);
    g_test_add_func("/priority_queue/what-is-pushed-is-given-in-order", test_push);
    g_test_add_func("/priority_queue/the-first-may-move-back", test_first_moves_back);
    return g_test_run();
}

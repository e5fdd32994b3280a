/* SPDX-License-Identifier: Apache-2.0 */
#include <glib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/worker.h"

#define LONG_US (60 * G_USEC_PER_SEC)

struct counting {
    int count, end;
};

static bool count(void *user)
{
    struct counting *counting = user;
    return ++counting->count < counting->end;
}

static void test_done(void)
{
    struct counting counting = {.end = 1000};
    struct fm_worker *worker = fm_worker_new(count, &counting);
    g_assert_true(fm_worker_wait(worker, LONG_US));
    g_assert_cmpint(counting.count, ==, 1000);
    g_assert_true(fm_worker_wait(worker, 0));
    fm_worker_free(worker);
    fm_worker_free(NULL);
}

static void test_given_up(void)
{
    struct counting counting = {.end = G_MAXINT};
    struct fm_worker *worker = fm_worker_new(count, &counting);
    g_assert_false(fm_worker_wait(worker, 0));
    fm_worker_free(worker);
    int counted = counting.count;
    g_assert_cmpint(counted, <, G_MAXINT);
    g_usleep(1000);
    g_assert_cmpint(counting.count, ==, counted);
}

struct pair {
    uint64_t left, right;
    bool may_end;
};

/* Between steps both are equal, whoever looks. */
static bool add_to_both(void *user)
{
    struct pair *pair = user;
    pair->left++;
    for (volatile int i = 0; i < 1000; i++)
        continue;
    pair->right++;
    return !__atomic_load_n(&pair->may_end, __ATOMIC_RELAXED);
}

/* The child has what whole steps have left, and does the rest while it waits. */
static void test_fork(void)
{
    for (int i = 0; i < 20; i++) {
        struct pair pair = {0};
        struct fm_worker *worker = fm_worker_new(add_to_both, &pair);
        g_assert_false(fm_worker_wait(worker, 100));
        pid_t child = fork();
        if (child == 0) {
            uint64_t before = pair.left;
            bool same = pair.left == pair.right;
            __atomic_store_n(&pair.may_end, true, __ATOMIC_RELAXED);
            bool done = fm_worker_wait(worker, LONG_US);
            fm_worker_free(worker);
            _exit(same && done && pair.left == before + 1 && pair.right == pair.left ? 0 : 1);
        }
        g_assert_cmpint(child, >, 0);
        int status;
        g_assert_cmpint(waitpid(child, &status, 0), ==, child);
        g_assert_cmpint(status, ==, 0);
        __atomic_store_n(&pair.may_end, true, __ATOMIC_RELAXED);
        g_assert_true(fm_worker_wait(worker, LONG_US));
        g_assert_cmpuint(pair.left, ==, pair.right);
        fm_worker_free(worker);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/worker/done", test_done);
    g_test_add_func("/worker/given-up", test_given_up);
    g_test_add_func("/worker/fork", test_fork);
    return g_test_run();
}

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

struct queue {
    int given, taken; /* atomic */
};

static bool take_one(void *user)
{
    struct queue *queue = user;
    if (__atomic_load_n(&queue->taken, __ATOMIC_ACQUIRE) ==
        __atomic_load_n(&queue->given, __ATOMIC_ACQUIRE))
        return false;
    __atomic_add_fetch(&queue->taken, 1, __ATOMIC_ACQ_REL);
    return true;
}

/* Whenever it is told so, and however little before it found nothing: all is taken. */
static void test_again(void)
{
    struct queue queue = {0};
    struct fm_worker *worker = fm_worker_new(take_one, &queue);
    for (int i = 1; i <= 20000; i++) {
        __atomic_store_n(&queue.given, i, __ATOMIC_RELEASE);
        fm_worker_again(worker);
        if (i % 16 == 0) {
            g_assert_true(fm_worker_wait(worker, LONG_US));
            g_assert_cmpint(__atomic_load_n(&queue.taken, __ATOMIC_ACQUIRE), ==, i);
        }
    }
    pid_t child = fork();
    if (child == 0) {
        queue.given += 5;
        fm_worker_again(worker);
        bool done = fm_worker_wait(worker, LONG_US);
        fm_worker_free(worker);
        _exit(done && queue.taken == queue.given ? 0 : 1);
    }
    int status;
    g_assert_cmpint(waitpid(child, &status, 0), ==, child);
    g_assert_cmpint(status, ==, 0);
    fm_worker_free(worker);
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
    g_test_add_func("/worker/again", test_again);
    g_test_add_func("/worker/fork", test_fork);
    return g_test_run();
}

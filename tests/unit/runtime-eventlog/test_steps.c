/* SPDX-License-Identifier: Apache-2.0 */
/* A program that is killed at each single step of its processor while handlers log. */
#include "check.h"

#include <fathom/eventlog.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
    _Atomic uint32_t logged, handled; /* the program came that far */
} * shared;
static bool thorough;

enum { ALL_STEPS = INT_MAX - 1, UNTIL_THE_TURN = INT_MAX };

/* Whether the front of a lane's queue is used again: its slot is the first of kind 1. */
static bool has_turned(int live)
{
    uint64_t at = 4096, head[2], state = 0;
    while (pread(live, head, sizeof(head), (off_t)at) == (ssize_t)sizeof(head) && head[0] != 0) {
        if ((uint32_t)head[1] == 1 && pread(live, &state, 8, (off_t)at + 512) == 8)
            return state >> 40 != 0;
        at += head[0];
    }
    return false;
}

/* One step of the processor at a time, up to n of them, or until the flag is set; returns how many.
 */
static unsigned step(pid_t pid, unsigned n, const _Atomic uint32_t *until, int live)
{
    unsigned done = 0;
    int status;
    for (; done < n && !atomic_load(until); done++) {
        if (n == UNTIL_THE_TURN && has_turned(live))
            break;
        g_assert_cmpint(ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL), ==, 0);
        g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
        g_assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP);
    }
    return done;
}

static void log_and_be_killed(int number)
{
    (void)number;
    fm_eventlog_lock_acquire(shared);
    atomic_store(&shared->handled, 1);
    kill(getpid(), SIGKILL);
}

/* Inside of the library, as a handler that interrupted it is: five events, behind which the program
 * lets itself be traced. What is stepped through: one more, or the way of the five out of the
 * queue.
 */
static void log_as_a_handler(const char *path, bool hand_over)
{
    begin_log(path, 65536);
    FM_INSTANT("this thread has its lane");
    signal(SIGUSR1, log_and_be_killed);
    fm_eventlog_head_.busy = 1;
    for (int i = 0; i < 5; i++)
        fm_eventlog_lock_release(shared);
    if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
        _exit(98);
    raise(SIGSTOP);
    if (hand_over) {
        fm_eventlog_head_.busy = 0;
        fm_eventlog_flush(0);
    } else {
        fm_eventlog_lock_wait(shared);
    }
    atomic_store(&shared->logged, 1);
    kill(getpid(), SIGKILL);
}

/* A handler that logs is interrupted, at each step of the processor, by one that logs and is
 * killed: but for the event in whose middle that was, every one is found. Returns the number of
 * steps. */
static unsigned killed_behind_steps(unsigned steps, bool hand_over)
{
    g_autofree char *path = temp_path("steps.eventlog"), *err = NULL;
    int status;
    shared->logged = shared->handled = 0;
    pid_t pid = fork();
    if (pid == 0)
        log_as_a_handler(path, hand_over);
    g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 98) {
        remove_log(path);
        return 0;
    }
    g_assert_true(WIFSTOPPED(status));
    g_autofree char *beside = g_strconcat(path, ".live", NULL);
    int live = open(beside, O_RDONLY | O_CLOEXEC);
    unsigned done = step(pid, steps, &shared->logged, live);
    if (steps == UNTIL_THE_TURN) { /* in the middle of handing the events over, not at its end */
        g_assert_true(has_turned(live));
        g_assert_cmpuint(atomic_load(&shared->logged), ==, 0);
    }
    close(live);
    g_assert_cmpint(ptrace(PTRACE_CONT, pid, NULL, GINT_TO_POINTER(SIGUSR1)), ==, 0);
    finish(pid);
    g_assert_cmpuint(atomic_load(&shared->handled), ==, 1);
    recover(path, &err);
    g_assert_cmpstr(err, ==, "");
    validate_file(path);
    struct check *c = check_file(path);
    g_assert_cmpuint(c->counts[FM_EVENT_LOCK_RELEASE], ==, 5);
    g_assert_cmpuint(c->counts[FM_EVENT_LOCK_ACQUIRE], ==, 1);
    g_assert_cmpuint(c->counts[FM_EVENT_LOCK_WAIT], <=, 1);
    if (atomic_load(&shared->logged) && !hand_over)
        g_assert_cmpuint(c->counts[FM_EVENT_LOCK_WAIT], ==, 1);
    g_assert_cmpuint(c->counts[FM_EVENT_THREAD_CREATE] + c->replayed[FM_EVENT_THREAD_CREATE], ==,
                     1);
    g_assert_cmpuint(c->late_ns_max, ==, 0);
    check_free(c);
    remove_log(path);
    return done;
}

static void killed_inside_of_a_handler_that_logs(void)
{
#if defined(__SANITIZE_THREAD__)
    g_test_skip("ThreadSanitizer holds signals back, so a step has no handler");
    return;
#endif
    for (int hand_over = 0; hand_over < 2; hand_over++) {
        unsigned all = killed_behind_steps(ALL_STEPS, hand_over), n = thorough ? all : 30;
        if (all == 0) {
            g_test_skip("processes may not be traced here");
            return;
        }
        g_assert_cmpuint(all, >, 20);
        for (unsigned steps = 0; steps < all; steps += (all + n - 1) / n)
            killed_behind_steps(steps, hand_over);
        if (hand_over)
            killed_behind_steps(UNTIL_THE_TURN, true);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    thorough = argc > 1;
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    g_test_add_func("/eventlog/steps/killed_inside_of_a_handler_that_logs",
                    killed_inside_of_a_handler_that_logs);
    return g_test_run();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Which processes still run: also one whose first thread has ended. */
#include <glib.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/raw/recording.h"
#include "tests/patience.h"

static char state_of(pid_t pid)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/stat", (int)pid);
    g_autofree char *text = NULL;
    if (!g_file_get_contents(path, &text, NULL, NULL))
        return 0;
    return strrchr(text, ')')[2];
}

static void *wait_for_the_end(void *unused)
{
    for (;;)
        pause();
    return unused;
}

static void test_first_thread_ended(void)
{
    pid_t child = fork();
    g_assert_cmpint(child, >=, 0);
    if (child == 0) {
        pthread_t thread;
        alarm((unsigned)patience()); /* if nobody is there to kill it */
        if (pthread_create(&thread, NULL, wait_for_the_end, NULL) != 0)
            _exit(1);
        pthread_exit(NULL);
    }
    check_until(state_of(child) == 'Z');
    g_assert_cmpuint(fm_raw_process_start(child), !=, 0);
    g_assert_cmpint(kill(child, SIGKILL), ==, 0);
    siginfo_t info;
    g_assert_cmpint(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), ==, 0);
    g_assert_cmpint(state_of(child), ==, 'Z');
    g_assert_cmpuint(fm_raw_process_start(child), ==, 0); /* nobody has asked for its status */
    g_assert_cmpint(waitpid(child, NULL, 0), ==, child);
    g_assert_cmpuint(fm_raw_process_start(child), ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/record/process-start/first-thread-ended", test_first_thread_ended);
    return g_test_run();
}

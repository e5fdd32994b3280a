/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/record/starting/running.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/record/starting/attaching.h"
#include "exchange/hint/hint.h"

/* Exit statuses of the shell for programs that could not be run. */
enum { CANNOT_RUN = 126, NOT_FOUND = 127 };

static volatile sig_atomic_t child_pid;
static volatile sig_atomic_t asked_to_end; /* when there was no program any more */

/* The terminal sends its signals to the program too; those sent to us alone are for the program. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    (void)context;
    int saved = errno, passed_on = info->si_code <= 0 ? number : 0; /* 0 only asks: is it there? */
    pid_t pid = (pid_t)child_pid;
    /* Until it is waited for, kill() finds a program that has ended. */
    siginfo_t ended = {.si_pid = 0};
    bool is_gone = pid <= 0 || waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOHANG | WNOWAIT) != 0 ||
                   ended.si_pid == pid || kill(pid, passed_on) != 0;
    if (is_gone && (number <= SIGQUIT || number == SIGTERM))
        asked_to_end = true;
    errno = saved;
}

/* Nobody can wait for a child if SIGCHLD is ignored. */
static const int passed[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCONT, SIGCHLD};

static void catch_signals(struct sigaction *ret_old)
{
    struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    for (size_t i = 0; i < G_N_ELEMENTS(passed); i++)
        sigaction(passed[i], &action, &ret_old[i]);
}

static void restore_signals(const struct sigaction *old)
{
    for (size_t i = 0; i < G_N_ELEMENTS(passed); i++)
        sigaction(passed[i], &old[i], NULL);
}

#define LOOK_MS 100

/* Waits as long as that, or until the process has ended. */
static void wait_a_moment(pid_t pid)
{
    int file = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd ended = {.fd = file, .events = POLLIN};
    poll(&ended, file >= 0 ? 1 : 0, LOOK_MS);
    if (file >= 0)
        close(file);
}

/* Whoever starts it has had all that is recorded; what we start (a browser) is not of the run. */
static int wait_for(pid_t pid, const struct fm_running *with)
{
    struct fm_live_run *live = with->live;
    struct fm_rotating *rotating = with->rotating;
    int status = -1;
    if (live != NULL) {
        g_unsetenv("FATHOM_OUTPUT");
        if (fm_live_run_watch(live, pid, &status))
            return status;
    }
    pid_t waited;
    while ((waited = waitpid(pid, &status, rotating != NULL ? WNOHANG : 0)) == 0 ||
           (waited < 0 && errno == EINTR)) {
        if (rotating == NULL)
            continue;
        wait_a_moment(pid);
        fm_rotating_look(rotating);
    }
    return status;
}

int fm_running_run(char **argv, char **environment, struct fm_running *with, int *ret_exit)
{
    struct sigaction old[G_N_ELEMENTS(passed)];
    static const struct fm_running nothing;
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0) {
        *ret_exit = FM_EXIT_FAILED;
        fprintf(stderr, "fathom record: %s\n", g_strerror(errno));
        return -1;
    }
    /* One that comes before the program's number is known waits. */
    sigset_t all, mask;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &mask);
    catch_signals(old);
    pid_t pid = fork();
    if (pid == 0) {
        restore_signals(old);
        sigprocmask(SIG_SETMASK, &mask, NULL);
        environ = environment;
        execvp(argv[0], argv);
        int failure = errno;
        ssize_t written = write(report[1], &failure, sizeof failure);
        _exit(written == (ssize_t)sizeof failure ? CANNOT_RUN : NOT_FOUND);
    }
    child_pid = with->pid = pid;
    sigprocmask(SIG_SETMASK, &mask, NULL);
    close(report[1]);
    int failure = pid < 0 ? errno : 0, status = -1;
    if (pid > 0 && read(report[0], &failure, sizeof failure) != (ssize_t)sizeof failure)
        failure = 0;
    close(report[0]);
    if (pid > 0 && failure == 0) {
        fm_looks_begin(with->looks);
        if (with->attached != NULL)
            fm_attaching_sample(with->attached, pid);
    }
    if (pid > 0)
        status = wait_for(pid, failure == 0 ? with : &nothing);
    child_pid = 0;
    restore_signals(old);
    if (with->live != NULL && asked_to_end)
        fm_live_run_quit(with->live);
    if (failure != 0) {
        fm_hint_cannot_run("record", argv[0], failure);
        *ret_exit = failure == ENOENT ? NOT_FOUND : CANNOT_RUN;
        return -1;
    }
    return status;
}

int fm_running_end_like(int wait_status)
{
    g_assert(WIFEXITED(wait_status) || WIFSIGNALED(wait_status));
    if (WIFEXITED(wait_status))
        return WEXITSTATUS(wait_status);
    int number = WTERMSIG(wait_status);
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    signal(number, SIG_DFL);
    fflush(NULL);
    raise(number);
    return 128 + number;
}

/* A service that fails sooner is one that does not come up: a supervisor starts it again and again,
 * and its profiles would take the place of those of the last run that worked. */
#define COMES_UP_US (INT64_C(60) * G_USEC_PER_SEC)

char *fm_running_early_failure(int wait_status, gint64 lived_us)
{
    double seconds = (double)lived_us / G_USEC_PER_SEC;
    if (wait_status == -1 || lived_us >= COMES_UP_US)
        return NULL;
    if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) != 0)
        return g_strdup_printf("ended with status %d after %.1f s", WEXITSTATUS(wait_status),
                               seconds);
    if (!WIFSIGNALED(wait_status))
        return NULL;
    int number = WTERMSIG(wait_status);
    for (size_t i = 0; i < G_N_ELEMENTS(passed); i++) {
        if (passed[i] == number)
            return NULL;
    }
    return g_strdup_printf("ended by signal %d (%s) after %.1f s", number, strsignal(number),
                           seconds);
}

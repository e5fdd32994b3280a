/* SPDX-License-Identifier: Apache-2.0 */
/* Threads do over and over what the runtime has locks for, while the main thread forks; each child
 * does the same once and ends. A lock that a thread held at the fork must not be held in the child.
 *
 * forks LIBRARY FORKS SECONDS: a child that lives longer is killed, as it has blocked signals. */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "fathom/fathom.h"

#define OWN_OF_LIBC 33 /* SIGSETXID */
#define STACK_BYTES (64 << 10)

static volatile int done;
static const char *library;
static _Thread_local char stack[STACK_BYTES];
static _Thread_local ucontext_t here, there;

__attribute__((noinline)) static void nothing(void)
{
    __asm__ volatile("");
}

/* Past sigaction(), which refuses this signal. */
static void look_at_action(void)
{
    char action[64];
    syscall(SYS_rt_sigaction, OWN_OF_LIBC, NULL, action, 8);
}

static void run_coroutine(void)
{
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof stack;
    there.uc_link = &here;
    makecontext(&there, nothing, 0);
    swapcontext(&here, &there);
}

static void *called(void *unused)
{
    nothing();
    return unused;
}

static void run_thread(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, called, NULL) == 0)
        pthread_join(thread, NULL);
}

static void pause_recording(void)
{
    fathom_stop();
    fathom_start();
}

static void load(void)
{
    void *handle = dlopen(library, RTLD_NOW);
    int (*run)(int (*)(int), int);
    void *symbol = handle != NULL ? dlsym(handle, "plugin_run") : NULL;
    memcpy(&run, &symbol, sizeof symbol);
    if (run != NULL)
        run(abs, 1);
    if (handle != NULL)
        dlclose(handle);
}

#define REPEATS(name)                       \
    static void *name##_again(void *unused) \
    {                                       \
        while (!done)                       \
            name();                         \
        return unused;                      \
    }
REPEATS(look_at_action)
REPEATS(run_coroutine)
REPEATS(run_thread)
REPEATS(pause_recording)
REPEATS(load)

/* Calls of libc's that a child of a program of several threads may make. */
__attribute__((noinline)) static void in_child(void)
{
    look_at_action();
    run_coroutine();
    pause_recording();
    nothing();
}

static volatile pid_t child;

static void end_child(int signal)
{
    (void)signal;
    kill(child, SIGKILL);
}

int main(int argc, char **argv)
{
    void *(*const loops[])(void *) = {look_at_action_again, run_coroutine_again, run_thread_again,
                                      pause_recording_again, load_again};
    enum { LOOPS = sizeof loops / sizeof loops[0] };
    pthread_t threads[LOOPS];
    if (argc < 4 || signal(SIGALRM, end_child) == SIG_ERR)
        return 2;
    library = argv[1];
    for (int i = 0; i < LOOPS; i++)
        if (pthread_create(&threads[i], NULL, loops[i], NULL) != 0)
            return 2;
    int ended = 0, hung = 0, other = 0;
    for (int i = 0; i < atoi(argv[2]) && hung == 0; i++) {
        child = fork();
        if (child == 0) {
            fathom_start();
            in_child();
            _exit(0);
        }
        int status = -1;
        alarm((unsigned)atoi(argv[3]));
        while (waitpid(child, &status, 0) < 0)
            ;
        alarm(0);
        ended += status == 0;
        hung += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        other += status != 0 && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    }
    done = 1;
    for (int i = 0; i < LOOPS; i++)
        pthread_join(threads[i], NULL);
    printf("ended %d, hung %d, other %d\n", ended, hung, other);
    return 0;
}

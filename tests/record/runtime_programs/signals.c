/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers on the stack of the thread and on one of their own, nested, and left by siglongjmp. */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
static volatile int seen;
static sigjmp_buf escape;
static int step(int x)
{
    return x * 2 + 1;
}
static void on_second(int s)
{
    seen += step(s);
}
static void on_first(int s)
{
    seen += step(s);
    if (seen % 3 == 0)
        raise(SIGUSR2);
    seen += step(seen);
}
static void on_escape(int s)
{
    (void)s;
    step(1);
    siglongjmp(escape, 1);
}
static void provoke(int depth)
{
    if (depth > 0)
        provoke(depth - 1);
    else
        raise(SIGALRM);
    seen++;
}
int main(void)
{
    static char stack[65536] __attribute__((aligned(65536)));
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = on_first};
    sigaltstack(&alternate, NULL);
    sigaction(SIGUSR1, &action, NULL);
    action.sa_handler = on_second;
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR2, &action, NULL);
    action.sa_handler = on_escape;
    sigaction(SIGALRM, &action, NULL);
    for (int i = 0; i < 30; i++) {
        raise(i % 2 == 0 ? SIGUSR1 : SIGUSR2);
        seen += step(i);
    }
    for (volatile int i = 0; i < 5; i++)
        if (sigsetjmp(escape, 1) == 0)
            provoke(i);
    printf("%d\n", seen);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Signal handlers: on the stack of the thread and on one of their own, nested, behind functions
 * that have returned, in callbacks, and left by siglongjmp. */
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

#include "counted.h"

static volatile int sum;
static sigjmp_buf escape;

static ALONE int step(int x)
{
    COUNT;
    return x <= 0 ? 1 : step(x - 1) ^ x;
}

static ALONE void on_second(int number)
{
    COUNT;
    sum += step(2) + number;
}

static ALONE void on_first(int number)
{
    COUNT;
    sum += step(3);
    raise(SIGUSR2);
    sum += step(number % 3);
}

static ALONE void on_escape(int number)
{
    COUNT;
    sum += step(number % 2);
    siglongjmp(escape, 1);
}

/* The handler runs below what has returned, but is called from here. */
static ALONE void fire(int number)
{
    COUNT;
    sum += step(number % 5);
    raise(number);
}

static ALONE int compare(const void *a, const void *b)
{
    COUNT;
    if (*(const int *)a % 3 == 0)
        raise(SIGUSR1);
    return *(const int *)a - *(const int *)b;
}

static ALONE void provoke(int depth)
{
    COUNT;
    if (depth > 0)
        provoke(depth - 1);
    else
        raise(depth + SIGALRM);
    sum++;
}

static ALONE void attempt(int depth)
{
    COUNT;
    if (sigsetjmp(escape, 1) == 0)
        provoke(depth);
    sum += step(depth);
}

static void handle(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigaction(number, &action, NULL);
}

int main(void)
{
    static char stack[65536] __attribute__((aligned(65536)));
    stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    int values[12];
    COUNT;
    sigaltstack(&alternate, NULL);
    handle(SIGUSR1, on_first, 0);
    handle(SIGUSR2, on_second, SA_ONSTACK);
    for (int i = 0; i < 10; i++) {
        fire(SIGUSR1);
        fire(SIGUSR2);
        raise(i % 2 == 0 ? SIGUSR1 : SIGUSR2);
    }
    for (int i = 0; i < 12; i++)
        values[i] = i * 7 % 12;
    qsort(values, 12, sizeof values[0], compare);
    handle(SIGALRM, on_escape, 0);
    for (int i = 0; i < 6; i++)
        attempt(i);
    printf("%d\n", sum);
    print_counts();
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Handlers that run on the same stack and on another, and that raise further signals. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

static volatile int hits, deep;

static int work(int n)
{
    return n <= 0 ? 0 : 1 + work(n - 1);
}

static void on_second(int number)
{
    (void)number;
    deep += work(2);
}

static void on_first(int number)
{
    (void)number;
    hits++;
    work(3);
    raise(SIGUSR2);
}

static void fire(int count)
{
    for (int i = 0; i < count; i++)
        raise(SIGUSR1);
}

int main(void)
{
    stack_t stack = { .ss_sp = malloc(1 << 16), .ss_size = 1 << 16 };
    struct sigaction first = { .sa_handler = on_first };
    struct sigaction second = { .sa_handler = on_second, .sa_flags = SA_ONSTACK };
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &first, NULL);
    sigaction(SIGUSR2, &second, NULL);
    fire(7);
    work(5);
    printf("%d %d\n", hits, deep);
    stack.ss_flags = SS_DISABLE;
    sigaltstack(&stack, NULL);
    free(stack.ss_sp);
    return 0;
}

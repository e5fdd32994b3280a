/* SPDX-License-Identifier: Apache-2.0 */
/* Two coroutines on stacks of their own that pass values to and fro. */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

static ucontext_t home, other[2];
static int current, value, finished;

static void yield(int next)
{
    int self = current;
    value = next;
    swapcontext(&other[self], &home);
}

static int depth(int n)
{
    return n <= 0 ? 0 : 1 + depth(n - 1);
}

static void produce(void)
{
    for (int i = 0; i < 6; i++)
        yield(depth(i));
    finished++;
}

static void resume(int which)
{
    current = which;
    swapcontext(&home, &other[which]);
}

int main(void)
{
    int sum = 0;
    char *stacks[2];
    for (int i = 0; i < 2; i++) {
        stacks[i] = malloc(1 << 16);
        getcontext(&other[i]);
        other[i].uc_stack.ss_sp = stacks[i];
        other[i].uc_stack.ss_size = 1 << 16;
        other[i].uc_link = &home;
        makecontext(&other[i], produce, 0);
    }
    for (int i = 0; finished < 2; i++) {
        resume(i % 2);
        sum += value;
    }
    printf("%d\n", sum);
    free(stacks[0]);
    free(stacks[1]);
    return 0;
}

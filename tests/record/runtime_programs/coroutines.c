/* SPDX-License-Identifier: Apache-2.0 */
/* Two coroutines and the main stack pass control around from different depths; one ends early. */
#include <stdio.h>
#include <ucontext.h>
static ucontext_t context[3];
static char stacks[2][65536] __attribute__((aligned(65536)));
static int total;
static int work(int n)
{
    return n < 2 ? 1 : work(n - 1) + work(n - 2);
}
static void pass(int from, int to, int depth)
{
    if (depth > 0) {
        pass(from, to, depth - 1);
        total += work(depth);
        return;
    }
    swapcontext(&context[from], &context[to]);
}
static void first(void)
{
    for (int i = 0; i < 6; i++) {
        total += work(i);
        pass(1, 2, i % 3);
    }
}
static void second(void)
{
    for (int i = 0; i < 20; i++) {
        total += work(3);
        pass(2, 0, i % 4);
    }
}
int main(void)
{
    for (int i = 1; i < 3; i++) {
        getcontext(&context[i]);
        context[i].uc_stack.ss_sp = stacks[i - 1];
        context[i].uc_stack.ss_size = sizeof stacks[0];
        context[i].uc_link = &context[0];
        makecontext(&context[i], i == 1 ? first : second, 0);
    }
    for (int i = 0; i < 6; i++)
        pass(0, 1, i % 2);
    printf("%d\n", total);
    return 0;
}

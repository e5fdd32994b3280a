/* SPDX-License-Identifier: Apache-2.0 */
/* Coroutines by swapcontext: made and resumed from different functions, behind functions that have
 * returned, nested, ended and made anew on the same stack. */
#include <stdlib.h>
#include <ucontext.h>

#include "counted.h"

#define STACKS 4

static char stacks[STACKS][65536] __attribute__((aligned(65536)));
static ucontext_t self[STACKS], resumer[STACKS];
static int value[STACKS], done[STACKS];

static ALONE int depth(int n)
{
    COUNT;
    return n <= 0 ? 1 : depth(n - 1) ^ n;
}

static ALONE void yield(int me, int next)
{
    COUNT;
    value[me] = next;
    swapcontext(&self[me], &resumer[me]);
}

static ALONE int resume(int which)
{
    COUNT;
    swapcontext(&resumer[which], &self[which]);
    return value[which];
}

static ALONE void numbers(int me)
{
    COUNT;
    for (int i = 0; i < 5; i++)
        yield(me, depth(i));
    done[me] = 1;
}

static ALONE void make(int which, void (*function)(int))
{
    COUNT;
    done[which] = 0;
    getcontext(&self[which]);
    self[which].uc_stack.ss_sp = stacks[which];
    self[which].uc_stack.ss_size = sizeof stacks[which];
    self[which].uc_link = &resumer[which];
    makecontext(&self[which], (void (*)(void))function, 1, which);
}

/* Resumes another one between its own values. */
static ALONE void pairs(int me)
{
    COUNT;
    make(me + 1, numbers);
    while (!done[me + 1]) {
        int first = resume(me + 1);
        yield(me, first + depth(2));
    }
    done[me] = 1;
}

static ALONE int drain(int which)
{
    COUNT;
    int sum = 0;
    while (!done[which])
        sum += resume(which);
    return sum;
}

int main(void)
{
    int sum = 0;
    COUNT;
    for (int round = 0; round < 4; round++) {
        make(0, numbers);
        make(1, pairs);
        sum += depth(round); /* returns, before the next one is entered */
        swapcontext(&resumer[0], &self[0]);
        sum += value[0] + resume(1);
        sum += drain(round % 2) + drain(1 - round % 2);
    }
    printf("%d\n", sum);
    print_counts();
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Threads at work at the same time: recursion, callbacks, longjmp, a stack of their own for
 * signals; ended by return and by pthread_exit. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "counted.h"

#define THREADS 6

static ALONE int leaf(int n)
{
    COUNT;
    return n ^ 3;
}

static ALONE int forked(int n)
{
    COUNT;
    return n < 2 ? leaf(n) & 1 : forked(n - 1) ^ forked(n - 2);
}

static ALONE int compare(const void *a, const void *b)
{
    COUNT;
    return *(const int *)a - *(const int *)b;
}

static ALONE int sorted(int seed)
{
    COUNT;
    int values[40];
    for (int i = 0; i < 40; i++)
        values[i] = (i * 17 + seed) % 40;
    qsort(values, 40, sizeof values[0], compare);
    return values[0] + leaf(seed);
}

static ALONE void escape(jmp_buf *to, int depth)
{
    COUNT;
    if (depth == 0)
        longjmp(*to, 1);
    escape(to, depth - 1);
    leaf(depth);
}

static ALONE int attempt(int depth)
{
    COUNT;
    jmp_buf here;
    if (setjmp(here) == 0)
        escape(&here, depth);
    return leaf(depth);
}

static _Thread_local volatile int hits;

static ALONE void handler(int number)
{
    COUNT;
    hits += leaf(number) != 0;
}

static ALONE void *worker(void *argument)
{
    COUNT;
    int number = (int)(intptr_t)argument, sum = 0;
    for (int i = 0; i < 200; i++) {
        sum += forked(i % 10) + sorted(i) + attempt(i % 7);
        if (i % 20 == 0)
            raise(SIGUSR1);
    }
    if (number % 2 == 0)
        pthread_exit((void *)(intptr_t)(sum + hits));
    return (void *)(intptr_t)(sum + hits);
}

int main(void)
{
    COUNT;
    pthread_t threads[THREADS];
    struct sigaction action = {.sa_handler = handler};
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, worker, (void *)(intptr_t)i);
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        printf("%d\n", (int)(intptr_t)result);
    }
    print_counts();
    return 0;
}

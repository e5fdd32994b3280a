/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that return, that end by pthread_exit, and that are made by threads. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static void finish(long value)
{
    pthread_exit((void *)value);
}

static void *leaver(void *argument)
{
    finish(fib((int)(long)argument));
    return NULL;
}

static void *returner(void *argument)
{
    pthread_t below;
    void *value;
    long n = (long)argument;
    pthread_create(&below, NULL, leaver, (void *)(n - 2));
    pthread_join(below, &value);
    return (void *)((long)value + fib((int)n));
}

int main(void)
{
    pthread_t threads[4];
    long sum = 0;
    for (long i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, returner, (void *)(10 + i));
    for (int i = 0; i < 4; i++) {
        void *value;
        pthread_join(threads[i], &value);
        sum += (long)value;
    }
    printf("%ld %d\n", sum, fib(5));
    return 0;
}

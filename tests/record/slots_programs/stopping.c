/* SPDX-License-Identifier: Apache-2.0 */
/* Stops and starts its recording: in functions that were entered before, or meanwhile; calls within
 * the file, through pointers, from qsort, recursive ones, jumps, a handler, threads, a fork. */
#include <fathom/fathom.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

extern int other(int);
static volatile int sum;
static void *kept[64];
static int kept_count;

static APART int leaf(int x)
{
    return x ^ 5;
}

static APART int inner(int x)
{
    sum += other(x) + leaf(x);
    return x + 1;
}

static APART void keep(void)
{
    kept[kept_count++ % 64] = malloc(1000);
}

static APART int one(int x)
{
    return inner(x);
}
static APART int two(int x)
{
    return leaf(x);
}
static APART int three(int x)
{
    return inner(x) + leaf(x);
}
static APART int four(int x)
{
    return other(x);
}
static APART int five(int x)
{
    return leaf(inner(x));
}
static int (*const table[])(int) = {one, two, three, four, five};

static APART int recursive(int n)
{
    return n > 0 ? recursive(n - 1) + leaf(n) : inner(n);
}

static APART int compare(const void *a, const void *b)
{
    return leaf(*(const int *)a % 17) - leaf(*(const int *)b % 17);
}

static APART int compare_leaf(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static APART void sort(int count)
{
    int values[64];
    for (int i = 0; i < count; i++)
        values[i] = i * 7919 % 64;
    qsort(values, (size_t)count, sizeof *values, compare);
    qsort(values, (size_t)count, sizeof *values, compare_leaf);
}

static jmp_buf back;
static APART void jump(int n)
{
    if (n == 0)
        longjmp(back, 1);
    jump(n - 1);
    sum++;
}

/* Each kind of call; how many of each are counted follows from how often it is called. */
static APART void all_kinds(void)
{
    inner(1);
    for (int i = 0; i < 10; i++)
        sum += table[i % 5](i);
    sum += recursive(4);
    sort(16);
    if (setjmp(back) == 0)
        jump(3);
    raise(SIGUSR1);
    keep();
}

static APART void handler(int signal)
{
    sum += leaf(signal);
}

static APART void begins_stopped(void)
{
    all_kinds();
    fathom_start(); /* this function and its callers' calls are not counted, what it calls now is */
    inner(2);
    for (int i = 0; i < 10; i++)
        sum += table[i % 5](i);
    all_kinds();
    keep();
}

static APART void stops_within(int deep)
{
    if (deep > 0) {
        stops_within(deep - 1);
        inner(deep);
        return;
    }
    fathom_stop();
    all_kinds();
}

/* Turns it off and on while a sort runs. */
static APART int switching(const void *a, const void *b)
{
    static int calls;
    if (calls++ % 2 == 0)
        fathom_stop();
    inner(calls);
    if (calls % 2 == 0)
        fathom_start();
    return *(const int *)a - *(const int *)b;
}

static pthread_barrier_t barrier;
static APART void *work(void *data)
{
    all_kinds();
    pthread_barrier_wait(&barrier); /* it is stopped */
    pthread_barrier_wait(&barrier);
    inner(1);
    pthread_barrier_wait(&barrier); /* it goes on */
    pthread_barrier_wait(&barrier);
    inner(2);
    for (int i = 0; i < 10; i++)
        two(i);
    return data;
}

static APART void threads(void)
{
    pthread_t thread, late;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, work, NULL);
    pthread_barrier_wait(&barrier);
    fathom_stop();
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    fathom_start();
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    fathom_stop();
    pthread_create(&late, NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    fathom_start();
    pthread_barrier_wait(&barrier);
    pthread_join(late, NULL);
}

static APART void forks(void)
{
    fathom_stop();
    pid_t child = fork();
    if (child == 0) {
        inner(1);
        fathom_start();
        inner(2);
        all_kinds();
        exit(0);
    }
    waitpid(child, NULL, 0);
    inner(3);
    fathom_start();
    inner(4);
}

/* Another thread turns it off and on at any instruction. */
static volatile int done;
static APART void *toggle(void *data)
{
    for (int i = 0; done == 0; i++) {
        fathom_stop();
        usleep(i % 3 == 0 ? 100 : 10);
        fathom_start();
        usleep(i % 2 == 0 ? 100 : 10);
    }
    return data;
}

static APART void toggled(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, toggle, NULL);
    for (int i = 0; i < 20000; i++)
        all_kinds();
    done = 1;
    pthread_join(thread, NULL);
}

int main(int count, char **words)
{
    const char *part = count > 1 ? words[1] : "plain";
    signal(SIGUSR1, handler);
    if (strcmp(part, "plain") == 0) {
        all_kinds();
        fathom_stop();
        all_kinds();
        fathom_start();
        all_kinds();
    } else if (strcmp(part, "meanwhile") == 0) {
        fathom_stop();
        begins_stopped();
        all_kinds();
        inner(3);
    } else if (strcmp(part, "within") == 0) {
        stops_within(3);
        all_kinds();
        fathom_start();
        all_kinds();
        stops_within(2);
        begins_stopped();
        all_kinds();
    } else if (strcmp(part, "switching") == 0) {
        int values[32];
        for (int i = 0; i < 32; i++)
            values[i] = i * 7919 % 32;
        qsort(values, 32, sizeof *values, switching);
        fathom_start();
        inner(1);
    } else if (strcmp(part, "threads") == 0) {
        threads();
    } else if (strcmp(part, "toggled") == 0) {
        toggled();
    } else if (strcmp(part, "forks") == 0) {
        forks();
    } else { /* begun stopped, by the environment */
        inner(0);
        fathom_start();
        for (int i = 0; i < 100; i++)
            inner(i);
        all_kinds();
        fathom_stop();
        begins_stopped();
        stops_within(1);
    }
    printf("%d\n", sum != 0);
    return 0;
}

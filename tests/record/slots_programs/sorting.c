/* SPDX-License-Identifier: Apache-2.0 */
/* Callbacks of libc's qsort, which has values of its own in registers: many functions at one site,
 * such as call nothing and such as do, sorts within sorts, and threads and handlers in which no
 * function has hooks when they begin. */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT 500
#define APART __attribute__((noinline))
#define WITHOUT_HOOKS __attribute__((noinline, no_instrument_function))

struct item {
    long key;
    char more[40]; /* qsort sorts pointers to such items */
};

static volatile long compared;

static APART int order(long a, long b)
{
    compared++;
    return (a > b) - (a < b);
}

/* One that calls nothing, and one that calls. */
#define COMPARISONS(n)                                                          \
    static APART int leaf##n(const void *a, const void *b)                      \
    {                                                                           \
        long x = *(const long *)a * n % 1009, y = *(const long *)b * n % 1009;  \
        return (x > y) - (x < y);                                               \
    }                                                                           \
    static APART int calls##n(const void *a, const void *b)                     \
    {                                                                           \
        return order(*(const long *)a * n % 1013, *(const long *)b * n % 1013); \
    }

COMPARISONS(3)
COMPARISONS(5)
COMPARISONS(7)
COMPARISONS(11)
COMPARISONS(13)
COMPARISONS(17)

static int (*const all[])(const void *, const void *) = {
    leaf3, calls3, leaf5, calls5, leaf7, calls7, leaf11, calls11, leaf13, calls13, leaf17, calls17};
#define ALL (sizeof all / sizeof *all)

static APART void fill(struct item *items, long count)
{
    for (long i = 0; i < count; i++)
        items[i].key = i * 7919 % count;
}

static APART void sort(struct item *items, long count, unsigned by)
{
    qsort(items, (size_t)count, sizeof *items, all[by]);
}

/* Sorts again, within a sort. */
static APART int nested(const void *a, const void *b)
{
    struct item few[4];
    fill(few, 4);
    long x = *(const long *)a;
    sort(few, 4, (unsigned)(x % (long)ALL));
    return order(x, *(const long *)b);
}

static WITHOUT_HOOKS void *thread_begin(void *data)
{
    static struct item items[2][COUNT];
    struct item *own = items[(long)data];
    for (long i = 0; i < COUNT; i++)
        own[i].key = i * 7919 % COUNT;
    for (unsigned i = 0; i < ALL; i++)
        qsort(own, COUNT, sizeof *own, all[i]);
    return NULL;
}

/* The one function is a handler, and called from the site that the handler interrupts. */
static APART void note(int signal)
{
    compared += signal > 0 ? order(signal, 0) : 0;
}

static APART int raising(const void *a, const void *b)
{
    if (*(const long *)a % 16 == 0)
        raise(SIGUSR1);
    note(1);
    return order(*(const long *)a, *(const long *)b);
}

int main(void)
{
    static struct item items[COUNT];
    fill(items, COUNT);
    for (unsigned round = 0; round < 3; round++)
        for (unsigned i = 0; i < ALL; i++)
            sort(items, COUNT, i);
    fill(items, COUNT);
    qsort(items, 60, sizeof *items, nested);
    signal(SIGUSR1, note);
    fill(items, COUNT);
    qsort(items, COUNT, sizeof *items, raising);
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, thread_begin, (void *)i);
    for (unsigned i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%ld %ld\n", items[7].key, compared > 0 ? items[COUNT - 1].key : 0);
    return 0;
}

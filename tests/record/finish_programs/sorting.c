/* SPDX-License-Identifier: Apache-2.0 */
/* Callbacks from libc: qsort from two places, bsearch, atexit; qsort inside a callback. */
#include <stdio.h>
#include <stdlib.h>

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static int backwards(const void *a, const void *b)
{
    return compare(b, a);
}

static int by_sorted_digits(const void *a, const void *b)
{
    int left[] = { *(const int *)a / 10 % 10, *(const int *)a % 10 };
    int right[] = { *(const int *)b / 10 % 10, *(const int *)b % 10 };
    qsort(left, 2, sizeof *left, compare);
    qsort(right, 2, sizeof *right, compare);
    return left[0] * 10 + left[1] - right[0] * 10 - right[1];
}

static void goodbye(void)
{
    puts("goodbye");
}

static unsigned state = 1;

static int next(void)
{
    state = state * 1103515245u + 12345u;
    return (int)(state >> 16) % 100;
}

int main(void)
{
    int values[60], found = 0;
    atexit(goodbye);
    for (int i = 0; i < 60; i++)
        values[i] = next();
    qsort(values, 60, sizeof *values, compare);
    for (int i = 0; i < 10; i++)
        found += bsearch(&i, values, 60, sizeof *values, compare) != NULL;
    qsort(values, 60, sizeof *values, backwards);
    qsort(values, 30, sizeof *values, by_sorted_digits);
    printf("%d %d %d\n", values[0], values[59], found);
    return 0;
}

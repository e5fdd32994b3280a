/* SPDX-License-Identifier: Apache-2.0 */
/* Callbacks from libc, at two places of one function, nested. */
#include <stdio.h>
#include <stdlib.h>
static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}
static int inner[16];
static int compare_nested(const void *a, const void *b)
{
    qsort(inner, 16, sizeof inner[0], compare);
    return compare(b, a);
}
static void fill(int *to, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = i * 7919 % 101;
}
static void at_end(void)
{
    puts("end");
}
int main(void)
{
    int values[64];
    atexit(at_end);
    fill(values, 64);
    qsort(values, 64, sizeof values[0], compare);
    fill(inner, 16);
    qsort(values, 20, sizeof values[0], compare_nested);
    int key = 50;
    printf("%d %s\n", values[3],
           bsearch(&key, values, 20, sizeof key, compare) != NULL ? "y" : "n");
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* longjmp in loops, out of recursion, past frames of different sizes, out of a library's callback;
 * and what is called after it, from the same place and deeper ones. */
#include <alloca.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "counted.h"

static jmp_buf outer, middle;
static volatile int sum;

static ALONE int leaf(int x)
{
    COUNT;
    return x ^ 5;
}

static ALONE int deeper(int x)
{
    COUNT;
    volatile char room[600];
    room[x & 255] = 1;
    return leaf(x) + room[x & 255];
}

static ALONE void thrower(int depth, int how)
{
    COUNT;
    char *room = alloca((size_t)(16 + depth * 24));
    memset(room, depth, 16);
    if (depth > 0)
        thrower(depth - 1, how);
    else if (how == 1)
        longjmp(middle, 1);
    else if (how == 2)
        longjmp(outer, 1);
    sum += leaf(room[3]);
}

static ALONE int between(int depth, int how)
{
    COUNT;
    if (setjmp(middle) != 0)
        return deeper(depth);
    thrower(depth, how);
    return leaf(how);
}

static ALONE int stop_at_five(const void *a, const void *b)
{
    COUNT;
    if (*(const int *)a == 5 || *(const int *)b == 5)
        longjmp(outer, 1);
    return *(const int *)a - *(const int *)b;
}

static ALONE int plain(const void *a, const void *b)
{
    COUNT;
    return *(const int *)a - *(const int *)b;
}

static ALONE void sort(int with_five)
{
    COUNT;
    int values[16];
    for (int i = 0; i < 16; i++)
        values[i] = 16 - i + (with_five ? 0 : 100);
    qsort(values, 16, sizeof values[0], stop_at_five);
    sum += values[0];
}

int main(void)
{
    int values[30];
    COUNT;
    for (volatile int i = 0; i < 60; i++) {
        if (setjmp(outer) != 0) {
            sum += deeper(i);
            continue;
        }
        sum += between(i % 5, i % 3);
    }
    for (volatile int i = 0; i < 12; i++) {
        if (setjmp(outer) == 0)
            sort(i % 3 == 0);
        else
            sum += leaf(i);
        for (int k = 0; k < 30; k++)
            values[k] = k * 7 % 30;
        qsort(values, 30, sizeof values[0], plain);
        sum += deeper(i);
    }
    printf("%d\n", sum);
    print_counts();
    return 0;
}

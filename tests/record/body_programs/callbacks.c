/* SPDX-License-Identifier: Apache-2.0 */
/* Callbacks from libraries: at different depths of one, below a function that has called the same
 * library and returned, nested, through several libraries' functions, by a tail call. */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "counted.h"

static volatile int sink;

static ALONE int compare(const void *a, const void *b)
{
    COUNT;
    return *(const int *)a - *(const int *)b;
}

static ALONE void fill(int *values, int n, unsigned state)
{
    COUNT;
    for (int i = 0; i < n; i++) {
        state = state * 1103515245u + 12345u;
        values[i] = (int)(state >> 16) % 1000;
    }
}

static ALONE void sort(int *values, int n)
{
    COUNT;
    qsort(values, (size_t)n, sizeof *values, compare);
    sink += values[0];
}

/* A sort in a function, then one of the same kind from its caller, whose stack pointer stood at
 * many places when the function was called: the function's dead frame lies anywhere in the
 * library's. */
static ALONE void after_return(int *values, int room)
{
    COUNT;
    fill(values, 120, (unsigned)room + 7);
    {
        volatile char lower[room + 1];
        lower[room] = 1;
        sort(values, 20 + lower[room]);
    }
    for (int i = 0; i < 120; i++)
        values[i] ^= 5;
    qsort(values, 120, sizeof *values, compare);
    sink += values[0];
}

static ALONE int by_sorted(const void *a, const void *b)
{
    COUNT;
    int left[3] = {*(const int *)a % 7, *(const int *)a % 5, *(const int *)a % 3};
    int right[3] = {*(const int *)b % 7, *(const int *)b % 5, *(const int *)b % 3};
    sort(left, 3);
    qsort(right, 3, sizeof right[0], compare);
    return left[0] * 49 + left[1] * 7 + left[2] - right[0] * 49 - right[1] * 7 - right[2];
}

static ALONE void *find(int key, const int *values, int n)
{
    COUNT;
    return bsearch(&key, values, (size_t)n, sizeof key, compare); /* by a jump, at -O2 */
}

static ALONE void visit(const void *node, VISIT which, int depth)
{
    COUNT;
    sink += which == leaf ? **(const int *const *)node : depth;
}

static ALONE void tree(int *values, int n)
{
    COUNT;
    void *root = NULL;
    for (int i = 0; i < n; i++)
        tsearch(&values[i], &root, compare);
    twalk(root, visit);
    for (int i = 0; i < n; i++)
        tdelete(&values[i], &root, compare);
}

int main(void)
{
    int values[120];
    COUNT;
    for (int room = 0; room < 800; room += 80)
        after_return(values, room);
    qsort(values, 60, sizeof values[0], by_sorted);
    qsort(values, 120, sizeof values[0], compare);
    for (int i = 0; i < 20; i++)
        sink += find(i * 37, values, 120) != NULL;
    tree(values, 40);
    printf("%d\n", sink);
    print_counts();
    return 0;
}

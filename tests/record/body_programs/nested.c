/* SPDX-License-Identifier: Apache-2.0 */
/* Nested functions (gcc): the frame around them comes in r10, by trampolines too. */
#include <stdlib.h>

#include "counted.h"

static ALONE int apply(int (*function)(int), int n)
{
    COUNT;
    return function(n) + function(n + 1);
}

static ALONE int outer(int base, int depth)
{
    int seen = 0;
    COUNT;
    ALONE int inner(int n)
    {
        COUNT;
        seen++;
        return n * base + depth;
    }
    ALONE int middle(int n)
    {
        COUNT;
        ALONE int innermost(int m)
        {
            COUNT;
            return inner(m) + n;
        }
        return innermost(n) + innermost(n + 1);
    }
    int by_distance(const void *a, const void *b)
    {
        COUNT;
        return abs(*(const int *)a - base) - abs(*(const int *)b - base);
    }
    int values[8] = {9, 4, 7, 1, 8, 2, 6, 3};
    qsort(values, 8, sizeof values[0], by_distance);
    int below = depth > 0 ? outer(base + 1, depth - 1) : 0;
    return apply(inner, base) + middle(depth) + below + values[0] + seen;
}

int main(void)
{
    COUNT;
    for (int i = 0; i < 5; i++)
        printf("%d\n", outer(i, i));
    print_counts();
    return 0;
}

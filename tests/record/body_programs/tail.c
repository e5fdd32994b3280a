/* SPDX-License-Identifier: Apache-2.0 */
/* Calls in tail position: optimisers make jumps of them, so that a frame passes to the function
 * that is called, and loops of those to oneself. */
#include <stdlib.h>

#include "counted.h"

static volatile int sum;

static ALONE int last(int n)
{
    COUNT;
    sum += n;
    return n & 7;
}

static ALONE int second(int n)
{
    COUNT;
    return last(n * 2);
}

static ALONE int first(int n)
{
    COUNT;
    return n % 3 == 0 ? last(n) : second(n + 1);
}

static ALONE int odd(int n);

static ALONE int even(int n)
{
    COUNT;
    return n == 0 ? 1 : odd(n - 1);
}

static ALONE int odd(int n)
{
    COUNT;
    return n == 0 ? 0 : even(n - 1);
}

static ALONE int own_tail(int n, int product) /* becomes a loop: not counted */
{
    return n <= 1 ? product : own_tail(n - 1, product * n % 1009);
}

static ALONE int compare(const void *a, const void *b)
{
    COUNT;
    int left = *(const int *)a, right = *(const int *)b;
    return left == right ? last(left) : left - right;
}

static ALONE void sort(int *values, int n)
{
    COUNT;
    qsort(values, (size_t)n, sizeof *values, compare);
}

static ALONE int through(int (*function)(int), int n)
{
    COUNT;
    return function(n);
}

int main(void)
{
    int values[40];
    COUNT;
    for (int i = 0; i < 40; i++) {
        values[i] = i * 7 % 20;
        sum += first(i) + even(i) + own_tail(i, 1) + through(i % 2 ? first : odd, i);
    }
    sort(values, 40);
    sum += second(values[3]);
    printf("%d\n", sum);
    print_counts();
    return 0;
}

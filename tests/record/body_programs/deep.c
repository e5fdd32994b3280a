/* SPDX-License-Identifier: Apache-2.0 */
/* Recursion fifty thousand deep, direct and of three, and out of it by longjmp. */
#include <setjmp.h>

#include "counted.h"

#define DEPTH 50000

static jmp_buf top;
static volatile int sum;

static ALONE int leaf(int n)
{
    COUNT;
    return n & 1;
}

static ALONE int down(int n)
{
    COUNT;
    return n == 0 ? 0 : down(n - 1) + leaf(n);
}

static ALONE int third(int n);
static ALONE int first(int n)
{
    COUNT;
    return n == 0 ? 0 : third(n - 1) + leaf(n);
}
static ALONE int second(int n)
{
    COUNT;
    return n == 0 ? 0 : first(n - 1) + 1;
}
static ALONE int third(int n)
{
    COUNT;
    return n == 0 ? 0 : second(n - 1) + 2;
}

static ALONE int escapes(int n)
{
    COUNT;
    if (n == 0)
        longjmp(top, 1);
    return escapes(n - 1) + leaf(n);
}

int main(void)
{
    COUNT;
    for (volatile int i = 0; i < 3; i++) {
        sum += down(DEPTH) + first(DEPTH);
        if (setjmp(top) == 0)
            sum += escapes(DEPTH);
        else
            sum += leaf(i);
    }
    printf("%d\n", sum);
    print_counts();
    return 0;
}

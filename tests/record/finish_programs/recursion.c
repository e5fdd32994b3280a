/* SPDX-License-Identifier: Apache-2.0 */
/* Direct recursion, to one branch and to several. */
#include <stdio.h>

static unsigned ackermann(unsigned m, unsigned n)
{
    if (m == 0)
        return n + 1;
    if (n == 0)
        return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}

static int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static int solve(int row, unsigned columns, unsigned left, unsigned right)
{
    int found = 0;
    if (row == 7)
        return 1;
    for (int column = 0; column < 7; column++) {
        unsigned bit = 1u << column;
        if (((columns | left | right) & bit) == 0)
            found += solve(row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    return found;
}

int main(void)
{
    printf("%u %d %d\n", ackermann(2, 6), fib(18), solve(0, 0, 0, 0));
    return 0;
}

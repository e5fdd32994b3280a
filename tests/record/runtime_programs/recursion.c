/* SPDX-License-Identifier: Apache-2.0 */
/* Direct and mutual recursion; some of it is inlined into itself at -O2. */
#include <stdio.h>
static int is_odd(unsigned n);
static int is_even(unsigned n)
{
    return n == 0 ? 1 : is_odd(n - 1);
}
static int is_odd(unsigned n)
{
    return n == 0 ? 0 : is_even(n - 1);
}
static int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}
static int deep(int n)
{
    return n == 0 ? 0 : 1 + deep(n - 1);
}
static int ackermann(int m, int n)
{
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
int main(void)
{
    int sum = 0;
    for (unsigned i = 0; i < 20; i++)
        sum += is_even(i) + is_odd(i);
    printf("%d %d %d %d\n", sum, fib(15), deep(5000), ackermann(2, 5));
    return 0;
}

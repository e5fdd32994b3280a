/* SPDX-License-Identifier: Apache-2.0 */
/* One call instruction that reaches many functions, and one function from many sites. */
#include <stdio.h>
typedef int (*op)(int, int);
static int add(int a, int b)
{
    return a + b;
}
static int sub(int a, int b)
{
    return a - b;
}
static int mul(int a, int b)
{
    return add(a * b, sub(a, a));
}
static int apply(op f, int a, int b)
{
    return f(a, b);
}
static int both(int a, int b)
{
    return apply(add, a, b) + apply(mul, a, b) + add(a, b) + add(b, a) + add(a, a);
}
int main(void)
{
    static const op ops[] = {add, sub, mul, both};
    int sum = 0;
    for (int i = 0; i < 400; i++)
        sum += apply(ops[i % 4], i, i + 1) + ops[(i * 7 + 1) % 4](i, 2);
    printf("%d\n", sum);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* longjmp in loops, from different depths, past frames of different sizes. */
#include <alloca.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>
static jmp_buf outer, middle;
static int leaf(int x)
{
    return x ^ 5;
}
static void thrower(int depth, int how)
{
    char *room = alloca((size_t)(16 + depth * 8));
    memset(room, depth, 16);
    if (depth > 0)
        thrower(depth - 1, how);
    else if (how == 1)
        longjmp(middle, 1);
    else if (how == 2)
        longjmp(outer, 1);
    leaf(room[3]);
}
static int between(int depth, int how)
{
    if (setjmp(middle) != 0)
        return leaf(depth);
    thrower(depth, how);
    return leaf(how);
}
int main(void)
{
    volatile int sum = 0;
    for (volatile int i = 0; i < 60; i++) {
        if (setjmp(outer) != 0) {
            sum += leaf(i);
            continue;
        }
        sum += between(i % 5, i % 3);
    }
    printf("%d\n", sum);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Frames left by longjmp, in a loop and from below recursion. */
#include <setjmp.h>
#include <stdio.h>

static jmp_buf top;

static void leave(int value)
{
    longjmp(top, value);
}

static void descend(int depth, int value)
{
    if (depth == 0)
        leave(value);
    descend(depth - 1, value);
}

static int harmless(int n)
{
    return n + 1;
}

static int attempt(int i)
{
    int value = setjmp(top);
    if (value == 0) {
        if (i % 3 != 0)
            descend(i % 5, i + 1);
        return harmless(i);
    }
    return harmless(value);
}

int main(void)
{
    int sum = 0;
    for (int i = 0; i < 40; i++)
        sum += attempt(i);
    printf("%d\n", sum);
    return 0;
}

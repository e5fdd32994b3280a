/* SPDX-License-Identifier: Apache-2.0 */
/* Functions that are named like static ones of libfathom, which run in the same program: pop and
 * push when a frame is left by longjmp, or made by the slow path. */
#include <setjmp.h>
#include <stdio.h>

#define ALONE __attribute__((noinline, noclone))

static jmp_buf back;
static volatile int sum;

static ALONE int pop(int n)
{
    sum += n;
    if (n % 5 == 0)
        longjmp(back, 1);
    return sum;
}

static ALONE int push(int n)
{
    int a = pop(n);
    return a + pop(n + 1);
}

static ALONE int enter_slow(int n)
{
    return setjmp(back) == 0 ? push(n) : pop(1);
}

int main(void)
{
    for (int i = 0; i < 40; i++)
        sum += enter_slow(i);
    printf("%d\n", sum & 1023);
    return 0;
}

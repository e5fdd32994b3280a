/* SPDX-License-Identifier: Apache-2.0 */
/* Inlined bodies in inlined bodies, in loops that are unrolled, tail calls, split functions. */
#include <stdio.h>
static inline int square(int x)
{
    return x * x;
}
static inline __attribute__((always_inline)) int cube(int x)
{
    return square(x) * x;
}
static int clamp(int x, int low, int high)
{
    return x < low ? low : x > high ? high : x;
}
static int mix(int x)
{
    return clamp(square(x) + cube(x), -1000, 1000) + clamp(x, 0, 5);
}
static __attribute__((noinline)) int tail(int x)
{
    return mix(x + 1);
}
static __attribute__((noinline)) int early(int x)
{
    if (x % 4 != 0)
        return square(x);
    int sum = 0;
    for (int i = 0; i < 4; i++)
        sum += tail(i) + cube(i);
    return sum;
}
int main(void)
{
    int sum = 0;
    for (int i = 0; i < 8; i++)
        sum += mix(i) + tail(i);
    for (int i = 0; i < 100; i++)
        sum += early(i);
    printf("%d\n", sum);
    return 0;
}

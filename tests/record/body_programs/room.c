/* SPDX-License-Identifier: Apache-2.0 */
/* The stack pointer at many places of one function: alloca, arrays of variable length, arguments on
 * the stack, large frames, frames aligned by hand. */
#include <alloca.h>
#include <stdint.h>
#include <string.h>

#include "counted.h"

static volatile int sum;

static ALONE int leaf(int n)
{
    COUNT;
    return n * 3 + 1;
}

static ALONE int nine(int a, int b, int c, int d, int e, int f, int g, int h, int i)
{
    COUNT;
    return a - b + c - d + e - f + g - h + leaf(i);
}

static ALONE int seven(int a, int b, int c, int d, int e, int f, int g)
{
    COUNT;
    return a + b + c + d + e + f + g;
}

/* Frames of calls with and without pushed arguments overlap. */
static ALONE int pushes(int n)
{
    COUNT;
    int total = 0;
    for (int i = 0; i < n; i++) {
        total += leaf(i);
        total += nine(i, 1, 2, 3, 4, 5, 6, 7, seven(1, 2, 3, 4, 5, 6, i));
        total += leaf(total);
        total += seven(i, 1, 2, 3, 4, 5, 6);
    }
    return total;
}

static ALONE int big_frame(int n)
{
    COUNT;
    volatile char room[3000];
    room[n & 1023] = (char)n;
    return leaf(room[n & 1023]) + pushes(n & 3);
}

static ALONE int by_hand(int n)
{
    COUNT;
    volatile int room[16] __attribute__((aligned(128)));
    room[n & 15] = n;
    return leaf(room[n & 15]) + (((uintptr_t)room & 127) != 0);
}

static ALONE int grows(int n)
{
    COUNT;
    int total = 0;
    for (int i = 0; i < n; i++) {
        char *more = alloca((size_t)(8 + i * 40));
        memset(more, i, 8);
        total += leaf(more[3]) + (i % 3 == 0 ? pushes(2) : by_hand(i));
    }
    return total;
}

static ALONE int shrinks(int n)
{
    COUNT;
    int total = 0;
    for (int i = n; i > 0; i--) {
        volatile int room[i * 13];
        room[i] = i;
        total += leaf(room[i]);
        if (i % 4 == 0)
            total += shrinks(n / 2 - 1);
    }
    return total + leaf(n);
}

int main(void)
{
    COUNT;
    for (int i = 0; i < 6; i++) {
        sum += pushes(i) + grows(i * 2) + shrinks(i * 2) + by_hand(i) + big_frame(i);
        volatile char room[1 + i * 100];
        room[i] = 1;
        sum += leaf(room[i]) + pushes(2);
    }
    printf("%d\n", sum);
    print_counts();
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Does what it is told on standard input, and says when it has: "w N" calls leaf() N times, "m N"
 * allocates N blocks of 100 bytes, "u N" gives N of them back, the newest first, "r N" recurses so
 * deep, "z N" sleeps 10 ms N times, "t N" calls leaf() N times in a thread that ends, "j N" leaves
 * jumping() by a jump N times, "j -N" as others are left. */
#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#define BLOCKS 4096

static void *blocks[BLOCKS];
static int held;

__attribute__((noinline)) int leaf(int x)
{
    __asm__ volatile("");
    return x + 1;
}

__attribute__((noinline)) int work(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += leaf(i);
    return sum;
}

__attribute__((noinline)) void take(int n)
{
    for (int i = 0; i < n && held < BLOCKS; i++)
        blocks[held++] = malloc(100);
}

__attribute__((noinline)) void give(int n)
{
    for (int i = 0; i < n && held > 0; i++)
        free(blocks[--held]);
}

__attribute__((noinline)) int down(int n)
{
    int below = n > 1 ? down(n - 1) : leaf(n);
    __asm__ volatile("");
    return below + 1;
}

__attribute__((noinline)) void nap(int n)
{
    for (int i = 0; i < n; i++)
        usleep(10000);
}

static jmp_buf back;

__attribute__((noinline)) void jumping(bool away)
{
    if (away)
        longjmp(back, 1);
    __asm__ volatile("");
}

__attribute__((noinline)) void jump(int n)
{
    for (volatile int i = 0; i < abs(n); i++)
        if (setjmp(back) == 0)
            jumping(n > 0);
}

static void *body(void *n)
{
    work((int)(long)n);
    return NULL;
}

__attribute__((noinline)) void thread(int n)
{
    pthread_t one;
    if (pthread_create(&one, NULL, body, (void *)(long)n) == 0)
        pthread_join(one, NULL);
}

int main(void)
{
    char order[64];
    ssize_t got;
    while ((got = read(0, order, sizeof order - 1)) > 0) {
        order[got] = '\0';
        int n = atoi(order + 1);
        switch (order[0]) {
        case 'w':
            work(n);
            break;
        case 'm':
            take(n);
            break;
        case 'u':
            give(n);
            break;
        case 'r':
            down(n);
            break;
        case 'z':
            nap(n);
            break;
        case 't':
            thread(n);
            break;
        case 'j':
            jump(n);
            break;
        }
        if (write(1, "k", 1) != 1)
            return 1;
    }
    return 0;
}

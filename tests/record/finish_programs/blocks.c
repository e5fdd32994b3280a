/* SPDX-License-Identifier: Apache-2.0 */
/* Counts itself how often the lines with AT run while recording is on, and prints that at the end.
 */
#include <fathom/fathom.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static volatile long seen[400];
static volatile int on = 1, limit = 10;
#define AT __atomic_fetch_add(&seen[__LINE__], on, __ATOMIC_SEQ_CST)

static void print_all(void)
{
    for (int i = 0; i < 400; i++)
        if (seen[i] > 0)
            printf("%d %ld\n", i, seen[i]);
}

static inline int twice(int n)
{
    if (n % 2 != 0)
        AT;
    AT;
    return 2 * n;
}

static int conditions(int a, int b)
{
    int n = 0;
    if (a > 3 && (b < 5 || a == b))
        AT, n += twice(a);
    else if (a == 2)
        AT, n += twice(b);
    n += a > b ? 1 : 2;
    do {
        AT;
    } while (n++ < a + b && n % 7 != 0);
    return n;
}

static int machine(const char *program)
{
    static const void *const steps[] = {&&more, &&less, &&again, &&done};
    int n = 0, turns = 0;
    goto *steps[*program++ - 'a'];
more:
    AT;
    n += 2;
    goto *steps[*program++ - 'a'];
less:
    AT;
    n--;
    goto *steps[*program++ - 'a'];
again:
    AT;
    if (turns++ < 3)
        program -= 2;
    goto *steps[*program++ - 'a'];
done:
    AT;
    return n;
}

static int cases(int n)
{
    switch (n) {
    case 0:
        AT;
        return 1;
    case 1:
        AT; /* falls through */
    case 2:
    case 3:
        AT;
        break;
    case 4:
        AT;
        return 4;
    default:
        AT;
    }
    AT;
    return n;
}

static jmp_buf back;

static int dive(int depth)
{
    char room[100 + depth]; /* of no fixed size */
    memset(room, depth, sizeof room);
    AT;
    if (depth == 0)
        longjmp(back, 1);
    dive(depth - 1);
    AT; /* never */
    return room[3];
}

/* One comparison for two branches: a block begins between them. */
static volatile int orders[3];
__attribute__((noinline)) static void order(long a, long b)
{
    if (a < b)
        orders[0]++;
    else if (a > b)
        orders[1]++;
    else
        orders[2]++;
}

static int returns(void)
{
    static volatile int turns;
    setjmp(back);
    AT;
    turns++;
    if (turns < 4)
        longjmp(back, 1);
    AT;
    return turns;
}

static int dives(void)
{
    volatile int n = 0;
    if (setjmp(back) != 0)
        AT;
    AT;
    if (n++ < limit)
        dive(n % 4);
    AT;
    return n;
}

static int compare(const void *left, const void *right)
{
    int a = *(const int *)left, b = *(const int *)right;
    AT;
    if (a < b)
        return AT, -1;
    AT;
    return a > b;
}

static volatile int handled;
static void handle(int number)
{
    AT;
    for (int i = 0; i < number % 5; i++)
        AT;
    handled++;
}

static void *run(void *data)
{
    for (int i = 0; i < limit; i++)
        AT, *(int *)data += cases(i % 6);
    return NULL;
}

/* A frame that is aligned otherwise than the caller's; asm that changes r11. */
static long aligned(int n)
{
    volatile long place[8] __attribute__((aligned(64)));
    long pid;
    for (int i = 0; i < 8; i++)
        AT, place[i] = n + conditions(i, n);
    for (int i = 0; i < n; i++) {
        __asm__ volatile("syscall" : "=a"(pid) : "a"(SYS_getpid) : "rcx", "r11", "memory");
        AT;
        if (pid == 1 || ((unsigned long)place & 63) != 0)
            AT;
    }
    return place[n % 8];
}

/* Asm that jumps, behind a call and in a loop. */
static int jumps(int n)
{
    int turns = 0, twofold;
again:
    AT;
    turns = cases(turns) + 1;
    __asm__ goto("cmpl %1, %0\n\tjl %l2" : : "r"(turns), "r"(n) : "cc" : again);
    AT;
    cases(turns);
    __asm__ goto("testl $1, %1\n\tmovl %1, %0\n\tjnz %l2" : "=r"(twofold) : "r"(n) : "cc" : odd);
    AT;
    return turns + twofold;
odd:
    AT;
    return cases(n);
}

__attribute__((noinline)) static int spoils(int n)
{
    int turns = 0;
    for (int i = 0; i < n; i++) {
        __asm__ volatile("xorl %%r11d, %%r11d" ::: "r11");
        if (i & 1)
            AT, turns++;
        AT;
    }
    return turns;
}

/* The place of a thread's variable may be asked for by a call that keeps registers. */
static __thread long place[10];
__attribute__((noinline)) static long many(long a, long b, long c, long d, long e, long f)
{
    long t = a * 3, u = b * 5, v = c * 7, w = d * 11, x = e * 13, y = f * 17;
    for (int i = 0; i < 10; i++) {
        AT;
        if (i & 1)
            AT, place[i] += t;
        t += a ^ u, u += b ^ v, v += c ^ w, w += d ^ x, x += e ^ y, y += f ^ t;
        place[i / 2] += y;
    }
    return t + u + v + w + x + y + place[3] + place[7];
}

/* Jumps through a table, with all registers in use. */
static long mixed(const char *program, long a, long b, long c, long d, long e)
{
    static const void *const steps[] = {&&first, &&second, &&third, &&done};
    goto *steps[*program++ - 'a'];
first:
    AT;
    a += b ^ c, e += a;
    goto *steps[*program++ - 'a'];
second:
    AT;
    b += many(c, d, e, a, b, c) & 3;
    goto *steps[*program++ - 'a'];
third:
    AT;
    c += d ^ e, d += a ^ b;
    goto *steps[*program++ - 'a'];
done:
    return a + b * 3 + c * 5 + d * 7 + e * 11;
}

static int recursive(int n)
{
    AT;
    if (n < 2)
        return AT, n;
    int left = recursive(n - 1);
    AT;
    return left + recursive(n - 2);
}

static void stops(void)
{
    for (int i = 0; i < limit; i++) {
        AT;
        if (i == 3)
            fathom_stop(), on = 0;
        if (i == 6)
            on = 1, fathom_start();
        AT;
        recursive(2);
    }
}

static void leave(int n)
{
    AT;
    if (n > 0)
        exit(0);
    AT; /* never */
}

int main(void)
{
    int values[40], sums[2] = {0, 0};
    pthread_t threads[2];
    atexit(print_all);
    signal(SIGUSR1, handle);
    for (int i = 0; i < limit; i++)
        AT, values[0] = conditions(i, limit - i) + cases(i) + twice(i);
    values[1] = machine("abcabbcacd") + returns() + dives() + recursive(9);
    for (int i = 0; i < 40; i++)
        values[i] = i * 37 % 41;
    qsort(values, 40, sizeof values[0], compare);
    for (int i = 0; i < 3; i++)
        AT, raise(SIGUSR1);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, run, &sums[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    sums[0] += (int)aligned(limit / 2);
    for (int i = 0; i < 7; i++)
        AT, sums[1] += jumps(i) + spoils(i);
    for (int i = 0; i < 9; i++)
        order(i % 3, i < 3 ? 1 : 2);
    if (orders[0] != 5 || orders[1] != 1 || orders[2] != 3)
        abort();
    if (many(1, 2, 3, 4, 5, 6) != 501876 || mixed("abcabcbcbabacbad", 1, 2, 3, 4, 5) != 861)
        abort();
    stops();
    leave(sums[0] + sums[1] + handled);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* recursions through functions whose frames are of all kinds: aligned, of variable size, large, with arguments on the stack,
 * and through code without hooks that keeps its own data in all registers */
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define NI __attribute__((noinline))
static volatile int sink;
static int (*volatile next[6])(int);
NI int leaf(int x) { return x ^ 5; }
NI int go_on(int n) { sink += leaf(n); return n > 0 ? next[n % 6](n - 1) : 0; }
NI int aligned(int n) { _Alignas(64) volatile char place[64]; place[n % 64] = 1; return go_on(n) + place[n % 64]; }
NI int aligned_variable(int n)
{
    _Alignas(128) volatile char place[128];
    volatile char *more = alloca(16 + n);
    more[0] = place[n % 128] = 1;
    return go_on(n) + more[0];
}
NI int variable(int n) { volatile char *place = alloca(64 + 16 * n); place[0] = 1; return go_on(n) + place[0]; }
NI int large(int n) { volatile char place[9000]; place[n] = 1; return go_on(n) + place[n]; }
NI int many(int n, int b, int c, int d, int e, int f, int g, double h, int i) { return go_on(n) + b + c + d + e + f + g + (int)h + i; }
NI int arguments(int n) { return many(n, 1, 2, 3, 4, 5, 6, 7.0, 8); }
static int left;
NI int compare(const void *a, const void *b)
{
    int n = left;
    left = 0;
    return n > 0 ? go_on(n) * 0 + *(const int *)a - *(const int *)b : *(const int *)a - *(const int *)b;
}
NI int sorting(int n) { int list[8] = {3, 1, 2, n}; left = n; qsort(list, 8, sizeof *list, compare); return list[0]; }
int main(void)
{
    int (*all[6])(int) = {aligned, variable, large, arguments, sorting, aligned_variable};
    unsigned long order = 1;
    long sum = 0;
    for (int round = 0; round < 300; round++) {
        for (int i = 0; i < 6; i++) {
            order = order * 6364136223846793005u + 1442695040888963407u;
            next[i] = all[(order >> 40) % 6];
        }
        sum += next[round % 6](round % 23);
    }
    printf("%ld %d\n", sum, sink);
    return 0;
}

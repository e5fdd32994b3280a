/* SPDX-License-Identifier: Apache-2.0 */
/* one site that calls 512 functions in turn, from two contexts, some of which call it again; a second site with the same functions */
#include <stdio.h>
#define NI __attribute__((noinline))
typedef int (*function)(int);
static volatile int sink;
NI int dispatch(int which, int depth);
NI int leaf(int x) { return x ^ 5; }
#define ONE(n) NI int f##n(int x) { sink += n; return x + n; }
#define CALLS(n) NI int f##n(int x) { sink += leaf(n); return x > 0 ? dispatch((n + 7) % 512, x - 1) : n; }
#define FOUR(n) ONE(n##0) ONE(n##1) CALLS(n##2) CALLS(n##3)
#define SIXTEEN(n) FOUR(n##0) FOUR(n##1) FOUR(n##2) FOUR(n##3)
#define SIXTY(n) SIXTEEN(n##0) SIXTEEN(n##1) SIXTEEN(n##2) SIXTEEN(n##3)
#define ALL SIXTY(10) SIXTY(11) SIXTY(12) SIXTY(13) SIXTY(20) SIXTY(21) SIXTY(22) SIXTY(23)
ALL
#undef ONE
#undef CALLS
#define ONE(n) f##n,
#define CALLS(n) f##n,
static function const table[] = {ALL};
NI int dispatch(int which, int depth) { return table[which](depth) + 1; }
NI int again(int which) { return table[which](0) + 1; }
NI int one(int n) { return dispatch(n % 512, 0); }
NI int other(int n) { return dispatch(n % 512, 3) + again(n % 512); }
int main(void)
{
    long sum = 0;
    for (int i = 0; i < 512 * 20; i++)
        sum += one(i) + other(i);
    printf("%zu %ld\n", sizeof table / sizeof *table, sum);
    return 0;
}

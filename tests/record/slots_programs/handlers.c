/* SPDX-License-Identifier: Apache-2.0 */
/* a handler at any instruction: it calls instrumented functions, some that are open, and now and then leaves by siglongjmp */
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#define NI __attribute__((noinline))
extern int other(int);
static volatile int sink; static volatile long handlers, jumps, inner; static sigjmp_buf jb; static volatile int jump_ok;
NI int leaf(int x) { return x ^ 5; }
NI int b(int x) { return leaf(x) + other(x); }
NI int a(int x) { return b(x) + b(x + 1); }
NI int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
NI int cmp(const void *p, const void *q) { return b(*(int *)p) - b(*(int *)q); }
NI void handler(int s) { handlers++; inner += 2; sink += a(s); fib(3); if (jump_ok && handlers % 7 == 0) { jumps++; siglongjmp(jb, 1); } }
int main(int c, char **v)
{
    struct itimerval t = {{0, 1000}, {0, 1000}};
    struct sigaction sa; memset(&sa, 0, sizeof sa); sa.sa_handler = handler; sigaction(SIGALRM, &sa, 0); setitimer(ITIMER_REAL, &t, 0);
    long n = atol(v[1]), done = 0;
    for (long i = 0; i < n; i++) {
        if (sigsetjmp(jb, 1) == 0) { jump_ok = 1; for (int k = 0; k < 200; k++) { a(k); sink += fib(8); } int w[40]; for (int k = 0; k < 40; k++) w[k] = (k * 7) % 41; qsort(w, 40, sizeof *w, cmp); jump_ok = 0; done++; }
        jump_ok = 0;
    }
    memset(&t, 0, sizeof t); setitimer(ITIMER_REAL, &t, 0);
    printf("handlers %ld jumps %ld\n", handlers, jumps);
}

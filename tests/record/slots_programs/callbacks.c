/* SPDX-License-Identifier: Apache-2.0 */
/* callbacks through libc that keeps its own data in r15, threads, setjmp, signals, ucontext, polymorphic sites, recursion through qsort */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#define NI __attribute__((noinline))
extern int other(int x);
static volatile int sink;
NI int leaf(int x) { return x ^ 5; }
NI int down(int x) { sink += other(x); return leaf(x) + 1; }
static long cmps;
NI int cmp(const void *a, const void *b) { cmps++; down(*(int *)a); return *(int *)a - *(int *)b; }
NI void sorts(int n) { int v[n]; for (int i = 0; i < n; i++) v[i] = (i * 7919) % 1009; qsort(v, n, sizeof *v, cmp); int key = v[3]; bsearch(&key, v, n, sizeof *v, cmp); }
static jmp_buf jb;
NI void deep_jump(int n) { if (n == 0) longjmp(jb, 1); deep_jump(n - 1); sink++; }
NI void mid(int n) { deep_jump(n); sink++; }
NI int jumper(int n) { volatile int r = 0; for (int i = 0; i < n; i++) { if (setjmp(jb) == 0) mid(i % 5); else r += down(i); } return r; }
NI int cmpj(const void *a, const void *b) { if (*(int *)a == 13) longjmp(jb, 2); return *(int *)a - *(int *)b; }
NI int jumpsort(void) { volatile int r = 0; for (int k = 0; k < 20; k++) { int v[64]; for (int i = 0; i < 64; i++) v[i] = 64 - i; if (setjmp(jb) == 0) { qsort(v, 64, sizeof *v, cmpj); r += 100; } else r++; down(k); } return r; }
static ucontext_t ma, co; static char stack[65536]; static int steps;
NI void yielding(int n) { steps++; swapcontext(&co, &ma); down(n); }
NI void cobody(void) { for (int i = 0; i < 50; i++) yielding(i); }
NI void coroutines(void) { getcontext(&co); co.uc_stack.ss_sp = stack; co.uc_stack.ss_size = sizeof stack; co.uc_link = &ma; makecontext(&co, cobody, 0); for (int i = 0; i < 51; i++) { swapcontext(&ma, &co); down(i); } }
static volatile int got;
NI void handler(int s) { got++; down(s); }
NI void signals(void) { signal(SIGUSR1, handler); for (int i = 0; i < 30; i++) { raise(SIGUSR1); down(i); } }
NI void *thread(void *p) { for (int i = 0; i < 1000; i++) down(i); return p; }
NI void threads(void) { pthread_t t[4]; for (int i = 0; i < 4; i++) pthread_create(&t[i], 0, thread, 0); for (int i = 0; i < 4; i++) pthread_join(t[i], 0); }
NI int rec(int n); 
static int rdepth;
NI int cmprec(const void *a, const void *b) { if (rdepth > 0) { rdepth--; rec(3); } return *(int *)a - *(int *)b; }
NI int rec(int n) { int v[4] = {n, 2, 1, 3}; qsort(v, 4, sizeof *v, cmprec); if (n > 0) rec(n - 1); leaf(n); return v[0]; }
NI int p0(int x) { return leaf(x); } NI int p1(int x) { return leaf(x) + 1; } NI int p2(int x) { return other(x); } NI int p3(int x) { return x; } NI int p4(int x) { return down(x); } NI int p5(int x) { return leaf(x); }
static int (*const tab[6])(int) = {p0, p1, p2, p3, p4, p5};
NI int poly(int n) { int r = 0; for (int i = 0; i < n; i++) r += tab[i % 6](i); return r; }

NI int stackargs(int a, int b, int c, int d, int e, int f, int g, double h, int i) { return a + b + c + d + e + f + g + (int)h + i + leaf(a) ; }
NI double va(int n, ...) { __builtin_va_list l; __builtin_va_start(l, n); double s = 0; while (n--) s += __builtin_va_arg(l, double); __builtin_va_end(l); leaf(1); return s; }
NI int aligned(int n) { _Alignas(64) volatile char b[64]; for (int i = 0; i < 64; i++) b[i] = i == n; return down(n) + b[1] + ((unsigned long)b & 63 ? 1000 : 0); }
NI int nested(int n) { int k = n; NI int in(int x) { k += leaf(x); return k + other(x); } return in(3) + in(4); }
int main(int c, char **v)
{
    const char *w = c > 1 ? v[1] : "all"; int all = !strcmp(w, "all");
#define DO(x, e) if (all || !strcmp(w, #x)) { e; }
    DO(sorts, for (int i = 0; i < 10; i++) sorts(100))
    DO(jumper, printf("%d\n", jumper(50)))
    DO(jumpsort, printf("%d\n", jumpsort()))
    DO(coroutines, coroutines())
    DO(signals, signals())
    DO(threads, threads())
    DO(rec, rdepth = 6; printf("%d\n", rec(4)))
    DO(poly, printf("%d\n", poly(600)))
    DO(misc, printf("%d %g %d %d\n", stackargs(1, 2, 3, 4, 5, 6, 7, 8.0, 9), va(3, 1.0, 2.0, 3.5), aligned(9), nested(2)))
    printf("%ld %d %d %d\n", cmps, got, steps, sink);
    return 0;
}

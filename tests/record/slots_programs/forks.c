/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/wait.h>
#define NI __attribute__((noinline))
static volatile int sink;
NI int leaf(int x) { return x ^ 5; }
NI int work(int n) { for (int i = 0; i < n; i++) sink += leaf(i); free(malloc(64)); return sink; }
NI int rec(int n) { if (n == 0) { pid_t p = fork(); if (p == 0) { work(7); return 1; } int st; waitpid(p, &st, 0); return 0; } int r = rec(n - 1); work(3); return r; }
int main(void) { work(2); int r = rec(3); work(5); printf("%d\n", r); fflush(stdout); _exit(0); }

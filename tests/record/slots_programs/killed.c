/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <unistd.h>
#define NI __attribute__((noinline))
static volatile long n;
NI void work(void) { n++; }
NI void inner(void) { work(); if (n == 1000000) { printf("%ld\n", n); fflush(stdout); pause(); } }
NI void outer(void) { for (;;) inner(); }
int main(void) { outer(); }

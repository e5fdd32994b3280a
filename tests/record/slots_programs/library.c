/* SPDX-License-Identifier: Apache-2.0 */
#define NI __attribute__((noinline))
static NI int in(int x) { return x ^ 3; }
NI int so_a(int x) { return in(x) + 1; }
NI int so_b(int x) { return so_a(x) + so_a(x + 1); }
NI int so_call(int (*f)(int), int x) { return f(x) + so_b(x); }
__attribute__((constructor)) static void init(void) { so_b(1); }

// SPDX-License-Identifier: Apache-2.0
// Inlined bodies in all the places where a compiler copies, shares and moves them: what the
// assembler's front must tell from the functions' own.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OWN __attribute__((noinline, noclone))
#define IN static inline __attribute__((always_inline))

static volatile int sink;
static jmp_buf jump;

OWN static int called(int x)
{
    sink += x;
    return x + 1;
}

OWN static void fails(int code)
{
    printf("fails %d\n", code);
    longjmp(jump, 1); // the compiler does not know that it never returns
}

__attribute__((noreturn)) OWN static void ends(int code)
{
    sink = code;
    longjmp(jump, 2);
}

IN int two_returns(int x)
{
    if (x & 1)
        return called(x);
    if (x & 2)
        return x * 3;
    return called(x * 2);
}

IN int leaf(int x)
{
    return x * 7 + sink;
}

IN int nested(int x)
{
    return leaf(x) + two_returns(leaf(x + 1));
}

IN int by_table(int x)
{
    switch (x % 9) {
    case 0: return called(1);
    case 1: return leaf(x) - 2;
    case 2: return called(3) + called(4);
    case 3: return nested(x);
    case 4: return x * 5;
    case 5: return two_returns(x);
    case 6: return called(x) + x;
    case 7: return 11;
    default: return x;
    }
}

IN int guarded(int x)
{
    if (__builtin_expect(x == 77, 0))
        abort();
    if (__builtin_expect(x == 78, 0))
        ends(x);
    return leaf(x);
}

IN int may_fail(int x)
{
    if (__builtin_expect(x == 5, 0))
        fails(x);
    return called(x) + guarded(x);
}

// Recursion inlined into itself.
OWN static int again(int n)
{
    return n < 2 ? called(n) : again(n - 1) + again(n - 2);
}

static int mutual_b(int n);
static int mutual_a(int n)
{
    return n == 0 ? called(0) : mutual_b(n - 1);
}
static int mutual_b(int n)
{
    return n == 0 ? leaf(0) : mutual_a(n - 1) + called(n);
}

OWN static int unrolled(const int *list, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += leaf(list[i]) + (list[i] & 1 ? called(i) : 0);
    for (int i = 0; i < 4; i++)
        sum += two_returns(list[i]);
    return sum;
}

OWN static int tables(int x)
{
    int sum = by_table(x);
    switch (sum & 15) {
    case 0: sum += by_table(x + 1); break;
    case 1: sum += called(9); break;
    case 2: sum -= leaf(2); break;
    case 3: sum += nested(3); break;
    case 5: sum += by_table(sum & 7); break;
    case 7: sum++; break;
    case 9: sum += called(sum); break;
    case 11: sum *= 2; break;
    default: break;
    }
    return sum;
}

// An interpreter by computed gotos.
OWN static int interpret(const char *code)
{
    static const void *const labels[] = {&&add, &&twice, &&call, &&nest, &&end};
    int sum = 1;
    goto *labels[*code++ - 'a'];
add:
    sum += leaf(sum);
    goto *labels[*code++ - 'a'];
twice:
    sum = two_returns(sum);
    goto *labels[*code++ - 'a'];
call:
    sum += called(sum & 3);
    goto *labels[*code++ - 'a'];
nest:
    sum ^= nested(sum & 255);
    goto *labels[*code++ - 'a'];
end:
    return sum;
}

OWN static int by_asm_goto(int x)
{
    __asm__ goto("test %0, %0; jne %l1" : : "r"(x) : "cc" : other);
    return leaf(x) + called(1);
other:
    return two_returns(x) + 1;
}

OWN static int compared(const void *left, const void *right)
{
    return leaf(*(const int *)left) - leaf(*(const int *)right);
}

OWN static double numbers(double x, int n, ...)
{
    return x * leaf(n);
}

OWN static int large(int n)
{
    int list[n + 16];
    memset(list, 1, sizeof list);
    for (int i = 0; i < n; i++)
        list[i] = by_table(i) ^ may_fail(i % 4);
    return unrolled(list, n);
}

int main(void)
{
    static volatile int caught;
    int list[100];
    for (int i = 0; i < 100; i++)
        list[i] = (i * 37) % 101;
    caught += setjmp(jump);
    if (caught < 2)
        printf("%d\n", may_fail(5));
    if (caught < 4)
        printf("%d\n", guarded(78));
    int sum = again(12) + mutual_a(9) + unrolled(list, 100) + large(50);
    for (int i = 0; i < 60; i++)
        sum += tables(i) + by_asm_goto(i % 3);
    sum += interpret("abcdabcdddcbae");
    qsort(list, 100, sizeof *list, compared);
    printf("%d %.1f %d\n", sum, numbers(1.5, 2, 3), list[50]);
    return 0;
}

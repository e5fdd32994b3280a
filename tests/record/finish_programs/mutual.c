/* SPDX-License-Identifier: Apache-2.0 */
/* Mutual recursion: a parser of sums and products, and a cycle of three. */
#include <stdio.h>

static const char *at;

static long expression(void);

static long number(void)
{
    long value = 0;
    while (*at >= '0' && *at <= '9')
        value = value * 10 + (*at++ - '0');
    return value;
}

static long factor(void)
{
    if (*at != '(')
        return number();
    at++;
    long value = expression();
    at++;
    return value;
}

static long term(void)
{
    long value = factor();
    while (*at == '*') {
        at++;
        value *= factor();
    }
    return value;
}

static long expression(void)
{
    long value = term();
    while (*at == '+') {
        at++;
        value += term();
    }
    return value;
}

static int b(int n);
static int c(int n);
static int a(int n) { return n <= 0 ? 0 : b(n - 1) + 1; }
static int b(int n) { return n <= 0 ? 0 : c(n - 1) + (n % 3 == 0 ? a(n - 2) : 0); }
static int c(int n) { return n <= 0 ? 0 : a(n - 1) + b(n - 2); }

int main(void)
{
    long sum = 0;
    for (int i = 0; i < 50; i++) {
        at = i % 2 ? "(1+2)*(3+4*(5+6))+7" : "((((((8))))))*9+(1+(2+(3+(4))))";
        sum += expression();
    }
    printf("%ld %d\n", sum, a(20));
    return 0;
}

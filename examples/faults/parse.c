/* SPDX-License-Identifier: Apache-2.0 */
/* A planted fault: expr() tries whether a comparison follows by parsing the sum, and where none
 * does parses it again. Each level of parentheses doubles the work. */
#include <stdio.h>
#include <string.h>

static const char *text;
static size_t at;

static int expr(void);

__attribute__((noinline)) static int atom(void)
{
    if (text[at] == '(') {
        at++;
        int value = expr();
        at++; /* ')' */
        return value;
    }
    return text[at++] - '0';
}

__attribute__((noinline)) static int sum(void)
{
    int value = atom();
    while (text[at] == '+') {
        at++;
        value += atom();
    }
    return value;
}

__attribute__((noinline)) static int try_comparison(int *ret)
{
    size_t start = at;
    int left = sum();
    if (text[at] != '<') {
        at = start;
        return 0;
    }
    at++;
    *ret = left < sum();
    return 1;
}

__attribute__((noinline)) static int expr(void)
{
    int value;
    return try_comparison(&value) ? value : sum();
}

int main(void)
{
    char line[128];
    int depth = 16, size = 0;
    for (int i = 0; i < depth; i++)
        line[size++] = '(';
    line[size++] = '1';
    for (int i = 0; i < depth; i++) {
        line[size++] = ')';
        line[size++] = '+';
        line[size++] = '2';
    }
    line[size] = '\0';
    text = line;
    int value = 0;
    for (int i = 0; i < 3; i++) {
        at = 0;
        value += expr();
    }
    printf("%d\n", value);
    return 0;
}

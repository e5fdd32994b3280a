/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of calls that test_chains.py knows by heart. */
#include <setjmp.h>
#include <stdlib.h>

#include "counted.h"

static jmp_buf here;
static volatile int sum;

static ALONE void c(int n)
{
    COUNT;
    sum += n;
}

static ALONE void b(int n)
{
    COUNT;
    c(n);
    c(n + 1);
    sum++;
}

static ALONE void a(int n)
{
    COUNT;
    b(n);
    sum++;
}

static ALONE void jumps(int n)
{
    COUNT;
    c(n);
    longjmp(here, 1);
}

static ALONE void deeper(int n)
{
    COUNT;
    if (n > 0)
        deeper(n - 1);
    else
        jumps(n);
    sum++;
}

static ALONE void catches(int n)
{
    COUNT;
    if (setjmp(here) == 0)
        deeper(n);
    else
        a(n);
    c(n);
    sum++;
}

static ALONE int compare(const void *left, const void *right)
{
    COUNT;
    c(1);
    return *(const int *)left - *(const int *)right;
}

static ALONE void sort(void)
{
    COUNT;
    int two[2] = {2, 1};
    a(0); /* dead when the library runs */
    qsort(two, 2, sizeof two[0], compare);
    sum += two[0];
}

static ALONE void visit(void *member)
{
    COUNT;
    b(*(int *)member);
    sum++;
}

static ALONE void each(void (*function)(void *), int n)
{
    COUNT;
    for (int i = 0; i < n; i++)
        function(&i);
}

int main(void)
{
    COUNT;
    for (volatile int i = 0; i < 3; i++) {
        a(i);
        catches(2);
        sort();
    }
    each(visit, 5);
    jumps(setjmp(here) == 0 ? 1 : (print_counts(), exit(0), 0));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Small functions that optimisers inline, nest, unroll and turn into loops or jumps. */
#include <stdio.h>

static inline int square(int x) { return x * x; }
static inline int cube(int x) { return square(x) * x; }
static inline __attribute__((always_inline)) int quad(int x) { return square(square(x)); }

static int sum_to(int n, int sum)
{
    if (n == 0)
        return sum;
    return sum_to(n - 1, sum + n);
}

static int finish(int n) { return sum_to(n, 0); }
static int pass_on(int n) { return finish(n + 1); }

static int unrolled(const int *values)
{
    int sum = 0;
    for (int i = 0; i < 4; i++)
        sum += cube(values[i]);
    return sum;
}

static int only_once(int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += quad(i) & 3;
    return sum;
}

int main(int argc, char **argv)
{
    int values[] = { argc, 2, 3, 4 }, sum = 0;
    (void)argv;
    for (int i = 0; i < 20; i++)
        sum += unrolled(values) + pass_on(i);
    printf("%d %d\n", sum, only_once(9));
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Calls through pointers: a table, a member, an argument, a returned function. */
#include <stdio.h>

typedef long operation(long, long);

static long add(long x, long y) { return x + y; }
static long sub(long x, long y) { return x - y; }
static long mul(long x, long y) { return x * y; }

static operation *const table[] = { add, sub, mul };

struct shape {
    long (*area)(const struct shape *);
    long width, height;
};

static long box(const struct shape *shape) { return mul(shape->width, shape->height); }
static long triangle(const struct shape *shape) { return box(shape) / 2; }

static operation *choose(int i) { return table[i % 3]; }

static long fold(operation *f, const long *values, int count)
{
    long result = values[0];
    for (int i = 1; i < count; i++)
        result = f(result, values[i]);
    return result;
}

int main(void)
{
    struct shape shapes[] = { { box, 3, 4 }, { triangle, 6, 7 }, { box, 1, 9 } };
    long values[] = { 5, 3, 2, 7 }, sum = 0;
    for (int i = 0; i < 30; i++) {
        sum += choose(i)(i, 2);
        sum += fold(table[i % 2], values, 4);
        sum += shapes[i % 3].area(&shapes[i % 3]);
    }
    printf("%ld\n", sum);
    return 0;
}

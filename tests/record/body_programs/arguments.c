/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments and results by every way that there is: all the registers and the stack, variadic
 * functions (rax has the number of vector registers), wide integers, structures, long doubles,
 * complex numbers, vectors, the calling convention of another system. What is printed tells whether
 * each arrived. Each function is called from several places, twice from each. */
#include <complex.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "counted.h"

struct small {
    int64_t a;
    double b;
};
struct pair {
    int64_t a, b;
};
struct large {
    int64_t a[9];
};
typedef double wide4 __attribute__((vector_size(32)));
typedef double wide8 __attribute__((vector_size(64)));

static ALONE int64_t six(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, int64_t f)
{
    COUNT;
    return a + 3 * b + 5 * c + 7 * d + 11 * e + 13 * f;
}

static ALONE int64_t eleven(int a, int64_t b, short c, int64_t d, char e, int64_t f, int g,
                            int64_t h, unsigned char i, int64_t j, int k)
{
    COUNT;
    return six(a, b, c, d, e, f) * 31 + six(g, h, i, j, k, a);
}

static ALONE double floats(double a, float b, double c, float d, double e, float f, double g,
                           float h, double i, float j)
{
    COUNT;
    return a + 3 * b + 5 * c + 7 * d + 11 * e + 13 * f + 17 * g + 19 * h + 23 * i + 29 * j;
}

static ALONE double both(int a, double b, int64_t c, double d, unsigned e, double f, int64_t g,
                         double h, int i, double j, int64_t k, double l)
{
    COUNT;
    return floats(b, (float)d, f, (float)h, j, (float)l, a, (float)c, e, (float)g) + i * (double)k;
}

static ALONE double variadic(int n, ...)
{
    COUNT;
    va_list list;
    double sum = 0;
    va_start(list, n);
    for (int i = 0; i < n; i++)
        sum = sum * 1.5 + (i % 3 == 2 ? (double)va_arg(list, int) : va_arg(list, double));
    va_end(list);
    return sum;
}

static ALONE int64_t variadic_integers(const char *kinds, ...)
{
    COUNT;
    va_list list;
    int64_t sum = 0;
    va_start(list, kinds);
    for (; *kinds != '\0'; kinds++)
        sum = sum * 7 + (*kinds == 'i' ? va_arg(list, int) : va_arg(list, int64_t));
    va_end(list);
    return sum;
}

static ALONE __int128 twice_as_wide(int a, __int128 b, int64_t c, __int128 d, __int128 e)
{
    COUNT;
    return a + b * c + (d ^ e);
}

static ALONE struct small mixed(struct small s, struct pair p, double d, struct large l)
{
    COUNT;
    return (struct small){s.a + p.a * 3 + l.a[8], s.b + (double)p.b + d};
}

static ALONE struct pair swapped(struct pair p, int64_t n)
{
    COUNT;
    return (struct pair){p.b + n, p.a - n};
}

static ALONE struct large filled(int64_t a, struct pair p, int64_t b)
{
    COUNT;
    struct large l;
    for (int i = 0; i < 9; i++)
        l.a[i] = a * i + p.a + p.b * b;
    return l;
}

static ALONE long double extended(long double a, int b, long double c)
{
    COUNT;
    return a * b + c / 3;
}

static ALONE complex double turned(complex double a, double b, complex float c)
{
    COUNT;
    return a * b + (complex double)c;
}

__attribute__((ms_abi)) static ALONE int64_t foreign(int64_t a, double b, int64_t c, double d,
                                                     int64_t e, int64_t f)
{
    COUNT;
    return six(a, (int64_t)b, c, (int64_t)d, e, f);
}

/* Keeps values in all the registers that a callee must keep, and others in memory. */
static ALONE int64_t busy(int64_t n)
{
    COUNT;
    int64_t v[14];
    for (int i = 0; i < 14; i++)
        v[i] = n * i + 1;
    for (int r = 0; r < 3; r++)
        for (int i = 0; i < 14; i++)
            v[i] += six(v[(i + 1) % 14], v[(i + 5) % 14], i, r, n, v[i]) & 0xffff;
    int64_t sum = 0;
    for (int i = 0; i < 14; i++)
        sum = sum * 3 + v[i];
    return sum;
}

__attribute__((target("avx"))) static ALONE wide4 four(wide4 a, wide4 b, int n, wide4 c, wide4 d,
                                                       wide4 e, wide4 f, wide4 g, wide4 h)
{
    COUNT;
    return a + b * (double)n + c - d * e + f * 2.0 + g * h;
}

__attribute__((target("avx"))) static ALONE void four_doubles(double x)
{
    COUNT;
    wide4 a = {x, x + 1, x + 2, x + 3};
    for (int i = 0; i < 3; i++)
        a = four(a, a * 0.5, i, a + 1.0, a - 1.0, a * 0.25, a, a * 0.125, a + 3.0);
    printf("%g %g %g %g\n", a[0], a[1], a[2], a[3]);
}

__attribute__((target("avx512f"))) static ALONE wide8 eight(wide8 a, wide8 b, wide8 c, int n)
{
    COUNT;
    return a * 0.5 + b - c * (double)n;
}

__attribute__((target("avx512f"))) static ALONE void eight_doubles(double x)
{
    COUNT;
    wide8 a = {x, x + 1, x + 2, x + 3, x + 4, x + 5, x + 6, x + 7};
    for (int i = 0; i < 3; i++)
        a = eight(a, a * 0.25, a + 1.0, i);
    for (int i = 0; i < 8; i++)
        printf("%g ", a[i]);
    printf("\n");
}

static ALONE void print_wide(__int128 n)
{
    COUNT;
    printf("%llx %llx\n", (unsigned long long)(n >> 64), (unsigned long long)n);
}

static ALONE void round_of(int n)
{
    COUNT;
    struct large l = filled(n, (struct pair){n + 1, n + 2}, n + 3);
    struct pair p = swapped(swapped((struct pair){n, -n}, 5), 7);
    struct small s = mixed((struct small){n, n * 0.5}, p, n * 0.25, l);
    complex double c = turned(n + 2.0 * I, 1.5, (complex float)(1.0f - (float)n * I));
    printf("%lld %lld %lld %lld %g\n", (long long)l.a[8], (long long)p.a, (long long)p.b,
           (long long)s.a, s.b);
    printf("%lld %lld %lld\n", (long long)six(n, 2, 3, 4, 5, 6),
           (long long)eleven(n, -2, 3, -4, 5, -6, 7, -8, 9, -10, 11), (long long)busy(n));
    printf("%g %g\n", floats(n, 2, 3, 4, 5, 6, 7, 8, 9, 10),
           both(n, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12));
    printf("%g %g %g %lld\n", variadic(2, n * 0.5, 3.0), variadic(0),
           variadic(14, 1., 2., 3, 4., 5., 6, 7., 8., 9, 10., 11., 12, 13., 14.),
           (long long)variadic_integers("illiiliil", n, (int64_t)1 << 40, (int64_t)2, 3, 4,
                                        (int64_t)5, 6, 7, (int64_t)8));
    print_wide(twice_as_wide(n, ((__int128)n << 70) + 5, 3, (__int128)7 << 65, n));
    printf("%.15Lg %.10g %.10g\n", extended(n + 0.1L, 3, extended(1.5L, n, 2)), creal(c), cimag(c));
    printf("%lld\n", (long long)foreign(n, 2.0, 3, 4.0, 5, 6));
}

int main(void)
{
    COUNT;
    for (int i = 0; i < 4; i++)
        round_of(i * 3);
    round_of(100);
    for (int i = 0; i < 3; i++) {
        if (__builtin_cpu_supports("avx"))
            four_doubles(i + 0.5);
        if (__builtin_cpu_supports("avx512f"))
            eight_doubles(i + 0.25);
    }
    print_counts();
    return 0;
}

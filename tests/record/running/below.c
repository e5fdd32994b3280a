/* SPDX-License-Identifier: Apache-2.0 */
/* leaf() uses processor time below chosen(), by way of a body that is inlined, and three times as
 * much elsewhere. */
static volatile unsigned sink;

__attribute__((noinline, noclone)) unsigned leaf(unsigned n)
{
    unsigned s = 1;
    while (n--)
        s = s * 1664525u + n;
    return s;
}

static inline __attribute__((always_inline)) unsigned middle(unsigned n)
{
    return leaf(n) + 1;
}

__attribute__((noinline, noclone)) void chosen(void)
{
    sink += middle(100000000);
}

__attribute__((noinline, noclone)) void elsewhere(void)
{
    sink += leaf(300000000);
}

int main(void)
{
    elsewhere();
    chosen();
    return 0;
}

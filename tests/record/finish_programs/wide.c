/* More contexts than a small recording holds, and then more calls, allocations and blocks of code. */
#include <stdlib.h>

static volatile unsigned kept;
static void (*const all[16])(unsigned);

#define F(n)                               \
    static void f##n(unsigned bits)        \
    {                                      \
        kept++;                            \
        if (bits != 0)                     \
            all[bits % 16](bits / 16);     \
    }
F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11) F(12) F(13) F(14) F(15)

static void (*const all[16])(unsigned) = {f0, f1, f2,  f3,  f4,  f5,  f6,  f7,
                                          f8, f9, f10, f11, f12, f13, f14, f15};

static void *late(unsigned size)
{
    kept += size;
    if (kept > 1000)
        kept += 2;
    if (size == 7)
        kept = 0;
    return malloc(size);
}

int main(void)
{
    for (unsigned i = 1; i < 60000; i++)
        f0(i);
    for (int i = 0; i < 100; i++)
        free(late(100));
    return 0;
}

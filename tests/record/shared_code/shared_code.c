/* SPDX-License-Identifier: Apache-2.0 */
/* Inlined bodies that begin or end alike: optimisers make one piece of code of several. Also C++.
 */
#include <stdio.h>

#define OWN __attribute__((noinline))

struct out {
    int at, lines;
    unsigned words[1000];
};

OWN int put(struct out *o, unsigned w)
{
    o->words[o->at] = w;
    o->lines++;
    return o->at++;
}

static int put_wide(struct out *o, int op, int to, unsigned rest)
{
    return put(o, (unsigned)op | ((unsigned)to << 7) | (rest << 15));
}

static int put_extra(struct out *o, int to)
{
    return put(o, 82u | ((unsigned)to << 7));
}

/* Both ways begin with the same body. */
static int constant(struct out *o, int to, int k)
{
    if (k <= 131071)
        return put_wide(o, 3, to, (unsigned)k);
    int p = put_wide(o, 4, to, 0);
    put_extra(o, k);
    return p;
}

/* Several end with the same call, made by different bodies. */
static void load(struct out *o, int kind, int to, int k)
{
    switch (kind) {
    case 0:
        constant(o, to, k);
        break;
    case 1:
        put_wide(o, 5, to, (unsigned)k);
        break;
    case 2:
        if (k > 3)
            put_wide(o, 1, to, (unsigned)k);
        else
            constant(o, to, k);
        break;
    case 3:
        constant(o, to, k + 1);
        break;
    case 4:
        put_extra(o, k);
        break;
    }
}

OWN void store(struct out *o, int kind, int to, int k)
{
    load(o, kind, to, k);
    o->lines--;
}

static void one(struct out *o, int k)
{
    put(o, (unsigned)k);
}
static void other(struct out *o, int k)
{
    put(o, (unsigned)k);
}

/* Ways that do the same: nothing is left of the choice but who is entered. */
OWN void choose(struct out *o, int which)
{
    if (which > 4)
        one(o, which);
    else
        other(o, which);
}

/* Whole ways are alike. */
OWN int same(struct out *o, int which)
{
    int sum = 0;
    switch (which & 3) {
    case 1:
        sum = put_extra(o, 7);
        break;
    case 2:
        sum = put_extra(o, 7);
        break;
    case 3:
        sum = put_extra(o, 9);
        break;
    }
    return sum;
}

int main(void)
{
    static struct out o;
    for (int i = 0; i < 40; i++) {
        store(&o, i % 5, i, i % 7);
        store(&o, 0, 1, 200000);
        choose(&o, i % 8);
        same(&o, i);
    }
    printf("%d\n", o.at);
    return 0;
}

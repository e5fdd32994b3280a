// SPDX-License-Identifier: Apache-2.0
// C++ exceptions: from recursion, past frames with destructors, rethrown, out of a library's
// callback, thrown in a destructor's callee; and what is called after them, from the same place and
// deeper ones.
#include <cstdlib>
#include <stdexcept>

#include "counted.h"

namespace
{

volatile int sum;

ALONE int leaf(int x)
{
    COUNT;
    return x ^ 5;
}

ALONE int deeper(int x)
{
    COUNT;
    volatile char room[600];
    room[x & 255] = 1;
    return leaf(x) + room[x & 255];
}

struct guard {
    int n;
    explicit guard(int value) : n(value)
    {
    }
    ALONE ~guard()
    {
        COUNT;
        sum += leaf(n);
    }
};

struct failure : std::runtime_error {
    int n;
    explicit ALONE failure(int value) : std::runtime_error("failure"), n(value)
    {
        COUNT;
    }
    ALONE ~failure() override
    {
        COUNT;
        sum += leaf(n);
    }
};

ALONE void thrower(int depth, int how)
{
    COUNT;
    guard here(depth);
    if (depth > 0)
        thrower(depth - 1, how);
    else if (how == 1)
        throw failure(how);
    else if (how == 2)
        throw how;
    sum += leaf(depth);
}

ALONE int between(int depth, int how)
{
    COUNT;
    try {
        thrower(depth, how);
    } catch (const failure &f) {
        sum += deeper(f.n);
        if (depth % 2 == 0)
            throw;
    }
    return leaf(how);
}

ALONE int compare(const void *a, const void *b)
{
    COUNT;
    if (*static_cast<const int *>(a) == 5)
        throw 5;
    return *static_cast<const int *>(a) - *static_cast<const int *>(b);
}

ALONE int sort(int from)
{
    COUNT;
    int values[16];
    for (int i = 0; i < 16; i++)
        values[i] = from + 16 - i;
    std::qsort(values, 16, sizeof values[0], compare);
    return values[0];
}

} // namespace

int main()
{
    COUNT;
    for (int i = 0; i < 60; i++) {
        try {
            sum += between(i % 5, i % 3);
        } catch (const failure &f) {
            sum += deeper(f.n);
        } catch (int n) {
            sum += leaf(n);
        }
        sum += deeper(i);
    }
    for (int i = 0; i < 10; i++) {
        try {
            sum += sort(i % 3 == 0 ? 0 : 100);
        } catch (int n) {
            sum += deeper(n);
        }
    }
    std::printf("%d\n", sum);
    print_counts();
}

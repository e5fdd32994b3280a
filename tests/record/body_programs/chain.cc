// SPDX-License-Identifier: Apache-2.0
// Chains of calls that test_chains.py knows by heart: exceptions.
#include "counted.h"

namespace
{

volatile int sum;

ALONE void c(int n)
{
    COUNT;
    sum = sum + n;
}

ALONE void b(int n)
{
    COUNT;
    c(n);
    sum = sum + 1;
}

ALONE void throws(int n)
{
    COUNT;
    c(n);
    if (n > 0)
        throw n;
    sum = sum + 1;
}

ALONE void deeper(int depth, int n)
{
    COUNT;
    if (depth > 0)
        deeper(depth - 1, n);
    else
        throws(n);
    sum = sum + 1;
}

ALONE void catches(int n)
{
    COUNT;
    try {
        deeper(3, n);
    } catch (int caught) {
        b(caught);
    }
    b(n);
    sum = sum + 1;
}

ALONE void passes(int n)
{
    COUNT;
    try {
        catches(n);
        throws(n + 1);
    } catch (int) {
        c(n);
        throw;
    }
}

} // namespace

int main()
{
    COUNT;
    for (int i = 0; i < 4; i++) {
        try {
            passes(i);
        } catch (int caught) {
            b(caught);
        }
        b(i);
    }
    print_counts();
}

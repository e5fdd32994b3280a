// SPDX-License-Identifier: Apache-2.0
#include "shared.h"

#include <cstdlib>

std::atomic<long> sum;
thread_local holder<std::string> thread_text(std::string("text"));
static at_start early(3);

ALONE at_start::at_start(int v) : value(v)
{
    COUNT;
    sum += template_twice(v);
}

ALONE at_start::~at_start()
{
    COUNT;
    sum += value;
}

both::~both() // the deleting one calls it
{
    sum++;
}

ALONE int both::first_number(int x)
{
    COUNT;
    return (int)field + template_twice(x);
}

ALONE int both::second_number(int x)
{
    COUNT;
    return inline_shared(x) + first_number(x);
}

ALONE second *make_second(long field)
{
    COUNT;
    return new both(field);
}

ALONE int thrown_through(int depth, int x)
{
    COUNT;
    std::string kept(40, 'x');
    if (depth == 0)
        return template_twice(x);
    try {
        return thrown_through(depth - 1, x) + (int)kept.size();
    } catch (failure &f) {
        if (--f.level > 0)
            throw;
        return inline_shared(depth);
    }
}

ALONE int call_back(int (*function)(int), int x) noexcept
{
    COUNT;
    return function(x);
}

__attribute__((cold)) static ALONE int cold_part(int x)
{
    COUNT;
    return template_twice(x);
}

/* The end of each arm may become a jump to another function. */
ALONE int cold_or_not(int x)
{
    COUNT;
    if (__builtin_expect(x % 10 == 0, 0)) {
        sum += x;
        if (x == 123456)
            throw failure(1);
        return cold_part(x);
    }
    return inline_shared(x);
}

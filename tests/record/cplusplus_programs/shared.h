// SPDX-License-Identifier: Apache-2.0
// What both units have: templates, inline functions, classes with several bases.
#pragma once

#include <stdexcept>
#include <string>

#include "counted.h"

extern std::atomic<long> sum;

struct failure : std::runtime_error {
    int level;
    explicit failure(int l) : std::runtime_error("failure"), level(l)
    {
    }
};

template <class T> ALONE T template_twice(T x)
{
    COUNT;
    if (x < T())
        throw failure(3);
    return x + x;
}

template <class T> struct holder {
    T value;
    explicit ALONE holder(const T &v) : value(v)
    {
        COUNT;
    }
    ALONE T holder_get() const
    {
        COUNT;
        return template_twice(value);
    }
};

ALONE inline int inline_shared(int x)
{
    COUNT;
    static const std::string kept = std::to_string(template_twice(7)); // guarded
    return x + (int)kept.size();
}

struct first {
    virtual ~first() = default;
    virtual int first_number(int x) = 0;
};
struct second {
    virtual ~second() = default;
    virtual int second_number(int x) = 0;
};
struct both : virtual first, virtual second { // calls arrive through thunks
    long field;
    explicit both(long f) : field(f)
    {
    }
    ~both() override;
    int first_number(int x) override;
    int second_number(int x) override;
};

struct at_start {
    int value;
    explicit at_start(int v);
    ~at_start();
};

extern thread_local holder<std::string> thread_text;

int thrown_through(int depth, int x);
int call_back(int (*function)(int), int x) noexcept;
second *make_second(long field);
int cold_or_not(int x);
int coroutine_sum(int n);

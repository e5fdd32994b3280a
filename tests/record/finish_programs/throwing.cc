/* SPDX-License-Identifier: Apache-2.0 */
/* Counts itself how often the lines with AT run, and prints that at the end: exceptions. */
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

static volatile long seen[200];
#define AT __atomic_fetch_add(&seen[__LINE__], 1, __ATOMIC_SEQ_CST)

static void print_all()
{
    for (int i = 0; i < 200; i++)
        if (seen[i] > 0)
            std::printf("%d %ld\n", i, seen[i]);
}

struct guard {
    int &left;
    explicit guard(int &counter) : left(counter)
    {
        AT;
    }
    ~guard()
    {
        AT;
        for (int i = 0; i < 3; i++)
            AT;
        left++;
    }
};

static int deep(int n, int &left)
{
    guard inner(left);
    AT;
    if (n == 0)
        throw std::runtime_error("at the end");
    int sum = deep(n - 1, left);
    AT; /* never */
    return sum + 1;
}

static int tries(int n, int &left)
{
    for (int i = 0; i < n; i++) {
        try {
            AT;
            if (i % 3 == 0)
                deep(i, left);
            AT;
        } catch (const std::runtime_error &failure) {
            AT;
            if (i % 2 == 0)
                throw;
            AT;
        }
        AT;
    }
    AT;
    return left;
}

struct shape {
    virtual ~shape()
    {
        AT;
    }
    virtual int area(int n) const
    {
        AT;
        return n;
    }
};
struct square : shape {
    int area(int n) const override
    {
        AT;
        return shape::area(n) * n;
    }
};

template <typename T> static T most(const std::vector<T> &all)
{
    T found = all[0];
    for (const T &one : all) {
        AT;
        if (found < one)
            AT, found = one;
    }
    return found;
}

/* Nothing in the statement says that the register is lost. */
__asm__(".macro spoil\n\txorl %r11d, %r11d\n.endm");
static __attribute__((noinline)) int spoils(int n)
{
    int turns = 0;
    for (int i = 0; i < n; i++) {
        __asm__ volatile("spoil" ::: "r11");
        if ((i & 1) != 0)
            AT, turns++;
        AT;
    }
    return turns;
}

static volatile int steps;

static __attribute__((noinline)) void step()
{
    AT;
    if (++steps % 7 == 0)
        throw steps;
}

/* Calls with nothing between them. */
static __attribute__((noinline)) void walk()
{
    try {
        guard here(const_cast<int &>(steps));
        step();
        step();
        step();
        AT;
    } catch (int) {
        AT;
    }
    AT;
}

int main()
{
    int left = 0, sum = 0;
    std::atexit(print_all);
    for (int i = 0; i < 12; i++) {
        try {
            sum += tries(i, left);
            AT;
        } catch (...) {
            AT;
        }
    }
    square one;
    const shape *both[] = {&one, new shape};
    for (int i = 0; i < 5; i++)
        AT, sum += both[i % 2]->area(i);
    delete both[1];
    for (int i = 0; i < 20; i++)
        walk(), sum += spoils(i % 3);
    sum += most(std::vector<int>{3, 1, 4, 1, 5, 9, 2, 6});
    AT;
    return sum == 0;
}

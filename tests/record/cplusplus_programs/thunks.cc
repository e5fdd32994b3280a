/* SPDX-License-Identifier: Apache-2.0 */
/* Variadic methods that are called by way of thunks: al, the number of vector arguments, goes
 * through them. Also what returns another class than its base's. */
#include <cstdarg>
#include <cstdio>

struct first {
    virtual long number()
    {
        return 1;
    }
    long one = 1;
};
struct second {
    virtual double sum(int, ...)
    {
        return 0;
    }
    virtual ~second()
    {
    }
    long two = 2;
};
struct shared {
    virtual double sum_shared(int, ...)
    {
        return 0;
    }
    virtual shared *copy()
    {
        return this;
    }
    virtual ~shared()
    {
    }
    long three = 3;
};
struct all : first, second, virtual shared {
    double sum(int count, ...) override;
    double sum_shared(int count, ...) override;
    all *copy() override
    {
        return this;
    }
};

static double add(double from, int count, va_list list)
{
    for (int i = 0; i < count; i++)
        from += va_arg(list, double);
    return from;
}

__attribute__((noinline)) double all::sum(int count, ...)
{
    va_list list;
    va_start(list, count);
    double sum = add(one, count, list);
    va_end(list);
    return sum;
}

__attribute__((noinline)) double all::sum_shared(int count, ...)
{
    va_list list;
    va_start(list, count);
    double sum = add(three, count, list);
    va_end(list);
    return sum;
}

second *volatile as_second;
shared *volatile as_shared;

__attribute__((noinline)) double step(int i)
{
    return as_second->sum(3, 1.0 * i, 2.0, 3.0) + as_shared->sum_shared(2, 4.0 * i, 5.0) +
           (as_shared->copy() != nullptr);
}

int main()
{
    all object;
    as_second = &object;
    as_shared = &object;
    double sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += step(i);
    std::printf("%.1f\n", sum);
    std::printf("count sum 1000\ncount sum_shared 1000\ncount step 1000\n");
}

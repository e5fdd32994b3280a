/* SPDX-License-Identifier: Apache-2.0 */
/* Lambdas that the library's templates run: at -O2 they are inlined into those. */
#include <algorithm>
#include <cstdio>
#include <functional>
#include <thread>
#include <vector>

static long by_function, by_thread;

__attribute__((noinline)) static long use(const std::function<long(long)> &function)
{
    long sum = 0;
    for (int i = 0; i < 1000; i++)
        sum += function(i);
    return sum;
}

__attribute__((noinline)) static long through_function(long factor)
{
    return use([=](long x) {
        by_function++;
        return x * factor;
    });
}

__attribute__((noinline)) static void through_thread()
{
    std::thread([] { by_thread++; }).join();
}

int main(int argc, char **)
{
    std::vector<int> numbers, others;
    for (int i = 0; i < 5000; i++) {
        numbers.push_back(i * 7919 % 5003);
        others.push_back(i * 104729 % 4999);
    }
    std::sort(numbers.begin(), numbers.end(), [=](int a, int b) { return a % 100 < b % 100 + argc - 1; });
    std::sort(others.begin(), others.end());
    long sum = 0;
    for (int i = 0; i < 40; i++)
        sum += through_function(i);
    through_thread();
    printf("sums %ld %d\n", sum, numbers[17] + others[17]);
    printf("count _M_invoke %ld\ncount _M_run %ld\n", by_function, by_thread);
}

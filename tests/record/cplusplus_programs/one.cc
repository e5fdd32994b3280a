// SPDX-License-Identifier: Apache-2.0
// C++ in two units: what the linker keeps once, constructors before main, thread-local objects,
// exceptions from one unit through the other, thunks, coroutines, a terminate in the end.
#include "shared.h"

#include <cstdlib>
#include <exception>
#include <memory>
#include <thread>
#ifdef __cpp_impl_coroutine
#include <coroutine>
#endif

static at_start early(4);

static ALONE int plus_one(int x)
{
    COUNT;
    return template_twice(x) + 1;
}

static ALONE void in_thread(int n)
{
    COUNT;
    for (int i = 0; i < n; i++)
        sum += (long)thread_text.holder_get().size() + inline_shared(i);
}

#ifdef __cpp_impl_coroutine
struct numbers {
    struct promise_type {
        int value;
        numbers get_return_object()
        {
            return numbers{std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend()
        {
            return {};
        }
        std::suspend_always final_suspend() noexcept
        {
            return {};
        }
        std::suspend_always yield_value(int v)
        {
            value = v;
            return {};
        }
        void return_void()
        {
        }
        void unhandled_exception()
        {
            value = -1;
        }
    };
    std::coroutine_handle<promise_type> handle;
};

static numbers count_up(int n)
{
    for (int i = 0; i < n; i++)
        co_yield template_twice(i);
    co_yield template_twice(-1);
}

ALONE int coroutine_sum(int n)
{
    COUNT;
    numbers all = count_up(n);
    int total = 0;
    for (all.handle.resume(); !all.handle.done(); all.handle.resume())
        total += inline_shared(all.handle.promise().value);
    total += all.handle.promise().value;
    all.handle.destroy();
    return total;
}
#else
ALONE int coroutine_sum(int n)
{
    COUNT;
    return n;
}
#endif

static ALONE int try_all(int x)
try {
    COUNT;
    return thrown_through(x % 5, x % 3 == 0 ? -x : x);
} catch (const std::exception &) {
    return plus_one(x);
}

[[noreturn]] static void ended()
{
    print_counts();
    std::printf("sum %ld\n", sum.load());
    std::fflush(stdout);
    std::exit(0);
}

static ALONE int thrower(int x)
{
    COUNT;
    return template_twice(-x);
}

int main()
{
    std::set_terminate(ended);
    for (int i = 1; i <= 60; i++) {
        sum += try_all(i);
        sum += cold_or_not(i);
        sum += call_back(plus_one, i);
        std::unique_ptr<second> object(make_second(i));
        sum += object->second_number(i);
        sum += dynamic_cast<first &>(*object).first_number(i);
        sum += holder<int>(i).holder_get();
    }
    std::thread other(in_thread, 20);
    other.join();
    in_thread(10);
    sum += coroutine_sum(9);
    sum += call_back(thrower, 5); // out of a function that promises not to throw
    return 1;
}

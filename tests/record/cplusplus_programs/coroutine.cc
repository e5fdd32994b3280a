/* SPDX-License-Identifier: Apache-2.0 */
#include <coroutine>
#include <cstdio>

struct Task {
    struct promise_type {
        Task get_return_object()
        {
            return {std::coroutine_handle<promise_type>::from_promise(*this)};
        }
        std::suspend_always initial_suspend() { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() {}
        void unhandled_exception() {}
    };
    std::coroutine_handle<promise_type> handle;
};

static int steps;

static Task count(int limit)
{
    for (int i = 0; i < limit; i++) {
        steps++;
        co_await std::suspend_always{};
    }
}

struct Worker {
    Task work(int limit)
    {
        for (int i = 0; i < limit; i++) {
            steps += 10;
            co_await std::suspend_always{};
        }
    }
};

static void run(Task task)
{
    while (!task.handle.done())
        task.handle.resume();
    task.handle.destroy();
}

int main()
{
    run(count(5));
    Worker worker;
    run(worker.work(3));
    printf("%d\n", steps);
}

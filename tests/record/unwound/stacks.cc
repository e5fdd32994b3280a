// SPDX-License-Identifier: Apache-2.0
// Allocates from stacks that change in all ways that a remembered stack must notice: other callers
// of frames at the same place, frames of changing size, frame pointers that are loop variables
// elsewhere, exceptions, longjmp, tail calls, handlers on their own stack, coroutines, threads,
// fork.
//
//     stacks N SEED    N rounds in each of two threads, and a tenth of it in a child
#include <alloca.h>
#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <ucontext.h>
#include <unistd.h>
#include <vector>

#define NOINLINE __attribute__((noinline))
#define AFTER __asm__ volatile("" ::: "memory") // what is called before is no tail call

static thread_local uint64_t seed;
static NOINLINE uint64_t any(uint64_t below)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (seed >> 11) % below;
}

#define BLOCKS 64
static thread_local void *blocks[BLOCKS];
static NOINLINE void replace(uint64_t i)
{
    i %= BLOCKS;
    if (any(4) == 0)
        blocks[i] = realloc(blocks[i], any(300) + 1);
    else {
        free(blocks[i]);
        blocks[i] = any(5) == 0 ? calloc(any(20) + 1, 8) : malloc(any(300) + 1);
    }
    AFTER;
}

// Two frames of the same size, called from two places each.
static NOINLINE void left(uint64_t i)
{
    replace(i);
    AFTER;
}
static NOINLINE void right(uint64_t i)
{
    replace(i + 1);
    AFTER;
}
static NOINLINE void outer(uint64_t i)
{
    if ((i & 1) != 0)
        left(i);
    else
        left(i + 2);
    right(i);
    AFTER;
}

static NOINLINE void sized(uint64_t i)
{
    volatile char *room = static_cast<char *>(alloca(any(3) * 64 + 16));
    room[0] = 1;
    outer(i);
    replace(i);
    AFTER;
}

static NOINLINE void realigned(uint64_t i)
{
    alignas(64) volatile char room[64];
    room[0] = 1;
    replace(i);
    left(i);
    AFTER;
}

static void step_one(uint64_t i);
static NOINLINE __attribute__((optimize("no-omit-frame-pointer"))) void pointed(uint64_t i)
{
    step_one(i);
    AFTER;
}

// rbp is a variable here, if the compiler has few others.
static NOINLINE void looped(uint64_t i)
{
    uint64_t a = any(9), b = any(9), c = any(9), d = any(9), e = any(9), f = any(9);
    for (uint64_t n = any(4); n > 0; n--) {
        replace(i + a + n);
        a += b, b += c, c += d, d += e, e += f, f += a ^ n;
        outer(a);
    }
    __asm__ volatile("" ::"r"(a), "r"(b), "r"(c), "r"(d), "r"(e), "r"(f));
}

static NOINLINE void deep(uint64_t depth, uint64_t i)
{
    if (depth == 0)
        step_one(i);
    else if ((i >> depth & 1) != 0)
        deep(depth - 1, i);
    else
        deep(depth - 1, i + 1);
    AFTER;
}

static NOINLINE void thrower(uint64_t depth)
{
    std::string text(any(60) + 20, 'x');
    if (depth == 0)
        throw std::runtime_error(text);
    thrower(depth - 1);
    AFTER;
}
static NOINLINE void catcher(uint64_t i)
{
    try {
        thrower(any(6));
    } catch (const std::exception &error) {
        replace(i);
    }
    AFTER;
}

static thread_local jmp_buf place;
static NOINLINE void jumper(uint64_t depth)
{
    replace(depth);
    if (depth == 0)
        longjmp(place, 1);
    jumper(depth - 1);
    AFTER;
}
static NOINLINE void jumped(uint64_t i)
{
    if (setjmp(place) == 0)
        jumper(any(6));
    else
        replace(i);
    AFTER;
}

static NOINLINE uint64_t tail(uint64_t depth, uint64_t i)
{
    if (depth == 0) {
        replace(i);
        return i;
    }
    return (i & 1) != 0 ? tail(depth - 1, i / 2) : (left(i), tail(depth - 1, i + 1));
}

static NOINLINE void handled(int)
{
    outer(7);
    AFTER;
}
static NOINLINE void signalled(uint64_t i)
{
    raise(any(2) != 0 ? SIGUSR1 : SIGUSR2); // on the thread's stack, and on its own
    replace(i);
    AFTER;
}

struct coroutine {
    ucontext_t here, back;
    std::vector<char> room;
    uint64_t rounds;
};
static thread_local coroutine *running;
static NOINLINE void coroutine_body()
{
    for (coroutine *own = running;;) {
        deep(any(5), any(1000));
        swapcontext(&own->here, &own->back);
    }
}
static NOINLINE void resumed(coroutine *one)
{
    if (one->rounds++ % 64 == 0) { // as if its memory were another's
        one->room.assign(one->room.size() == 65536 ? 49152 : 65536, 0);
        getcontext(&one->here);
        one->here.uc_stack.ss_sp = one->room.data();
        one->here.uc_stack.ss_size = one->room.size();
        one->here.uc_link = nullptr;
        makecontext(&one->here, coroutine_body, 0);
    }
    running = one;
    swapcontext(&one->back, &one->here);
    AFTER;
}
static thread_local coroutine *coroutines[2];

static NOINLINE void library(uint64_t i)
{
    std::map<uint64_t, std::string> tree;
    for (uint64_t n = any(5) + 1; n > 0; n--)
        tree[any(10)] = std::string(any(40) + 16, 'y');
    std::function<void(uint64_t)> call = [&](uint64_t n) {
        replace(n);
        AFTER;
    };
    call(i);
    AFTER;
}

static NOINLINE void step_two(uint64_t i)
{
    switch (any(12)) {
    case 0:
        sized(i);
        break;
    case 1:
        realigned(i);
        break;
    case 2:
        looped(i);
        break;
    case 3:
        catcher(i);
        break;
    case 4:
        jumped(i);
        break;
    case 5:
        tail(any(8), i);
        break;
    case 6:
        library(i);
        break;
    default:
        outer(i);
        break;
    }
    AFTER;
}
static NOINLINE void step_one(uint64_t i)
{
    if (any(3) == 0)
        replace(i);
    step_two(i);
    AFTER;
}

static NOINLINE void round_of(uint64_t i)
{
    switch (any(40)) {
    case 0:
        signalled(i);
        break;
    case 1:
    case 2:
        resumed(coroutines[any(2)]);
        break;
    case 3:
        deep(any(60), any(1u << 20));
        break;
    case 4:
    case 5:
        pointed(i);
        break;
    default:
        deep(any(6), i);
        break;
    }
    AFTER;
}

static NOINLINE void rounds(uint64_t n, uint64_t begin)
{
    seed = begin;
    std::vector<char> other(65536);
    stack_t alternate = {other.data(), 0, other.size()};
    sigaltstack(&alternate, nullptr);
    coroutine own[2];
    for (int k = 0; k < 2; k++) {
        own[k].rounds = 0;
        coroutines[k] = &own[k];
    }
    for (uint64_t i = 0; i < n; i++)
        round_of(i);
    for (void *block : blocks)
        free(block);
    for (void *&block : blocks)
        block = nullptr;
    alternate.ss_flags = SS_DISABLE;
    sigaltstack(&alternate, nullptr);
}

int main(int argc, char **argv)
{
    uint64_t n = argc > 1 ? strtoull(argv[1], nullptr, 10) : 1000;
    uint64_t begin = argc > 2 ? strtoull(argv[2], nullptr, 10) : 1;
    struct sigaction action = {};
    action.sa_handler = handled;
    sigaction(SIGUSR1, &action, nullptr);
    action.sa_flags = SA_ONSTACK;
    sigaction(SIGUSR2, &action, nullptr);
    std::thread other(rounds, n, begin * 77 + 5);
    rounds(n, begin * 31 + 3);
    other.join();
    pid_t child = fork();
    if (child == 0) {
        rounds(n / 10, begin * 13 + 7);
        _exit(3);
    }
    int status = 0;
    waitpid(child, &status, 0);
    printf("%llu %d\n", static_cast<unsigned long long>(seed), WEXITSTATUS(status));
    return 0;
}

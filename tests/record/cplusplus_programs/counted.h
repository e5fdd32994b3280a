// SPDX-License-Identifier: Apache-2.0
// As body_programs/counted.h, for functions that several units have: one list for all units.
#pragma once

#include <atomic>
#include <cstdio>

#define ALONE __attribute__((noinline))

struct counted {
    const char *name;
    std::atomic<unsigned long> calls;
    counted *next;
};

inline std::atomic<counted *> counted_list;

ALONE inline void counted_first(counted *here, const char *name)
{
    here->name = name;
    here->next = counted_list.load();
    while (!counted_list.compare_exchange_weak(here->next, here))
        ;
}

#define COUNT                                    \
    do {                                         \
        static counted here;                     \
        if (here.calls.fetch_add(1) == 0)        \
            counted_first(&here, __func__);      \
    } while (0)

inline void print_counts()
{
    for (const counted *c = counted_list; c != nullptr; c = c->next)
        std::printf("count %s %lu\n", c->name, c->calls.load());
}

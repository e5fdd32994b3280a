/* SPDX-License-Identifier: Apache-2.0 */
/* A program's own account of how often its functions were called: COUNT; is the first line of each
 * that must not be inlined (ALONE), print_counts() the last call of main. Lines "count NAME CALLS". */
#pragma once

#include <stdio.h>

#define ALONE __attribute__((noinline))

struct counted {
    const char *name;
    unsigned long calls;
    struct counted *next;
};

static struct counted *counted_list;

#define COUNT                                                               \
    do {                                                                    \
        static struct counted here;                                         \
        if (__atomic_fetch_add(&here.calls, 1, __ATOMIC_RELAXED) == 0) {    \
            here.name = __func__;                                           \
            here.next = __atomic_load_n(&counted_list, __ATOMIC_RELAXED);   \
            while (!__atomic_compare_exchange_n(&counted_list, &here.next,  \
                                                &here, 0, __ATOMIC_RELEASE, \
                                                __ATOMIC_RELAXED))          \
                ;                                                           \
        }                                                                   \
    } while (0)

static ALONE void print_counts(void)
{
    for (const struct counted *c = counted_list; c != NULL; c = c->next)
        printf("count %s %lu\n", c->name, c->calls);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the definitions after those in front of libc's, in a fully static program. With --wrap the
 * linker directs calls of NAME to __wrap_NAME. Each is in an object of its own (static_stubs.py),
 * so that nothing is linked that the program does not call. Calls of __real_NAME in that object go
 * to NAME: libc's, or the program's own. */
#include "waiting.h"

#include <errno.h>
#include <string.h>

#define OTHER_NAMES 5
/* NULL: there is none. */
struct real_function {
    void *function;
    void *other_names[OTHER_NAMES]; /* by which libc calls its own */
};

struct static_name {
    struct fm_wait_way *way;
    struct real_function next, companion;
};
extern struct static_name __start_fm_static_reals[] FM_HIDDEN __attribute__((weak)),
    __stop_fm_static_reals[] FM_HIDDEN __attribute__((weak));

/* The object after all of the program's own. */
extern const char fm_static_last[] FM_HIDDEN;

/* libc has another name for most of its functions, and it comes last. */
static bool is_libcs(const struct real_function *real)
{
    bool none = true;
    for (unsigned i = 0; i < OTHER_NAMES; i++) {
        if (real->other_names[i] == NULL)
            continue;
        if (real->other_names[i] == real->function)
            return true;
        none = false;
    }
    return none && (uint64_t)real->function > (uint64_t)fm_static_last;
}

void fm_wait_resolve(void)
{
    static int resolved;
    if (__atomic_load_n(&resolved, __ATOMIC_ACQUIRE))
        return;
    for (struct static_name *name = __start_fm_static_reals; name < __stop_fm_static_reals;
         name++) {
        struct fm_wait_way *way = name->way;
        if (way->next != NULL)
            memcpy(way->next, &name->next.function, sizeof(void *));
        if (way->companion != NULL)
            memcpy(way->companion, &name->companion.function, sizeof(void *));
        bool seen = is_libcs(&name->next) && is_libcs(&name->companion);
        __atomic_store_n(way->way, seen ? way->seen : name->next.function, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&resolved, 1, __ATOMIC_RELEASE);
}

__attribute__((constructor(101))) static void resolve_at_start(void)
{
    fm_wait_resolve();
    fm_waiting_linked();
}

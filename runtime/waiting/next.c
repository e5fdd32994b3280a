/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the definitions after those in front of libc's. */
#include "waiting.h"
#include "unwind/loaded.h"

#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <string.h>

extern struct fm_wait_name __start_fm_wait_names[] FM_HIDDEN, __stop_fm_wait_names[] FM_HIDDEN;
extern struct fm_wait_way __start_fm_wait_ways[] FM_HIDDEN, __stop_fm_wait_ways[] FM_HIDDEN;

/* Names added in glibc 2.38. Looking up a missing name allocates, for the error, and an allocator
 * may have made the first call, with a lock of its own held. */
static bool has_name(const char *name)
{
    static const char later[] = "__isoc23_";
    const char *version = gnu_get_libc_version(); /* 2.36 */
    unsigned minor = 0;
    if (strncmp(name, later, sizeof later - 1) != 0 || version[0] != '2' || version[1] != '.')
        return true;
    for (const char *at = version + 2; *at >= '0' && *at <= '9'; at++)
        minor = minor * 10 + (unsigned)(*at - '0');
    return minor >= 38;
}

/* Some have two versions for two layouts, and dlsym returned the older one before glibc 2.36. NULL:
 * this C library has none, so nothing calls it. */
static void *next_of(const char *name)
{
    if (!has_name(name))
        return NULL;
    static const struct {
        const char *name, *version;
    } of_two[] = {
        {"pthread_cond_wait", "GLIBC_2.3.2"}, {"pthread_cond_timedwait", "GLIBC_2.3.2"},
        {"lio_listio", "GLIBC_2.4"},          {"lio_listio64", "GLIBC_2.4"},
        {"posix_spawn", "GLIBC_2.15"},        {"posix_spawnp", "GLIBC_2.15"},
        {"timer_create", "GLIBC_2.3.3"},
    };
    for (size_t i = 0; i < sizeof of_two / sizeof of_two[0]; i++)
        if (strcmp(name, of_two[i].name) == 0)
            return dlvsym(RTLD_NEXT, name, of_two[i].version);
    return dlsym(RTLD_NEXT, name);
}

struct range {
    uint64_t low, high;
};

/* The object with the next definition of a name that only one object defines. */
static struct range object_of(const char *name)
{
    struct fm_loaded found;
    void *symbol = dlsym(RTLD_NEXT, name);
    if (symbol == NULL || !fm_loaded_at((uint64_t)symbol, &found))
        return (struct range){0, 0};
    return (struct range){found.start, found.end};
}

static bool is_within(struct range range, const void *place)
{
    return (uint64_t)place - range.low < range.high - range.low;
}

/* Before glibc 2.34 some of its functions were in libraries of their own. */
static bool is_part_of_libc(const void *place)
{
    static const char *const parts[] = {"libpthread.so.0", "librt.so.1", "libdl.so.2",
                                        "libanl.so.1"};
    struct fm_loaded found;
    const char *name = !fm_loaded_at((uint64_t)place, &found) || found.name == NULL
                           ? NULL
                           : strrchr(found.name, '/');
    for (size_t i = 0; name != NULL && i < sizeof parts / sizeof parts[0]; i++)
        if (strcmp(name + 1, parts[i]) == 0)
            return true;
    return false;
}

/* Whether the definition is libc's, or libfathom.so's, which is looked up only if the definition is
 * not libc's, see has_name(). */
static bool is_usual(struct range libc, struct range *own, const void *place)
{
    if (is_within(libc, place))
        return true;
    if (own->high == 0)
        *own = object_of("fm_enter_slow_v1");
    return is_within(*own, place) || is_part_of_libc(place);
}

static void *pointer_at(const void *place)
{
    void *pointer;
    memcpy(&pointer, place, sizeof pointer);
    return pointer;
}

void fm_wait_resolve(void)
{
    static int resolved;
    if (__atomic_load_n(&resolved, __ATOMIC_ACQUIRE))
        return;
    int saved_errno = errno;
    for (struct fm_wait_name *name = __start_fm_wait_names; name < __stop_fm_wait_names; name++) {
        void *found = next_of(name->name);
        memcpy(name->next, &found, sizeof found);
    }
    struct range libc = object_of("gnu_get_libc_version"), own = {0, 0};
    for (struct fm_wait_way *way = __start_fm_wait_ways; way < __stop_fm_wait_ways; way++) {
        void *next = pointer_at(way->next), *companion = pointer_at(way->companion);
        bool seen = next == NULL || libc.high == 0 ||
                    (is_usual(libc, &own, next) && is_usual(libc, &own, companion));
        __atomic_store_n(way->way, seen ? way->seen : next, __ATOMIC_RELEASE);
    }
    __atomic_store_n(&resolved, 1, __ATOMIC_RELEASE);
    errno = saved_errno;
}

__attribute__((constructor(101), cold)) static void resolve_at_start(void)
{
    fm_wait_resolve();
}

bool fm_wait_is_called(const char *name, const void *own)
{
    return dlsym(RTLD_DEFAULT, name) == own;
}

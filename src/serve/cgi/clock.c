/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <time.h>

#include "serve/cgi/internal.h"

static uint64_t monotonic_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

#ifdef FATHOM_TEST_HOOKS
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define SLICE_MS 20 /* longest wait between two checks of the test's clock */

/* The file named by FATHOM_CLOCK; the test maps it, too. */
struct test_clock {
    _Atomic uint64_t added_ms;
    _Atomic uint64_t stopped_at_ms; /* 0 = the clock runs */
};

/* NULL without FATHOM_CLOCK. Mapped once and inherited by a forked server. */
static const struct test_clock *test_clock(void)
{
    static const struct test_clock *clock;
    const char *path = getenv("FATHOM_CLOCK");
    if (clock != NULL || path == NULL)
        return clock;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *map = fd < 0 ? MAP_FAILED : mmap(NULL, sizeof *clock, PROT_READ, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        g_error("%s: %s", path, g_strerror(errno));
    close(fd);
    clock = map;
    return clock;
}

uint64_t fm_cgi_now_ms(void)
{
    const struct test_clock *clock = test_clock();
    if (clock == NULL)
        return monotonic_ms();
    uint64_t stopped_at_ms = atomic_load(&clock->stopped_at_ms);
    return (stopped_at_ms != 0 ? stopped_at_ms : monotonic_ms()) + atomic_load(&clock->added_ms);
}

static uint64_t longest_wait_ms(void)
{
    return test_clock() != NULL ? SLICE_MS : UINT64_MAX;
}
#else
uint64_t fm_cgi_now_ms(void)
{
    return monotonic_ms();
}

static uint64_t longest_wait_ms(void)
{
    return UINT64_MAX;
}
#endif

void fm_cgi_sleep_ms(uint64_t milliseconds)
{
    struct timespec left = {(time_t)(milliseconds / 1000), (long)(milliseconds % 1000) * 1000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        ;
}

int fm_cgi_wait_ms(uint64_t deadline_ms, uint64_t limit_ms)
{
    uint64_t now = fm_cgi_now_ms();
    uint64_t left = deadline_ms > now ? deadline_ms - now : 0;
    return (int)MIN(MIN(MIN(left, limit_ms), longest_wait_ms()), (uint64_t)G_MAXINT);
}

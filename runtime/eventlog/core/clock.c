/* SPDX-License-Identifier: Apache-2.0 */
#include "core/clock.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

static uint64_t start_ns;
static bool counter;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint64_t monotonic_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The counter must have a constant rate, and the kernel must trust it: it checks that the cores
 * agree. */
static bool counter_is_good(void)
{
#if defined(__x86_64__)
    unsigned a, b, c, d;
    if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || !(d & 1u << 8))
        return false;
    char text[16] = {0};
    int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                  O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t got = read(fd, text, sizeof(text) - 1);
    close(fd);
    return got >= 3 && strncmp(text, "tsc", 3) == 0;
#elif defined(__aarch64__)
    return true;
#else
    return false;
#endif
}

static void init(void)
{
    counter = counter_is_good();
    start_ns = monotonic_ns();
}

void fm_el_clock_init(void)
{
    pthread_once(&once, init);
}

bool fm_el_clock_is_counter(void)
{
    return counter;
}

uint64_t fm_el_clock_ns(void)
{
    return monotonic_ns() - start_ns;
}

/* A sample's two clocks are read some nanoseconds apart, and rarely as much as this. */
#define SAMPLE_ERROR_NS 20000u

uint64_t fm_el_clock_before_ns(void)
{
    uint64_t ns = fm_el_clock_ns();
    return ns > SAMPLE_ERROR_NS ? ns - SAMPLE_ERROR_NS : 0;
}

uint64_t fm_el_clock_start_ns(void)
{
    return start_ns;
}

uint64_t fm_el_clock_stamp(void)
{
    return counter ? fm_eventlog_stamp_() : fm_el_clock_ns();
}

struct timespec fm_el_deadline(int timeout_ms)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += timeout_ms / 1000;
    until.tv_nsec += (long)(timeout_ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    return until;
}

/* Reads both clocks several times and returns the pair whose counter readings are closest
 * together. */
struct fm_el_sample fm_el_clock_sample(void)
{
    struct fm_el_sample best = {0, 0};
    if (!counter) {
        best.ns = best.ticks = fm_el_clock_ns();
        return best;
    }
    uint64_t best_gap = UINT64_MAX;
    for (int i = 0; i < 3; i++) {
        uint64_t before = fm_eventlog_stamp_();
        uint64_t ns = fm_el_clock_ns();
        uint64_t gap = fm_eventlog_stamp_() - before;
        if (gap >= best_gap)
            continue;
        best_gap = gap;
        best = (struct fm_el_sample){before + gap / 2, ns};
        if (gap < 1000)
            break;
    }
    return best;
}

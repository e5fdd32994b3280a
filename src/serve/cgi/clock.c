/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <time.h>

#include "serve/cgi/internal.h"

uint64_t fm_cgi_now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

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
    return (int)MIN(MIN(left, limit_ms), (uint64_t)G_MAXINT);
}

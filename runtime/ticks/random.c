/* SPDX-License-Identifier: Apache-2.0 */
/* Random times of ticks: splitmix64 (Steele, Lea and Flood, OOPSLA 2014). */
#include "../internal.h"

#include <time.h>

/* Threads that start together have other numbers. */
void fm_tick_random_seed(struct fm_thread *thread)
{
    thread->tick_random = fm_now_ns(CLOCK_MONOTONIC) ^ (uint64_t)thread->rec->tid << 40;
}

uint64_t fm_tick_random(struct fm_thread *thread, uint64_t most)
{
    uint64_t z = thread->tick_random += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return 1 + (uint64_t)((unsigned __int128)z * most >> 64);
}

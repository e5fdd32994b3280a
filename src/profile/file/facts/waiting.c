/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/file/facts/waiting.h"

#include "profile/file/facts/facts.h"

#define APPEND(array, count, item)                                           \
    do {                                                                     \
        (array) = g_realloc_n((array), (gsize)(count) + 1, sizeof *(array)); \
        (array)[(count)++] = (item);                                         \
    } while (0)

void fm_wait_info_add(struct fm_wait_info *info, const struct fm_waiting *waiting)
{
    g_return_if_fail(waiting->csd != 0 && waiting->kind != NULL);
    APPEND(info->waiting, info->waiting_count, *waiting);
}

void fm_wait_info_add_lock(struct fm_wait_info *info, const struct fm_lock *lock)
{
    g_return_if_fail(lock->name != NULL);
    APPEND(info->locks, info->lock_count, *lock);
}

void fm_wait_info_add_blame(struct fm_wait_info *info, const struct fm_blame *blame)
{
    g_return_if_fail(blame->csd != 0 && blame->lock <= info->lock_count);
    APPEND(info->blames, info->blame_count, *blame);
}

void fm_wait_info_add_thread(struct fm_wait_info *info, const struct fm_thread_time *time)
{
    g_return_if_fail(time->name != NULL);
    APPEND(info->threads, info->thread_count, *time);
}

void fm_wait_info_add_sleep(struct fm_wait_info *info, const struct fm_sleep *sleep)
{
    g_return_if_fail(sleep->csd != 0 && sleep->samples != 0);
    APPEND(info->sleeps, info->sleep_count, *sleep);
}

void fm_wait_info_done(struct fm_wait_info *info)
{
    g_free(info->waiting);
    g_free(info->locks);
    g_free(info->blames);
    g_free(info->threads);
    g_free(info->sleeps);
    *info = (struct fm_wait_info){0};
}

static uint64_t beyond(uint64_t amount, uint64_t part)
{
    return amount > part ? amount - part : 0;
}

/* The last two terms of wall = CPU + waits - their overlap + queued outside of waits + unseen. */
static uint64_t elsewhere(const struct fm_thread_time *time)
{
    return beyond(beyond(time->wall_ns, time->cpu_ns), beyond(time->wait_ns, time->inside_ns));
}

uint64_t fm_thread_time_queued(const struct fm_thread_time *time)
{
    return MIN(time->queued_ns, elsewhere(time));
}

uint64_t fm_thread_time_unseen(const struct fm_thread_time *time)
{
    return elsewhere(time) - fm_thread_time_queued(time);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Adds waiting to a profile that is being built. */
#include "profile/file/build.h"
#include "profile/file/facts/facts.h"

void fm_build_waiting(struct fm_build *build, const struct fm_waiting *waiting)
{
    struct fm_waiting own = *waiting;
    own.kind = fm_build_keep(build, waiting->kind);
    fm_wait_info_add(fm_build_wait_info(build), &own);
}

void fm_build_lock(struct fm_build *build, const struct fm_lock *lock)
{
    struct fm_lock own = {fm_build_keep(build, lock->name), lock->address};
    fm_wait_info_add_lock(fm_build_wait_info(build), &own);
}

void fm_build_blame(struct fm_build *build, const struct fm_blame *blame)
{
    struct fm_blame own = *blame;
    own.kind = fm_build_keep(build, blame->kind);
    fm_wait_info_add_blame(fm_build_wait_info(build), &own);
}

void fm_build_thread_time(struct fm_build *build, const struct fm_thread_time *time)
{
    struct fm_thread_time own = *time;
    own.name = fm_build_keep(build, time->name);
    fm_wait_info_add_thread(fm_build_wait_info(build), &own);
}

void fm_build_sleep(struct fm_build *build, const struct fm_sleep *sleep)
{
    fm_wait_info_add_sleep(fm_build_wait_info(build), sleep);
}

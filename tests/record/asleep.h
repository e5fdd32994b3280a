/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a thread sleeps, and in which system call, as the kernel says. It is asked by system
 * calls that are no points of cancellation, and by functions that no recording sees. */
#pragma once
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define ASLEEP_PLACE 256
#define ASLEEP_INLINE static inline __attribute__((no_instrument_function))

ASLEEP_INLINE void asleep_pause(void)
{
    struct timespec time = {0, 1000000};
    syscall(SYS_nanosleep, &time, NULL);
}

/* A file of /proc about a thread, of this process or another. Empty if it cannot be read. */
ASLEEP_INLINE void asleep_read(int tid, const char *name, char *into, size_t room)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task/%d/%s", tid, tid, name);
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    long got = fd < 0 ? -1 : syscall(SYS_read, fd, into, room - 1);
    into[got > 0 ? got : 0] = '\0';
    if (fd >= 0)
        syscall(SYS_close, fd);
}

/* Whether it sleeps, and where: the number of the system call, its arguments, stack and code, all
 * in place[ASLEEP_PLACE]. Empty if the kernel does not say that. */
ASLEEP_INLINE int asleep_at(int tid, char *place)
{
    char about[512];
    asleep_read(tid, "stat", about, sizeof about);
    asleep_read(tid, "syscall", place, ASLEEP_PLACE);
    const char *end = strrchr(about, ')');
    return end != NULL && end[1] == ' ' && (end[2] == 'S' || end[2] == 'D');
}

/* In that system call, with a first argument from `first` to below `end`. One look is enough where
 * the kernel says in which call a thread sleeps; where it does not, of another user's process, say,
 * three looks have to find it asleep. */
ASLEEP_INLINE int asleep_with(int tid, long number, uintptr_t first, uintptr_t end)
{
    char place[ASLEEP_PLACE], *behind;
    for (int look = 0; look < 3; look++) {
        if (!asleep_at(tid, place))
            return 0;
        if (place[0] != '\0') {
            long found = strtol(place, &behind, 10);
            uintptr_t argument = (uintptr_t)strtoull(behind, NULL, 16);
            return behind != place && found == number && argument >= first && argument < end;
        }
        asleep_pause();
    }
    return 1;
}

/* In a system call: SYS_read. */
ASLEEP_INLINE int asleep_in(int tid, long number)
{
    return asleep_with(tid, number, 0, UINTPTR_MAX);
}

/* In a lock, or what else has a futex in it. */
ASLEEP_INLINE int asleep_on(int tid, const volatile void *object, size_t bytes)
{
    return asleep_with(tid, SYS_futex, (uintptr_t)object, (uintptr_t)object + bytes);
}

ASLEEP_INLINE void until_asleep_in(int tid, long number)
{
    while (!asleep_in(tid, number))
        asleep_pause();
}

/* *tid: 0 until the thread is there. */
ASLEEP_INLINE void until_asleep_on(const int *tid, const volatile void *object, size_t bytes)
{
    while (__atomic_load_n(tid, __ATOMIC_SEQ_CST) == 0 || !asleep_on(*tid, object, bytes))
        asleep_pause();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Files and disks: what may wait for a device, another machine, or another process's lock. */
#undef _FILE_OFFSET_BITS /* the names without 64 are functions of their own */
#include "waiting.h"

#include <fcntl.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

extern int __open_2(const char *path, int flags);
extern int __open64_2(const char *path, int flags);
extern int __openat_2(int folder, const char *path, int flags);
extern int __openat64_2(int folder, const char *path, int flags);

#define CALLS(X)       \
    X(fsync)           \
    X(fdatasync)       \
    X(syncfs)          \
    X(msync)           \
    X(sync_file_range) \
    X(close)           \
    X(ftruncate)       \
    X(ftruncate64)     \
    X(flock)           \
    X(lockf)           \
    X(lockf64)         \
    X(creat)           \
    X(creat64)         \
    X(__open_2)        \
    X(__open64_2)      \
    X(__openat_2)      \
    X(__openat64_2)    \
    X(open)            \
    X(open64)          \
    X(openat)          \
    X(openat64)        \
    X(fcntl)           \
    X(fcntl64)         \
    X(sync)
FM_WAIT_NEXT(CALLS)

#define DISK(object, name, parameters, arguments) \
    FM_WAIT_CALL(FM_REC_WAIT_DISK, object, int, name, parameters, arguments)
DISK(fd, fsync, (int fd), (fd))
DISK(fd, fdatasync, (int fd), (fd))
DISK(fd, syncfs, (int fd), (fd))
DISK(0, msync, (void *start, size_t bytes, int flags), (start, bytes, flags))
DISK(fd, sync_file_range, (int fd, off64_t at, off64_t bytes, unsigned flags),
     (fd, at, bytes, flags))
DISK(fd, close, (int fd), (fd))
DISK(fd, ftruncate, (int fd, off_t bytes), (fd, bytes))
DISK(fd, ftruncate64, (int fd, off64_t bytes), (fd, bytes))
DISK(0, creat, (const char *path, mode_t mode), (path, mode))
DISK(0, creat64, (const char *path, mode_t mode), (path, mode))
DISK(0, __open_2, (const char *path, int flags), (path, flags))
DISK(0, __open64_2, (const char *path, int flags), (path, flags))
DISK(0, __openat_2, (int folder, const char *path, int flags), (folder, path, flags))
DISK(0, __openat64_2, (int folder, const char *path, int flags), (folder, path, flags))

FM_WAIT_SEES(void, sync, sync, (void))
{
    bool waits = fm_wait_begin(FM_REC_WAIT_DISK, 0, HERE);
    next.sync();
    fm_wait_over(waits, HERE);
}

/* The mode is there if the flags say so; libc, too, takes it in any case. */
#define OPEN(name, parameters, arguments)                        \
    FM_WAIT_SEES(int, name, name, parameters)                    \
    {                                                            \
        mode_t mode = 0;                                         \
        if ((flags & (O_CREAT | __O_TMPFILE)) != 0) {            \
            va_list list;                                        \
            va_start(list, flags);                               \
            mode = va_arg(list, mode_t);                         \
            va_end(list);                                        \
        }                                                        \
        bool counted = fm_wait_begin(FM_REC_WAIT_DISK, 0, HERE); \
        int result = next.name arguments;                        \
        fm_wait_over(counted, HERE);                             \
        return result;                                           \
    }
OPEN(open, (const char *path, int flags, ...), (path, flags, mode))
OPEN(open64, (const char *path, int flags, ...), (path, flags, mode))
OPEN(openat, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))
OPEN(openat64, (int folder, const char *path, int flags, ...), (folder, path, flags, mode))

#define LOCK_FILE_UNLESS(cannot, name, parameters, arguments) \
    FM_WAIT_CALL_UNLESS(cannot, FM_REC_WAIT_LOCK_FILE, fd, int, name, parameters, arguments)
LOCK_FILE_UNLESS((operation & (LOCK_NB | LOCK_UN)) != 0, flock, (int fd, int operation),
                 (fd, operation))
LOCK_FILE_UNLESS(command != F_LOCK, lockf, (int fd, int command, off_t bytes), (fd, command, bytes))
LOCK_FILE_UNLESS(command != F_LOCK, lockf64, (int fd, int command, off64_t bytes),
                 (fd, command, bytes))

/* One argument, of at most a pointer's size, whatever the command. */
#define CONTROL(name)                                                            \
    FM_WAIT_SEES(int, name, name, (int fd, int command, ...))                    \
    {                                                                            \
        va_list list;                                                            \
        va_start(list, command);                                                 \
        void *argument = va_arg(list, void *);                                   \
        va_end(list);                                                            \
        bool locks = command == F_SETLKW || command == F_OFD_SETLKW;             \
        if (!locks)                                                              \
            return next.name(fd, command, argument);                             \
        bool counted = fm_wait_begin(FM_REC_WAIT_LOCK_FILE, (uint64_t)fd, HERE); \
        int result = next.name(fd, command, argument);                           \
        fm_wait_over(counted, HERE);                                             \
        return result;                                                           \
    }
CONTROL(fcntl)
CONTROL(fcntl64)

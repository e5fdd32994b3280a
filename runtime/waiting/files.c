/* SPDX-License-Identifier: Apache-2.0 */
/* Files and disks: calls that may wait for a device, another machine, or another process's lock. */
#undef _FILE_OFFSET_BITS /* the names without 64 are functions of their own */
#include "waiting.h"
#include "unwind/loaded.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

extern int __open_2(const char *path, int flags);
extern int __open64_2(const char *path, int flags);
extern int __openat_2(int folder, const char *path, int flags);
extern int __openat64_2(int folder, const char *path, int flags);

#define CALLS(X)         \
    X(fsync)             \
    X(fdatasync)         \
    X(syncfs)            \
    X(msync)             \
    X(sync_file_range)   \
    X(close)             \
    X(ftruncate)         \
    X(ftruncate64)       \
    X(flock)             \
    X(lockf)             \
    X(lockf64)           \
    X(creat)             \
    X(creat64)           \
    X(__open_2)          \
    X(__open64_2)        \
    X(__openat_2)        \
    X(__openat64_2)      \
    X(open)              \
    X(open64)            \
    X(openat)            \
    X(openat64)          \
    X(fcntl)             \
    X(fcntl64)           \
    X(ioctl)             \
    X(truncate)          \
    X(truncate64)        \
    X(fallocate)         \
    X(fallocate64)       \
    X(posix_fallocate)   \
    X(posix_fallocate64) \
    X(open_by_handle_at) \
    X(readahead)         \
    X(opendir)           \
    X(readdir)           \
    X(readdir64)         \
    X(readdir_r)         \
    X(readdir64_r)       \
    X(getdents64)        \
    X(fopen)             \
    X(fopen64)           \
    X(freopen)           \
    X(freopen64)         \
    X(dlopen)            \
    X(sync)
/* For readdir_r, which programs still call. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
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

DISK(0, truncate, (const char *path, off_t bytes), (path, bytes))
DISK(0, truncate64, (const char *path, off64_t bytes), (path, bytes))
DISK(fd, fallocate, (int fd, int mode, off_t at, off_t bytes), (fd, mode, at, bytes))
DISK(fd, fallocate64, (int fd, int mode, off64_t at, off64_t bytes), (fd, mode, at, bytes))
DISK(fd, posix_fallocate, (int fd, off_t at, off_t bytes), (fd, at, bytes))
DISK(fd, posix_fallocate64, (int fd, off64_t at, off64_t bytes), (fd, at, bytes))
DISK(0, open_by_handle_at, (int mount, struct file_handle *handle, int flags),
     (mount, handle, flags))

#define DISK_GIVES(type, name, parameters, arguments) \
    FM_WAIT_CALL(FM_REC_WAIT_DISK, 0, type, name, parameters, arguments)
DISK_GIVES(ssize_t, readahead, (int fd, off64_t at, size_t bytes), (fd, at, bytes))
DISK_GIVES(ssize_t, getdents64, (int fd, void *buffer, size_t bytes), (fd, buffer, bytes))
DISK_GIVES(DIR *, opendir, (const char *path), (path))
DISK_GIVES(struct dirent *, readdir, (DIR * folder), (folder))
DISK_GIVES(struct dirent64 *, readdir64, (DIR * folder), (folder))
DISK(0, readdir_r, (DIR *restrict folder, struct dirent *restrict to, struct dirent **restrict at),
     (folder, to, at))
DISK(0, readdir64_r,
     (DIR *restrict folder, struct dirent64 *restrict to, struct dirent64 **restrict at),
     (folder, to, at))
DISK_GIVES(FILE *, fopen, (const char *restrict path, const char *restrict mode), (path, mode))
DISK_GIVES(FILE *, fopen64, (const char *restrict path, const char *restrict mode), (path, mode))
DISK_GIVES(FILE *, freopen,
           (const char *restrict path, const char *restrict mode, FILE *restrict stream),
           (path, mode, stream))
DISK_GIVES(FILE *, freopen64,
           (const char *restrict path, const char *restrict mode, FILE *restrict stream),
           (path, mode, stream))

FM_WAIT_SEES(void, sync, sync, (void))
{
    bool waits = fm_wait_begin(FM_REC_WAIT_DISK, 0, HERE);
    next.sync();
    fm_wait_over(waits, HERE);
}

/* The mode is present if the flags say so; libc, too, always reads it. */
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

/* One argument, at most pointer-sized, whatever the command. */
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

FM_WAIT_SEES(int, ioctl, ioctl, (int fd, unsigned long request, ...))
{
    va_list list;
    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    bool counted = fm_wait_begin(FM_REC_WAIT_DEVICE, (uint64_t)fd, HERE);
    int result = next.ioctl(fd, request, argument);
    fm_wait_over(counted, HERE);
    return result;
}

/* Not inlined: its stack use would be in the way of the jump below. */
__attribute__((noinline)) static bool is_of_own_object(void *place)
{
    struct fm_loaded own, found;
    return fm_loaded_at((uint64_t)is_of_own_object, &own) &&
           fm_loaded_at((uint64_t)place, &found) && own.start == found.start;
}

/* libc uses the caller: where that object says that libraries are. Constructors' work counts as
 * waiting, too. */
FM_WAIT_SEES(void *, dlopen, dlopen, (const char *path, int flags))
{
    if (!is_of_own_object(__builtin_return_address(0)))
        return next.dlopen(path, flags); /* a jump: see the test */
    bool counted = fm_wait_begin(FM_REC_WAIT_LOAD, 0, HERE);
    void *result = next.dlopen(path, flags);
    fm_wait_over(counted, HERE);
    return result;
}

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef FM_RUNTIME_FILES_H
#define FM_RUNTIME_FILES_H
/* File functions for hooks. libc's open, read and so on are cancellation points: a cancelled thread
 * would end in them, in the middle of a hook from which its caller expects no exception (C++ then
 * terminates the program), and with the runtime's locks held. Results as in libc: -1 and errno. */
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>

#include "internal.h"

static inline long fm_file_result_(long result)
{
    if (result >= 0)
        return result;
    errno = (int)-result;
    return -1;
}

static inline int fm_file_open(const char *path, int flags)
{
    return (int)fm_file_result_(
        fm_system_call(SYS_openat, AT_FDCWD, (long)path, flags | O_CLOEXEC, 0644));
}

static inline ssize_t fm_file_read(int fd, void *to, size_t bytes)
{
    return fm_file_result_(fm_system_call(SYS_read, fd, (long)to, (long)bytes, 0));
}

static inline ssize_t fm_file_read_at(int fd, void *to, size_t bytes, uint64_t offset)
{
    return fm_file_result_(fm_system_call(SYS_pread64, fd, (long)to, (long)bytes, (long)offset));
}

static inline ssize_t fm_file_write(int fd, const void *from, size_t bytes)
{
    return fm_file_result_(fm_system_call(SYS_write, fd, (long)from, (long)bytes, 0));
}

static inline ssize_t fm_file_write_at(int fd, const void *from, size_t bytes, uint64_t offset)
{
    return fm_file_result_(fm_system_call(SYS_pwrite64, fd, (long)from, (long)bytes, (long)offset));
}

static inline int fm_file_control(int fd, int command, long argument)
{
    return (int)fm_file_result_(fm_system_call(SYS_fcntl, fd, command, argument, 0));
}

static inline bool fm_file_status(int fd, struct stat *ret)
{
    return fm_system_call(SYS_fstat, fd, (long)ret, 0, 0) == 0;
}

/* As getrlimit() and getcwd(). */
static inline bool fm_limit_of(int resource, struct rlimit *ret)
{
    return fm_system_call(SYS_prlimit64, 0, resource, 0, (long)ret) == 0;
}

/* A file that grows beyond the limit of file sizes, which a program may lower at any time, ends the
 * program by SIGXFSZ. */
static inline bool fm_file_may_reach(uint64_t bytes)
{
    struct rlimit limit;
    return fm_limit_of(RLIMIT_FSIZE, &limit) && bytes <= limit.rlim_cur;
}

static inline bool fm_folder_of_process(char *path, size_t size)
{
    return fm_system_call(SYS_getcwd, (long)path, (long)size, 0, 0) > 0;
}

static inline void fm_file_close(int fd)
{
    fm_system_call(SYS_close, fd, 0, 0, 0);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* File names: look-up, creation, changes, removal. On busy disks, and on other machines' disks,
 * they are as slow as reading. */
#undef _FILE_OFFSET_BITS /* the names without 64 are functions of their own */
#include "waiting.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

extern ssize_t __readlink_chk(const char *path, char *buffer, size_t bytes, size_t room);
extern ssize_t __readlinkat_chk(int folder, const char *path, char *buffer, size_t bytes,
                                size_t room);
extern char *__realpath_chk(const char *path, char *buffer, size_t room);

#define CALLS(X)        \
    X(stat)             \
    X(stat64)           \
    X(lstat)            \
    X(lstat64)          \
    X(fstatat)          \
    X(fstatat64)        \
    X(statx)            \
    X(statfs)           \
    X(statfs64)         \
    X(statvfs)          \
    X(statvfs64)        \
    X(access)           \
    X(faccessat)        \
    X(euidaccess)       \
    X(readlink)         \
    X(readlinkat)       \
    X(__readlink_chk)   \
    X(__readlinkat_chk) \
    X(realpath)         \
    X(__realpath_chk)   \
    X(rename)           \
    X(renameat)         \
    X(renameat2)        \
    X(unlink)           \
    X(unlinkat)         \
    X(remove)           \
    X(rmdir)            \
    X(mkdir)            \
    X(mkdirat)          \
    X(mkfifo)           \
    X(mkstemp)          \
    X(mkstemp64)        \
    X(mkdtemp)          \
    X(link)             \
    X(linkat)           \
    X(symlink)          \
    X(symlinkat)        \
    X(chmod)            \
    X(fchmodat)         \
    X(chown)            \
    X(lchown)           \
    X(fchownat)         \
    X(utimensat)
FM_WAIT_NEXT(CALLS)

#define DISK(type, name, parameters, arguments) \
    FM_WAIT_CALL(FM_REC_WAIT_DISK, 0, type, name, parameters, arguments)
DISK(int, stat, (const char *restrict path, struct stat *restrict ret), (path, ret))
DISK(int, stat64, (const char *restrict path, struct stat64 *restrict ret), (path, ret))
DISK(int, lstat, (const char *restrict path, struct stat *restrict ret), (path, ret))
DISK(int, lstat64, (const char *restrict path, struct stat64 *restrict ret), (path, ret))
DISK(int, fstatat, (int folder, const char *restrict path, struct stat *restrict ret, int flags),
     (folder, path, ret, flags))
DISK(int, fstatat64,
     (int folder, const char *restrict path, struct stat64 *restrict ret, int flags),
     (folder, path, ret, flags))
DISK(int, statx,
     (int folder, const char *restrict path, int flags, unsigned mask, struct statx *restrict ret),
     (folder, path, flags, mask, ret))
DISK(int, statfs, (const char *path, struct statfs *ret), (path, ret))
DISK(int, statfs64, (const char *path, struct statfs64 *ret), (path, ret))
DISK(int, statvfs, (const char *restrict path, struct statvfs *restrict ret), (path, ret))
DISK(int, statvfs64, (const char *restrict path, struct statvfs64 *restrict ret), (path, ret))
DISK(int, access, (const char *path, int how), (path, how))
DISK(int, faccessat, (int folder, const char *path, int how, int flags), (folder, path, how, flags))
DISK(int, euidaccess, (const char *path, int how), (path, how))

DISK(ssize_t, readlink, (const char *restrict path, char *restrict buffer, size_t bytes),
     (path, buffer, bytes))
DISK(ssize_t, readlinkat,
     (int folder, const char *restrict path, char *restrict buffer, size_t bytes),
     (folder, path, buffer, bytes))
DISK(ssize_t, __readlink_chk, (const char *path, char *buffer, size_t bytes, size_t room),
     (path, buffer, bytes, room))
DISK(ssize_t, __readlinkat_chk,
     (int folder, const char *path, char *buffer, size_t bytes, size_t room),
     (folder, path, buffer, bytes, room))
DISK(char *, realpath, (const char *restrict path, char *restrict buffer), (path, buffer))
DISK(char *, __realpath_chk, (const char *path, char *buffer, size_t room), (path, buffer, room))

DISK(int, rename, (const char *from, const char *to), (from, to))
DISK(int, renameat, (int from_folder, const char *from, int to_folder, const char *to),
     (from_folder, from, to_folder, to))
DISK(int, renameat2,
     (int from_folder, const char *from, int to_folder, const char *to, unsigned flags),
     (from_folder, from, to_folder, to, flags))
DISK(int, unlink, (const char *path), (path))
DISK(int, unlinkat, (int folder, const char *path, int flags), (folder, path, flags))
DISK(int, remove, (const char *path), (path))
DISK(int, rmdir, (const char *path), (path))
DISK(int, mkdir, (const char *path, mode_t mode), (path, mode))
DISK(int, mkdirat, (int folder, const char *path, mode_t mode), (folder, path, mode))
DISK(int, mkfifo, (const char *path, mode_t mode), (path, mode))
DISK(int, mkstemp, (char *path), (path))
DISK(int, mkstemp64, (char *path), (path))
DISK(char *, mkdtemp, (char *path), (path))
DISK(int, link, (const char *from, const char *to), (from, to))
DISK(int, linkat, (int from_folder, const char *from, int to_folder, const char *to, int flags),
     (from_folder, from, to_folder, to, flags))
DISK(int, symlink, (const char *from, const char *to), (from, to))
DISK(int, symlinkat, (const char *from, int folder, const char *to), (from, folder, to))

DISK(int, chmod, (const char *path, mode_t mode), (path, mode))
DISK(int, fchmodat, (int folder, const char *path, mode_t mode, int flags),
     (folder, path, mode, flags))
DISK(int, chown, (const char *path, uid_t user, gid_t group), (path, user, group))
DISK(int, lchown, (const char *path, uid_t user, gid_t group), (path, user, group))
DISK(int, fchownat, (int folder, const char *path, uid_t user, gid_t group, int flags),
     (folder, path, user, group, flags))
DISK(int, utimensat, (int folder, const char *path, const struct timespec times[2], int flags),
     (folder, path, times, flags))

/* SPDX-License-Identifier: Apache-2.0 */
/* Calls about names of files, in an empty folder of its own: what they give back, and how many they
 * were. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

static int calls;
/* A call that is seen; errno stays as it was where it succeeds. */
#define SHOW(call)                                    \
    do {                                              \
        errno = 7;                                    \
        long shown = (long)(call);                    \
        printf("%s: %ld, %d\n", #call, shown, errno); \
        calls++;                                      \
    } while (0)

__attribute__((noinline)) static void make(void)
{
    char path[] = "madeXXXXXX", path64[] = "madeXXXXXX", folder[] = "folderXXXXXX";
    SHOW(mkstemp(path) > 2);
    SHOW(mkstemp64(path64) > 2);
    SHOW(mkdtemp(folder) == folder);
    SHOW(rename(path, "file"));
    SHOW(renameat(AT_FDCWD, path64, AT_FDCWD, "other"));
    SHOW(renameat2(AT_FDCWD, "file", AT_FDCWD, "other", 1)); /* not over another: EEXIST */
    SHOW(rename("nowhere", "file"));
    SHOW(mkdir("folder", 0700));
    SHOW(mkdir("folder", 0700)); /* EEXIST */
    SHOW(mkdirat(AT_FDCWD, "folder/inner", 0700));
    SHOW(mkfifo("pipe", 0600));
    SHOW(link("file", "linked"));
    SHOW(linkat(AT_FDCWD, "nowhere", AT_FDCWD, "linked", 0));
    SHOW(symlink("file", "symbolic"));
    SHOW(symlinkat("nowhere", AT_FDCWD, "dangling"));
    SHOW(chmod("file", 0640));
    SHOW(fchmodat(AT_FDCWD, "nowhere", 0600, 0));
    SHOW(chown("file", -1, -1));
    SHOW(lchown("nowhere", -1, -1));
    SHOW(fchownat(AT_FDCWD, "file", -1, -1, AT_SYMLINK_NOFOLLOW));
    SHOW(utimensat(AT_FDCWD, "nowhere", NULL, 0));
    SHOW(rmdir(folder));
}

__attribute__((noinline)) static void look(size_t room)
{
    struct stat status;
    struct stat64 status64;
    struct statx extended;
    struct statfs system;
    struct statfs64 system64;
    struct statvfs volume;
    struct statvfs64 volume64;
    char buffer[100] = "", *inner = (char *)malloc(4096);
    SHOW(stat("file", &status));
    SHOW(status.st_mode + stat("nowhere", &status));
    SHOW(stat64("symbolic", &status64));
    SHOW(lstat("symbolic", &status));
    SHOW(S_ISLNK(status.st_mode) + lstat64("dangling", &status64));
    SHOW(fstatat(AT_FDCWD, "pipe", &status, 0));
    SHOW(fstatat64(-1, "pipe", &status64, 0)); /* EBADF */
    SHOW(statx(AT_FDCWD, "file", 0, STATX_SIZE, &extended));
    SHOW(statfs(".", &system));
    SHOW(statfs64("nowhere", &system64));
    SHOW(statvfs(".", &volume));
    SHOW(statvfs64("nowhere", &volume64));
    SHOW(access("file", R_OK));
    SHOW(faccessat(AT_FDCWD, "nowhere", R_OK, 0));
    SHOW(euidaccess("file", W_OK));
    SHOW(readlink("symbolic", buffer, room));
    SHOW(strcmp(buffer, "file") + readlinkat(AT_FDCWD, "file", buffer, room)); /* EINVAL */
    SHOW(realpath("nowhere/else", inner) == NULL);
    SHOW(realpath("folder/inner/..", inner) == inner && strstr(inner, "/folder") != NULL);
    free(inner);
}

__attribute__((noinline)) static void take_away(void)
{
    SHOW(rmdir("folder")); /* ENOTEMPTY */
    SHOW(rmdir("folder/inner"));
    SHOW(remove("folder"));
    SHOW(unlink("file"));
    SHOW(unlink("file")); /* ENOENT */
    SHOW(unlinkat(AT_FDCWD, "other", 0));
    SHOW(unlinkat(AT_FDCWD, "linked", AT_REMOVEDIR)); /* ENOTDIR */
    SHOW(remove("linked"));
    SHOW(remove("pipe"));
    SHOW(remove("symbolic"));
    SHOW(remove("dangling"));
}

int main(int argc, char **argv)
{
    (void)argv;
    make();
    look(50 + (size_t)argc); /* not known to the compiler: checked when it runs */
    take_away();
    printf("%d calls\n", calls);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/files/standard_streams.h"
#include "serve/cgi/internal.h"

/* For kernels without close_range(). */
static void close_one_by_one(int first)
{
    DIR *folder = opendir("/proc/self/fd");
    struct dirent *entry;
    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        int fd = atoi(entry->d_name);
        if (fd >= first && fd != dirfd(folder))
            close(fd);
    }
    if (folder != NULL)
        closedir(folder);
}

void fm_cgi_close_inherited(void)
{
    fm_fill_standard_streams();
    int first = STDERR_FILENO + 1;
#ifdef SYS_close_range
    if (syscall(SYS_close_range, (unsigned)first, ~0u, 0u) == 0)
        return;
#endif
    close_one_by_one(first);
}

bool fm_cgi_is_exhaustion(int error)
{
    return error == EMFILE || error == ENFILE || error == ENOMEM;
}

bool fm_cgi_is_exhausted(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fm_cgi_is_exhaustion(errno);
    close(fd);
    return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "serve/cgi/internal.h"

#define BACK_OFF_FIRST_MS 10
#define BACK_OFF_LAST_MS 200

static bool is_ours(int fd, mode_t type)
{
    struct stat status;
    return fstat(fd, &status) == 0 && status.st_uid == geteuid() &&
           (status.st_mode & S_IFMT) == type;
}

int fm_cgi_open_ours(int dir_fd, const char *name, int flags, mode_t type)
{
    g_assert(name != NULL && (type == S_IFREG || type == S_IFIFO));
    /* O_NONBLOCK: opening must not block if the name is a foreign FIFO. */
    int fd = openat(dir_fd, name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0600);
    if (fd < 0)
        return -1;
    if (!is_ours(fd, type)) {
        close(fd);
        errno = EPERM;
        return -1;
    }
    return fd;
}

bool fm_cgi_lock_fd(int dir_fd, const char *name, int fd)
{
    g_assert(name != NULL && fd >= 0);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_SETLK, &lock) != 0) {
        if (errno == EACCES)
            errno = EAGAIN;
        return false;
    }
    if (!fm_cgi_name_means(dir_fd, name, fd)) {
        errno = ESTALE;
        return false;
    }
    return true;
}

int fm_cgi_lock(int dir_fd, const char *name, uint64_t deadline_ms)
{
    uint64_t back_off_ms = BACK_OFF_FIRST_MS;
    for (;;) {
        int fd = fm_cgi_open_ours(dir_fd, name, O_RDWR | O_CREAT, S_IFREG);
        if (fd < 0)
            return -1;
        if (fm_cgi_lock_fd(dir_fd, name, fd))
            return fd;
        int saved_errno = errno;
        close(fd);
        if (saved_errno == ESTALE)
            continue; /* its holder unlinked it when it ended: lock the new file instead */
        if (saved_errno != EAGAIN || fm_cgi_now_ms() >= deadline_ms) {
            errno = saved_errno;
            return -1;
        }
        fm_cgi_sleep_ms((uint64_t)fm_cgi_wait_ms(deadline_ms, back_off_ms));
        back_off_ms = MIN(back_off_ms * 2, BACK_OFF_LAST_MS);
    }
}

pid_t fm_cgi_lock_holder(int fd)
{
    g_assert(fd >= 0);
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    if (fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK)
        return 0;
    return lock.l_pid > 0 ? lock.l_pid : 1;
}

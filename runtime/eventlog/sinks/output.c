/* SPDX-License-Identifier: Apache-2.0 */
#include "sinks/output.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

/* Hides the signal of a failed write from the program: blocks it, and discards it if this write
 * raised it. */
static bool signal_block(int number, sigset_t *before)
{
    sigset_t set, pending;
    sigemptyset(&set);
    sigaddset(&set, number);
    sigpending(&pending);
    if (sigismember(&pending, number))
        return false;
    pthread_sigmask(SIG_BLOCK, &set, before);
    return true;
}

static void signal_unblock(int number, const sigset_t *before, bool is_raised)
{
    sigset_t set;
    struct timespec none = {0};
    sigemptyset(&set);
    sigaddset(&set, number);
    if (is_raised)
        while (sigtimedwait(&set, NULL, &none) < 0 && errno == EINTR)
            ;
    pthread_sigmask(SIG_SETMASK, before, NULL);
}

static int write_fd(int fd, const unsigned char *data, size_t bytes)
{
    size_t done = 0;
    while (done < bytes) {
        ssize_t n = write(fd, data + done, bytes - done);
        if (n >= 0) {
            done += (size_t)n;
        } else if (errno == EAGAIN) {
            poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
        } else if (errno != EINTR) {
            int error = errno;
            if (done > 0) { /* nothing is better than a torn block */
                off_t at = lseek(fd, 0, SEEK_CUR);
                if (at >= (off_t)done && ftruncate(fd, at - (off_t)done) == 0)
                    lseek(fd, at - (off_t)done, SEEK_SET);
            }
            return error;
        }
    }
    return 0;
}

int fm_el_output_put(const struct fm_el_output *o, const void *data, size_t bytes)
{
    if (o->is_writer)
        return o->writer.write(o->writer.context, data, bytes) ? 0 : EIO;
    if (o->fd < 0) {
        bool ok = fwrite(data, 1, bytes, o->file) == bytes && fflush(o->file) == 0;
        int error = ok ? 0 : errno ? errno : EIO;
        clearerr(o->file);
        return error;
    }
    sigset_t before;
    bool blocked = o->raises != 0 && signal_block(o->raises, &before);
    int error = write_fd(o->fd, data, bytes);
    if (blocked)
        signal_unblock(o->raises, &before, error == (o->raises == SIGPIPE ? EPIPE : EFBIG));
    return error;
}

struct fm_el_output fm_el_output_of(FILE *file)
{
    struct fm_el_output o = {.file = file, .fd = -1};
    if (!file)
        return o;
    fflush(file);
    o.fd = fileno(file);
    struct stat st;
    if (o.fd >= 0 && fstat(o.fd, &st) == 0) {
        o.regular = S_ISREG(st.st_mode);
        bool pipe = S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode);
        o.raises = pipe ? SIGPIPE : o.regular ? SIGXFSZ : 0;
    }
    return o;
}

int fm_el_output_done(struct fm_el_output *o, bool close)
{
    int error = 0;
    if (o->is_writer) {
        if (o->writer.flush)
            o->writer.flush(o->writer.context);
        if (o->writer.stop)
            o->writer.stop(o->writer.context);
    } else if (o->file && close) {
        if (fclose(o->file) != 0)
            error = errno;
    } else if (o->file) {
        fflush(o->file);
        if (o->regular) /* the FILE learns the descriptor's position */
            fseeko(o->file, lseek(o->fd, 0, SEEK_CUR), SEEK_SET);
    }
    *o = (struct fm_el_output){.fd = -1};
    return error;
}

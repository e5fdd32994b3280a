/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing of descriptors. */
#undef _FILE_OFFSET_BITS /* the names without 64 are functions of their own */
#include "waiting.h"

#include <aio.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <syslog.h>
#include <termios.h>
#include <unistd.h>

extern ssize_t __read_chk(int fd, void *buffer, size_t bytes, size_t room);
extern ssize_t __pread_chk(int fd, void *buffer, size_t bytes, off_t at, size_t room);
extern ssize_t __pread64_chk(int fd, void *buffer, size_t bytes, off64_t at, size_t room);
extern int __dprintf_chk(int fd, int flag, const char *restrict format, ...);
extern int __vdprintf_chk(int fd, int flag, const char *restrict format, va_list list);
extern void __syslog_chk(int priority, int flag, const char *format, ...);
extern void __vsyslog_chk(int priority, int flag, const char *format, va_list list);

#define CALLS(X)       \
    X(read)            \
    X(write)           \
    X(readv)           \
    X(writev)          \
    X(pread)           \
    X(pread64)         \
    X(pwrite)          \
    X(pwrite64)        \
    X(preadv)          \
    X(preadv64)        \
    X(pwritev)         \
    X(pwritev64)       \
    X(preadv2)         \
    X(preadv64v2)      \
    X(pwritev2)        \
    X(pwritev64v2)     \
    X(__read_chk)      \
    X(__pread_chk)     \
    X(__pread64_chk)   \
    X(sendfile)        \
    X(sendfile64)      \
    X(splice)          \
    X(tee)             \
    X(vmsplice)        \
    X(copy_file_range) \
    X(aio_suspend)     \
    X(aio_suspend64)   \
    X(lio_listio)      \
    X(lio_listio64)    \
    X(eventfd_read)    \
    X(eventfd_write)   \
    X(dprintf)         \
    X(vdprintf)        \
    X(__dprintf_chk)   \
    X(__vdprintf_chk)  \
    X(syslog)          \
    X(vsyslog)         \
    X(__syslog_chk)    \
    X(__vsyslog_chk)   \
    X(getrandom)       \
    X(getentropy)      \
    X(tcdrain)
FM_WAIT_NEXT(CALLS)

#define READ(name, parameters, arguments) \
    FM_WAIT_CALL(FM_REC_WAIT_READ, fd, ssize_t, name, parameters, arguments)
#define WRITE(name, parameters, arguments) \
    FM_WAIT_CALL(FM_REC_WAIT_WRITE, fd, ssize_t, name, parameters, arguments)

READ(read, (int fd, void *buffer, size_t bytes), (fd, buffer, bytes))
READ(__read_chk, (int fd, void *buffer, size_t bytes, size_t room), (fd, buffer, bytes, room))
READ(readv, (int fd, const struct iovec *parts, int count), (fd, parts, count))
READ(pread, (int fd, void *buffer, size_t bytes, off_t at), (fd, buffer, bytes, at))
READ(pread64, (int fd, void *buffer, size_t bytes, off64_t at), (fd, buffer, bytes, at))
READ(__pread_chk, (int fd, void *buffer, size_t bytes, off_t at, size_t room),
     (fd, buffer, bytes, at, room))
READ(__pread64_chk, (int fd, void *buffer, size_t bytes, off64_t at, size_t room),
     (fd, buffer, bytes, at, room))
READ(preadv, (int fd, const struct iovec *parts, int count, off_t at), (fd, parts, count, at))
READ(preadv64, (int fd, const struct iovec *parts, int count, off64_t at), (fd, parts, count, at))
READ(preadv2, (int fd, const struct iovec *parts, int count, off_t at, int flags),
     (fd, parts, count, at, flags))
READ(preadv64v2, (int fd, const struct iovec *parts, int count, off64_t at, int flags),
     (fd, parts, count, at, flags))

WRITE(write, (int fd, const void *buffer, size_t bytes), (fd, buffer, bytes))
WRITE(writev, (int fd, const struct iovec *parts, int count), (fd, parts, count))
WRITE(pwrite, (int fd, const void *buffer, size_t bytes, off_t at), (fd, buffer, bytes, at))
WRITE(pwrite64, (int fd, const void *buffer, size_t bytes, off64_t at), (fd, buffer, bytes, at))
WRITE(pwritev, (int fd, const struct iovec *parts, int count, off_t at), (fd, parts, count, at))
WRITE(pwritev64, (int fd, const struct iovec *parts, int count, off64_t at), (fd, parts, count, at))
WRITE(pwritev2, (int fd, const struct iovec *parts, int count, off_t at, int flags),
      (fd, parts, count, at, flags))
WRITE(pwritev64v2, (int fd, const struct iovec *parts, int count, off64_t at, int flags),
      (fd, parts, count, at, flags))
WRITE(sendfile, (int fd, int from, off_t *at, size_t bytes), (fd, from, at, bytes))
WRITE(sendfile64, (int fd, int from, off64_t *at, size_t bytes), (fd, from, at, bytes))
WRITE(splice, (int from, off64_t *from_at, int fd, off64_t *at, size_t bytes, unsigned flags),
      (from, from_at, fd, at, bytes, flags))
WRITE(tee, (int from, int fd, size_t bytes, unsigned flags), (from, fd, bytes, flags))
WRITE(vmsplice, (int fd, const struct iovec *parts, size_t count, unsigned flags),
      (fd, parts, count, flags))
WRITE(copy_file_range,
      (int from, off64_t *from_at, int fd, off64_t *at, size_t bytes, unsigned flags),
      (from, from_at, fd, at, bytes, flags))

FM_WAIT_CALL(FM_REC_WAIT_READ, 0, int, aio_suspend,
             (const struct aiocb *const list[], int count, const struct timespec *restrict time),
             (list, count, time))
FM_WAIT_CALL(FM_REC_WAIT_READ, 0, int, aio_suspend64,
             (const struct aiocb64 *const list[], int count, const struct timespec *restrict time),
             (list, count, time))
FM_WAIT_CALL(FM_REC_WAIT_RANDOM, 0, ssize_t, getrandom,
             (void *buffer, size_t bytes, unsigned flags), (buffer, bytes, flags))
FM_WAIT_CALL(FM_REC_WAIT_RANDOM, 0, int, getentropy, (void *buffer, size_t bytes), (buffer, bytes))
FM_WAIT_CALL(FM_REC_WAIT_TERMINAL, fd, int, tcdrain, (int fd), (fd))
READ(eventfd_read, (int fd, eventfd_t *value), (fd, value))
WRITE(eventfd_write, (int fd, eventfd_t value), (fd, value))

#define LISTED(name, control)                                                       \
    FM_WAIT_CALL_UNLESS(mode != LIO_WAIT, FM_REC_WAIT_READ, 0, int, name,           \
                        (int mode, struct control *const list[restrict], int count, \
                         struct sigevent *restrict event),                          \
                        (mode, list, count, event))
LISTED(lio_listio, aiocb)
LISTED(lio_listio64, aiocb64)

WRITE(vdprintf, (int fd, const char *restrict format, va_list list), (fd, format, list))
WRITE(__vdprintf_chk, (int fd, int flag, const char *restrict format, va_list list),
      (fd, flag, format, list))
FM_WAIT_VARIADIC(FM_REC_WAIT_WRITE, fd, dprintf, vdprintf, format,
                 (int fd, const char *restrict format, ...), (fd, format, list))
FM_WAIT_VARIADIC(FM_REC_WAIT_WRITE, fd, __dprintf_chk, __vdprintf_chk, format,
                 (int fd, int flag, const char *restrict format, ...), (fd, flag, format, list))

/* To a daemon of this machine's. */
#define LOG(name, called, parameters, arguments)                 \
    FM_WAIT_SEES(void, name, called, parameters)                 \
    {                                                            \
        bool counted = fm_wait_begin(FM_REC_WAIT_SEND, 0, HERE); \
        next.called arguments;                                   \
        fm_wait_over(counted, HERE);                             \
    }
LOG(vsyslog, vsyslog, (int priority, const char *format, va_list list), (priority, format, list))
LOG(__vsyslog_chk, __vsyslog_chk, (int priority, int flag, const char *format, va_list list),
    (priority, flag, format, list))
#define LOG_VARIADIC(name, called, parameters, arguments)        \
    FM_WAIT_SEES(void, name, called, parameters)                 \
    {                                                            \
        va_list list;                                            \
        va_start(list, format);                                  \
        bool counted = fm_wait_begin(FM_REC_WAIT_SEND, 0, HERE); \
        next.called arguments;                                   \
        fm_wait_over(counted, HERE);                             \
        va_end(list);                                            \
    }
LOG_VARIADIC(syslog, vsyslog, (int priority, const char *format, ...), (priority, format, list))
LOG_VARIADIC(__syslog_chk, __vsyslog_chk, (int priority, int flag, const char *format, ...),
             (priority, flag, format, list))

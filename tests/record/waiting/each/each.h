/* SPDX-License-Identifier: Apache-2.0 */
/* What the rows of the tables (rows_*.inc) are made of: things that nobody makes ready, things that
 * are, and calls under names that no header declares. Compiled as C and as C++. */
#pragma once

#include <aio.h>
#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mqueue.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <resolv.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <syslog.h>
#include <termios.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

#include "../../asleep.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* readdir_r, sigpause */
#define OWN __attribute__((noinline))
#define NONE (LONG_MIN + 7) /* the call has no such case */
#define ERRNO_BEFORE 7
/* The last thing before the call: what made its arguments leaves no trace. */
#define READY(value) (errno = ERRNO_BEFORE, (value))

/* What one run of a row uses alone. */
struct own {
    pthread_mutex_t mutex, held; /* held: by the main thread */
    pthread_cond_t condition;
    pthread_rwlock_t rwlock, held_rwlock;
    mtx_t c11_mutex, c11_held;
    cnd_t c11_condition;
    sem_t semaphore; /* 0 */
    pthread_barrier_t barrier, of_two;
    pthread_once_t once;
    once_flag c11_once;
    pthread_t ender; /* ends when the semaphore is posted */
    thrd_t c11_ender;
    FILE *stream;
    pid_t child;
    struct timespec when;
    struct aiocb control;
    struct aiocb64 control64;
    struct gaicb request;
    char buffer[4096];
};

extern int empty[2], full[2], quiet[2], busy[2], hasty[2], never[2], never_socket[2];
extern int listener, poller, counter, full_counter, locked, data, folder, terminal;
extern int queue, full_queue, semaphores;
extern int crowded_fd, crowded_listener;
extern struct sockaddr_un crowded;
/* The last two: the same as the first two, and never waited for. */
extern mqd_t messages_in, messages_out, messages_sent, messages_now;
extern sem_t once_ends;
extern pid_t holder;

enum wake {
    NOTHING,
    BYTE,
    ROOM,
    DATAGRAM,
    SPACE,
    CALLER,
    CROWD,
    COUNT,
    UNCOUNT,
    UNLOCK,
    UNLOCK_C11,
    UNLOCK_RW,
    SIGNALLED,
    SIGNALLED_C11,
    POST,
    POST_ONCE,
    MEET,
    SENT,
    WRITER,
    READER,
    MESSAGE,
    MESSAGE_ROOM,
    INCREASE,
    MQ_TAKEN,
    MQ_SENT,
};

/* resources.c */
void prepare(void);
void clean_up(void);
void own_init(struct own *own);
void brief(void);
void tell_resources(FILE *to);
/* wakes.c: ends the wait of that thread; first: for the first time. It is called again and again.
 */
void wake_up(enum wake wake, struct own *own, pthread_t thread, int first);
void forget_wake(enum wake wake); /* makes the resource again one to be waited for */
void fill(int fd);
void drain(int fd);
void crowd(void);
void fill_queue(void);

FILE *input_of(struct own *own, int fd);
FILE *output_of(struct own *own, int fd);
FILE *text(struct own *own, const char *content); /* a stream with that to be read */
FILE *sink(struct own *own);                      /* one that takes what is written */
void text_in(struct own *own, const char *content);
void sink_in(struct own *own);
void sink_out(struct own *own);
void text_out(struct own *own);
void sink_err(struct own *own);
void text_err(struct own *own);
const char *made(const char *name); /* a file of that name, with some bytes */
const char *gone(const char *name); /* no file of that name */
int fresh(void);                    /* a descriptor of a file that is its own */
const char *folder_made(const char *name);
struct timespec *after(struct own *own, clockid_t clock, long ms);
pthread_mutex_t *relocked(void); /* one that its own thread holds, and that says so */
pthread_rwlock_t *rwlock_of_own(void);
pthread_t ended(struct own *own);
pthread_t never_ends(struct own *own);
thrd_t c11_ended(struct own *own);
thrd_t c11_never_ends(struct own *own);
pthread_once_t *once_at_work(struct own *own);
once_flag *c11_once_at_work(struct own *own);
void do_nothing(void);
pid_t child_that_ends(void);
int with_byte(struct own *own);     /* a pipe with something to read */
int pipe_of(struct own *own);       /* one with room */
int with_datagram(struct own *own); /* a socket with something to receive */
int peer_of(struct own *own);       /* a socket that takes something */
int with_caller(struct own *own);   /* a socket to which somebody has connected */
struct iovec *part(struct own *own, size_t bytes);
struct msghdr *message(struct own *own, size_t bytes);
struct mmsghdr *messages(struct own *own, size_t bytes);
struct pollfd *polled(int fd);
struct sembuf *change(int by);
struct flock *whole(void);
sigset_t *no_signals(void);
sigset_t *never_comes(void);
sigset_t *pending(void);
struct aiocb *prepared(struct own *own, int fd);
struct aiocb64 *prepared64(struct own *own, int fd);
struct aiocb *reading(struct own *own, int fd);
struct aiocb64 *reading64(struct own *own, int fd);
struct gaicb *resolving(struct own *own);

/* What takes a list of arguments, with some. */
int vprint_to(int (*function)(FILE *, const char *, va_list), FILE *stream, const char *how, ...);
int vprint(int (*function)(const char *, va_list), const char *how, ...);
int vprint_chk(int (*function)(FILE *, int, const char *, va_list), FILE *stream, const char *how,
               ...);
int vprint_out_chk(int (*function)(int, const char *, va_list), const char *how, ...);
int vprint_fd(int (*function)(int, const char *, va_list), int fd, const char *how, ...);
int vprint_fd_chk(int (*function)(int, int, const char *, va_list), int fd, const char *how, ...);
int vwide_to(int (*function)(FILE *, const wchar_t *, va_list), FILE *stream, const wchar_t *how,
             ...);
int vwide(int (*function)(const wchar_t *, va_list), const wchar_t *how, ...);
int vwide_chk(int (*function)(FILE *, int, const wchar_t *, va_list), FILE *stream,
              const wchar_t *how, ...);
int vwide_out_chk(int (*function)(int, const wchar_t *, va_list), const wchar_t *how, ...);
long vlog(void (*function)(int, const char *, va_list), const char *how, ...);
long vlog_chk(void (*function)(int, int, const char *, va_list), const char *how, ...);

#ifdef __cplusplus
extern "C" {
#endif
ssize_t __read_chk(int, void *, size_t, size_t);
ssize_t __pread_chk(int, void *, size_t, off_t, size_t);
ssize_t __pread64_chk(int, void *, size_t, off64_t, size_t);
ssize_t __recv_chk(int, void *, size_t, size_t, int);
ssize_t __recvfrom_chk(int, void *, size_t, size_t, int, struct sockaddr *, socklen_t *);
int __poll_chk(struct pollfd *, nfds_t, int, size_t);
int __ppoll_chk(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *, size_t);
int __dprintf_chk(int, int, const char *, ...);
int __vdprintf_chk(int, int, const char *, va_list);
void __syslog_chk(int, int, const char *, ...);
void __vsyslog_chk(int, int, const char *, va_list);
int __open_2(const char *, int);
int __open64_2(const char *, int);
int __openat_2(int, const char *, int);
int __openat64_2(int, const char *, int);
ssize_t __readlink_chk(const char *, char *, size_t, size_t);
ssize_t __readlinkat_chk(int, const char *, char *, size_t, size_t);
char *__realpath_chk(const char *, char *, size_t);
char *__fgets_chk(char *, size_t, int, FILE *);
char *__fgets_unlocked_chk(char *, size_t, int, FILE *);
size_t __fread_chk(void *, size_t, size_t, size_t, FILE *);
size_t __fread_unlocked_chk(void *, size_t, size_t, size_t, FILE *);
wchar_t *__fgetws_chk(wchar_t *, size_t, int, FILE *);
wchar_t *__fgetws_unlocked_chk(wchar_t *, size_t, int, FILE *);
char *gets(char *);
char *__gets_chk(char *, size_t);
int __printf_chk(int, const char *, ...);
int __fprintf_chk(FILE *, int, const char *, ...);
int __vprintf_chk(int, const char *, va_list);
int __vfprintf_chk(FILE *, int, const char *, va_list);
int __wprintf_chk(int, const wchar_t *, ...);
int __fwprintf_chk(FILE *, int, const wchar_t *, ...);
int __vwprintf_chk(int, const wchar_t *, va_list);
int __vfwprintf_chk(FILE *, int, const wchar_t *, va_list);
ssize_t __getdelim(char **, size_t *, int, FILE *);
int __isoc99_scanf(const char *, ...);
int __isoc99_fscanf(FILE *, const char *, ...);
int __isoc99_vscanf(const char *, va_list);
int __isoc99_vfscanf(FILE *, const char *, va_list);
int __isoc99_wscanf(const wchar_t *, ...);
int __isoc99_fwscanf(FILE *, const wchar_t *, ...);
int __isoc99_vwscanf(const wchar_t *, va_list);
int __isoc99_vfwscanf(FILE *, const wchar_t *, va_list);
int __isoc23_scanf(const char *, ...);
int __isoc23_fscanf(FILE *, const char *, ...);
int __isoc23_vscanf(const char *, va_list);
int __isoc23_vfscanf(FILE *, const char *, va_list);
int __isoc23_wscanf(const wchar_t *, ...);
int __isoc23_fwscanf(FILE *, const wchar_t *, ...);
int __isoc23_vwscanf(const wchar_t *, va_list);
int __isoc23_vfwscanf(FILE *, const wchar_t *, va_list);
int __uflow(FILE *);
int __overflow(FILE *, int);
wint_t __wuflow(FILE *);
wint_t __woverflow(FILE *, wint_t);
int _IO_getc(FILE *);
int _IO_putc(int, FILE *);
int _IO_puts(const char *);
int __xpg_sigpause(int);
int __sigpause(int, int);
/* <stdio.h> and <signal.h> lead these names to others. */
int plain_scanf(const char *, ...) __asm__("scanf");
int plain_fscanf(FILE *, const char *, ...) __asm__("fscanf");
int plain_vscanf(const char *, va_list) __asm__("vscanf");
int plain_vfscanf(FILE *, const char *, va_list) __asm__("vfscanf");
int plain_wscanf(const wchar_t *, ...) __asm__("wscanf");
int plain_fwscanf(FILE *, const wchar_t *, ...) __asm__("fwscanf");
int plain_vwscanf(const wchar_t *, va_list) __asm__("vwscanf");
int plain_vfwscanf(FILE *, const wchar_t *, va_list) __asm__("vfwscanf");
int plain_sigpause(int) __asm__("sigpause");
/* <aio.h> tells C++ that it throws nothing, which is not so of a cancelled thread. */
int plain_aio_suspend64(const struct aiocb64 *const *, int,
                        const struct timespec *) __asm__("aio_suspend64");
#ifdef __cplusplus
}
#endif

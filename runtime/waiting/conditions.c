/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for other threads, except locks: conditions, semaphores, barriers, joins, futexes. */
#include "../sandbox/sandbox.h"
#include "waiting.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#define CALLS(X)              \
    X(pthread_cond_clockwait) \
    X(cnd_wait)               \
    X(cnd_timedwait)          \
    X(sem_wait)               \
    X(sem_trywait)            \
    X(sem_timedwait)          \
    X(sem_clockwait)          \
    X(pthread_barrier_wait)   \
    X(pthread_join)           \
    X(pthread_timedjoin_np)   \
    X(pthread_clockjoin_np)   \
    X(thrd_join)              \
    X(pthread_once)           \
    X(call_once)              \
    X(syscall)                \
    X(pthread_cond_timedwait) \
    X(pthread_cond_wait)
FM_WAIT_NEXT(CALLS)

FM_WAIT_CALL(FM_REC_WAIT_CONDITION, condition, int, pthread_cond_wait,
             (pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex),
             (condition, mutex))
FM_WAIT_CALL(FM_REC_WAIT_CONDITION, condition, int, pthread_cond_timedwait,
             (pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
              const struct timespec *restrict until),
             (condition, mutex, until))
FM_WAIT_CALL(FM_REC_WAIT_CONDITION, condition, int, pthread_cond_clockwait,
             (pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, clockid_t clock,
              const struct timespec *restrict until),
             (condition, mutex, clock, until))
FM_WAIT_CALL(FM_REC_WAIT_CONDITION, condition, int, cnd_wait, (cnd_t * condition, mtx_t *mutex),
             (condition, mutex))
FM_WAIT_CALL(FM_REC_WAIT_CONDITION, condition, int, cnd_timedwait,
             (cnd_t *restrict condition, mtx_t *restrict mutex,
              const struct timespec *restrict until),
             (condition, mutex, until))

/* A pending cancellation is also acted on by calls that need not wait. */
static bool try_semaphore(sem_t *semaphore)
{
    int saved_errno = errno;
    pthread_testcancel();
    bool taken = next.sem_trywait(semaphore) == 0;
    errno = saved_errno;
    return taken;
}

#define SEMAPHORE_IF(valid, name, parameters, arguments)                                \
    FM_WAIT_SEES(int, name, sem_trywait, parameters)                                    \
    {                                                                                   \
        if (FM_LIKELY(valid) && try_semaphore(semaphore)) {                             \
            fm_wait_count(FM_REC_WAIT_SEMAPHORE, HERE);                                 \
            return 0;                                                                   \
        }                                                                               \
        bool counted = fm_wait_begin(FM_REC_WAIT_SEMAPHORE, (uint64_t)semaphore, HERE); \
        int result = next.name arguments;                                               \
        fm_wait_over(counted, HERE);                                                    \
        return result;                                                                  \
    }
/* Arguments that libc rejects before it looks at the semaphore. */
SEMAPHORE_IF(true, sem_wait, (sem_t * semaphore), (semaphore))
SEMAPHORE_IF(fm_wait_is_time(CLOCK_REALTIME, until), sem_timedwait,
             (sem_t *restrict semaphore, const struct timespec *restrict until), (semaphore, until))
SEMAPHORE_IF(fm_wait_is_time(clock, until), sem_clockwait,
             (sem_t *restrict semaphore, clockid_t clock, const struct timespec *restrict until),
             (semaphore, clock, until))

FM_WAIT_CALL(FM_REC_WAIT_BARRIER, barrier, int, pthread_barrier_wait, (pthread_barrier_t * barrier),
             (barrier))
FM_WAIT_CALL(FM_REC_WAIT_JOIN, 0, int, pthread_join, (pthread_t thread, void **result_of),
             (thread, result_of))
FM_WAIT_CALL(FM_REC_WAIT_JOIN, 0, int, pthread_timedjoin_np,
             (pthread_t thread, void **result_of, const struct timespec *until),
             (thread, result_of, until))
FM_WAIT_CALL(FM_REC_WAIT_JOIN, 0, int, pthread_clockjoin_np,
             (pthread_t thread, void **result_of, clockid_t clock, const struct timespec *until),
             (thread, result_of, clock, until))
FM_WAIT_CALL(FM_REC_WAIT_JOIN, 0, int, thrd_join, (thrd_t thread, int *result_of),
             (thread, result_of))

/* The thread that runs the function does not wait; bit 0 is set while another thread runs it. */
#define ONCE_IN_PROGRESS 1
FM_WAIT_CALL_UNLESS((__atomic_load_n(control, __ATOMIC_RELAXED) & 3) != ONCE_IN_PROGRESS,
                    FM_REC_WAIT_ONCE, control, int, pthread_once,
                    (pthread_once_t * control, void (*function)(void)), (control, function))

FM_WAIT_SEES(void, call_once, call_once, (once_flag * flag, void (*function)(void)))
{
    int state = __atomic_load_n(&flag->__data, __ATOMIC_RELAXED);
    bool waits =
        (state & 3) == ONCE_IN_PROGRESS && fm_wait_begin(FM_REC_WAIT_ONCE, (uint64_t)flag, HERE);
    next.call_once(flag, function);
    fm_wait_over(waits, HERE);
}

static bool futex_waits(long operation)
{
    long command = operation & FUTEX_CMD_MASK;
    return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET || command == FUTEX_LOCK_PI ||
           command == FUTEX_WAIT_REQUEUE_PI;
}

/* Other calls of the kernel that can wait, where libc has no function for them, or the program uses
 * none. */
static const unsigned char kinds_of_calls[] = {
    [SYS_futex_waitv] = FM_REC_WAIT_FUTEX,
    [SYS_io_getevents] = FM_REC_WAIT_READ,
    [SYS_io_pgetevents] = FM_REC_WAIT_READ,
    [SYS_read] = FM_REC_WAIT_READ,
    [SYS_readv] = FM_REC_WAIT_READ,
    [SYS_pread64] = FM_REC_WAIT_READ,
    [SYS_preadv] = FM_REC_WAIT_READ,
    [SYS_preadv2] = FM_REC_WAIT_READ,
    [SYS_write] = FM_REC_WAIT_WRITE,
    [SYS_writev] = FM_REC_WAIT_WRITE,
    [SYS_pwrite64] = FM_REC_WAIT_WRITE,
    [SYS_pwritev] = FM_REC_WAIT_WRITE,
    [SYS_pwritev2] = FM_REC_WAIT_WRITE,
    [SYS_sendfile] = FM_REC_WAIT_WRITE,
    [SYS_splice] = FM_REC_WAIT_WRITE,
    [SYS_copy_file_range] = FM_REC_WAIT_WRITE,
    [SYS_recvfrom] = FM_REC_WAIT_RECEIVE,
    [SYS_recvmsg] = FM_REC_WAIT_RECEIVE,
    [SYS_recvmmsg] = FM_REC_WAIT_RECEIVE,
    [SYS_sendto] = FM_REC_WAIT_SEND,
    [SYS_sendmsg] = FM_REC_WAIT_SEND,
    [SYS_sendmmsg] = FM_REC_WAIT_SEND,
    [SYS_accept] = FM_REC_WAIT_ACCEPT,
    [SYS_accept4] = FM_REC_WAIT_ACCEPT,
    [SYS_connect] = FM_REC_WAIT_CONNECT,
    [SYS_poll] = FM_REC_WAIT_READY,
    [SYS_ppoll] = FM_REC_WAIT_READY,
    [SYS_select] = FM_REC_WAIT_READY,
    [SYS_pselect6] = FM_REC_WAIT_READY,
    [SYS_epoll_wait] = FM_REC_WAIT_READY,
    [SYS_epoll_pwait] = FM_REC_WAIT_READY,
    [SYS_epoll_pwait2] = FM_REC_WAIT_READY,
    [SYS_nanosleep] = FM_REC_WAIT_SLEEP,
    [SYS_clock_nanosleep] = FM_REC_WAIT_SLEEP,
    [SYS_pause] = FM_REC_WAIT_SIGNAL,
    [SYS_rt_sigsuspend] = FM_REC_WAIT_SIGNAL,
    [SYS_rt_sigtimedwait] = FM_REC_WAIT_SIGNAL,
    [SYS_wait4] = FM_REC_WAIT_CHILD,
    [SYS_waitid] = FM_REC_WAIT_CHILD,
    [SYS_fsync] = FM_REC_WAIT_DISK,
    [SYS_fdatasync] = FM_REC_WAIT_DISK,
    [SYS_sync] = FM_REC_WAIT_DISK,
    [SYS_syncfs] = FM_REC_WAIT_DISK,
    [SYS_msync] = FM_REC_WAIT_DISK,
    [SYS_sync_file_range] = FM_REC_WAIT_DISK,
    [SYS_open] = FM_REC_WAIT_DISK,
    [SYS_openat] = FM_REC_WAIT_DISK,
    [SYS_openat2] = FM_REC_WAIT_DISK,
    [SYS_creat] = FM_REC_WAIT_DISK,
    [SYS_close] = FM_REC_WAIT_DISK,
    [SYS_fallocate] = FM_REC_WAIT_DISK,
    [SYS_getdents64] = FM_REC_WAIT_DISK,
    [SYS_flock] = FM_REC_WAIT_LOCK_FILE,
    [SYS_msgrcv] = FM_REC_WAIT_MESSAGE,
    [SYS_msgsnd] = FM_REC_WAIT_MESSAGE,
    [SYS_semop] = FM_REC_WAIT_MESSAGE,
    [SYS_semtimedop] = FM_REC_WAIT_MESSAGE,
    [SYS_getrandom] = FM_REC_WAIT_RANDOM,
    [SYS_ioctl] = FM_REC_WAIT_DEVICE,
    [SYS_futex] = FM_REC_WAIT_FUTEX,
    [SYS_io_uring_enter] = FM_REC_WAIT_READ,
};

static bool call_waits(long number, long b, long d)
{
    if ((unsigned long)number >= sizeof kinds_of_calls || kinds_of_calls[number] == 0)
        return false;
    if (number == SYS_io_uring_enter)
        return ((unsigned long)d & IORING_ENTER_GETEVENTS) != 0;
    return number != SYS_futex || futex_waits(b);
}

/* As the C++ library calls it for its futures and atomic waits. */
typedef long (*syscall_fn)(long, long, long, long, long, long, long);
FM_WAIT_SEES(long, syscall, syscall, (long number, long a, long b, long c, long d, long e, long f))
{
    syscall_fn call;
    memcpy(&call, &next.syscall, sizeof call);
    if (number == SYS_rt_sigaction && a == FM_TICK_SIGNAL && d == sizeof(uint64_t)) {
        long told = fm_tick_signal_exchange((const void *)b, (void *)c);
        if (told < 0)
            errno = (int)-told;
        return told < 0 ? -1 : told;
    }
    if (FM_UNLIKELY(number == SYS_seccomp || number == SYS_prctl)) {
        unsigned entered =
            fm_sandbox_enter(number, (unsigned long)a, (unsigned long)b, (unsigned long)c);
        long result = call(number, a, b, c, d, e, f);
        fm_sandbox_entered(entered, number, (unsigned long)b, result);
        return result;
    }
    if (!call_waits(number, b, d))
        return call(number, a, b, c, d, e, f);
    bool counted = fm_wait_begin(kinds_of_calls[number], (uint64_t)a, HERE);
    long result = call(number, a, b, c, d, e, f);
    fm_wait_over(counted, HERE);
    return result;
}

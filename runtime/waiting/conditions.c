/* SPDX-License-Identifier: Apache-2.0 */
/* Threads that wait for each other but for locks: conditions, semaphores, barriers, ends, futexes.
 */
#include "waiting.h"

#include <errno.h>
#include <linux/futex.h>
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

/* A pending cancellation is acted on also by those that need not wait. */
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
/* What libc refuses before it looks at the semaphore. */
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

/* Whoever runs the function itself does not wait; bit 0 says that another thread is at it. */
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

static bool futex_waits(long number, long operation)
{
    if (number != SYS_futex)
        return false;
    long command = operation & FUTEX_CMD_MASK;
    return command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET || command == FUTEX_LOCK_PI ||
           command == FUTEX_WAIT_REQUEUE_PI;
}

/* As the C++ library calls it for its futures and atomic waits. */
typedef long (*syscall_fn)(long, long, long, long, long, long, long);
FM_WAIT_SEES(long, syscall, syscall, (long number, long a, long b, long c, long d, long e, long f))
{
    syscall_fn call;
    memcpy(&call, &next.syscall, sizeof call);
    if (!futex_waits(number, b))
        return call(number, a, b, c, d, e, f);
    bool counted = fm_wait_begin(FM_REC_WAIT_FUTEX, (uint64_t)a, HERE);
    long result = call(number, a, b, c, d, e, f);
    fm_wait_over(counted, HERE);
    return result;
}

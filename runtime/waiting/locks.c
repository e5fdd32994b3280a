/* SPDX-License-Identifier: Apache-2.0 */
/* Mutexes and read-write locks: tried first, so that an uncontended lock costs no clock. A failed
 * try does not change results (errors are those of the lock call that follows). */
#include "waiting.h"

#include <errno.h>
#include <pthread.h>
#include <threads.h>

#define CALLS(X)                  \
    X(pthread_mutex_lock)         \
    X(pthread_mutex_trylock)      \
    X(pthread_mutex_timedlock)    \
    X(pthread_mutex_clocklock)    \
    X(mtx_lock)                   \
    X(mtx_trylock)                \
    X(mtx_timedlock)              \
    X(pthread_rwlock_rdlock)      \
    X(pthread_rwlock_tryrdlock)   \
    X(pthread_rwlock_timedrdlock) \
    X(pthread_rwlock_clockrdlock) \
    X(pthread_rwlock_wrlock)      \
    X(pthread_rwlock_trywrlock)   \
    X(pthread_rwlock_timedwrlock) \
    X(pthread_rwlock_clockwrlock)
FM_WAIT_NEXT(CALLS)

/* 0 for a moment while a lock changes hands: then tries again. */
static uint32_t owner_of(const int *owner)
{
    int tid = __atomic_load_n(owner, __ATOMIC_RELAXED);
    if (tid == 0)
        tid = __atomic_load_n(owner, __ATOMIC_RELAXED);
    return (uint32_t)tid;
}

static bool begin_mutex(const pthread_mutex_t *mutex, uint64_t cfa)
{
    return fm_wait_begin_lock(FM_REC_WAIT_MUTEX, mutex, owner_of(&mutex->__data.__owner), cfa);
}

static bool begin_rwlock(const pthread_rwlock_t *lock, uint64_t cfa)
{
    return fm_wait_begin_lock(FM_REC_WAIT_RWLOCK, lock, owner_of(&lock->__data.__cur_writer), cfa);
}

/* An error is not waited for: a relock, say. */
static int end(int result, int success, int timed_out, uint64_t cfa)
{
    if (result == success || result == EOWNERDEAD || result == timed_out)
        fm_wait_end(cfa);
    else
        fm_wait_give_up(cfa);
    fm_wait_over(false, cfa);
    return result;
}

#define LOCK(valid, kind, begin, success, busy, timed_out, try_lock, name, parameters, arguments, \
             lock)                                                                                \
    FM_WAIT_SEES(int, name, try_lock, parameters)                                                 \
    {                                                                                             \
        if (FM_UNLIKELY(!(valid))) /* rejected before the lock is examined */                     \
            return next.name arguments;                                                           \
        int result = next.try_lock(lock);                                                         \
        if (FM_LIKELY(result != (busy))) {                                                        \
            if (FM_LIKELY(result == (success)) || result == EOWNERDEAD)                           \
                fm_wait_count(kind, HERE);                                                        \
            return result;                                                                        \
        }                                                                                         \
        if (!begin((const void *)lock, HERE)) {                                                   \
            result = next.name arguments;                                                         \
            fm_wait_over(false, HERE);                                                            \
            return result;                                                                        \
        }                                                                                         \
        return end(next.name arguments, success, timed_out, HERE);                                \
    }
#define MUTEX(name, parameters, arguments) MUTEX_IF(true, name, parameters, arguments)
#define MUTEX_IF(valid, name, parameters, arguments)                                              \
    LOCK(valid, FM_REC_WAIT_MUTEX, begin_mutex, 0, EBUSY, ETIMEDOUT, pthread_mutex_trylock, name, \
         parameters, arguments, lock)
#define C11_MUTEX(name, parameters, arguments)                                         \
    LOCK(true, FM_REC_WAIT_MUTEX, begin_mutex, thrd_success, thrd_busy, thrd_timedout, \
         mtx_trylock, name, parameters, arguments, lock)
#define RWLOCK(try_lock, name, parameters, arguments) \
    RWLOCK_IF(true, try_lock, name, parameters, arguments)
#define RWLOCK_IF(valid, try_lock, name, parameters, arguments)                                    \
    LOCK(valid, FM_REC_WAIT_RWLOCK, begin_rwlock, 0, EBUSY, ETIMEDOUT, try_lock, name, parameters, \
         arguments, lock)

MUTEX(pthread_mutex_lock, (pthread_mutex_t * lock), (lock))
MUTEX(pthread_mutex_timedlock,
      (pthread_mutex_t *restrict lock, const struct timespec *restrict until), (lock, until))
MUTEX_IF(fm_wait_is_clock(clock), pthread_mutex_clocklock,
         (pthread_mutex_t *restrict lock, clockid_t clock, const struct timespec *restrict until),
         (lock, clock, until))
C11_MUTEX(mtx_lock, (mtx_t * lock), (lock))
C11_MUTEX(mtx_timedlock, (mtx_t *restrict lock, const struct timespec *restrict until),
          (lock, until))
RWLOCK(pthread_rwlock_tryrdlock, pthread_rwlock_rdlock, (pthread_rwlock_t * lock), (lock))
RWLOCK_IF(fm_wait_is_time(CLOCK_REALTIME, until), pthread_rwlock_tryrdlock,
          pthread_rwlock_timedrdlock,
          (pthread_rwlock_t *restrict lock, const struct timespec *restrict until), (lock, until))
RWLOCK_IF(fm_wait_is_time(clock, until), pthread_rwlock_tryrdlock, pthread_rwlock_clockrdlock,
          (pthread_rwlock_t *restrict lock, clockid_t clock, const struct timespec *restrict until),
          (lock, clock, until))
RWLOCK(pthread_rwlock_trywrlock, pthread_rwlock_wrlock, (pthread_rwlock_t * lock), (lock))
RWLOCK_IF(fm_wait_is_time(CLOCK_REALTIME, until), pthread_rwlock_trywrlock,
          pthread_rwlock_timedwrlock,
          (pthread_rwlock_t *restrict lock, const struct timespec *restrict until), (lock, until))
RWLOCK_IF(fm_wait_is_time(clock, until), pthread_rwlock_trywrlock, pthread_rwlock_clockwrlock,
          (pthread_rwlock_t *restrict lock, clockid_t clock, const struct timespec *restrict until),
          (lock, clock, until))

#ifndef FATHOM_STATIC
/* Whether calls reach these functions: in a library loaded by an uninstrumented program they do
 * not. */
extern char fm_stub_pthread_rwlock_rdlock[] FM_HIDDEN;
__attribute__((constructor)) static void look_who_is_called(void)
{
    if (fm_wait_is_called("pthread_rwlock_rdlock", fm_stub_pthread_rwlock_rdlock))
        fm_waiting_linked();
}
#endif

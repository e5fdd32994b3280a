/* SPDX-License-Identifier: Apache-2.0 */
/* How a wait for a lock ends other than by the lock: each in a function of its own. And a lock that
 * is held in very many contexts, one after the other. Prints how long the waits that time out
 * lasted at least and at most: name, nanoseconds from when another thread saw main asleep until the
 * time that was given, nanoseconds around the call. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>

#include "../asleep.h"

#define OWN __attribute__((noinline, noclone))
#define CONTEXTS 256 /* ways through eight functions */

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, robust;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static mtx_t c11;
static sigjmp_buf out;
static volatile int kept;

static void need(int right)
{
    if (!right)
        abort();
}

static double ns_of(struct timespec time)
{
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return ns_of(time);
}

static struct timespec in_100_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    t.tv_nsec += 100000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

static OWN void mutex_timed_out(const struct timespec *until)
{
    need(pthread_mutex_timedlock(&plain, until) == ETIMEDOUT);
}

static OWN void mtx_timed_out(const struct timespec *until)
{
    need(mtx_timedlock(&c11, until) == thrd_timedout);
}

static OWN void rwlock_timed_out(const struct timespec *until)
{
    need(pthread_rwlock_timedwrlock(&rwlock, until) == ETIMEDOUT);
}

struct timed {
    const char *name;
    void (*call)(const struct timespec *until);
    const void *lock;
    size_t bytes;
    int over;
    double seen_asleep; /* 0: not */
};

static void *watch_main(void *argument)
{
    struct timed *timed = argument;
    while (!__atomic_load_n(&timed->over, __ATOMIC_SEQ_CST)) {
        if (asleep_on(getpid(), timed->lock, timed->bytes)) {
            timed->seen_asleep = now();
            break;
        }
        asleep_pause();
    }
    return NULL;
}

static OWN void *takes_all(void *unused)
{
    need(pthread_mutex_lock(&plain) == 0 && mtx_lock(&c11) == thrd_success &&
         pthread_rwlock_wrlock(&rwlock) == 0);
    return unused; /* and ends: who has them is gone */
}

static OWN void *dies_with_it(void *wanted)
{
    need(pthread_mutex_lock(&robust) == 0);
    if (wanted != NULL) {
        pthread_barrier_wait(wanted);
        struct timespec brief = {0, 200000};
        /* The kernel's bit that somebody waits. */
        while ((__atomic_load_n(&robust.__data.__lock, __ATOMIC_SEQ_CST) & 0x80000000) == 0)
            nanosleep(&brief, NULL);
    }
    return NULL;
}

static OWN void owner_was_dead(void)
{
    need(pthread_mutex_lock(&robust) == EOWNERDEAD);
}

static OWN void owner_dies(void)
{
    need(pthread_mutex_lock(&robust) == EOWNERDEAD);
}

static void again(void)
{
    need(pthread_mutex_consistent(&robust) == 0 && pthread_mutex_unlock(&robust) == 0);
}

static void jump(int number)
{
    (void)number;
    siglongjmp(out, 1);
}

static OWN void left(void)
{
    struct sigaction action = {.sa_handler = jump};
    sigset_t one, none;
    sigemptyset(&none);
    sigemptyset(&one);
    sigaddset(&one, SIGUSR1);
    sigaction(SIGUSR1, &action, NULL);
    sigprocmask(SIG_BLOCK, &one, NULL);
    raise(SIGUSR1);
    if (sigsetjmp(out, 0) == 0)
        ppoll(NULL, 0, NULL, &none);
}

static pthread_mutex_t handed = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t turn;

static OWN void hold(unsigned way)
{
    pthread_mutex_lock(&handed);
    pthread_barrier_wait(&turn);
    struct timespec brief = {0, 100000};
    while (__atomic_load_n(&handed.__data.__lock, __ATOMIC_SEQ_CST) != 2)
        nanosleep(&brief, NULL);
    pthread_mutex_unlock(&handed);
    pthread_barrier_wait(&turn);
    kept = (int)way;
}

#define WAY(name, bit, next)           \
    static OWN void name(unsigned way) \
    {                                  \
        if ((way >> (bit)&1) != 0)     \
            next(way);                 \
        else                           \
            next(way);                 \
        kept = (int)way;               \
    }
WAY(way0, 0, hold)
WAY(way1, 1, way0)
WAY(way2, 2, way1)
WAY(way3, 3, way2)
WAY(way4, 4, way3)
WAY(way5, 5, way4)
WAY(way6, 6, way5)
WAY(way7, 7, way6)

static void *holds(void *unused)
{
    for (unsigned way = 0; way < CONTEXTS; way++)
        way7(way);
    return unused;
}

static OWN void wanted(void)
{
    need(pthread_mutex_lock(&handed) == 0 && pthread_mutex_unlock(&handed) == 0);
}

static pthread_t start(void *(*body)(void *), void *argument)
{
    pthread_t thread;
    need(pthread_create(&thread, NULL, body, argument) == 0);
    return thread;
}

static void time_out(struct timed timed)
{
    pthread_t watcher = start(watch_main, &timed);
    struct timespec until = in_100_ms();
    double begin = now();
    timed.call(&until);
    double outside = now() - begin;
    __atomic_store_n(&timed.over, 1, __ATOMIC_SEQ_CST);
    pthread_join(watcher, NULL);
    double inside = timed.seen_asleep != 0 ? ns_of(until) - timed.seen_asleep : 0;
    printf("%s %.0f %.0f\n", timed.name, inside, outside);
}

int main(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &attributes);
    pthread_barrier_init(&turn, NULL, 2);
    need(mtx_init(&c11, mtx_timed) == thrd_success);
    pthread_join(start(takes_all, NULL), NULL);
    time_out((struct timed){"mutex_timed_out", mutex_timed_out, &plain, sizeof plain, 0, 0});
    time_out((struct timed){"mtx_timed_out", mtx_timed_out, &c11, sizeof c11, 0, 0});
    time_out((struct timed){"rwlock_timed_out", rwlock_timed_out, &rwlock, sizeof rwlock, 0, 0});
    pthread_join(start(dies_with_it, NULL), NULL);
    owner_was_dead();
    again();
    pthread_t thread = start(dies_with_it, &turn);
    pthread_barrier_wait(&turn);
    owner_dies();
    again();
    pthread_join(thread, NULL);
    left();
    thread = start(holds, NULL);
    for (int i = 0; i < CONTEXTS; i++) {
        pthread_barrier_wait(&turn);
        wanted();
        pthread_barrier_wait(&turn);
    }
    pthread_join(thread, NULL);
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* One thread holds a lock in one of two functions, 9 times of 10 in hold_much, until another one
 * sleeps on it, each kind of lock in turn: wait_for_KIND. Each wait has a holder that is known. */
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define OWN __attribute__((noinline))
#define ROUNDS 20

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, recursive, checking;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static mtx_t c11;
static sem_t go, done;
static int waiter;

/* Until the other thread sleeps in its lock: nothing else waits there between `go` and `done`. */
static void until_it_sleeps(void)
{
    for (int asleep = 0; asleep < 3;) {
        char path[64], text[512] = "";
        struct timespec brief = {0, 1000000};
        snprintf(path, sizeof path, "/proc/self/task/%d/stat",
                 __atomic_load_n(&waiter, __ATOMIC_SEQ_CST));
        int fd = open(path, O_RDONLY);
        ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : 0;
        close(fd);
        const char *end = got > 0 ? strrchr(text, ')') : NULL;
        asleep = end != NULL && end[1] == ' ' && end[2] == 'S' &&
                         __atomic_load_n(&waiter, __ATOMIC_SEQ_CST) != 0
                     ? asleep + 1
                     : 0;
        nanosleep(&brief, NULL);
    }
}

#define KINDS(X)                                                                                   \
    X(plain, pthread_mutex_lock(&plain), pthread_mutex_lock(&plain), pthread_mutex_unlock(&plain)) \
    X(recursive, pthread_mutex_lock(&recursive) + pthread_mutex_lock(&recursive),                  \
      pthread_mutex_lock(&recursive), pthread_mutex_unlock(&recursive))                            \
    X(checking, pthread_mutex_lock(&checking), pthread_mutex_lock(&checking),                      \
      pthread_mutex_unlock(&checking))                                                             \
    X(c11, mtx_lock(&c11), mtx_lock(&c11), mtx_unlock(&c11))                                       \
    X(writer, pthread_rwlock_wrlock(&rwlock), pthread_rwlock_rdlock(&rwlock),                      \
      pthread_rwlock_unlock(&rwlock))                                                              \
    X(writers, pthread_rwlock_wrlock(&rwlock), pthread_rwlock_wrlock(&rwlock),                     \
      pthread_rwlock_unlock(&rwlock))                                                              \
    X(reader, pthread_rwlock_rdlock(&rwlock), pthread_rwlock_wrlock(&rwlock),                      \
      pthread_rwlock_unlock(&rwlock))

#define FUNCTIONS(kind, hold, wait, unlock)  \
    static void take_##kind(void)            \
    {                                        \
        if ((hold) != 0)                     \
            exit(1);                         \
    }                                        \
    static void give_##kind(void)            \
    {                                        \
        unlock;                              \
        if (strcmp(#kind, "recursive") == 0) \
            unlock;                          \
    }                                        \
    static OWN void wait_for_##kind(void)    \
    {                                        \
        if ((wait) != 0)                     \
            exit(1);                         \
        unlock;                              \
    }
KINDS(FUNCTIONS)

static const struct kind {
    void (*take)(void), (*give)(void), (*wait)(void);
} kinds[] = {
#define KIND(kind, hold, wait, unlock) {take_##kind, give_##kind, wait_for_##kind},
    KINDS(KIND)};
#define KIND_COUNT (sizeof kinds / sizeof kinds[0])

static OWN void *waits(void *unused)
{
    for (size_t i = 0; i < KIND_COUNT; i++)
        for (int round = 0; round < ROUNDS; round++) {
            sem_wait(&go);
            __atomic_store_n(&waiter, (int)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
            kinds[i].wait();
            __atomic_store_n(&waiter, 0, __ATOMIC_SEQ_CST);
            sem_post(&done);
        }
    return unused;
}

static OWN void hold(const struct kind *kind)
{
    kind->take();
    sem_post(&go);
    until_it_sleeps();
    kind->give();
    sem_wait(&done);
}

/* What they do with the lock is in functions of their own: hold_much and hold_little call hold. */
static OWN void hold_much(const struct kind *kind)
{
    hold(kind);
    __asm__ volatile("");
}

static OWN void hold_little(const struct kind *kind)
{
    hold(kind);
    __asm__ volatile("");
}

int main(void)
{
    pthread_t thread;
    pthread_mutexattr_t how;
    pthread_mutexattr_init(&how);
    pthread_mutexattr_settype(&how, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&recursive, &how);
    pthread_mutexattr_settype(&how, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&checking, &how);
    mtx_init(&c11, mtx_plain);
    sem_init(&go, 0, 0);
    sem_init(&done, 0, 0);
    pthread_create(&thread, NULL, waits, NULL);
    for (size_t i = 0; i < KIND_COUNT; i++)
        for (int round = 0; round < ROUNDS; round++)
            (round % 10 == 9 ? hold_little : hold_much)(&kinds[i]);
    pthread_join(thread, NULL);
    return 0;
}

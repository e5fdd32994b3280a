/* SPDX-License-Identifier: Apache-2.0 */
/* One thread holds a lock in one of two functions, 9 times of 10 in hold_much, until another one
 * sleeps on it, each kind of lock in turn: wait_for_KIND. Each wait has a holder that is known. */
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include "../asleep.h"

#define OWN __attribute__((noinline))
#define ROUNDS 20

static pthread_mutex_t plain = PTHREAD_MUTEX_INITIALIZER, recursive, checking;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static mtx_t c11;
static sem_t go, done;
static int waiter;

#define KINDS(X)                                                                             \
    X(plain, plain, pthread_mutex_lock(&plain), pthread_mutex_lock(&plain),                  \
      pthread_mutex_unlock(&plain))                                                          \
    X(recursive, recursive, pthread_mutex_lock(&recursive) + pthread_mutex_lock(&recursive), \
      pthread_mutex_lock(&recursive), pthread_mutex_unlock(&recursive))                      \
    X(checking, checking, pthread_mutex_lock(&checking), pthread_mutex_lock(&checking),      \
      pthread_mutex_unlock(&checking))                                                       \
    X(c11, c11, mtx_lock(&c11), mtx_lock(&c11), mtx_unlock(&c11))                            \
    X(writer, rwlock, pthread_rwlock_wrlock(&rwlock), pthread_rwlock_rdlock(&rwlock),        \
      pthread_rwlock_unlock(&rwlock))                                                        \
    X(writers, rwlock, pthread_rwlock_wrlock(&rwlock), pthread_rwlock_wrlock(&rwlock),       \
      pthread_rwlock_unlock(&rwlock))                                                        \
    X(reader, rwlock, pthread_rwlock_rdlock(&rwlock), pthread_rwlock_wrlock(&rwlock),        \
      pthread_rwlock_unlock(&rwlock))

#define FUNCTIONS(kind, lock, hold, wait, unlock) \
    static void take_##kind(void)                 \
    {                                             \
        if ((hold) != 0)                          \
            exit(1);                              \
    }                                             \
    static void give_##kind(void)                 \
    {                                             \
        unlock;                                   \
        if (strcmp(#kind, "recursive") == 0)      \
            unlock;                               \
    }                                             \
    static OWN void wait_for_##kind(void)         \
    {                                             \
        if ((wait) != 0)                          \
            exit(1);                              \
        unlock;                                   \
    }
KINDS(FUNCTIONS)

static const struct kind {
    void (*take)(void), (*give)(void), (*wait)(void);
    const void *lock;
    size_t bytes;
} kinds[] = {
#define KIND(kind, lock, hold, wait, unlock) \
    {take_##kind, give_##kind, wait_for_##kind, &lock, sizeof lock},
    KINDS(KIND)};
#define KIND_COUNT (sizeof kinds / sizeof kinds[0])

static OWN void *waits(void *unused)
{
    __atomic_store_n(&waiter, (int)syscall(SYS_gettid), __ATOMIC_SEQ_CST);
    for (size_t i = 0; i < KIND_COUNT; i++)
        for (int round = 0; round < ROUNDS; round++) {
            sem_wait(&go);
            kinds[i].wait();
            sem_post(&done);
        }
    return unused;
}

static OWN void hold(const struct kind *kind)
{
    kind->take();
    sem_post(&go);
    until_asleep_on(&waiter, kind->lock, kind->bytes);
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

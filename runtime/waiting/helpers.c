/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that may make the program's first thread: libc's own handler then replaces that of the
 * tick's signal (ticks/signal.c). They are not waits. */
#include "waiting.h"

#include <aio.h>
#include <mqueue.h>
#include <pthread.h>
#include <string.h>
#include <sys/signalfd.h>
#include <threads.h>

/* gcc's library has its own __wrap_pthread_create, for -fsplit-stack, and the linker may find that
 * first. Then the new thread checks. */
#ifdef FATHOM_STATIC
#define PTHREAD_CREATE(X)
#else
#define PTHREAD_CREATE(X) X(pthread_create)
#endif
#define CALLS(X)      \
    PTHREAD_CREATE(X) \
    X(thrd_create)    \
    X(timer_create)   \
    X(mq_notify)      \
    X(aio_read)       \
    X(aio_read64)     \
    X(aio_write)      \
    X(aio_write64)    \
    X(aio_fsync)      \
    X(aio_fsync64)    \
    X(signalfd)
FM_WAIT_NEXT(CALLS)

#define MAKES_THREADS(name, parameters, arguments) \
    FM_WAIT_SEES(int, name, name, parameters)      \
    {                                              \
        int result = next.name arguments;          \
        fm_tick_signal_look();                     \
        return result;                             \
    }
/* With contexts of unwound stacks the new thread begins in a function of ours; NULL: in its own. */
static struct fm_unwound_start *own_start(void *(*function)(void *), void *argument)
{
    bool unwinds = fm_process.unwinds != NULL && fm_process.state == FM_RECORDING;
    return unwinds ? fm_process.unwinds->start_new(function, argument) : NULL;
}

static int started(int result, struct fm_unwound_start *start)
{
    if (start != NULL && result != 0)
        fm_process.unwinds->start_free(start);
    fm_tick_signal_look();
    return result;
}

#ifndef FATHOM_STATIC
FM_WAIT_SEES(int, pthread_create, pthread_create,
             (pthread_t *restrict thread, const pthread_attr_t *restrict attributes,
              void *(*function)(void *), void *restrict argument))
{
    struct fm_unwound_start *start = own_start(function, argument);
    return started(start == NULL
                       ? next.pthread_create(thread, attributes, function, argument)
                       : next.pthread_create(thread, attributes, fm_process.unwinds->run, start),
                   start);
}
#endif
FM_WAIT_SEES(int, thrd_create, thrd_create,
             (thrd_t * thread, thrd_start_t function, void *argument))
{
    struct fm_unwound_start *start =
        own_start((void *(*)(void *))(void (*)(void))function, argument);
    return started(start == NULL ? next.thrd_create(thread, function, argument)
                                 : next.thrd_create(thread, fm_process.unwinds->run_c11, start),
                   start);
}
MAKES_THREADS(timer_create,
              (clockid_t clock, struct sigevent *restrict event, timer_t *restrict timer),
              (clock, event, timer))
MAKES_THREADS(mq_notify, (mqd_t queue, const struct sigevent *event), (queue, event))
MAKES_THREADS(aio_read, (struct aiocb * request), (request))
MAKES_THREADS(aio_read64, (struct aiocb64 * request), (request))
MAKES_THREADS(aio_write, (struct aiocb * request), (request))
MAKES_THREADS(aio_write64, (struct aiocb64 * request), (request))
MAKES_THREADS(aio_fsync, (int operation, struct aiocb *request), (operation, request))
MAKES_THREADS(aio_fsync64, (int operation, struct aiocb64 *request), (operation, request))

/* Checks with the kernel first, as the set may be at any address. */
FM_WAIT_SEES(int, signalfd, signalfd, (int fd, const sigset_t *set, int flags))
{
    int result = next.signalfd(fd, set, flags);
    uint64_t word;
    if (result < 0)
        return result;
    memcpy(&word, set, sizeof word);
    if ((word & FM_SIGNAL_BIT(FM_TICK_SIGNAL)) != 0) {
        sigset_t others = *set;
        word &= ~FM_SIGNAL_BIT(FM_TICK_SIGNAL);
        memcpy(&others, &word, sizeof word);
        next.signalfd(result, &others, flags);
    }
    return result;
}

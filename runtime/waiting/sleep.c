/* SPDX-License-Identifier: Apache-2.0 */
/* Sleeping, signals, child processes, messages between processes. */
/* <signal.h> would lead `sigpause` to __xpg_sigpause. */
#define sigpause sigpause_declared
#include "waiting.h"

#include <mqueue.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#undef sigpause
extern int sigpause(int mask);
extern int __xpg_sigpause(int signal);
extern int __sigpause(int signal_or_mask, int is_signal);

#define CALLS(X)       \
    X(sleep)           \
    X(usleep)          \
    X(nanosleep)       \
    X(clock_nanosleep) \
    X(thrd_sleep)      \
    X(pause)           \
    X(sigsuspend)      \
    X(__xpg_sigpause)  \
    X(sigwait)         \
    X(sigwaitinfo)     \
    X(sigtimedwait)    \
    X(wait)            \
    X(waitpid)         \
    X(wait3)           \
    X(wait4)           \
    X(waitid)          \
    X(system)          \
    X(pclose)          \
    X(msgrcv)          \
    X(msgsnd)          \
    X(semop)           \
    X(semtimedop)      \
    X(mq_send)         \
    X(mq_timedsend)    \
    X(mq_receive)      \
    X(mq_timedreceive) \
    X(sigpause)        \
    X(__sigpause)      \
    X(popen)           \
    X(posix_spawn)     \
    X(posix_spawnp)
FM_WAIT_NEXT(CALLS)

#define SLEEP(type, name, parameters, arguments) \
    FM_WAIT_CALL(FM_REC_WAIT_SLEEP, 0, type, name, parameters, arguments)
SLEEP(unsigned, sleep, (unsigned seconds), (seconds))
SLEEP(int, usleep, (useconds_t time), (time))
SLEEP(int, nanosleep, (const struct timespec *time, struct timespec *left), (time, left))
SLEEP(int, clock_nanosleep,
      (clockid_t clock, int flags, const struct timespec *time, struct timespec *left),
      (clock, flags, time, left))
SLEEP(int, thrd_sleep, (const struct timespec *time, struct timespec *left), (time, left))

#define SIGNAL(name, parameters, arguments) \
    FM_WAIT_CALL(FM_REC_WAIT_SIGNAL, 0, int, name, parameters, arguments)
SIGNAL(pause, (void), ())
SIGNAL(sigsuspend, (const sigset_t *mask), (mask))
SIGNAL(__xpg_sigpause, (int signal), (signal))
SIGNAL(sigpause, (int mask), (mask))
SIGNAL(__sigpause, (int signal_or_mask, int is_signal), (signal_or_mask, is_signal))
/* For any signal. The tick's signal is not in a set made by sigfillset(), but in one of all
 * ones. */
#define TAKEN(name, parameters, call, is_tick)                     \
    FM_WAIT_SEES(int, name, name, parameters)                      \
    {                                                              \
        siginfo_t own;                                             \
        int result;                                                \
        (void)own;                                                 \
        bool counted = fm_wait_begin(FM_REC_WAIT_SIGNAL, 0, HERE); \
        do                                                         \
            result = next.call;                                    \
        while (FM_UNLIKELY(is_tick));                              \
        fm_wait_over(counted, HERE);                               \
        return result;                                             \
    }
#define INFO_OR_OWN (info != NULL ? info : &own)
#define IS_TICK (result == FM_TICK_SIGNAL && fm_tick_signal_is_tick(INFO_OR_OWN))
TAKEN(sigwait, (const sigset_t *restrict set, int *restrict signal), sigwait(set, signal),
      result == 0 && *signal == FM_TICK_SIGNAL)
TAKEN(sigwaitinfo, (const sigset_t *restrict set, siginfo_t *restrict info),
      sigwaitinfo(set, INFO_OR_OWN), IS_TICK)
TAKEN(sigtimedwait,
      (const sigset_t *restrict set, siginfo_t *restrict info,
       const struct timespec *restrict time),
      sigtimedwait(set, INFO_OR_OWN, time), IS_TICK)

#define CHILD_UNLESS(cannot, type, name, parameters, arguments) \
    FM_WAIT_CALL_UNLESS(cannot, FM_REC_WAIT_CHILD, 0, type, name, parameters, arguments)
CHILD_UNLESS(false, pid_t, wait, (int *status), (status))
CHILD_UNLESS((options & WNOHANG) != 0, pid_t, waitpid, (pid_t pid, int *status, int options),
             (pid, status, options))
CHILD_UNLESS((options & WNOHANG) != 0, pid_t, wait3,
             (int *status, int options, struct rusage *usage), (status, options, usage))
CHILD_UNLESS((options & WNOHANG) != 0, pid_t, wait4,
             (pid_t pid, int *status, int options, struct rusage *usage),
             (pid, status, options, usage))
CHILD_UNLESS((options & WNOHANG) != 0, int, waitid,
             (idtype_t type, id_t id, siginfo_t *info, int options), (type, id, info, options))
CHILD_UNLESS(false, int, system, (const char *command), (command))
CHILD_UNLESS(false, int, pclose, (FILE * stream), (stream))
CHILD_UNLESS(false, FILE *, popen, (const char *command, const char *mode), (command, mode))
#define SPAWN(name, file)                                                                   \
    FM_WAIT_SEES(int, name, name,                                                           \
                 (pid_t *restrict pid, const char *restrict file,                           \
                  const posix_spawn_file_actions_t *restrict actions,                       \
                  const posix_spawnattr_t *restrict attributes, char *const argv[restrict], \
                  char *const envp[restrict]))                                              \
    {                                                                                       \
        FM_FIT_ENVIRONMENT(fit, file, envp);                                                \
        bool counted = fm_wait_begin(FM_REC_WAIT_CHILD, 0, HERE);                           \
        int result = next.name(pid, file, actions, attributes, argv, fit);                  \
        fm_wait_over(counted, HERE);                                                        \
        return result;                                                                      \
    }
SPAWN(posix_spawn, path)
SPAWN(posix_spawnp, file)

#define MESSAGE_UNLESS(cannot, type, name, parameters, arguments) \
    FM_WAIT_CALL_UNLESS(cannot, FM_REC_WAIT_MESSAGE, 0, type, name, parameters, arguments)
MESSAGE_UNLESS((flags & IPC_NOWAIT) != 0, ssize_t, msgrcv,
               (int queue, void *message, size_t bytes, long type, int flags),
               (queue, message, bytes, type, flags))
MESSAGE_UNLESS((flags & IPC_NOWAIT) != 0, int, msgsnd,
               (int queue, const void *message, size_t bytes, int flags),
               (queue, message, bytes, flags))
MESSAGE_UNLESS(false, int, semop, (int set, struct sembuf *operations, size_t count),
               (set, operations, count))
MESSAGE_UNLESS(false, int, semtimedop,
               (int set, struct sembuf *operations, size_t count, const struct timespec *time),
               (set, operations, count, time))
MESSAGE_UNLESS(false, int, mq_send,
               (mqd_t queue, const char *message, size_t bytes, unsigned priority),
               (queue, message, bytes, priority))
MESSAGE_UNLESS(false, int, mq_timedsend,
               (mqd_t queue, const char *message, size_t bytes, unsigned priority,
                const struct timespec *until),
               (queue, message, bytes, priority, until))
MESSAGE_UNLESS(false, ssize_t, mq_receive,
               (mqd_t queue, char *message, size_t bytes, unsigned *priority),
               (queue, message, bytes, priority))
MESSAGE_UNLESS(false, ssize_t, mq_timedreceive,
               (mqd_t queue, char *restrict message, size_t bytes, unsigned *restrict priority,
                const struct timespec *restrict until),
               (queue, message, bytes, priority, until))

/* SPDX-License-Identifier: Apache-2.0 */
/* The tick's signal: one of the two that libc reserves, so programs do not use it.
 *
 * sigaction() refuses it, sigfillset() omits it, sigprocmask() never blocks it, and programs'
 * timers and waits for signals use others; also in libraries and fully static programs. libc
 * sends it to each thread when a program with several threads calls setuid() or the like. For
 * that it sets a handler, bypassing sigaction(), when it makes the first thread. The runtime's
 * handler calls that one for every signal that is not a tick. Without one, the signal has its
 * usual effect.
 *
 * setuid() waits for all threads, and its caller may hold the loader's lock, for which slow
 * paths of the runtime wait. So the runtime never blocks the signal: it notes a tick that
 * arrives while other signals are blocked, and handles it when it unblocks them. */
#include "../internal.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#define TAKES_RESTORER 0x04000000u

enum { DEFAULT = 0, IGNORED = 1 };
typedef void (*handler_fn)(int, siginfo_t *, void *);
struct action { /* the kernel's own, x86-64 */
    union {
        handler_fn handler;
        uint64_t word; /* or one of these */
    };
    uint64_t flags;
    void (*restorer)(void);
    uint64_t mask;
};

extern void fm_tick_return(void) FM_HIDDEN; /* return.S */

static struct action behind; /* the action of the program and its libc */
static fm_lock lock;

static bool exchange(const struct action *action, struct action *ret_old)
{
    return fm_system_call(SYS_rt_sigaction, FM_TICK_SIGNAL, (long)action, (long)ret_old,
                          sizeof action->mask) == 0;
}

union sigval fm_tick_value(void)
{
    return (union sigval){.sival_ptr = &fm_process};
}

bool fm_tick_signal_is_tick(const siginfo_t *info)
{
    if (info->si_code == SI_TIMER)
        return info->si_value.sival_ptr == &fm_process;
    return info->si_code > 0 && info->si_code <= POLL_HUP &&
           (fm_process.tick_source == FM_REC_TICK_PERF ||
            fm_process.tick_source == FM_REC_TICK_EVENT);
}

/* By the signal, as parents see it. */
static void end_by_it(void)
{
    exchange(&(struct action){.word = DEFAULT}, NULL);
    fm_system_call(SYS_tgkill, fm_system_call(SYS_getpid, 0, 0, 0, 0),
                   fm_system_call(SYS_gettid, 0, 0, 0, 0), FM_TICK_SIGNAL, 0);
}

static void pass_on(int signal, siginfo_t *info, ucontext_t *context)
{
    uint64_t mask;
    if (behind.word == IGNORED)
        return;
    if (behind.word == DEFAULT) {
        end_by_it();
        return;
    }
    memcpy(&mask, &context->uc_sigmask, sizeof mask);
    mask |= behind.mask;
    if ((behind.flags & SA_NODEFER) == 0)
        mask |= FM_SIGNAL_BIT(FM_TICK_SIGNAL);
    fm_system_call(SYS_rt_sigprocmask, SIG_SETMASK, (long)&mask, 0, sizeof mask);
    behind.handler(signal, info, context);
}

/* All signals are blocked but its own. */
static void on_signal(int signal, siginfo_t *info, void *context)
{
    struct fm_tls *tls = &fm_tls_v2;
    if (!fm_tick_signal_is_tick(info)) {
        pass_on(signal, info, context);
        return;
    }
    if (info->si_code != SI_TIMER && tls->thread != NULL && !fm_process_is_copy())
        fm_tick_event_again(tls->thread);
    if (info->si_code == SI_TIMER && tls->thread != NULL)
        tls->thread->expirations += 1 + (info->si_overrun > 0 ? (uint64_t)info->si_overrun : 0);
    if (tls->signals_blocked != 0) {
        tls->tick_waits = 1;
    } else {
        tls->signals_blocked++;
        fm_process.tick_actions->take(context);
        tls->tick_waits = 0; /* a tick that came meanwhile has nothing to charge */
        tls->signals_blocked--;
    }
}

static const struct action *own_action(void)
{
    static const struct action own = {
        .handler = on_signal,
        .flags = SA_SIGINFO | SA_RESTART | SA_NODEFER | TAKES_RESTORER,
        .restorer = fm_tick_return,
        .mask = ~FM_SIGNAL_BIT(FM_TICK_SIGNAL),
    };
    return &own;
}

/* Reads the existing action before replacing it. */
void fm_tick_signal_take(void)
{
    struct action now;
    uint64_t mask = fm_block_signals();
    fm_lock_take(&lock);
    /* glibc before 2.32 has no such variable, and installs its handler as the program starts. */
    fm_process.tick_signal_watched = &__libc_single_threaded != NULL && __libc_single_threaded != 0;
    if (exchange(NULL, &now) && now.handler != on_signal) {
        behind = now;
        exchange(own_action(), NULL);
    }
    fm_lock_give(&lock);
    fm_restore_signals(mask);
}

void fm_tick_signal_look_slowly(void)
{
    int saved_errno = errno;
    fm_process.tick_signal_watched = false;
    fm_tick_signal_take();
    errno = saved_errno;
}

/* A handler becomes the default action by itself; to ignore is inherited. */
bool fm_tick_signal_lend(void)
{
    struct action now;
    if (behind.word != IGNORED || !exchange(NULL, &now) || now.handler != on_signal)
        return false;
    return exchange(&(struct action){.word = IGNORED}, NULL);
}

/* Bypasses sigaction(): the program sees the action behind the runtime's. */
long fm_tick_signal_exchange(const void *action, void *ret_old)
{
    struct action now;
    if (!exchange(NULL, &now) || now.handler != on_signal)
        return fm_system_call(SYS_rt_sigaction, FM_TICK_SIGNAL, (long)action, (long)ret_old,
                              sizeof behind.mask);
    uint64_t mask = fm_block_signals();
    fm_lock_take(&lock);
    now = behind;
    if (action != NULL)
        memcpy(&behind, action, sizeof behind);
    if (ret_old != NULL)
        memcpy(ret_old, &now, sizeof now);
    fm_lock_give(&lock);
    fm_restore_signals(mask);
    return 0;
}

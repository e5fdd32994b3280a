/* SPDX-License-Identifier: Apache-2.0 */
/* The library's own thread: flushes at intervals and serves clients. It runs only when one of the
 * two was asked for, and blocks all signals. */
#include "clients/service.h"
#include "core/clock.h"
#include "core/shared.h"
#include "lanes/deliver.h"
#include "lanes/lane.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum { POLL_MAX = 600 };

_Atomic unsigned fm_el_flush_interval_ms;
static pthread_mutex_t start_mutex = PTHREAD_MUTEX_INITIALIZER;
static bool started;
static int wake_fd = -1;
static _Atomic int wake_pending;
static _Atomic(const struct fm_el_service *) served;

void fm_el_service_register(const struct fm_el_service *s)
{
    atomic_store(&served, s);
}

void fm_el_service_wake(void)
{
    uint64_t one = 1;
    if (wake_fd < 0 || atomic_exchange(&wake_pending, 1))
        return;
    if (write(wake_fd, &one, sizeof(one)) != sizeof(one))
        atomic_store(&wake_pending, 0);
}

static int wait_ms(uint64_t now_ns, uint64_t flush_at_ns, int clients_ms)
{
    int wait = clients_ms;
    if (flush_at_ns != UINT64_MAX) {
        uint64_t left = flush_at_ns > now_ns ? (flush_at_ns - now_ns) / 1000000 + 1 : 0;
        if (wait < 0 || left < (uint64_t)wait)
            wait = (int)left;
    }
    return wait;
}

static void *run(void *context)
{
    (void)context;
    static struct pollfd fds[POLL_MAX];
    uint64_t last_flush_ns = fm_el_clock_ns();
    fm_el_enter(); /* events of this thread are not logged */
    for (;;) {
        unsigned interval = atomic_load(&fm_el_flush_interval_ms);
        uint64_t now = fm_el_clock_ns();
        uint64_t due = interval && atomic_load(&fm_el.running)
                           ? last_flush_ns + (uint64_t)interval * 1000000
                           : UINT64_MAX;
        if (now >= due) {
            fm_el_lanes_flush(0);
            fm_el_sinks_tick();
            last_flush_ns = now;
            continue;
        }
        fds[0] = (struct pollfd){.fd = wake_fd, .events = POLLIN};
        int clients_ms = -1;
        nfds_t n = 1;
        const struct fm_el_service *s = atomic_load(&served);
        if (s)
            n += s->poll(fds + 1, POLL_MAX - 1, &clients_ms);
        int ready = poll(fds, n, wait_ms(now, due, clients_ms));
        uint64_t count;
        if (ready > 0 && fds[0].revents && read(wake_fd, &count, sizeof(count)) < 0)
            continue;
        atomic_store(&wake_pending, 0);
        if (s)
            s->serve(fds + 1, (unsigned)(n - 1));
    }
    return NULL;
}

int fm_el_service_start(void)
{
    pthread_mutex_lock(&start_mutex);
    int result = 0;
    if (!started) {
        sigset_t all, before;
        pthread_t thread;
        sigfillset(&all);
        if (wake_fd < 0)
            wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        if (wake_fd < 0) {
            result = -errno;
        } else {
            pthread_sigmask(SIG_SETMASK, &all, &before);
            result = -pthread_create(&thread, NULL, run, NULL);
            if (result == 0)
                pthread_detach(thread);
            pthread_sigmask(SIG_SETMASK, &before, NULL);
        }
        started = result == 0;
    }
    pthread_mutex_unlock(&start_mutex);
    return result;
}

void fm_el_service_fork_lock(void)
{
    pthread_mutex_lock(&start_mutex);
}

void fm_el_service_fork_unlock(void)
{
    pthread_mutex_unlock(&start_mutex);
}

void fm_el_service_after_fork(void)
{
    pthread_mutex_init(&start_mutex, NULL);
    started = false;
    if (wake_fd >= 0)
        close(wake_fd);
    wake_fd = -1;
    atomic_store(&wake_pending, 0);
}

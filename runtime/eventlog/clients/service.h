/* SPDX-License-Identifier: Apache-2.0 */
/* The library's own thread: flushes at intervals and serves clients. */
#pragma once
#include <poll.h>
#include <stdatomic.h>

/* A service that the thread calls in each round; it has descriptors of its own. */
struct fm_el_service {
    /* Fills at most max entries and returns their number. *wait_ms: how long it needs no call, -1 =
     * for ever. */
    nfds_t (*poll)(struct pollfd *fds, unsigned max, int *wait_ms);
    void (*serve)(const struct pollfd *fds, unsigned count);
};
/* Call before its first start; stays registered for the life of the process. */
void fm_el_service_register(const struct fm_el_service *s);
int fm_el_service_start(void); /* starts the thread, once; 0 or a negative errno number */
void fm_el_service_wake(void);
void fm_el_service_fork_lock(void);
void fm_el_service_fork_unlock(void);
void fm_el_service_after_fork(void);
extern _Atomic unsigned fm_el_flush_interval_ms;

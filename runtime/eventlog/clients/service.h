/* SPDX-License-Identifier: Apache-2.0 */
/* The library's own thread: flushes at intervals and serves clients. */
#pragma once
#include <poll.h>
#include <stdatomic.h>

/* Who is served in each round, with descriptors of its own. */
struct fm_el_service {
    /* How many of max it fills, and for how long it needs nothing: *wait_ms, -1 = for ever. */
    nfds_t (*poll)(struct pollfd *fds, unsigned max, int *wait_ms);
    void (*serve)(const struct pollfd *fds, unsigned count);
};
/* Before the first start for it; stays for the life of the process. */
void fm_el_service_register(const struct fm_el_service *s);
int fm_el_service_start(void); /* the thread; once. 0 or a negative errno number */
void fm_el_service_wake(void);
void fm_el_service_fork_lock(void);
void fm_el_service_fork_unlock(void);
void fm_el_service_after_fork(void);
extern _Atomic unsigned fm_el_flush_interval_ms;

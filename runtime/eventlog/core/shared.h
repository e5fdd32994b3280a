/* SPDX-License-Identifier: Apache-2.0 */
/* State that all parts use: the state of the log, and whether a thread is inside the library. */
#pragma once
#include "core/copies.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/types.h>

#define FM_EL_BUFFER_MIN 128u
#define FM_EL_BUFFER_MAX (64u << 20)
#define FM_EL_BUFFER_DEFAULT (2u << 20)
#define FM_EL_MESSAGE_MAX 512u

struct fm_el_shared {
    _Atomic int running;
    _Atomic size_t wanted_size;
    _Atomic uint64_t produced, dropped, discarded, replayed, resize_failures;
    _Atomic int memory_on, stream_on, clients_on;
    _Atomic int values_on; /* last values are kept, for destinations that may come later */
    bool no_state, no_fork, no_live;
    /* no event was taken before: spans begun earlier may have ended unseen */
    _Atomic uint64_t on_since_ns;
    bool values; /* last values are kept from the start for later clients, even while nothing takes
                    events */
    bool begun;  /* a destination got its header: later ones are sent a replay of the past; state
                    lock */
    unsigned failures_max;
    char fork_path[4096];     /* "" = the default */
    _Atomic int fork_pending; /* in a child: open its own output at the next event */
};
extern struct fm_el_shared fm_el;
void fm_el_update_active(void);
bool fm_el_has_destination(void);

/* While a thread is inside, its events (from handlers and callbacks) go to a side queue. */
uint32_t fm_el_enter(void);
void fm_el_leave(uint32_t before);
/* Called by the outermost of each: no cancellation ends the thread inside, while it holds locks;
 * ThreadSanitizer ignores the accesses that follow. */
void fm_el_inside(bool begin);
/* For a wait inside the library: the thread may be cancelled there; the handlers that it pushed
 * with pthread_cleanup_push unlock and leave. */
void fm_el_cancellable(bool begin);

static inline void fm_el_count(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

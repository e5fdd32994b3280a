/* SPDX-License-Identifier: Apache-2.0 */
/* What all parts look at: the state of the log, and whether a thread is inside of the library. */
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
    _Atomic int values_on; /* last values are kept: somebody may come late */
    bool no_state, no_fork, no_live;
    _Atomic uint64_t on_since_ns; /* nothing took events before: what was begun then may have ended
                                     unseen */
    bool values; /* last values are kept for clients to come from the start on, though nobody takes
                    events */
    bool begun;  /* a destination has its header: later ones hear of what is past; state lock */
    unsigned failures_max;
    char fork_path[4096];     /* "" = the default */
    _Atomic int fork_pending; /* in a child: open its own output at the next event */
};
extern struct fm_el_shared fm_el;
void fm_el_update_active(void);
bool fm_el_has_destination(void);

/* While inside, this thread's events (from handlers and callbacks) are queued aside. */
uint32_t fm_el_enter(void);
void fm_el_leave(uint32_t before);
/* What the outermost of both do: no cancellation ends the thread inside, with locks held;
 * ThreadSanitizer looks away from what follows. */
void fm_el_inside(bool begin);
/* In between, where the thread waits for others: it may be cancelled, and what it pushed with
 * pthread_cleanup_push unlocks and leaves. */
void fm_el_cancellable(bool begin);

static inline void fm_el_count(_Atomic uint64_t *counter, uint64_t n)
{
    atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

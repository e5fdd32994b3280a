/* SPDX-License-Identifier: Apache-2.0 */
/* State that all parts use: whether events are taken, in this copy of the library and in those that
 * follow it; whether a thread is inside the library. Depends on no other part. */
#include "core/shared.h"
#include "core/clock.h"

#include <pthread.h>

int fm_eventlog_active_;
struct fm_el_shared fm_el = {.failures_max = 3};
const struct fm_el_copy *fm_el_leader;
__thread struct fm_eventlog_head_ fm_eventlog_head_ __attribute__((tls_model("initial-exec")));

/* ---- inside of the library
 * ---------------------------------------------------------------------- */

/* For a program built with ThreadSanitizer that uses this library, built without. Atomic accesses
 * in the library are invisible to it, so memcpy, mmap and locks here would look like races. These
 * annotations make it ignore the library's accesses; locks still order events. They are weak
 * symbols of ThreadSanitizer's runtime. A library that is built with ThreadSanitizer is checked
 * like other code. */
#if defined(__SANITIZE_THREAD__)
#define WATCHED 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define WATCHED 1
#endif
#endif
#ifndef WATCHED
extern void AnnotateIgnoreReadsBegin(const char *, int) __attribute__((weak));
extern void AnnotateIgnoreReadsEnd(const char *, int) __attribute__((weak));
extern void AnnotateIgnoreWritesBegin(const char *, int) __attribute__((weak));
extern void AnnotateIgnoreWritesEnd(const char *, int) __attribute__((weak));
#endif

static void look_away(bool begin)
{
#ifndef WATCHED
    if (!AnnotateIgnoreReadsBegin || !AnnotateIgnoreReadsEnd || !AnnotateIgnoreWritesBegin ||
        !AnnotateIgnoreWritesEnd)
        return;
    if (begin) {
        AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
        AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
    } else {
        AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
        AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    }
#else
    (void)begin;
#endif
}

static __thread unsigned depth __attribute__((tls_model("initial-exec")));
static __thread int cancel_state __attribute__((tls_model("initial-exec")));

void fm_el_inside(bool begin)
{
    int other;
    if (begin && depth++ == 0)
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    look_away(begin);
    if (!begin && --depth == 0)
        pthread_setcancelstate(cancel_state, &other);
}

void fm_el_cancellable(bool begin)
{
    int other;
    pthread_setcancelstate(begin && depth == 1 ? cancel_state : PTHREAD_CANCEL_DISABLE, &other);
}

uint32_t fm_el_enter(void)
{
    uint32_t before = fm_eventlog_head_.busy;
    fm_eventlog_head_.busy = 1;
    atomic_signal_fence(memory_order_seq_cst);
    if (before == 0)
        fm_el_inside(true);
    return before;
}

void fm_el_leave(uint32_t before)
{
    if (before == 0)
        fm_el_inside(false);
    atomic_signal_fence(memory_order_seq_cst);
    fm_eventlog_head_.busy = before;
}

/* ---- copies that follow the leader
 * --------------------------------------------------------------- */

enum { FOLLOWERS_MAX = 256 };
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int *followers[FOLLOWERS_MAX];

void fm_el_copies_follow(int *active, bool from_now_on)
{
    pthread_mutex_lock(&mutex);
    for (unsigned i = 0; i < FOLLOWERS_MAX; i++) {
        if (followers[i] != (from_now_on ? NULL : active))
            continue;
        followers[i] = from_now_on ? active : NULL;
        break;
    }
    int on = __atomic_load_n(&fm_eventlog_active_, __ATOMIC_ACQUIRE);
    if (from_now_on)
        __atomic_store_n(active, on, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&mutex);
}

void fm_el_copies_update(int active)
{
    pthread_mutex_lock(&mutex);
    for (unsigned i = 0; i < FOLLOWERS_MAX; i++)
        if (followers[i])
            __atomic_store_n(followers[i], active, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&mutex);
}

void fm_el_copies_after_fork(void)
{
    pthread_mutex_init(&mutex, NULL);
}

/* ---- on and off -------------------------------------------------------------------------------
 */

bool fm_el_has_destination(void)
{
    return atomic_load(&fm_el.stream_on) || atomic_load(&fm_el.memory_on) ||
           atomic_load(&fm_el.clients_on) || fm_el.values;
}

void fm_el_update_active(void)
{
    int on = atomic_load(&fm_el.running) &&
             (fm_el_has_destination() || atomic_load(&fm_el.fork_pending));
    if (on && !__atomic_load_n(&fm_eventlog_active_, __ATOMIC_RELAXED))
        atomic_store(&fm_el.on_since_ns, fm_el_clock_ns());
    __atomic_store_n(&fm_eventlog_active_, on, __ATOMIC_RELEASE);
    fm_el_copies_update(on);
}

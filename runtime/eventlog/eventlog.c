/* SPDX-License-Identifier: Apache-2.0 */
/* Start, stop, status; requests; fork; messages. */
#include "clients/clients.h"
#include "core/clock.h"
#include "core/live.h"
#include "core/pool.h"
#include "core/threads.h"
#include "core/types.h"
#include "lanes/lane.h"
#include "sinks/memory.h"
#include "sinks/stream.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t start_mutex = PTHREAD_MUTEX_INITIALIZER;

/* ---- fork -------------------------------------------------------------------------------------
 */

static bool parent_streams;            /* between prepare and child */
static __thread bool fork_locked;      /* set by prepare, in the thread that forks */
static __thread sigset_t fork_signals; /* signal mask of that thread before fork: no handler runs in
                                          the child until it has its own copies of shared state */

static void fork_prepare(void)
{
    sigset_t all;
    uint32_t before = fm_el_enter();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &fork_signals);
    fork_locked = before == 0;
    if (!fork_locked) /* fork in a callback, or in a handler that interrupted the library: locks may
                         be held */
        return;
    if (atomic_load(&fm_el.running))
        fm_el_lanes_flush(1000);
    pthread_mutex_lock(&start_mutex);
    fm_el_state_lock();
    fm_el_lanes_fork_lock();
    fm_el_sink_lock();
    fm_el_sinks_fork_lock();
    fm_el_live_fork_lock();
    fm_el_pool_lock();
    parent_streams = fm_el_stream_is_set();
}

static void unlock_in_parent(void)
{
    fm_el_pool_unlock();
    fm_el_live_fork_unlock();
    fm_el_sinks_fork_unlock();
    fm_el_sink_unlock();
    fm_el_lanes_fork_unlock();
    fm_el_state_unlock();
    pthread_mutex_unlock(&start_mutex);
    fm_el_leave(0);
}

static void fork_parent(void)
{
    if (fork_locked)
        unlock_in_parent();
    pthread_sigmask(SIG_SETMASK, &fork_signals, NULL);
}

static void begin_anew(void)
{
    fm_el_pool_unlock();
    fm_el_live_fork_unlock();
    pthread_mutex_init(&start_mutex, NULL);
    fm_el_state_after_fork();
    fm_el_lanes_after_fork();
    fm_el_global_after_fork();
    fm_el_sinks_after_fork();
    fm_el_live_after_fork();
    fm_el_user_types_after_fork();
    fm_el.begun = false;
    fm_el.produced = fm_el.dropped = fm_el.discarded = fm_el.replayed = 0;
    bool own = atomic_load(&fm_el.running) && parent_streams && !fm_el.no_fork;
    atomic_store(&fm_el.fork_pending, own);
    fm_el_update_active();
    fm_el_leave(0);
}

static void fork_child(void)
{
    fm_el_lanes_own();
    fm_el_global_own();
    fm_el_copies_after_fork();
    if (fork_locked) {
        begin_anew();
    } else { /* data under the locks may be half changed, so this child logs nothing */
        atomic_store(&fm_el.running, 0);
        fm_el_update_active();
    }
    pthread_sigmask(SIG_SETMASK, &fork_signals, NULL);
}

/* At the child's first event: opens its own output. `busy` is set. */
static void fork_open(void)
{
    if (!atomic_exchange(&fm_el.fork_pending, 0))
        return;
    char path[4096];
    fm_el_leave(0);
    if (fm_el_path_of_child(path, sizeof(path)))
        fm_eventlog_open_file(path);
    if (atomic_load(&fm_el_flush_interval_ms))
        fm_el_service_start();
    fm_el_update_active();
    fm_el_enter();
}

/* ---- start and stop ---------------------------------------------------------------------------
 */

static void at_exit(void)
{
    fm_eventlog_stop();
}

static void init_once(void)
{
    fm_el_sink_register(FM_EL_SINK_STREAM, &fm_el_stream_sink);
    fm_el_sink_register(FM_EL_SINK_MEMORY, &fm_el_memory_sink);
    fm_el_sink_register(FM_EL_SINK_CLIENTS, &fm_el_clients_sink);
    fm_el_clock_init();
    fm_el_lanes_init(fork_open);
    pthread_atfork(fork_prepare, fork_parent, fork_child);
    atexit(at_exit);
}

static size_t accepted_size(size_t bytes)
{
    if (bytes > FM_EL_BUFFER_MAX)
        bytes = FM_EL_BUFFER_MAX;
    if (bytes < FM_EL_BUFFER_MIN)
        bytes = FM_EL_BUFFER_MIN;
    return (bytes + 63) & ~(size_t)63;
}

int fm_eventlog_start(const struct fm_eventlog_options *opts)
{
    FM_EL_FORWARD(start, opts);
    static const struct fm_eventlog_options defaults;
    const struct fm_eventlog_options *o = opts ? opts : &defaults;
    if (fm_eventlog_head_.busy)
        return -EDEADLK;
    pthread_once(&once, init_once);
    uint32_t before = fm_el_enter();
    pthread_mutex_lock(&start_mutex);
    int result = 0;
    if (atomic_load(&fm_el.running)) {
        result = -EALREADY;
    } else {
        fm_el.no_state = o->flags & FM_EVENTLOG_NO_STATE;
        fm_el.no_fork = o->flags & FM_EVENTLOG_NO_FORK;
        fm_el.values = o->flags & FM_EVENTLOG_VALUES;
        fm_el_clients_values(false);
        fm_el_clients_values(fm_el.values || fm_el_clients_listen());
        fm_el.no_live = o->flags & FM_EVENTLOG_NO_LIVE;
        fm_el.failures_max = o->failures_max ? o->failures_max : 3;
        snprintf(fm_el.fork_path, sizeof(fm_el.fork_path), "%s", o->fork_path ? o->fork_path : "");
        fm_el_state_options(o);
        atomic_store(&fm_el.wanted_size,
                     accepted_size(o->buffer_bytes ? o->buffer_bytes : FM_EL_BUFFER_DEFAULT));
        fm_el_lanes_flush(-1); /* events of threads that were late at the last stop */
        fm_el_user_types_open();
        fm_el.begun = false;
        if (o->flags & FM_EVENTLOG_MEMORY)
            result = fm_el_memory_start(o);
        atomic_store(&fm_el.running, result == 0);
        fm_el_update_active();
    }
    pthread_mutex_unlock(&start_mutex);
    fm_el_leave(before);
    if (result == 0 && o->flush_interval_ms)
        result = fm_eventlog_set_flush_interval(o->flush_interval_ms);
    return result;
}

int fm_eventlog_stop(void)
{
    FM_EL_FORWARD(stop);
    if (fm_eventlog_head_.busy)
        return -EDEADLK;
    uint32_t before = fm_el_enter();
    pthread_mutex_lock(&start_mutex);
    int result = -ENOTCONN;
    if (atomic_load(&fm_el.running)) {
        atomic_store(&fm_el.running, 0);
        atomic_store(&fm_el.fork_pending, 0);
        fm_el_update_active();
        fm_el_lanes_flush(-1);
        result = fm_el_stream_end();
        fm_el_memory_finish();
        fm_el_clients_stop(2000);
    }
    pthread_mutex_unlock(&start_mutex);
    fm_el_leave(before);
    return result;
}

enum fm_eventlog_status fm_eventlog_status(void)
{
    FM_EL_FORWARD(status);
    return atomic_load(&fm_el.running) ? FM_EVENTLOG_RUNNING : FM_EVENTLOG_STOPPED;
}

/* ---- requests ---------------------------------------------------------------------------------
 */

int64_t fm_eventlog_resize(size_t bytes)
{
    FM_EL_FORWARD(resize, bytes);
    if (bytes == 0)
        return -EINVAL;
    size_t size = accepted_size(bytes);
    atomic_store(&fm_el.wanted_size, size);
    return (int64_t)size;
}

size_t fm_eventlog_buffer_size(void)
{
    FM_EL_FORWARD(buffer_size);
    size_t size = atomic_load(&fm_el.wanted_size);
    return size ? size : FM_EL_BUFFER_DEFAULT;
}

int fm_eventlog_flush(int timeout_ms)
{
    FM_EL_FORWARD(flush, timeout_ms);
    if (fm_eventlog_head_.busy)
        return -EDEADLK;
    uint32_t before = fm_el_enter();
    int result = fm_el_lanes_flush(timeout_ms);
    fm_el_leave(before);
    return result;
}

int fm_eventlog_finish(void)
{
    FM_EL_FORWARD(finish);
    int result = fm_eventlog_flush(-1);
    uint32_t before = fm_el_enter();
    fm_el_memory_finish();
    fm_el_update_active();
    fm_el_leave(before);
    return result;
}

int fm_eventlog_set_flush_interval(unsigned interval_ms)
{
    FM_EL_FORWARD(set_flush_interval, interval_ms);
    if (fm_eventlog_head_.busy)
        return -EDEADLK;
    uint32_t before = fm_el_enter();
    atomic_store(&fm_el_flush_interval_ms, interval_ms);
    int result = interval_ms ? fm_el_service_start() : 0;
    fm_el_service_wake();
    fm_el_leave(before);
    return result;
}

void fm_eventlog_stats(struct fm_eventlog_stats *ret)
{
    FM_EL_FORWARD(stats, ret);
    uint32_t before = fm_el_enter();
    struct fm_eventlog_stats s = {0};
    s.dropped_events = atomic_load(&fm_el.dropped);
    s.produced_events = atomic_load(&fm_el.produced) + s.dropped_events;
    s.discarded_events = atomic_load(&fm_el.discarded);
    s.replayed_events = atomic_load(&fm_el.replayed);
    s.resize_failures = atomic_load(&fm_el.resize_failures);
    s.lanes = fm_el_lane_count();
    s.lanes_used = fm_el_lanes_used();
    fm_el_sinks_stats(&s);
    fm_el_state_stats(&s);
    *ret = s;
    fm_el_leave(before);
}

/* ---- messages ---------------------------------------------------------------------------------
 */

void fm_eventlog_message(const char *text)
{
    if (fm_eventlog_on())
        fm_el_append(FM_EVENT_USER_MESSAGE, text, strlen(text), NULL, 0);
}

void fm_eventlog_marker(const char *text)
{
    if (fm_eventlog_on())
        fm_el_append(FM_EVENT_USER_MARKER, text, strlen(text), NULL, 0);
}

void fm_eventlog_span_detail(const char *text, int64_t value)
{
    uint64_t number = fm_eventlog_be64_((uint64_t)value);
    if (fm_eventlog_on())
        fm_el_append(FM_EVENT_SPAN_DETAIL, &number, 8, text, strlen(text));
}

void fm_eventlog_span_detail_real(const char *text, double value)
{
    uint64_t number;
    memcpy(&number, &value, 8);
    number = fm_eventlog_be64_(number);
    if (fm_eventlog_on())
        fm_el_append(FM_EVENT_SPAN_DETAIL_REAL, &number, 8, text, strlen(text));
}

void fm_eventlog_binary(const void *data, size_t bytes)
{
    if (fm_eventlog_on())
        fm_el_append(FM_EVENT_USER_BINARY_MESSAGE, data, bytes, NULL, 0);
}

void fm_eventlog_messagef(const char *format, ...)
{
    if (!fm_eventlog_on())
        return;
    char text[FM_EL_MESSAGE_MAX + 1];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    if (n < 0)
        return;
    size_t bytes = (size_t)n < FM_EL_MESSAGE_MAX ? (size_t)n : FM_EL_MESSAGE_MAX;
    fm_el_append(FM_EVENT_USER_MESSAGE, text, bytes, NULL, 0);
}

void fm_eventlog_heap(uint64_t allocated_ever, uint64_t size, uint64_t live)
{
    if (!fm_eventlog_on())
        return;
    if (allocated_ever)
        fm_eventlog_put_w32_w64_(FM_EVENT_HEAP_ALLOCATED, 0, allocated_ever);
    fm_eventlog_put_w32_w64_(FM_EVENT_HEAP_SIZE, 0, size);
    fm_eventlog_put_w32_w64_(FM_EVENT_HEAP_LIVE, 0, live);
}

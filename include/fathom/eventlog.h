/* SPDX-License-Identifier: Apache-2.0 */
/* fathom/eventlog.h - the live event log of a C program.
 *
 * A program logs events into buffers of its own threads, at little more than the cost of reading
 * the time stamp counter. The log goes to a file, stays in memory, or is served over sockets;
 * all of that can change while the program runs. The bytes are in GHC's event log format:
 * self-describing, big-endian, also readable by Haskell's tools. Numbers and layouts of event
 * types are in eventlog_types.h; types that a program declares, in eventlog_event.h; the type
 * selection for numbers in FM_COUNTER and FM_VALUE, in eventlog_number.h.
 *
 * Every function may be called from any thread. Those marked [signal] may also be called from a
 * signal handler; the others must not. Functions that return int give 0 or a negative errno
 * number. The reference with examples is docs/eventlog.md. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "eventlog_types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FM_EVENTLOG_API __attribute__((visibility("default")))
/* Calls of these are no calls of the program: `fathom cc` must not record them. */
#define FM_EVENTLOG_INLINE_ __attribute__((no_instrument_function, unused)) static inline

/* ---- start, stop, state --------------------------------------------------------------------- */

enum fm_eventlog_flags {
    /* start: also keep the log in memory, in chunks that the program takes */
    FM_EVENTLOG_MEMORY = 1 << 0,
    FM_EVENTLOG_NO_STATE = 1 << 1,   /* start: do not track threads; late readers miss them */
    FM_EVENTLOG_CLOSE_PREV = 1 << 2, /* sink: end mark to the old stream, then close it */
    FM_EVENTLOG_HEADER = 1 << 3,     /* sink: header and replay go to the new stream first */
    FM_EVENTLOG_DRAIN = 1 << 4,      /* sink: events logged before go to the old stream */
    FM_EVENTLOG_NO_FORK = 1 << 5,    /* start: a child made by fork() does not log */
    /* start: keep last values for later clients and streams from now on, even while no destination
     * takes events; otherwise they are kept from the first listen on, while one does */
    FM_EVENTLOG_VALUES = 1 << 7,
    FM_EVENTLOG_NO_LIVE = 1 << 6, /* start: no file with buffers beside the log */
};

/* Treatment of a block that exceeds the memory limit. */
enum fm_eventlog_policy {
    FM_EVENTLOG_DROP_NEWEST = 0, /* it is dropped and counted */
    FM_EVENTLOG_DROP_OLDEST = 1, /* drops the oldest whole blocks not yet taken */
    FM_EVENTLOG_BLOCK = 2,       /* the logging thread waits until chunks are taken */
};

/* Zero means the default everywhere. */
struct fm_eventlog_options {
    unsigned flags;              /* FM_EVENTLOG_MEMORY | _NO_STATE | _NO_FORK | _NO_LIVE */
    size_t buffer_bytes;         /* each thread's buffer; 2 MiB */
    uint64_t memory_limit_bytes; /* 64 MiB; at least two chunks */
    enum fm_eventlog_policy policy;
    unsigned flush_interval_ms; /* 0 = blocks leave only when they are full or flushed */
    unsigned failures_max;      /* failed writes in a row after which the sink is NULL, and
                                   all that follows is counted as lost; 3 */
    uint32_t threads_max;       /* threads in the tracked state; 1,000,000 */
    /* output of a child: the first '%' is replaced by its process id. Default: "PROGRAM.%.eventlog"
     * in the working directory, or beside the child's recording. Only if the parent has a stream
     * sink at the time of the fork. */
    const char *fork_path;
};

/* Starts logging: no sink yet. opts NULL = all defaults. -EALREADY when it runs, -ENOMEM. */
FM_EVENTLOG_API int fm_eventlog_start(const struct fm_eventlog_options *opts);

/* Flushes every buffer, ends each stream with the end mark, closes sinks that this library opened
 * and gives up the others, ends the clients' streams (waits at most 2 s for each to read the rest)
 * and marks the memory list finished. Runs at exit if the program did not call it. Names, threads
 * and counters stay; start again begins a new log. -ENOTCONN when it does not run. */
FM_EVENTLOG_API int fm_eventlog_stop(void);

enum fm_eventlog_status { FM_EVENTLOG_STOPPED = 0, FM_EVENTLOG_RUNNING = 1 };
FM_EVENTLOG_API enum fm_eventlog_status fm_eventlog_status(void);

/* ---- stream sink ---------------------------------------------------------------------------- */

/* The general interface of sinks. write gets whole blocks and returns false when the block was
 * lost. Calls come one at a time, from the thread that flushes. A callback must not call functions
 * of this header except to log: those events are queued, or counted as dropped, and sink calls
 * return -EDEADLK. All but write may be NULL. */
struct fm_eventlog_writer {
    bool (*init)(void *context);
    bool (*write)(void *context, const void *data, size_t bytes);
    void (*flush)(void *context);
    void (*stop)(void *context);
    void *context;
};

/* Makes stream the sink; NULL discards events. The library borrows it until another is set.
 * close_prev: the old stream gets the end mark and is closed; otherwise it is flushed and returned
 * to its owner. emit_header: first writes the header and a replay of the state, with last values if
 * they are kept; without it nothing is written, for returning to a stream that has a header.
 * -EINVAL for closing the stream that is being set, -EDEADLK inside a writer's callback. */
FM_EVENTLOG_API int fm_eventlog_set_sink(FILE *stream, bool close_prev, bool emit_header);

/* As fm_eventlog_set_sink() with FM_EVENTLOG_CLOSE_PREV | _HEADER | _DRAIN. With DRAIN every event
 * that was logged before the call goes to the old sink. Waits at most timeout_ms (-1: no limit) for
 * threads that are flushing, then returns -ETIMEDOUT: the sink is set, and the rest comes late. */
FM_EVENTLOG_API int fm_eventlog_set_sink_with(FILE *stream, unsigned flags, int timeout_ms);

/* Sets a writer, which is copied, in place of a stream. Its stop is called when it is replaced. */
FM_EVENTLOG_API int fm_eventlog_set_writer(const struct fm_eventlog_writer *writer, unsigned flags,
                                           int timeout_ms);

/* Creates the file and makes it the sink, with header and drain; the library closes it. path NULL:
 * NAME.eventlog beside the recording NAME.data of a program built by `fathom cc`, otherwise
 * PROGRAM.eventlog in the working directory. The buffers are then in PATH.live, so a program that
 * ends without a stop (abort, a signal, _exit, exec) loses at most the event that it was writing:
 * `fathom log recover PATH` adds the others. */
FM_EVENTLOG_API int fm_eventlog_open_file(const char *path);

/* True while the log's file has such a file beside it: not for other sinks, and not if it could not
 * be made. Buffers of all threads beyond 256 MiB are not in it. */
FM_EVENTLOG_API bool fm_eventlog_is_live(void);

/* The stream of now, or NULL (also when a writer is set). Only for setting it again later. */
FM_EVENTLOG_API FILE *fm_eventlog_get_sink(void);

/* ---- in memory ------------------------------------------------------------------------------ */

/* A part of the log; the parts joined are the log. Its size is that of the buffers when it was
 * made, except for the last part, for parts taken early, and beside gaps. */
struct fm_eventlog_chunk {
    const void *data;
    size_t bytes;
    void *owner_; /* the library's */
};

/* Takes the oldest full chunk: returns its size; *out belongs to the caller, who free()s it. 0 =
 * none (out is unchanged), also when the log is not kept in memory. */
FM_EVENTLOG_API size_t fm_eventlog_chunk_get(void **out);

/* Takes a chunk without copying. partial: also the last, partly filled one. Returns false when
 * there is none. Release it afterwards, which makes its memory available for new chunks. */
FM_EVENTLOG_API bool fm_eventlog_chunk_take(struct fm_eventlog_chunk *ret, bool partial);
FM_EVENTLOG_API void fm_eventlog_chunk_release(struct fm_eventlog_chunk *chunk);

/* Waits until a full chunk can be taken or the list is finished: 1 = take it, 0 = timed out,
 * -ENODATA = finished and empty, no more will come. timeout_ms -1 = no limit. */
FM_EVENTLOG_API int fm_eventlog_chunk_wait(int timeout_ms);

/* Descriptor that polls readable while chunk_wait would not wait. The library's; never read or
 * close it. -ENOTSUP without memory mode. */
FM_EVENTLOG_API int fm_eventlog_chunk_fd(void);

/* Ends the memory list: adds all events logged so far and the end mark. The rest can still be
 * taken; the last part may be short. Logging to other destinations continues. */
FM_EVENTLOG_API int fm_eventlog_finish(void);

/* ---- buffers -------------------------------------------------------------------------------- */

/* Requests another buffer size for threads, the global buffer and new chunks; each changes at its
 * next flush. Rounded up to a multiple of 64, at least 128, at most 64 MiB. Returns the accepted
 * size, -EINVAL for 0. */
FM_EVENTLOG_API int64_t fm_eventlog_resize(size_t bytes);
FM_EVENTLOG_API size_t fm_eventlog_buffer_size(void); /* the wanted size */

/* Hands over what all threads, also idle ones, have logged until now. -ETIMEDOUT when a thread was
 * handing over for timeout_ms (-1 = wait). */
FM_EVENTLOG_API int fm_eventlog_flush(int timeout_ms);

/* Does so every interval_ms; 0 = no more. */
FM_EVENTLOG_API int fm_eventlog_set_flush_interval(unsigned interval_ms);

/* Counters since the first start, exact when no other thread logs. produced counts events that
 * found the log active (blocks' markers, headers and replays are not events). For each
 * destination: produced while it was there = delivered + dropped + still buffered. */
struct fm_eventlog_stats {
    uint64_t produced_events;  /* handed over in blocks, plus dropped_events */
    uint64_t dropped_events;   /* too long for the buffer, or there was no lane or queue for them */
    uint64_t discarded_events; /* in blocks without destination */
    uint64_t stream_events;    /* written to stream sinks */
    uint64_t stream_lost_events; /* in blocks that could not be written */
    uint64_t stream_lost_blocks;
    uint64_t stream_lost_bytes;
    int stream_errno;               /* errno of the last failed write; 0 = none */
    unsigned stream_disabled;       /* how often failures_max made the sink NULL */
    uint64_t memory_events;         /* put into chunks (drop oldest may drop them later) */
    uint64_t memory_dropped_events; /* by the limit */
    uint64_t memory_dropped_blocks;
    uint64_t memory_dropped_bytes;
    uint64_t memory_bytes;          /* in chunks at present */
    uint64_t replayed_events;       /* written as replay, all destinations */
    uint64_t client_events;         /* given to clients' queues, summed */
    uint64_t client_dropped_events; /* that clients' queues had no room for, summed */
    uint64_t resize_failures;
    uint32_t lanes;             /* made so far */
    uint32_t lanes_used;        /* lanes of living threads */
    uint32_t threads;           /* number of tracked threads */
    uint32_t threads_forgotten; /* left out of it by its limit */
    uint32_t clients;           /* connected now */
};
FM_EVENTLOG_API void fm_eventlog_stats(struct fm_eventlog_stats *ret);

/* ---- names, threads, messages --------------------------------------------------------------- */

/* The id of a name, the same for equal names, for the life of the process; never 0 but when memory
 * or the limit (1 million names of at most 4,000 bytes) is exceeded. [signal], and in callbacks. */
FM_EVENTLOG_API uint32_t fm_eventlog_intern(const char *name);

FM_EVENTLOG_API void fm_eventlog_label_thread(const char *label); /* the calling thread */
FM_EVENTLOG_API uint32_t fm_eventlog_thread_id(void); /* its id in the log; 0 = has no lane yet */

/* Threads of the program's own scheduler, which run inside the lanes of kernel threads. status and
 * info are those of GHC's event 2; run applies to the caller's lane. */
FM_EVENTLOG_API uint32_t fm_eventlog_thread_new(void); /* new id, logs its creation; 0 = none */
FM_EVENTLOG_API void fm_eventlog_thread_run(uint32_t thread);
FM_EVENTLOG_API void fm_eventlog_thread_stop(uint32_t thread, uint16_t status, uint32_t info);
FM_EVENTLOG_API void fm_eventlog_thread_runnable(uint32_t thread);
FM_EVENTLOG_API void fm_eventlog_thread_label(uint32_t thread, const char *label);

FM_EVENTLOG_API void fm_eventlog_lock_name(const void *lock, const char *name);

/* User message, marker (a phase of the program), bytes. [signal] Longer than 65,535 bytes or than
 * the buffer: dropped and counted. */
FM_EVENTLOG_API void fm_eventlog_message(const char *text);
FM_EVENTLOG_API void fm_eventlog_marker(const char *text);
FM_EVENTLOG_API void fm_eventlog_binary(const void *data, size_t bytes);
/* Sets the detail of the innermost open span of this thread. [signal] */
FM_EVENTLOG_API void fm_eventlog_span_detail(const char *text, int64_t value);
FM_EVENTLOG_API void fm_eventlog_span_detail_real(const char *text, double value);
/* printf-style message, cut at 512 bytes. Not for hot paths. */
FM_EVENTLOG_API void fm_eventlog_messagef(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
/* The heap as malloc sees it: events 49 (when allocated_ever > 0) and 50, 51. */
FM_EVENTLOG_API void fm_eventlog_heap(uint64_t allocated_ever, uint64_t size, uint64_t live);

/* ---- serving -------------------------------------------------------------------------------- */

struct fm_eventlog_listen_options {
    uint64_t queue_limit_bytes; /* limit of each client's queue; 16 MiB. Beyond it whole blocks are
                                   dropped, counted, and reported to that client by event 527 */
    unsigned clients_max; /* 16; connections that have not sent the token do not count, and one that
                             has read nothing for 10 s may be replaced */
    bool wait_client;     /* return only when the first client's header is queued */
    int wait_timeout_ms;  /* timeout of that wait; 0 = for ever */
    const char *token;    /* needed for an address that is not loopback: a client must send
                             it first, as the control message "token=" TOKEN, number 0 */
    size_t datagram_bytes_max; /* payload of the monitor's messages before they are split; frames
                                  of TCP: 0 = never, UDP: 1,400 */
    bool monitor_singles;      /* events singly and block heads with byte counts, as the program of
                                  2016 sent them; otherwise heads count events, events are parts */
};

/* Serves the log to any number of clients. address: "unix:PATH" (mode 0600) or "tcp:HOST:PORT" for
 * the plain log; "monitor:HOST:PORT" for framed messages of the 2016 monitor; "udp:HOST:PORT" for
 * the same messages, each a datagram without its length, to each peer that has sent one within the
 * last 60 s. IPv6 hosts in brackets. PORT is 0 to 65535; 0 = any, see fm_eventlog_port. Returns a
 * listener number >= 0, or a negative errno number: -EACCES for an address that is not loopback
 * without token. The number is the lowest free one, so while the first call waits for a client,
 * another thread can ask for the port of listener 0. */
FM_EVENTLOG_API int fm_eventlog_listen(const char *address,
                                       const struct fm_eventlog_listen_options *opts);
/* TCP or UDP port number, 0 of a Unix socket; -EINVAL while nothing listens by that number. */
FM_EVENTLOG_API int fm_eventlog_port(int listener);
/* Stops listening and closes its clients. The Unix socket's file is removed. */
FM_EVENTLOG_API int fm_eventlog_unlisten(int listener);

/* Handles control messages of clients: name space of 1 to 255 bytes, and number. The handler runs
 * in the library's thread without locks and may call everything here except stop and unlisten. It
 * returns the status for the client's answer (if requested): 0 = done. May be registered at any
 * time. -EEXIST when the pair is registered. handler NULL removes the registration. */
typedef uint8_t (*fm_eventlog_command)(void *context, const char *name_space, uint8_t number);
FM_EVENTLOG_API int fm_eventlog_on_command(const char *name_space, uint8_t number,
                                           fm_eventlog_command handler, void *context);

/* Answers to control messages of protocol version 1: F0 9E 97 8C, 01, w8 length, name space, w8
 * number, w8 status. They are between two blocks of the log, in the place of an event number. */
enum fm_eventlog_answer {
    FM_EVENTLOG_ANSWER_OK = 0,
    FM_EVENTLOG_ANSWER_UNKNOWN_SPACE = 250,
    FM_EVENTLOG_ANSWER_UNKNOWN_NUMBER = 251,
    FM_EVENTLOG_ANSWER_REFUSED = 252,
    /* Sent over any transport instead of the log, before a refused connection is closed: an answer
     * in the name space "fathom", number 0, with one of these, or REFUSED for a wrong token. */
    FM_EVENTLOG_ANSWER_TOKEN = 253, /* a token is needed, and did not arrive within 5 s */
    FM_EVENTLOG_ANSWER_FULL = 254,  /* there are clients_max clients already */
};
/* Built in: name space "fathom": 1 flush every buffer, 2 pause this client's events, 3 resume. */

/* ---- the hot path ---------------------------------------------------------------------------
 * Names ending in an underscore are not for programs. */

/* One per thread. Its thread writes; pos is also read by threads that flush this one while it is
 * idle. They set limit to NULL to make it check for requests. Invariant: [start of buffer, pos)
 * holds whole events, and limit - pos is the free room; limit NULL sends the next event through the
 * slow path. busy: an append is under way, so events of signal handlers are queued aside. copy: a
 * second place for pos, in memory that outlives the program; set whenever limit is. */
struct fm_eventlog_head_ {
    unsigned char *pos, *limit;
    uint32_t busy;
    unsigned char **copy;
};
FM_EVENTLOG_API extern __thread struct fm_eventlog_head_ fm_eventlog_head_
    __attribute__((tls_model("initial-exec")));
FM_EVENTLOG_API extern int fm_eventlog_active_;
/* No room, or no lane yet; busy is set and is cleared by it. */
FM_EVENTLOG_API void fm_eventlog_slow_(uint16_t type, const void *payload, size_t bytes);
/* From a handler that interrupted an append. */
FM_EVENTLOG_API void fm_eventlog_nested_(uint16_t type, const void *payload, size_t bytes);
FM_EVENTLOG_API uint32_t fm_eventlog_name_(uint32_t *id, const char *name);

/* True while a destination takes events. Use it to skip work that only prepares events. [signal] */
FM_EVENTLOG_INLINE_ bool fm_eventlog_on(void)
{
    return __builtin_expect(__atomic_load_n(&fm_eventlog_active_, __ATOMIC_RELAXED), 0) != 0;
}

/* Raw stamp; becomes nanoseconds when the block is handed over. Where there is no counter to
 * trust, limit is always NULL and this is not reached. */
FM_EVENTLOG_INLINE_ uint64_t fm_eventlog_stamp_(void)
{
#if defined(__x86_64__)
    return __rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return 0;
#endif
}

FM_EVENTLOG_INLINE_ uint16_t fm_eventlog_be16_(uint16_t v)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap16(v) : v;
}
FM_EVENTLOG_INLINE_ uint32_t fm_eventlog_be32_(uint32_t v)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap32(v) : v;
}
FM_EVENTLOG_INLINE_ uint64_t fm_eventlog_be64_(uint64_t v)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap64(v) : v;
}

/* Appends one event of fixed size; payload is in the byte order of the log. */
__attribute__((always_inline)) FM_EVENTLOG_INLINE_ void
fm_eventlog_put_(uint16_t type, const void *payload, size_t bytes)
{
    struct fm_eventlog_head_ *h = &fm_eventlog_head_;
    if (__builtin_expect(h->busy != 0, 0)) {
        fm_eventlog_nested_(type, payload, bytes);
        return;
    }
    h->busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST); /* from here a handler's events go elsewhere */
    unsigned char *p = h->pos;
    if (__builtin_expect((uintptr_t)p + bytes + 10 >
                             (uintptr_t)__atomic_load_n(&h->limit, __ATOMIC_RELAXED),
                         0)) {
        fm_eventlog_slow_(type, payload, bytes);
        return;
    }
    uint16_t number = fm_eventlog_be16_(type);
    uint64_t stamp = fm_eventlog_stamp_();
    memcpy(p, &number, 2);
    memcpy(p + 2, &stamp, 8);
    memcpy(p + 10, payload, bytes);
    __atomic_store_n(&h->pos, p + 10 + bytes, __ATOMIC_RELEASE);
    __atomic_store_n(h->copy, p + 10 + bytes, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    h->busy = 0;
}

/* Payloads as in the log. */
struct fm_eventlog_w32_w64_ {
    uint32_t a;
    uint64_t b;
} __attribute__((packed));
struct fm_eventlog_w64_w64_ {
    uint64_t a, b;
} __attribute__((packed));
struct fm_eventlog_alloc_ {
    uint32_t site;
    uint64_t address, size, weight;
} __attribute__((packed));

__attribute__((always_inline)) FM_EVENTLOG_INLINE_ void fm_eventlog_put_w32_(uint16_t type,
                                                                             uint32_t a)
{
    uint32_t payload = fm_eventlog_be32_(a);
    fm_eventlog_put_(type, &payload, sizeof(payload));
}
__attribute__((always_inline)) FM_EVENTLOG_INLINE_ void fm_eventlog_put_w64_(uint16_t type,
                                                                             uint64_t a)
{
    uint64_t payload = fm_eventlog_be64_(a);
    fm_eventlog_put_(type, &payload, sizeof(payload));
}
__attribute__((always_inline)) FM_EVENTLOG_INLINE_ void
fm_eventlog_put_w32_w64_(uint16_t type, uint32_t a, uint64_t b)
{
    struct fm_eventlog_w32_w64_ payload = {fm_eventlog_be32_(a), fm_eventlog_be64_(b)};
    fm_eventlog_put_(type, &payload, sizeof(payload));
}

/* ---- events of fixed size ------------------------------------------------------------------ All
 * [signal]. Without a destination each costs one test. Names are ids of fm_eventlog_intern; the
 * macros below intern a constant name once per call site. */

FM_EVENTLOG_INLINE_ void fm_eventlog_span_begin(uint32_t name)
{
    if (fm_eventlog_on())
        fm_eventlog_put_w32_(FM_EVENT_SPAN_BEGIN, name);
}
FM_EVENTLOG_INLINE_ void fm_eventlog_span_end(uint32_t name)
{
    if (fm_eventlog_on())
        fm_eventlog_put_w32_(FM_EVENT_SPAN_END, name);
}
FM_EVENTLOG_INLINE_ void fm_eventlog_instant(uint32_t name)
{
    if (fm_eventlog_on())
        fm_eventlog_put_w32_(FM_EVENT_INSTANT, name);
}
FM_EVENTLOG_INLINE_ void fm_eventlog_value(uint32_t name, int64_t value)
{
    if (fm_eventlog_on())
        fm_eventlog_put_w32_w64_(FM_EVENT_VALUE, name, (uint64_t)value);
}
FM_EVENTLOG_INLINE_ void fm_eventlog_counter(uint32_t name, int64_t value)
{
    if (fm_eventlog_on())
        fm_eventlog_put_w32_w64_(FM_EVENT_COUNTER, name, (uint64_t)value);
}
FM_EVENTLOG_INLINE_ void fm_eventlog_counter_real(uint32_t name, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    if (fm_eventlog_on())
        fm_eventlog_put_w32_w64_(FM_EVENT_COUNTER_REAL, name, bits);
}
FM_EVENTLOG_INLINE_ void fm_eventlog_value_real(uint32_t name, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, 8);
    if (fm_eventlog_on())
        fm_eventlog_put_w32_w64_(FM_EVENT_VALUE_REAL, name, bits);
}
FM_EVENTLOG_INLINE_ void fm_eventlog_async_begin(uint32_t name, uint64_t id)
{
    if (fm_eventlog_on())
        fm_eventlog_put_w32_w64_(FM_EVENT_ASYNC_BEGIN, name, id);
}
FM_EVENTLOG_INLINE_ void fm_eventlog_async_end(uint32_t name, uint64_t id)
{
    if (fm_eventlog_on())
        fm_eventlog_put_w32_w64_(FM_EVENT_ASYNC_END, name, id);
}
/* weight: bytes of allocation that this sample represents, at least size. */
FM_EVENTLOG_INLINE_ void fm_eventlog_alloc_sample(uint32_t site, const void *address, uint64_t size,
                                                  uint64_t weight)
{
    if (!fm_eventlog_on())
        return;
    struct fm_eventlog_alloc_ payload = {fm_eventlog_be32_(site),
                                         fm_eventlog_be64_((uintptr_t)address),
                                         fm_eventlog_be64_(size), fm_eventlog_be64_(weight)};
    fm_eventlog_put_(FM_EVENT_ALLOC_SAMPLE, &payload, sizeof(payload));
}
FM_EVENTLOG_INLINE_ void fm_eventlog_alloc_free(const void *address)
{
    if (fm_eventlog_on())
        fm_eventlog_put_w64_(FM_EVENT_ALLOC_FREE, (uintptr_t)address);
}
FM_EVENTLOG_INLINE_ void fm_eventlog_lock_wait(const void *lock)
{
    if (fm_eventlog_on())
        fm_eventlog_put_w64_(FM_EVENT_LOCK_WAIT, (uintptr_t)lock);
}
FM_EVENTLOG_INLINE_ void fm_eventlog_lock_acquire(const void *lock)
{
    if (fm_eventlog_on())
        fm_eventlog_put_w64_(FM_EVENT_LOCK_ACQUIRE, (uintptr_t)lock);
}
FM_EVENTLOG_INLINE_ void fm_eventlog_lock_release(const void *lock)
{
    if (fm_eventlog_on())
        fm_eventlog_put_w64_(FM_EVENT_LOCK_RELEASE, (uintptr_t)lock);
}
FM_EVENTLOG_INLINE_ void fm_eventlog_function_enter(const void *function, const void *call_site)
{
    if (!fm_eventlog_on())
        return;
    struct fm_eventlog_w64_w64_ payload = {fm_eventlog_be64_((uintptr_t)function),
                                           fm_eventlog_be64_((uintptr_t)call_site)};
    fm_eventlog_put_(FM_EVENT_FUNCTION_ENTER, &payload, sizeof(payload));
}
FM_EVENTLOG_INLINE_ void fm_eventlog_function_exit(const void *function)
{
    if (fm_eventlog_on())
        fm_eventlog_put_w64_(FM_EVENT_FUNCTION_EXIT, (uintptr_t)function);
}

/* ---- macros: constant names, resolved at the first event of each call site ------------------ */

#define FM_EVENTLOG_NAMED_(name, call)                                           \
    do {                                                                         \
        if (fm_eventlog_on()) {                                                  \
            static uint32_t fm_name_id_;                                         \
            uint32_t fm_name_ = __atomic_load_n(&fm_name_id_, __ATOMIC_RELAXED); \
            if (__builtin_expect(fm_name_ == 0, 0))                              \
                fm_name_ = fm_eventlog_name_(&fm_name_id_, name);                \
            call;                                                                \
        }                                                                        \
    } while (0)

#define FM_SPAN_BEGIN(name) FM_EVENTLOG_NAMED_(name, fm_eventlog_span_begin(fm_name_))
#define FM_SPAN_END(name) FM_EVENTLOG_NAMED_(name, fm_eventlog_span_end(fm_name_))
#define FM_INSTANT(name) FM_EVENTLOG_NAMED_(name, fm_eventlog_instant(fm_name_))
/* Integers are logged as such; float, double, long double, and unsigned integers beyond INT64_MAX
 * as real numbers. */
#define FM_VALUE(name, value) \
    FM_EVENTLOG_NAMED_(name, FM_EVENTLOG_NUMBER_(fm_eventlog_value, fm_name_, value))
#define FM_COUNTER(name, value) \
    FM_EVENTLOG_NAMED_(name, FM_EVENTLOG_NUMBER_(fm_eventlog_counter, fm_name_, value))
#define FM_ASYNC_BEGIN(name, id) \
    FM_EVENTLOG_NAMED_(name, fm_eventlog_async_begin(fm_name_, (uint64_t)(id)))
#define FM_ASYNC_END(name, id) \
    FM_EVENTLOG_NAMED_(name, fm_eventlog_async_end(fm_name_, (uint64_t)(id)))

/* A span from here to the end of the enclosing block. */
#define FM_SPAN(name) FM_SPAN_AT_(name, __COUNTER__)
#define FM_SPAN_AT_(name, number) FM_SPAN_AS_(name, number)
#define FM_SPAN_AS_(name, number)                                                         \
    static uint32_t fm_span_id_##number;                                                  \
    __attribute__((cleanup(fm_eventlog_span_close_), unused)) uint32_t fm_span_##number = \
        fm_eventlog_span_open_(&fm_span_id_##number, name)

FM_EVENTLOG_INLINE_ uint32_t fm_eventlog_span_open_(uint32_t *id, const char *name)
{
    if (!fm_eventlog_on())
        return 0;
    uint32_t known = __atomic_load_n(id, __ATOMIC_RELAXED);
    if (__builtin_expect(known == 0, 0))
        known = fm_eventlog_name_(id, name);
    fm_eventlog_put_w32_(FM_EVENT_SPAN_BEGIN, known);
    return known;
}
FM_EVENTLOG_INLINE_ void fm_eventlog_span_close_(const uint32_t *name)
{
    if (*name != 0)
        fm_eventlog_span_end(*name);
}

/* A span with a detail: a text, which is copied, and a number as for FM_VALUE. */
#define FM_SPAN_WITH(name, text, value) \
    FM_SPAN(name);                      \
    FM_EVENTLOG_NUMBER_(fm_eventlog_span_detail, text, value)

#ifdef __cplusplus
}
#endif

#include "eventlog_event.h"
#include "eventlog_number.h"

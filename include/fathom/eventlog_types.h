/* SPDX-License-Identifier: Apache-2.0 */
/* fathom/eventlog_types.h - numbers and layouts of the events in the live event log of a C program.
 * Included by fathom/eventlog.h.
 */
#pragma once

/* ---- event types of our own ----------------------------------------------------------------
 *
 * X(number, size, name, description, fields). size: bytes of payload, 0xFFFF = variable. fields:
 * "name=kind,..." in the order of the payload, no padding, big-endian. Kinds: w8 w16 w32 w64
 * unsigned, i64 signed two's complement, addr = w64 address in the program, bytes = w64 count of
 * bytes, name = w32 id of an interned string (event 42, which is always delivered before the
 * first use of its id), str = text to the end of the payload. The same text stands in the "extra"
 * part of the type's entry in the header of each log, after "fields:". */
#define FM_EVENTLOG_TYPES(X)                                                                      \
    /* a span of work of this lane; spans of one lane nest, an end closes the innermost open one  \
     */                                                                                           \
    X(512, 4, SPAN_BEGIN, "Span begin", "name=name")                                              \
    X(513, 4, SPAN_END, "Span end", "name=name")                                                  \
    /* a point in time */                                                                         \
    X(514, 4, INSTANT, "Instant", "name=name")                                                    \
    /* a counter of the process has this value from now on */                                     \
    X(515, 12, COUNTER, "Counter value", "name=name,value=i64")                                   \
    /* one sampled allocation; weight: bytes of allocation that it stands for (>= size) */        \
    X(516, 28, ALLOC_SAMPLE, "Allocation sample",                                                 \
      "site=name,address=addr,size=bytes,weight=bytes")                                           \
    /* a block that was sampled before is freed */                                                \
    X(517, 8, ALLOC_FREE, "Sampled allocation freed", "address=addr")                             \
    /* locks are known by their address; wait is only logged when the lock was not free */        \
    X(518, 8, LOCK_WAIT, "Lock wait begins", "lock=addr")                                         \
    X(519, 8, LOCK_ACQUIRE, "Lock acquired", "lock=addr")                                         \
    X(520, 8, LOCK_RELEASE, "Lock released", "lock=addr")                                         \
    X(521, 16, FUNCTION_ENTER, "Function enter", "function=addr,call_site=addr")                  \
    X(522, 8, FUNCTION_EXIT, "Function exit", "function=addr")                                    \
    /* work that begins and ends in different lanes; (name, id) pairs begin and end */            \
    X(523, 12, ASYNC_BEGIN, "Asynchronous span begin", "name=name,id=w64")                        \
    X(524, 12, ASYNC_END, "Asynchronous span end", "name=name,id=w64")                            \
    X(525, 12, LOCK_NAME, "Lock name", "lock=addr,name=name")                                     \
    /* a loaded object: addresses [base, base + size) come from this file, whose own address 0 is \
     * at bias */                                                                                 \
    X(526, 0xFFFF, MODULE, "Loaded module", "base=addr,size=bytes,bias=addr,path=str")            \
    /* events that this stream should hold here and does not: dropped because a limit was met; a  \
     * log message (event 16) with the same numbers precedes it */                                \
    X(527, 20, MISSING, "Missing events", "events=w64,bytes=bytes,blocks=w32")                    \
    /* a named point in time with a number */                                                     \
    X(528, 12, VALUE, "Instant with value", "name=name,value=i64")                                \
    /* as 515 and 528, with a real number */                                                      \
    X(529, 12, COUNTER_REAL, "Counter value, real", "name=name,value=f64")                        \
    X(530, 12, VALUE_REAL, "Instant with real value", "name=name,value=f64")                      \
    /* for the innermost open span of this lane: the item that it works on */                     \
    X(531, 0xFFFF, SPAN_DETAIL, "Span detail", "value=i64,text=str")                              \
    /* as 531, with a real number */                                                              \
    X(532, 0xFFFF, SPAN_DETAIL_REAL, "Span detail, real", "value=f64,text=str")

enum fm_event_type {
#define FM_EVENTLOG_ENUM_(number, size, name, text, fields) FM_EVENT_##name = number,
    FM_EVENTLOG_TYPES(FM_EVENTLOG_ENUM_)
#undef FM_EVENTLOG_ENUM_
        FM_EVENT_NUMBER_END
};

/* GHC's types that the library emits, with GHC's meaning. Capability = lane = buffer of one thread;
 * lane numbers are reused after a thread has ended. Capset 0 = the process, capset 1 = its clock
 * domain. Thread ids count from 1, in the order of creation. Task id = kernel thread id. */
enum fm_event_ghc_type {
    FM_EVENT_THREAD_CREATE = 0,        /* thread w32 */
    FM_EVENT_THREAD_RUN = 1,           /* thread w32 */
    FM_EVENT_THREAD_STOP = 2,          /* thread w32, status w16 (5 = finished), info w32 */
    FM_EVENT_THREAD_RUNNABLE = 3,      /* thread w32 */
    FM_EVENT_THREAD_MIGRATE = 4,       /* thread w32, cap w16 */
    FM_EVENT_LOG_MESSAGE = 16,         /* str */
    FM_EVENT_BLOCK_MARKER = 18,        /* size w32, end time w64, capability w16 */
    FM_EVENT_USER_MESSAGE = 19,        /* str */
    FM_EVENT_CAPSET_CREATE = 25,       /* capset w32, type w16 */
    FM_EVENT_CAPSET_ASSIGN_CAP = 27,   /* capset w32, cap w16 */
    FM_EVENT_RTS_IDENTIFIER = 29,      /* capset w32, str */
    FM_EVENT_PROGRAM_ARGS = 30,        /* capset w32, each argument with its zero byte */
    FM_EVENT_OS_PROCESS_PID = 32,      /* capset w32, pid w32 */
    FM_EVENT_OS_PROCESS_PPID = 33,     /* capset w32, pid w32 */
    FM_EVENT_INTERN_STRING = 42,       /* str, id w32 at the end */
    FM_EVENT_WALL_CLOCK_TIME = 43,     /* capset w32, seconds w64, nanoseconds w32 */
    FM_EVENT_THREAD_LABEL = 44,        /* thread w32, str */
    FM_EVENT_CAP_CREATE = 45,          /* cap w16 */
    FM_EVENT_CAP_DISABLE = 47,         /* cap w16: its thread has ended */
    FM_EVENT_CAP_ENABLE = 48,          /* cap w16: another thread uses it */
    FM_EVENT_HEAP_ALLOCATED = 49,      /* capset w32, bytes w64: allocated ever */
    FM_EVENT_HEAP_SIZE = 50,           /* capset w32, bytes w64 */
    FM_EVENT_HEAP_LIVE = 51,           /* capset w32, bytes w64 */
    FM_EVENT_TASK_CREATE = 55,         /* task w64, cap w16, kernel thread w64 */
    FM_EVENT_TASK_DELETE = 57,         /* task w64 */
    FM_EVENT_USER_MARKER = 58,         /* str */
    FM_EVENT_USER_BINARY_MESSAGE = 181 /* bytes */
};

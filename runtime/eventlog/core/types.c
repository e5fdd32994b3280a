/* SPDX-License-Identifier: Apache-2.0 */
/* The event types that the library declares in a log, and the sizes of all types. */
#include "core/types.h"

/* X(number, size, description). The descriptions of GHC's types are those of GHC. */
#define GHC_TYPES(X)                                                             \
    X(FM_EVENT_THREAD_CREATE, 4, "Create thread")                                \
    X(FM_EVENT_THREAD_RUN, 4, "Run thread")                                      \
    X(FM_EVENT_THREAD_STOP, 10, "Stop thread")                                   \
    X(FM_EVENT_THREAD_RUNNABLE, 4, "Thread runnable")                            \
    X(FM_EVENT_THREAD_MIGRATE, 6, "Migrate thread")                              \
    X(FM_EVENT_LOG_MESSAGE, FM_EL_VARIABLE, "Log message")                       \
    X(FM_EVENT_BLOCK_MARKER, 14, "Block marker")                                 \
    X(FM_EVENT_USER_MESSAGE, FM_EL_VARIABLE, "User message")                     \
    X(FM_EVENT_CAPSET_CREATE, 6, "Create capability set")                        \
    X(FM_EVENT_CAPSET_ASSIGN_CAP, 6, "Add capability to capability set")         \
    X(FM_EVENT_RTS_IDENTIFIER, FM_EL_VARIABLE, "RTS identifier")                 \
    X(FM_EVENT_PROGRAM_ARGS, FM_EL_VARIABLE, "Program arguments")                \
    X(FM_EVENT_OS_PROCESS_PID, 8, "Process ID")                                  \
    X(FM_EVENT_OS_PROCESS_PPID, 8, "Parent process ID")                          \
    X(FM_EVENT_INTERN_STRING, FM_EL_VARIABLE, "Intern string")                   \
    X(FM_EVENT_WALL_CLOCK_TIME, 16, "Wall clock time")                           \
    X(FM_EVENT_THREAD_LABEL, FM_EL_VARIABLE, "Thread label")                     \
    X(FM_EVENT_CAP_CREATE, 2, "Create capability")                               \
    X(FM_EVENT_CAP_DISABLE, 2, "Disable capability")                             \
    X(FM_EVENT_CAP_ENABLE, 2, "Enable capability")                               \
    X(FM_EVENT_HEAP_ALLOCATED, 12, "Total heap memory ever allocated")           \
    X(FM_EVENT_HEAP_SIZE, 12, "Current heap size (number of allocated mblocks)") \
    X(FM_EVENT_HEAP_LIVE, 12, "Current heap live data")                          \
    X(FM_EVENT_TASK_CREATE, 18, "Task create")                                   \
    X(FM_EVENT_TASK_DELETE, 8, "Task delete")                                    \
    X(FM_EVENT_USER_MARKER, FM_EL_VARIABLE, "User marker")                       \
    X(FM_EVENT_USER_BINARY_MESSAGE, FM_EL_VARIABLE, "User binary message")

const struct fm_el_type fm_el_types[] = {
#define X(number, size, text) {number, size, text, NULL},
    GHC_TYPES(X)
#undef X
#define X(number, size, name, text, fields) {number, size, text, fields},
        FM_EVENTLOG_TYPES(X)
#undef X
};

uint16_t fm_el_sizes[FM_EL_NUMBERS_END] = {
#define X(number, size, text) [number] = size,
    GHC_TYPES(X)
#undef X
#define X(number, size, name, text, fields) [number] = size,
        FM_EVENTLOG_TYPES(X)
#undef X
};

const unsigned fm_el_types_own = sizeof(fm_el_types) / sizeof(fm_el_types[0]);

size_t fm_el_event_bytes(const unsigned char *p)
{
    unsigned size = fm_el_sizes[fm_el_get16(p)];
    return size == FM_EL_VARIABLE ? 12u + fm_el_get16(p + 10) : 10u + size;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the monitor. Private to this folder. */
#pragma once

#include "eventlog/monitor/monitor.h"

/* Values and order are those of the protocol. */
enum execution { CREATED, QUEUED, RUNNING, STOPPED, MIGRATED };
enum { STATUS_FINISHED = 5, STATUS_BLACK_HOLE_OWNED = 20, STATUS_MAX = 20 };

struct thread {
    uint64_t id;
    char *label; /* NULL = none */
    size_t label_length;
    int64_t capability;
    enum execution execution;
    uint32_t status, owner; /* for STOPPED */
    int64_t sparks;         /* -1 = no spark thread */
    uint64_t created, changed;
};

/* Numbers of a capability set, after its texts, in the order of the protocol. */
enum {
    WALL_SECONDS,
    WALL_NANOSECONDS,
    ALLOCATED,
    HEAP_SIZE,
    LIVE,
    GENERATIONS,
    MAX_HEAP,
    ALLOCATION_AREA,
    MEGABLOCK,
    BLOCK,
};
enum { COPIED, SLOP, FRAGMENTATION, THREADS, MAX_COPIED, TOTAL_COPIED, COLLECTION_NUMBERS };

struct capset {
    uint64_t id, type, changed, created;
    GArray *capabilities; /* uint64_t */
    GByteArray *identifier;
    GPtrArray *arguments, *environment; /* elements: GBytes */
    int64_t pid, parent_pid;            /* -1 = not known */
    uint64_t numbers[BLOCK + 1];
    int64_t collection_time; /* -1 = none */
    uint64_t collection[COLLECTION_NUMBERS];
};

struct capability {
    uint64_t id, changed, created;
    bool disabled;
};

struct task {
    uint64_t id, kernel_thread, created, changed;
    int64_t capability;
};

struct fm_monitor_state {
    GHashTable *threads, *capsets, *capabilities, *tasks; /* id -> struct */
    int64_t collection_begin;                             /* -1 = none is running */
    uint32_t collecting;                                  /* capabilities taking part in it */
    uint64_t last_ns;
};

struct capset *fm_monitor_capset_new(uint64_t id);

/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about waiting in a C program, besides the measures `waits` and `wait_ns`. Kinds are words:
 * "mutex", "read", "sleep" (FM_REC_WAIT_KINDS in runtime/recording_format.h lists those recorded
 * today). Strings belong to the profile. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Calls of one kind that can wait, made by the callee of a csd itself. A csd has one of a kind. */
struct fm_waiting {
    uint32_t csd;
    const char *kind;
    uint64_t calls; /* also those that did not wait, or ran shorter than the threshold */
    uint64_t waits;
    uint64_t ns; /* that the waits took, all together */
    uint64_t longest_ns;
    uint64_t short_ns;   /* time of calls that were not waits, if the clock was read */
    uint64_t cpu_quanta; /* CPU time of these calls, by samples: part of the csd's quanta */
    uint64_t left;       /* waits left by longjmp, cancellation or an exception */
    uint64_t open;       /* waits that were not over at the end */
};

/* A lock for which some thread waited. */
struct fm_lock {
    const char *name; /* "cache_lock", "queue+0x28"; "" = not known: the address is all there is */
    uint64_t address;
};

/* Waits of one context for one lock while another context held it: part of a fm_waiting. */
struct fm_blame {
    uint32_t csd; /* the csd whose callee waited */
    const char *kind;
    uint32_t lock;   /* from 1; 0 = one of several that were not distinguished */
    uint32_t holder; /* csd whose callee held it when the wait began; 0 = not known */
    uint64_t waits, ns, longest_ns;
};

/* The time between a thread's start and end, divided. */
struct fm_thread_time {
    const char *name; /* name of the function that it started in; "" = not known */
    uint64_t wall_ns, cpu_ns;
    uint64_t wait_ns;   /* in waits */
    uint64_t inside_ns; /* part of both: CPU time within waits, by samples */
    uint64_t queued_ns; /* ready to run, but another had the processor */
    bool queue_known;
};

/* A context in which threads were found asleep outside of recorded waits: part of
 * fm_thread_time_unseen(). An estimate, by looks from outside. A csd has one at most. */
struct fm_sleep {
    uint32_t csd;
    uint64_t samples; /* at least 1 */
    uint64_t ns;
};

struct fm_wait_info {
    uint32_t waiting_count, lock_count, blame_count, thread_count, sleep_count;
    struct fm_waiting *waiting;
    struct fm_lock *locks; /* locks[0] is number 1 */
    struct fm_blame *blames;
    struct fm_thread_time *threads;
    struct fm_sleep *sleeps;
};

/* The part of a thread's time in no other column: it slept while not sampled. */
uint64_t fm_thread_time_unseen(const struct fm_thread_time *time);
/* At most the time besides CPU time and waits: queueing after a wake-up is part of the wait. */
uint64_t fm_thread_time_queued(const struct fm_thread_time *time);

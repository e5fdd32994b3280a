/* SPDX-License-Identifier: Apache-2.0 */
/* The table of threads, under the state lock. That lock also guards which lane each thread has, and
 * what is replayed. */
#pragma once
#include "core/block.h"
#include "core/names.h"

struct fm_el_thread {
    uint32_t id;
    const struct fm_el_name *label; /* NULL = none */
    uint64_t created_ns, changed_ns;
    uint32_t info;
    uint16_t status, lane; /* lane FM_EL_NO_CAP = none yet */
    uint8_t state;         /* 0 created, 1 running, 2 stopped, 3 runnable; 255 = free slot */
};
void fm_el_state_lock(void);
void fm_el_state_unlock(void);
uint32_t fm_el_state_thread_new(uint16_t lane, uint8_t state); /* state lock held */
void fm_el_state_thread_gone(uint32_t id);                     /* state lock held */
/* Finds a thread by id; NULL = ended, or never tracked. State lock held. */
struct fm_el_thread *fm_el_state_thread(uint32_t id);
/* Returns threads in order of creation. State lock held. The result is pool memory of
 * *ret_bytes. */
struct fm_el_thread *fm_el_state_threads(uint32_t *count, size_t *ret_bytes);
void fm_el_state_options(const struct fm_eventlog_options *o);
void fm_el_state_after_fork(void);
void fm_el_state_stats(struct fm_eventlog_stats *s);

/* SPDX-License-Identifier: Apache-2.0 */
/* State that a late reader must know, besides threads and names. */
#pragma once
#include "core/pool.h"

struct fm_el_lock_name {
    uint64_t lock, named_ns;
    uint32_t name;
};
bool fm_el_state_lock_name(uint32_t i, struct fm_el_lock_name *ret); /* state lock held */

struct fm_el_process {
    uint32_t pid, ppid;
    uint64_t wall_s;
    uint32_t wall_ns;
    uint64_t wall_at_ns; /* log time that corresponds to the wall-clock time */
    size_t args_bytes;
    char args[16384]; /* each with its zero byte */
};
const struct fm_el_process *fm_el_process(void);
/* Payloads of event 526, each preceded by its length in 16 bits; state lock held. */
const struct fm_el_bytes *fm_el_process_modules(void);
void fm_el_process_refresh(void); /* reads arguments, ids, clock, modules; call without locks */

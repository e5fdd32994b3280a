/* SPDX-License-Identifier: Apache-2.0 */
/* Tells whether processors have idle time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fm_spare {
    bool enough;                     /* most of one processor, since the look before */
    uint64_t idle_ns, own_ns, at_ns; /* at the look before; at_ns 0: there was none */
};

/* Reads the kernel's counters of idle time. The time that this process used counts as idle. */
void fm_spare_look(struct fm_spare *spare);
/* From now on the calling thread uses little more than idle time. */
void fm_spare_only(void);

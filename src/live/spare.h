/* SPDX-License-Identifier: Apache-2.0 */
/* Whether processors have time that nobody wants. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fm_spare {
    bool enough;                     /* most of one processor, since the look before */
    uint64_t idle_ns, own_ns, at_ns; /* at the look before; at_ns 0: there was none */
};

/* Looks at what the kernel tells. What this process took itself counts as left over. */
void fm_spare_look(struct fm_spare *spare);
/* From now on the calling thread takes little more than what nobody else wants. */
void fm_spare_only(void);

/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers in a file that outlives the program (live_format.h). A slot is known by its head in the
 * mapping; its data begins FM_LIVE_SLOT_BYTES behind. The lock is a leaf. */
#pragma once
#include "core/clock.h"
#include "core/live_format.h"
#include "core/shared.h"

#define FM_EL_LIVE_BUFFER_MAX (256u << 10)

/* 0 = none; changes whenever a file begins or ends: buffers of another generation are given back
 * by their owners when they next can. */
extern _Atomic uint64_t fm_el_live_generation;

/* Of a regular file that was opened at path. Any error leaves the log without it. */
void fm_el_live_begin(const char *path, int log_fd);
void fm_el_live_end(void); /* all is in LOG: the file goes */

/* NULL: there is none, or it is full. */
struct fm_live_slot *fm_el_live_alloc(uint32_t kind, uint32_t lane, size_t data_bytes);
void fm_el_live_free(struct fm_live_slot *slot);
static inline unsigned char *fm_el_live_data(struct fm_live_slot *slot)
{
    return (unsigned char *)slot + FM_LIVE_SLOT_BYTES;
}

/* The state of a buffer from now on. */
void fm_el_live_note(struct fm_live_slot *slot, const struct fm_live_state *state);
/* The whole block in the slot holds what source holds now: source's next note is what makes it
 * count. */
void fm_el_live_seal(struct fm_live_slot *block, size_t bytes, const struct fm_live_slot *source);
void fm_el_live_sample(const struct fm_el_sample *now);

/* In a child of fork: what is written there from now on is the child's alone. */
void fm_el_live_own(struct fm_live_slot *slot);
void fm_el_live_fork_lock(void);
void fm_el_live_fork_unlock(void);
void fm_el_live_after_fork(void);

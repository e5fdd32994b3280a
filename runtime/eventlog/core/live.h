/* SPDX-License-Identifier: Apache-2.0 */
/* Buffers in a file that outlives the program (live_format.h). A slot is identified by the address
 * of its head in the mapping; its data begins FM_LIVE_SLOT_BYTES later. No other lock is taken
 * under this module's lock. */
#pragma once
#include "core/clock.h"
#include "core/live_format.h"
#include "core/shared.h"

#define FM_EL_LIVE_BUFFER_MAX (256u << 10)

/* 0 = none; changes whenever a file begins or ends. Owners free buffers of another generation as
 * soon as they can. */
extern _Atomic uint64_t fm_el_live_generation;

/* The log is the regular file log_fd, opened at path. After any error the log goes on without a
 * live file. */
void fm_el_live_begin(const char *path, int log_fd);
void fm_el_live_end(void); /* LOG is complete: removes the file */

/* NULL: there is no file, or it is full. */
struct fm_live_slot *fm_el_live_alloc(uint32_t kind, uint32_t lane, size_t data_bytes);
void fm_el_live_free(struct fm_live_slot *slot);
static inline unsigned char *fm_el_live_data(struct fm_live_slot *slot)
{
    return (unsigned char *)slot + FM_LIVE_SLOT_BYTES;
}

/* Sets the state of a buffer from now on. */
void fm_el_live_note(struct fm_live_slot *slot, const struct fm_live_state *state);
/* Marks the slot as a whole block with what `source` holds now. It takes effect with source's next
 * note. */
void fm_el_live_seal(struct fm_live_slot *block, size_t bytes, const struct fm_live_slot *source);
void fm_el_live_sample(const struct fm_el_sample *now);

/* In a child of fork: makes the memory private, so that the child's writes do not reach the
 * file. */
void fm_el_live_own(struct fm_live_slot *slot);
void fm_el_live_fork_lock(void);
void fm_el_live_fork_unlock(void);
void fm_el_live_after_fork(void);

/* SPDX-License-Identifier: Apache-2.0 */
/* Live memory: for each block, the record in which it was allocated. It is stored outside of the
 * program's heap, which stays unchanged, in a map by address. Allocators' chunks begin at least
 * 32 bytes apart, so each 32 bytes of address space have a cell of 4 bytes,
 *
 *   bits 31..6  number of the allocation record: its offset in the file / 64
 *   bits 5..0   slack: usable - requested bytes; 63: the next cell has it (no block of the heap
 *               that rounds up so much is shorter than two cells)
 *
 * 0 when there is no block of the recording. The first level is one table for the whole address
 * space, which is reserved and mostly not backed by memory; the second level is allocated where
 * blocks are. A child of fork begins its own map: blocks found in earlier ones are inherited. */
#pragma once

#include "held/add_once.h"
#include "internal.h"

#define FM_CELL_SHIFT 5u
#define FM_REGION_SHIFT 26u
#define FM_REGIONS (1u << (47 - FM_REGION_SHIFT))
#define FM_REGION_CELLS (1u << (FM_REGION_SHIFT - FM_CELL_SHIFT))
#define FM_CELL_SLACK 63u /* all bits set: the slack is in the next cell */
#define FM_CELL_RECORD_BYTES 64u
#define FM_HELD_INHERITED_MAX 16u

struct fm_held {
    uint32_t **map;       /* [FM_REGIONS]; NULL: live memory is not recorded */
    uint32_t epoch;       /* that of the file's record */
    uint32_t epoch_quick; /* as above, while nothing else forbids the fast path */
    bool many;            /* there has been more than one thread */
    bool refused;         /* do not try to begin */
    struct fm_rec_held *rec;
    uint64_t **births; /* [FM_REGIONS], a moment for each cell; NULL: lifetimes are not recorded */
    uint32_t **inherited[FM_HELD_INHERITED_MAX]; /* newest first */
};
extern struct fm_held fm_held FM_HIDDEN;

/* Facts about a block; `value` 0: none. */
struct fm_held_block {
    uint32_t *cell, *next;
    uint32_t value, further; /* value of the cell; value of the next cell if that has the slack */
    bool inherited;
    uint64_t born_ns; /* 0: not known */
};

/* Begins, if it has not begun: the allocator is known to be glibc's. Signals are blocked. */
void fm_held_start(void);
/* An allocation of usable bytes, in any case. */
void fm_held_alloc(struct fm_thread *thread, struct fm_rec_alloc *record, const void *block,
                   size_t bytes, size_t usable);
/* Returns and clears a block's entry. Call it before the block is freed, since another thread may
 * get the same address at once. fm_held.map must exist. */
struct fm_held_block fm_held_take(const void *block);
/* Restores the entry of a block that was not freed after all; no effect if it had none. */
void fm_held_put_back(const struct fm_held_block *block);
/* Counts the free of a block with that usable size, after fm_held_take(). record: of the callee
 * that frees it, NULL when nothing is recorded; thread: NULL when it has ended, then record is
 * NULL, too. */
void fm_held_free(struct fm_thread *thread, struct fm_rec_alloc *record,
                  const struct fm_held_block *block, size_t usable);

/* --- peak.c --- */

/* The record of a file in which nothing is live yet. */
void fm_held_peak_begin(struct fm_rec_held *rec);
/* The next update of each thread sets both bounds again. */
void fm_held_bounds_forget(void);
/* Before the first byte is freed after a peak. */
void fm_held_peak_leave(void);
/* Around the count of a block: a large one is about to change its record and, at some other moment,
 * the sum. ALONE: there was one thread when it began. */
enum fm_held_large { FM_HELD_SMALL, FM_HELD_LARGE, FM_HELD_LARGE_ALONE };
enum fm_held_large fm_held_large_begin(uint64_t bytes);
void fm_held_large_end(enum fm_held_large begun, uint64_t bytes);
/* Adds to the sum at once. */
void fm_held_tell(int64_t delta);
/* A free is about to take the thread's changes below held.low. It is told at once, since the thread
 * may rest afterwards while others make a peak. */
void fm_held_falls(struct fm_thread *thread, int64_t bytes);

/* lifetimes.c. Counts the lifetime of a block of that record when it is freed, and returns it;
 * thread: NULL when it has ended. */
uint64_t fm_lifetime_count(struct fm_thread *thread, struct fm_rec_alloc *from, uint64_t born_ns);

static inline size_t fm_held_region_of(const void *block)
{
    return ((uint64_t)block >> FM_REGION_SHIFT) & (FM_REGIONS - 1);
}
static inline size_t fm_held_cell_of(const void *block) /* index in its region */
{
    return ((uint64_t)block >> FM_CELL_SHIFT) & (FM_REGION_CELLS - 1);
}
/* NULL: its region has none yet. */
static inline uint32_t *fm_held_cell_in(uint32_t **map, const void *block)
{
    uint32_t *cells = map[fm_held_region_of(block)];
    return FM_LIKELY(cells != NULL) ? cells + fm_held_cell_of(block) : NULL;
}
static inline uint32_t *fm_held_cell(const void *block)
{
    return fm_held_cell_in(fm_held.map, block);
}

/* For a record below 4 GiB of the file, as all with a stamp are. */
static inline uint32_t fm_cell_of(const struct fm_rec_alloc *record, size_t slack)
{
    return (uint32_t)((uint64_t)((const char *)record - fm_process.base) + slack);
}
static inline struct fm_rec_alloc *fm_cell_record(uint32_t value)
{
    return (struct fm_rec_alloc *)(void *)(fm_process.base + (value & ~FM_CELL_SLACK));
}

/* The index of flows is described by one word, since a signal may come between two stores: the
 * address of its slots, and the shift of the hash. */
#define FM_FLOW_SHIFT 63u
static inline struct fm_flow_slot *fm_flow_slots(uint64_t word)
{
    return (struct fm_flow_slot *)(word & ~(uint64_t)FM_FLOW_SHIFT);
}
static inline struct fm_flow_slot *fm_flow_home(uint64_t word, uint64_t key)
{
    return fm_flow_slots(word) + (key * 0x9E3779B97F4A7C15ull >> (word & FM_FLOW_SHIFT));
}

/* From which record to which. */
static inline uint64_t fm_flow_key(uint32_t cell, const struct fm_rec_alloc *to)
{
    return (uint64_t)(cell & ~FM_CELL_SLACK) << 32 | fm_ref(to);
}

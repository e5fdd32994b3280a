/* SPDX-License-Identifier: Apache-2.0 */
/* LOG.live: the buffers of a program that logs to the file LOG, shared with the kernel, so that
 * they outlive the program. `fathom log recover` adds to LOG what stands only here.
 *
 * The file is one head of a page and slots behind each other. All numbers are the machine's own,
 * stores are made in the order in which they stand in the text: the program may end between any
 * two of them. */
#pragma once
#include <stdint.h>

#define FM_LIVE_MAGIC "fathomLV"
#define FM_LIVE_VERSION 2u
#define FM_LIVE_ENDING ".live"
#define FM_LIVE_HEAD_BYTES 4096u
#define FM_LIVE_SLOT_BYTES 8192u /* of a slot, before its data */
#define FM_LIVE_SIDE_AT 512u     /* in the slot: what handlers queued */
#define FM_LIVE_SIDE_BYTES 4096u
/* There: w64 turns << 40 | reserved bytes << 20 | committed bytes, w32, 24 bytes of no meaning, the
 * events. Of those that were being written the room is FF, or begins with FE FE and a length of 16
 * bits, high byte first. */
#define FM_LIVE_SIDE_BITS 20
#define FM_LIVE_SIDE_DATA (FM_LIVE_SIDE_AT + 36u)

struct fm_live_head {
    char magic[8];
    uint32_t version, pid;
    uint64_t pid_start; /* field 22 of /proc/PID/stat; 0 = not known */
    char boot[40];      /* /proc/sys/kernel/random/boot_id */
    uint64_t log_device, log_inode, own_inode;
    uint32_t counter;         /* stamps are those of the CPU's counter; otherwise nanoseconds */
    uint32_t recovering;      /* recovered_at counts */
    uint64_t start_ns;        /* CLOCK_MONOTONIC at time 0 of the log */
    uint64_t ticks[2], ns[2]; /* two samples of stamp and time, the second the latest */
    uint64_t recovered_at;    /* length of LOG before the first byte that recovering adds */
};

enum fm_live_kind {
    FM_LIVE_FREE = 0,
    FM_LIVE_LANE = 1,   /* events of a thread, with raw stamps */
    FM_LIVE_GLOBAL = 2, /* events as they stand in the log */
    FM_LIVE_BLOCK = 3,  /* a whole block for LOG */
};

/* Of a buffer. Those of [taken, pos) and the queued bytes behind side_done are in no block: all of
 * the queue, if it has had another turn since. */
struct fm_live_state {
    uint64_t taken;     /* offset in the data */
    uint64_t side_done; /* turns << 40 | bytes */
    uint64_t ticks, ns; /* the block begins with this sample */
};

struct fm_live_slot {
    uint64_t bytes; /* with this head: where the next slot is */
    uint32_t kind;
    uint32_t lane;       /* number; of a block too */
    uint64_t data_bytes; /* of a block: all of it */
    /* buffers */
    uint64_t address; /* of the data in the program */
    uint64_t pos;     /* address behind the last whole event */
    uint64_t turn;    /* state[turn % 2] holds */
    struct fm_live_state state[2];
    /* blocks: it holds what the buffer at source held at this turn; before that buffer's turn has
     * moved on, the events still count as the buffer's */
    uint64_t source, source_turn;
    uint64_t sequence; /* order in LOG; 0 = not given to the writer yet */
    uint64_t file_at;  /* 1 + offset in LOG, being written there; 0 = not yet */
    uint64_t offset;   /* of this slot in the file */
    uint64_t generation;
};

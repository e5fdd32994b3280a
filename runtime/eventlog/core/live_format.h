/* SPDX-License-Identifier: Apache-2.0 */
/* LOG.live: the buffers of a program that logs to the file LOG. It is a shared mapping, so that
 * the buffers outlive the program. `fathom log recover` appends to LOG the events that are only
 * here.
 *
 * The file is a head of one page, then slots one after the other. Numbers are in the machine's
 * byte order. The program makes stores in the order of its text: it may end between any two of
 * them. */
#pragma once
#include <stdint.h>

#define FM_LIVE_MAGIC "fathomLV"
#define FM_LIVE_VERSION 2u
#define FM_LIVE_ENDING ".live"
#define FM_LIVE_HEAD_BYTES 4096u
#define FM_LIVE_SLOT_BYTES 8192u /* bytes of a slot before its data */
#define FM_LIVE_SIDE_AT 512u     /* offset in the slot: events queued by signal handlers */
#define FM_LIVE_SIDE_BYTES 4096u
/* There: w64 turns << 40 | reserved bytes << 20 | committed bytes; w32; 24 unused bytes; the
 * events. A turn ends when the queue restarts at its front. The room of an event that was being
 * written is FF, or begins with FE FE and its length in 16 bits, big-endian. */
#define FM_LIVE_SIDE_BITS 20
#define FM_LIVE_SIDE_DATA (FM_LIVE_SIDE_AT + 36u)

struct fm_live_head {
    char magic[8];
    uint32_t version, pid;
    uint64_t pid_start; /* field 22 of /proc/PID/stat; 0 = not known */
    char boot[40];      /* /proc/sys/kernel/random/boot_id */
    uint64_t log_device, log_inode, own_inode;
    uint32_t counter;         /* stamps are CPU counter values; otherwise nanoseconds */
    uint32_t recovering;      /* recovered_at is valid */
    uint64_t start_ns;        /* CLOCK_MONOTONIC at time 0 of the log */
    uint64_t ticks[2], ns[2]; /* two samples of stamp and time; the second is the latest */
    uint64_t recovered_at;    /* length of LOG before recovery appended anything */
};

enum fm_live_kind {
    FM_LIVE_FREE = 0,
    FM_LIVE_LANE = 1,   /* events of a thread, with raw stamps */
    FM_LIVE_GLOBAL = 2, /* events as they stand in the log */
    FM_LIVE_BLOCK = 3,  /* a whole block that is to be written to LOG */
};

/* State of a buffer. Its events in [taken, pos), and queued events behind side_done, are in no
 * block. If the queue has had another turn since, that is all of the queue. */
struct fm_live_state {
    uint64_t taken;     /* offset in the data; events before it were handed over */
    uint64_t side_done; /* turns << 40 | bytes */
    uint64_t ticks, ns; /* sample at which the next block begins */
};

struct fm_live_slot {
    uint64_t bytes; /* size with this head: the next slot follows */
    uint32_t kind;
    uint32_t lane;       /* lane number, also for a block */
    uint64_t data_bytes; /* block: its length */
    /* Buffers only: */
    uint64_t address; /* address of the data in the program */
    uint64_t pos;     /* address after the last whole event */
    uint64_t turn;    /* state[turn % 2] is valid */
    struct fm_live_state state[2];
    /* Blocks only: the block holds the events that the buffer at `source` held at this turn. Until
     * that buffer's turn has increased, the events still count as the buffer's. */
    uint64_t source, source_turn;
    uint64_t sequence; /* order in LOG; 0 = not yet given to the writer */
    uint64_t file_at;  /* 1 + offset in LOG where it is being written; 0 = not yet */
    uint64_t offset;   /* offset of this slot in the file */
    uint64_t generation;
};

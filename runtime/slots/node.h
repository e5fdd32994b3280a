/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts of --hooks=slots: a node for each call edge (csd), below 4 GiB; r15 of the running
 * function is its node. Offsets are in the hooks' code (assembler/slots/slots.c), whose symbols
 * have the version in their names. Method: README.md. */
#pragma once

/* Callees of sites that have many, by node, slot and function. */
#define FM_SLOTS_TABLE_BITS 14
#define FM_SLOTS_TABLE_FACTOR 0x9E3779B1

#define FM_SLOTS_SITE 4
#define FM_SLOTS_CSD 8
#define FM_SLOTS_NEXT 16
#define FM_SLOTS_SPECIAL 24
#define FM_SLOTS_PARENT 28
#define FM_SLOTS_FUNCTION 32
#define FM_SLOTS_MAKER 40
#define FM_SLOTS_INDEX 44
#define FM_SLOTS_HEADER 48
#define FM_SLOTS_RETURNS 16 /* in the description */
#define FM_SLOTS_EXITS 56   /* behind the csd */
/* in fm_tls_v2 */
#define FM_SLOTS_TLS_INSIDE 48
#define FM_SLOTS_TLS 184 /* slot_current */
#define FM_SLOTS_TLS_ROOT 192
#define FM_SLOTS_TLS_OWN 200
#define FM_SLOTS_TLS_STOPPED 208
/* Nodes lie there: valgrind has its own code above, and programs at fixed addresses lie below. */
#define FM_SLOTS_LOW 0x20000000
#define FM_SLOTS_HIGH 0x50000000
/* In struct fm_slots_thread and its entries. */
#define FM_SLOTS_ENTRIES 0
#define FM_SLOTS_ENTRY_COUNT 8
#define FM_SLOTS_ENTRY_ROOM 12
#define FM_SLOTS_ENTRY_KEY 0
#define FM_SLOTS_ENTRY_CURRENT 8
#define FM_SLOTS_ENTRY_SIGNAL 16
#define FM_SLOTS_ENTRY_BYTES 24
/* enum fm_slots_special */
#define FM_SLOTS_IS_OPEN 1
#define FM_SLOTS_NOT_BY_TABLE 10
#define FM_SLOTS_IS_STAND_IN 32
#define FM_SLOTS_ANY_FUNCTION 64
#define FM_SLOTS_SITES 4 /* in the description: sites_leaf */
/* Functions of more call sites take the slow path while the recording is stopped. */
#define FM_SLOTS_STAND_IN_SITES 4096

#ifndef __ASSEMBLER__
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

/* In the code's section fm_slots. Distances are from the words themselves. */
struct fm_slots_about {
    uint32_t number;      /* the function's: a hash, odd */
    uint32_t sites_leaf;  /* call sites * 2 + 1 if the function calls nothing */
    int32_t to_hook;      /* to the end of the entry hook */
    int32_t place;        /* the caller's node is there, seen from rbp; 0: elsewhere. Bit 0: rbp
                             may be farther than 16 bytes from the frame's end, and the place
                             is the key of its entries */
    int32_t to_returns[]; /* to where each call returns */
};
static inline uint32_t fm_slots_sites(const struct fm_slots_about *function)
{
    return function->sites_leaf >> 1;
}

enum fm_slots_special {
    FM_SLOTS_OPEN = 1u << 0,      /* exits look for a record of the entry */
    FM_SLOTS_SIGNAL = 1u << 1,    /* a signal's handler, entered by the kernel */
    FM_SLOTS_RECURSIVE = 1u << 2, /* its function's context is entered by more than one node */
    FM_SLOTS_UNDER = 1u << 4,     /* it or one above it is FM_SLOTS_RECURSIVE, and that was seen */
    FM_SLOTS_STALE = 1u << 3,     /* the parent process's: its csd is a copy that nobody reads */
    FM_SLOTS_STAND_IN =
        1u << 5,            /* the node of all calls that begin while the recording is stopped */
    FM_SLOTS_ANY = 1u << 6, /* a stand-in, while the recording is stopped: hooks take it for
                               whatever function they are of */
};
static_assert(FM_SLOTS_STAND_IN == FM_SLOTS_IS_STAND_IN, "slots.S");
static_assert(FM_SLOTS_ANY == FM_SLOTS_ANY_FUNCTION, "assembler/slots/slots.c");
static_assert(offsetof(struct fm_slots_about, sites_leaf) == FM_SLOTS_SITES, "slots.S");
static_assert(FM_SLOTS_OPEN == FM_SLOTS_IS_OPEN, "slots.S");
static_assert((FM_SLOTS_SIGNAL | FM_SLOTS_STALE) == FM_SLOTS_NOT_BY_TABLE, "slots.S");

/* Begins like a frame of a shadow stack (fm_rec_frame): who asks for the innermost frame's csd can
 * have a node's. */
struct fm_slots_node {
    uint32_t number; /* the function's; 0: entries take the slow path */
    uint32_t site;   /* offset of the slot of the call that is under way */
    struct fm_rec_csd *csd;
    uint32_t next;                         /* the next callee of the same site */
    uint32_t mark;                         /* proves that this is a node */
    uint32_t special;                      /* enum fm_slots_special */
    uint32_t parent;                       /* node in which it was made; 0: a thread's root */
    const struct fm_slots_about *function; /* NULL: a thread's root */
    uint32_t maker; /* node that made the context to which this leads by a recursion; 0: itself */
    uint32_t slot;  /* its index in the parent */
    uint32_t slots[];
};
static_assert(offsetof(struct fm_slots_node, site) == FM_SLOTS_SITE, "assembler/slots/slots.c");
static_assert(offsetof(struct fm_slots_node, csd) == FM_SLOTS_CSD, "assembler/slots/slots.c");
static_assert(offsetof(struct fm_slots_node, next) == FM_SLOTS_NEXT, "assembler/slots/slots.c");
static_assert(offsetof(struct fm_slots_node, special) == FM_SLOTS_SPECIAL,
              "assembler/slots/slots.c");
static_assert(offsetof(struct fm_slots_node, parent) == FM_SLOTS_PARENT, "slots.S");
static_assert(offsetof(struct fm_slots_node, function) == FM_SLOTS_FUNCTION, "slots.S");
static_assert(offsetof(struct fm_slots_node, maker) == FM_SLOTS_MAKER, "slots.S");
static_assert(offsetof(struct fm_slots_node, slot) == FM_SLOTS_INDEX, "slots.S");
static_assert(offsetof(struct fm_slots_about, to_returns) == FM_SLOTS_RETURNS, "slots.S");
static_assert(offsetof(struct fm_slots_node, slots) == FM_SLOTS_HEADER, "assembler/slots/slots.c");
#endif

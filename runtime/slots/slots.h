/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts of --hooks=slots (README.md here). */
#pragma once

#include "../internal.h"
#include "node.h"

#define FM_SLOTS_NOWHERE \
    0xFA7B0B5EED5A17E1ull /* slot_cur before hooked code has left; no address */

/* Record of an entry by code without hooks, or of a signal's handler, while its call is open. */
struct fm_slots_entry {
    uint64_t key;     /* its frame: the address of its return address, or the canary's place */
    uint64_t current; /* slot_cur to be put back */
    unsigned signal;  /* index for fm_waiting_take_up() + 1; 0: no handler's */
};

static_assert(sizeof(struct fm_slots_entry) == FM_SLOTS_ENTRY_BYTES, "slots.S");
static_assert(offsetof(struct fm_slots_entry, key) == FM_SLOTS_ENTRY_KEY, "slots.S");
static_assert(offsetof(struct fm_slots_entry, current) == FM_SLOTS_ENTRY_CURRENT, "slots.S");
static_assert(offsetof(struct fm_slots_entry, signal) == FM_SLOTS_ENTRY_SIGNAL, "slots.S");

struct fm_unwind_registers;
struct fm_slots_stack;
struct fm_slots_thread {
    struct fm_slots_entry *entries; /* smaller ones from before stay: a handler may have come
                                       between finding its place and writing there */
    uint32_t entry_count, entry_room;
    char *at, *end; /* the rest of its chunk */
    uint32_t chunk_bytes;
    struct fm_slots_node *root, *lost;
    uint32_t lost_slots;
    /* While the recording is stopped: all slots of both refer to the first. The second is for
     * entries by code without hooks. NULL: it was never stopped. */
    struct fm_slots_node *stand_in, *stand_in_open;
    struct fm_slots_stack *stack; /* a tick's; NULL: none yet */
    uint32_t edges;               /* made */
    unsigned handlers;            /* entries of handlers */
};
static_assert(offsetof(struct fm_slots_thread, entries) == FM_SLOTS_ENTRIES, "slots.S");
static_assert(offsetof(struct fm_slots_thread, entry_count) == FM_SLOTS_ENTRY_COUNT, "slots.S");
static_assert(offsetof(struct fm_slots_thread, entry_room) == FM_SLOTS_ENTRY_ROOM, "slots.S");

/* memory.c */
/* Not hidden here, so that its address comes out of the global offset table: in a program that is
 * position-independent and has none, gold makes the program's own address of a hidden one. */
extern const char fm_slots_present_v1[] __attribute__((weak, visibility("default")));
static inline bool fm_slots_are_used(void)
{
    return fm_slots_present_v1 != NULL;
}
extern const char __executable_start[] __attribute__((weak)) FM_HIDDEN;
extern const char etext[] __attribute__((weak)) FM_HIDDEN;
/* No function, as those that leave vectors alone could not have it inlined. */
#define FM_SLOTS_IN_EXECUTABLE(address) \
    ((uint64_t)__executable_start <= (address) && (address) < (uint64_t)etext)
/* Whether it is the address of a node; for any number. */
bool fm_slots_is_node(uint64_t address);
/* Asks it of slot_current, which is a node, or FM_SLOTS_NOWHERE, or 0. */
static inline bool fm_slots_is_current(uint64_t current)
{
    return current - FM_SLOTS_LOW < FM_SLOTS_HIGH - FM_SLOTS_LOW;
}
static inline struct fm_slots_node *fm_slots_at(uint32_t address)
{
    return (struct fm_slots_node *)(uintptr_t)address;
}
static inline uint32_t fm_slots_ref(const struct fm_slots_node *node)
{
    return (uint32_t)(uintptr_t)node;
}
/* The end of all lists of callees. */
struct fm_slots_node *fm_slots_nobody(void);
/* A node all of whose slots are nobody; NULL: no memory below 4 GiB. `of`: the thread, or NULL. */
struct fm_slots_node *fm_slots_node_make(struct fm_slots_thread *of, uint32_t slots);
/* For calls that are not recorded: room for that many slots. Ends the process where there is no
 * memory at all below 4 GiB. */
struct fm_slots_node *fm_slots_nowhere(uint32_t slots);
/* The node that is recorded in the place of a stand-in. */
static inline struct fm_slots_node *fm_slots_recorded(struct fm_slots_node *node)
{
    while ((node->special & FM_SLOTS_STAND_IN) != 0)
        node = fm_slots_at(node->parent);
    return node;
}
/* The csd of nodes whose counts nobody reads. */
extern struct fm_rec_csd_exits fm_slots_uncounted FM_HIDDEN;

/* edges.c. With the thread's lock, and signals blocked. */
struct fm_slots_call {
    const struct fm_slots_about *function; /* entered */
    uint64_t site;                         /* return address */
    uint64_t sp, bp;                       /* the caller's, at the callee's entry */
    bool signal;
};
/* Makes the edge from a node, by the slot with that index; the thread's lost node where there is no
 * room. */
struct fm_slots_node *fm_slots_edge(struct fm_thread *thread, struct fm_slots_node *from,
                                    uint32_t slot, const struct fm_slots_call *call);
/* Edges of the calls that are open where a signal has interrupted the thread in that node,
 * innermost first; 0: no recursion is among them. */
uint32_t fm_slots_open(struct fm_thread *thread, struct fm_slots_node *node,
                       const struct fm_unwind_registers *at, const struct fm_rec_csd **ret,
                       uint32_t room);
/* The number of the node's function; 0: entries take the slow path. */
uint32_t fm_slots_number(const struct fm_slots_node *node);
/* A node of the parent process gets an edge in this one's file. False: no room. */
bool fm_slots_revive(struct fm_thread *thread, struct fm_slots_node *node);
/* The return address of the slot's call. */
static inline uint64_t fm_slots_return(const struct fm_slots_about *about, uint32_t slot)
{
    return (uint64_t)&about->to_returns[slot] + (uint64_t)(int64_t)about->to_returns[slot];
}
const struct fm_slots_entry *fm_slots_entry_of(const struct fm_slots_thread *thread, uint64_t key);

/* find.c, of nodes that exist. `kind` is that of the entry. */
#define FM_SLOTS_LEAF 1u
#define FM_SLOTS_HANDLERS_RETURN_MAX 4u
/* Return addresses of handlers that were met. */
extern uint64_t fm_slots_handlers_return[FM_SLOTS_HANDLERS_RETURN_MAX] FM_HIDDEN;
/* Nodes of callees of slots that have many; 0: none. Proved when they are used. */
extern uint32_t fm_slots_table[1u << FM_SLOTS_TABLE_BITS] FM_HIDDEN;
void fm_slots_table_put(const struct fm_slots_node *owner, uint32_t slot,
                        const struct fm_slots_node *callee);
/* The slot by which a function is called that returns to `site`. */
uint32_t fm_slots_index(const struct fm_slots_node *node, uint64_t site);
struct fm_slots_node *fm_slots_callee(struct fm_slots_node *node, uint32_t slot,
                                      const struct fm_slots_about *function, bool signal);
struct fm_slots_node *fm_slots_caller(const struct fm_tls *tls, uint64_t r15, bool *ret_foreign);
/* The recording is stopped: the stand-in of a call. leaf: it calls nothing; open: code without
 * hooks, or the kernel, has called. */
struct fm_slots_node *fm_slots_stand_in(struct fm_slots_thread *own, struct fm_slots_node *caller,
                                        const struct fm_slots_about *function, bool leaf,
                                        bool open);
/* False: there is no room. */
bool fm_slots_entry_push(struct fm_thread *thread, struct fm_slots_node *callee, uint64_t key,
                         unsigned signal);
/* Called by slots.S, as are the next three. key: the frame's; site: return address. */
uint64_t fm_slots_find(const struct fm_slots_about *function, uint64_t key, uint64_t site,
                       uint64_t r15, unsigned kind);
uint64_t fm_slots_exit_find(uint64_t key, uint64_t r15);

/* slots.c */
uint64_t fm_slots_make(const struct fm_slots_about *function, uint64_t key, uint64_t site,
                       uint64_t r15, unsigned kind, uint64_t sp, uint64_t bp);
void fm_slots_exit_handler(uint64_t index);
/* A jump to a frame whose stack pointer is sp has left what is below it. */
void fm_slots_left(struct fm_thread *thread, uint64_t sp);

/* The bound of a thread whose hooks run on a stack with that lowest address: hooks of the other
 * kind take their slow path where slots are used (hooks.c). */
static inline uint64_t fm_thread_bound(const struct fm_thread *thread, uint64_t low)
{
    if (fm_process.stopped)
        return FM_BOUND_NONE;
    return thread->slots != NULL ? FM_BOUND_NOT_READY : FM_BOUND(low);
}

/* stopped.c */
/* Stops or starts the thread's calls. With its lock. */
void fm_slots_stop(struct fm_thread *thread, bool stopped);
/* All nodes of a thread, but for its root. */
void fm_slots_each(const struct fm_slots_node *root,
                   void (*visit)(struct fm_slots_node *node, void *data), void *data);
/* A stand-in has called a function whose node is now known: its next such call finds it. */
void fm_slots_stand_in_called(struct fm_slots_node *stand_in, uint64_t site,
                              const struct fm_slots_node *callee);

/* charged.c */
/* The node to charge; of the code that runs, or that a signal has interrupted. */
const struct fm_rec_frame *fm_slots_charged(struct fm_thread *thread);
const struct fm_rec_frame *fm_slots_interrupted(struct fm_thread *thread,
                                                const mcontext_t *registers);
/* Address within the call that the node's function is making; 0: none. */
uint64_t fm_slots_call_under_way(const struct fm_slots_node *node);
/* A hook of another kind has run: says once that its functions are not recorded. */
void fm_slots_other_hooks(uint64_t hook_pc);
/* At a tick: charges the functions on the stack once each (ticks/totals.c), if the innermost frame
 * is the node `top`. */
void fm_slots_totals(struct fm_thread *thread, const struct fm_rec_frame *top,
                     const struct fm_unwind_registers *at, const struct fm_rec_csd *charged,
                     uint64_t quanta);
void fm_slots_after_fork(struct fm_thread *thread);

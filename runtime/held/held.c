/* SPDX-License-Identifier: Apache-2.0 */
/* Live memory, and memory at the peak, by context. When a peak ends, no search is done: each record
 * saves its value at the peak when it first changes afterwards (recording_format.h: fm_rec_held;
 * docs/decisions.md explains why that is exact). */
#include "held/curve.h"
#include "held/held.h"

#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define FLOW_SHIFT_FIRST 56u
#define FLOW_SHIFT_NONE 63u
/* maximum number of flows of a record that are added up when it is saved */
#define OUT_FLOWS_MAX 16u
#define KEY_APART 1u /* flag in a flow's key: the flow is not in the list of its source record */

/* Never filled. */
static struct fm_flow_slot no_flows[2] __attribute__((aligned(FM_FLOW_SHIFT + 1)));

/* Address space of which only used parts take memory. */
static void *map_reserve(size_t bytes)
{
    void *memory = fm_memory_map(NULL, bytes, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == NULL)
        return fm_private_alloc(bytes); /* from a reserve, if there is one */
    fm_memory_advise(memory, bytes, MADV_DONTDUMP);
    /* each thread's heap would take large pages */
    fm_memory_advise(memory, bytes, MADV_NOHUGEPAGE);
    return memory;
}

static bool record_make(void)
{
    struct fm_rec_held *rec = fm_arena_alloc_shared(sizeof *rec);
    if (rec == NULL)
        return false;
    fm_held_peak_begin(rec);
    fm_held.rec = rec;
    __atomic_store_n(&fm_process.header->held, fm_ref(rec), __ATOMIC_RELEASE);
    fm_held_curve_make();
    fm_process.header->grade_flags |= FM_REC_HELD | (fm_held.births != NULL ? FM_REC_LIFETIMES : 0);
    return true;
}

void fm_held_start(void)
{
    fm_lock_take(&fm_process.threads_lock);
    if (fm_held.map == NULL && !fm_held.refused) {
        const char *wish = fm_getenv("FATHOM_HEAP");
        bool wanted = wish == NULL || strcmp(wish, "off") != 0;
        uint32_t **map = wanted ? map_reserve(FM_REGIONS * sizeof *map) : NULL;
        fm_held.many = fm_process.thread_count > 1;
        const char *times = fm_getenv("FATHOM_LIFETIMES");
        if (map != NULL && times != NULL && strcmp(times, "on") == 0)
            fm_held.births = map_reserve(FM_REGIONS * sizeof *fm_held.births);
        if (map != NULL && record_make()) {
            /* Blocks may have been counted before, by the wider bounds of that: in a constructor
             * that runs before this library's. */
            fm_held_bounds_forget();
            __atomic_store_n(&fm_held.map, map, __ATOMIC_RELEASE);
        }
        fm_held.refused = fm_held.map == NULL;
    }
    fm_lock_give(&fm_process.threads_lock);
}

void fm_held_after_fork(void)
{
    struct fm_held *held = &fm_held;
    held->many = false;
    held->rec = NULL;
    fm_held_curve_forget();
    if (held->map == NULL) {
        held->refused = false;
        return;
    }
    memmove(&held->inherited[1], &held->inherited[0],
            sizeof held->inherited - sizeof held->inherited[0]);
    held->inherited[0] = held->map; /* older blocks are no longer tracked */
    held->map = map_reserve(FM_REGIONS * sizeof *held->map);
    if (held->births != NULL)
        held->births = map_reserve(FM_REGIONS * sizeof *held->births);
    if (held->map == NULL || !record_make()) {
        held->map = NULL;
        held->refused = true;
    }
}

/* In a child without a file: the map leads to records of the parent's file. */
void fm_held_forget(void)
{
    fm_held.map = NULL;
    fm_held.rec = NULL;
    fm_held_curve_forget();
    fm_held.births = NULL;
    memset(fm_held.inherited, 0, sizeof fm_held.inherited);
    fm_held.refused = true;
}

/* A region of a map, made if need be. NULL: no memory for it. */
static void *region_make(void **region, size_t bytes)
{
    void *cells = __atomic_load_n(region, __ATOMIC_ACQUIRE);
    if (cells != NULL)
        return cells;
    void *fresh = map_reserve(bytes);
    if (fresh == NULL || __atomic_compare_exchange_n(region, &cells, fresh, false, __ATOMIC_ACQ_REL,
                                                     __ATOMIC_ACQUIRE))
        return fresh;
    fm_private_free(fresh, bytes); /* another thread was faster */
    return cells;
}

/* As above, for the cell of a block; the next one's, if needed. */
static uint32_t *cell_make(const void *block)
{
    uint32_t *cells = region_make((void **)&fm_held.map[fm_held_region_of(block)],
                                  FM_REGION_CELLS * sizeof *cells);
    return cells != NULL ? cells + fm_held_cell_of(block) : NULL;
}

static const char *next_cell(const void *block)
{
    return (const char *)block + (1u << FM_CELL_SHIFT);
}

/* False: no memory to note it. */
static bool birth_note(const void *block)
{
    uint64_t *births = region_make((void **)&fm_held.births[fm_held_region_of(block)],
                                   FM_REGION_CELLS * sizeof *births);
    if (births != NULL)
        births[fm_held_cell_of(block)] = fm_now_ns(CLOCK_MONOTONIC);
    return births != NULL;
}

static bool take_from(uint32_t **map, const void *block, struct fm_held_block *ret)
{
    uint32_t *cell = map != NULL ? fm_held_cell_in(map, block) : NULL;
    if (cell == NULL || *cell == 0)
        return false;
    *ret = (struct fm_held_block){.cell = cell, .value = *cell};
    *cell = 0;
    if ((ret->value & FM_CELL_SLACK) == FM_CELL_SLACK) {
        ret->next = fm_held_cell_in(map, next_cell(block));
        ret->further = *ret->next;
        *ret->next = 0;
    }
    return true;
}

struct fm_held_block fm_held_take(const void *block)
{
    struct fm_held_block found = {0};
    if (take_from(fm_held.map, block, &found)) {
        uint64_t *births = fm_held.births != NULL ? fm_held.births[fm_held_region_of(block)] : NULL;
        found.born_ns = births != NULL ? births[fm_held_cell_of(block)] : 0;
        return found;
    }
    for (unsigned i = 0; i < FM_HELD_INHERITED_MAX && fm_held.inherited[i] != NULL; i++)
        if (take_from(fm_held.inherited[i], block, &found)) {
            found.inherited = true;
            break;
        }
    return found;
}

static uint64_t load(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static void add(uint64_t *word, uint64_t value)
{
    __atomic_fetch_add(word, value, __ATOMIC_RELAXED);
}

/* Cells refer to records below 4 GiB; blocks of other records are not tracked. */
static bool fits(const struct fm_rec_alloc *record)
{
    return (uint64_t)((const char *)record - fm_process.base) <= UINT32_MAX;
}

/* Before a record changes: saves its value at the latest peak. */
static void save(struct fm_rec_alloc *record)
{
    uint32_t epoch = __atomic_load_n(&fm_held.epoch, __ATOMIC_ACQUIRE);
    if (record->stamp == epoch || !fits(record))
        return;
    uint64_t blocks = record->own_frees + load(&record->far_frees);
    uint64_t bytes = record->own_freed + load(&record->far_freed);
    for (uint32_t ref = __atomic_load_n(&record->first_out, __ATOMIC_ACQUIRE); ref != 0;) {
        const struct fm_rec_flow *flow = fm_at(ref);
        blocks += load(&flow->blocks);
        bytes += load(&flow->bytes);
        ref = flow->next_out;
    }
    record->at_peak_blocks = record->allocs - blocks;
    record->at_peak_bytes = record->bytes - bytes;
    __atomic_store_n(&record->stamp, epoch, __ATOMIC_RELEASE);
}

/* Stores a block whose size and record fit into a cell. */
static bool cell_fill(const struct fm_rec_alloc *record, const void *block, size_t slack)
{
    uint32_t *cell = cell_make(block);
    if (cell == NULL || (fm_held.births != NULL && !birth_note(block)))
        return false;
    if (slack >= FM_CELL_SLACK) {
        uint32_t *next = cell_make(next_cell(block));
        if (next == NULL)
            return false;
        *next = (uint32_t)slack;
        slack = FM_CELL_SLACK;
    }
    *cell = fm_cell_of(record, slack);
    return true;
}

void fm_held_alloc(struct fm_thread *thread, struct fm_rec_alloc *record, const void *block,
                   size_t bytes, size_t usable)
{
    enum fm_held_large large = fm_held_large_begin(bytes);
    save(record);
    record->allocs++;
    record->bytes += bytes;
    record->usable_bytes += usable;
    if (usable < bytes || usable - bytes > UINT32_MAX || !fits(record) ||
        !cell_fill(record, block, usable - bytes)) { /* its free will not be recognised */
        record->own_frees++;
        record->own_freed += bytes;
        add(&fm_held.rec->untold_blocks, 1);
        add(&fm_held.rec->untold_bytes, bytes);
    } else if ((thread->held.delta += (int64_t)bytes) > thread->held.high) {
        fm_held_flush(thread);
    }
    fm_held_large_end(large, bytes);
}

void fm_held_put_back(const struct fm_held_block *block)
{
    if ((block->value & FM_CELL_SLACK) == FM_CELL_SLACK)
        *block->next = block->further;
    if (block->value != 0)
        *block->cell = block->value;
}

static bool is_empty(uint64_t word)
{
    return fm_flow_slots(word) == no_flows;
}

/* Slot of a key, or the free one for it. */
static struct fm_flow_slot *flow_slot(uint64_t word, uint64_t key)
{
    struct fm_flow_slot *slots = fm_flow_slots(word), *slot = fm_flow_home(word, key);
    uint64_t mask = (1ull << (64 - (word & FM_FLOW_SHIFT))) - 1;
    while (slot->key != key && slot->key != 0)
        slot = &slots[(uint64_t)(slot - slots + 1) & mask];
    return slot;
}

/* Doubles the index. Old ones stay, since a signal may have interrupted a lookup; they are chained
 * by the slot after the last. */
static bool flows_grow(struct fm_thread *thread)
{
    uint64_t word = thread->held.flows;
    struct fm_flow_slot *before = is_empty(word) ? NULL : fm_flow_slots(word);
    uint64_t shift = before == NULL ? FLOW_SHIFT_FIRST : (word & FM_FLOW_SHIFT) - 1;
    uint64_t count = 1ull << (64 - shift), old = before == NULL ? 0 : count / 2;
    struct fm_flow_slot *fresh = fm_private_alloc((count + 1) * sizeof *fresh);
    if (fresh == NULL)
        return false;
    fresh[count] = (struct fm_flow_slot){.key = word};
    uint64_t grown = (uint64_t)fresh | shift;
    for (uint64_t i = 0; i < old; i++)
        if (before[i].key != 0)
            *flow_slot(grown, before[i].key) = before[i];
    __atomic_store_n(&thread->held.flows, grown, __ATOMIC_RELEASE);
    return true;
}

void fm_held_thread_done(struct fm_thread *thread)
{
    uint64_t word = thread->held.flows;
    while (word != 0 && !is_empty(word)) {
        struct fm_flow_slot *slots = fm_flow_slots(word);
        uint64_t count = 1ull << (64 - (word & FM_FLOW_SHIFT));
        word = slots[count].key;
        fm_private_free(slots, (count + 1) * sizeof *slots);
    }
}

/* Its counts are written by one store, which would be expensive across two cache lines. */
#define FLOW_BYTES (sizeof(struct fm_rec_flow) + FM_REC_UNIT)
static struct fm_rec_flow *flow_place(char *place)
{
    const uint64_t counts = offsetof(struct fm_rec_flow, blocks), bytes = 2 * sizeof(uint64_t);
    bool parted =
        place != NULL && ((uint64_t)place + counts) % FM_CACHE_LINE > FM_CACHE_LINE - bytes;
    return (struct fm_rec_flow *)(void *)(parted ? place + FM_REC_UNIT : place);
}

/* Adds it to the list of the record that it comes from; false: the list is too long. */
static bool out_link(struct fm_rec_flow *flow)
{
    struct fm_rec_alloc *from = fm_at(flow->from);
    uint32_t first = __atomic_load_n(&from->first_out, __ATOMIC_ACQUIRE);
    unsigned count = 0;
    for (uint32_t ref = first; ref != 0 && count < OUT_FLOWS_MAX; count++)
        ref = ((const struct fm_rec_flow *)fm_at(ref))->next_out;
    if (count == OUT_FLOWS_MAX)
        return false;
    do
        flow->next_out = first;
    while (!__atomic_compare_exchange_n(&from->first_out, &first, fm_ref(flow), true,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    return true;
}

__attribute__((noinline, cold)) static struct fm_flow_slot *
flow_make(struct fm_thread *thread, struct fm_rec_alloc *to, uint64_t key, uint32_t from)
{
    struct fm_thread_held *t = &thread->held;
    struct fm_rec_flow *flow = NULL;
    struct fm_flow_slot *slot = NULL;
    uint64_t mask = fm_block_signals();
    bool room = !is_empty(t->flows) &&
                (t->flows_used + 1) * 2ull <= 1ull << (64 - (t->flows & FM_FLOW_SHIFT));
    if ((room || flows_grow(thread)) && !fm_arena_refuses(&thread->bump, FLOW_BYTES))
        flow = flow_place(fm_arena_alloc(&thread->bump, FLOW_BYTES));
    if (flow != NULL) {
        flow->from = from;
        flow->next = to->first_flow;
        key |= out_link(flow) ? 0 : KEY_APART;
        __atomic_store_n(&to->first_flow, fm_ref(flow), __ATOMIC_RELEASE);
        slot = flow_slot(t->flows, key);
        slot->flow = fm_ref(flow);
        slot->epoch = 0;
        __atomic_store_n(&slot->key, key, __ATOMIC_RELEASE);
        t->flows_used++;
    }
    fm_restore_signals(mask);
    return slot;
}

/* NULL: there is no room for it. */
static struct fm_flow_slot *flow_find(struct fm_thread *thread, struct fm_rec_alloc *to,
                                      const struct fm_held_block *block)
{
    uint64_t key = fm_flow_key(block->value, to);
    struct fm_flow_slot *slot = flow_slot(thread->held.flows, key);
    if (slot->key == key)
        return slot;
    slot = flow_slot(thread->held.flows, key | KEY_APART);
    if (slot->key == (key | KEY_APART))
        return slot;
    return flow_make(thread, to, key, fm_ref(fm_cell_record(block->value)));
}

/* Counts a freed block that is in no flow of its record's list. */
static void count_apart(const struct fm_thread *thread, struct fm_rec_alloc *from, uint64_t bytes)
{
    if (thread != NULL && from->thread == thread->held.self) {
        from->own_frees++;
        from->own_freed += bytes;
    } else {
        add(&from->far_frees, 1);
        add(&from->far_freed, bytes);
    }
}

static void free_foreign(uint64_t *frees, uint64_t *freed, uint64_t bytes)
{
    add(frees, 1);
    add(freed, bytes);
}

/* By the callee of `to`, in its flow from there. */
static void free_known(struct fm_thread *thread, struct fm_rec_alloc *to,
                       const struct fm_held_block *block, uint64_t bytes, uint64_t held_ns)
{
    struct fm_rec_alloc *from = fm_cell_record(block->value);
    struct fm_flow_slot *slot = flow_find(thread, to, block);
    if (slot == NULL || (slot->key & KEY_APART) != 0)
        count_apart(thread, from, bytes);
    if (slot == NULL) {
        to->frees++;
        to->freed_bytes += bytes;
        add(&fm_held.rec->dropped_flows, 1);
        return;
    }
    struct fm_rec_flow *flow = fm_at(slot->flow);
    flow->blocks++;
    flow->bytes += bytes;
    flow->held_ns += held_ns;
    if (held_ns > flow->longest_ns)
        flow->longest_ns = held_ns;
    slot->epoch = from->stamp;
}

void fm_held_free(struct fm_thread *thread, struct fm_rec_alloc *record,
                  const struct fm_held_block *block, size_t usable)
{
    size_t slack = block->value & FM_CELL_SLACK;
    slack = slack == FM_CELL_SLACK ? block->further : slack;
    uint64_t bytes = usable > slack ? usable - slack : 0;
    struct fm_rec_held *rec = fm_held.rec;
    bool by_callee = record != NULL && thread != NULL && fm_process.unwinds == NULL;
    if (block->value == 0 || block->inherited) {
        if (record == NULL && fm_process.unwinds == NULL)
            return;
        if (by_callee)
            record->frees++;
        if (block->value == 0)
            free_foreign(&rec->unknown_frees, &rec->unknown_freed, usable);
        else
            free_foreign(&rec->inherited_frees, &rec->inherited_freed, bytes);
        return;
    }
    struct fm_rec_alloc *from = fm_cell_record(block->value);
    if (bytes >= FM_HELD_LARGE_BYTES)
        fm_held_peak_leave(); /* the block is a part of it, and not under way then */
    enum fm_held_large large = fm_held_large_begin(bytes);
    bool counted = thread != NULL; /* a thread that has ended updates the header at once */
    if (counted && thread->held.delta - (int64_t)bytes < thread->held.low)
        fm_held_falls(thread, (int64_t)bytes);
    else if (!counted)
        fm_held_tell(-(int64_t)bytes);
    save(from);
    uint64_t held_ns = block->born_ns != 0 ? fm_lifetime_count(thread, from, block->born_ns) : 0;
    if (counted)
        thread->held.delta -= (int64_t)bytes;
    if (by_callee) {
        free_known(thread, record, block, bytes, held_ns);
    } else {
        count_apart(thread, from, bytes);
    }
    fm_held_large_end(large, bytes);
    if (!by_callee && fm_process.unwinds == NULL) {
        add(&rec->unseen_frees, 1);
        add(&rec->unseen_freed, bytes);
    }
}

void fm_held_thread(struct fm_thread *thread)
{
    thread->held = (struct fm_thread_held){.flows = (uint64_t)no_flows | FLOW_SHIFT_NONE,
                                           .self = fm_ref(thread->rec),
                                           .low = INT64_MAX,
                                           .high = INT64_MIN};
}

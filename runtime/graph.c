/* SPDX-License-Identifier: Apache-2.0 */
/* The growing call graph: making and finding edges. Callers hold the thread's lock and have
 * blocked signals, except for fm_edge_find. */
#include "internal.h"

#include <string.h>

static void *node_alloc(struct fm_thread *thread, size_t bytes)
{
    return fm_arena_alloc(&thread->bump, bytes);
}

/* A csd of a signal handler is hidden in the index under an identity that the fast path never looks
 * up: each entry of a handler must take the slow path. */
#define HIDDEN 0xA5A5A5A5A5A5A5A5ull

/* Walks up to the root. */
uint64_t fm_pd_key(const struct fm_thread *thread, const struct fm_rec_pd *pd)
{
    uint64_t key = 0, factor = 1;
    const struct fm_rec_csd *maker = fm_at(pd->maker);
    for (; maker->caller != 0; maker = fm_at(((struct fm_rec_pd *)fm_at(maker->caller))->maker)) {
        key += factor * (maker->hook_pc * FM_HOOK_FACTOR + maker->site * 8);
        factor *= FM_KEY_FACTOR;
    }
    return key + factor * thread->root_key;
}

uint64_t fm_callee_key(const struct fm_thread *thread, const struct fm_rec_csd *csd,
                       uint64_t caller_key)
{
    if ((csd->epoch_flags & FM_REC_CSD_MADE_CALLEE) != 0 && csd != thread->lost)
        return fm_identity(csd->hook_pc, csd->site, caller_key);
    return fm_pd_key(thread, fm_at(csd->callee));
}

struct fm_rec_csd *fm_edge_find(struct fm_thread *thread, uint64_t caller_key, uint64_t hook_pc,
                                uint64_t site, bool hidden)
{
    uint64_t identity = fm_identity(hook_pc, site, caller_key);
    identity ^= hidden ? HIDDEN : 0;
    const struct fm_entry *entry = fm_entry_find(thread->tls, identity);
    if (entry == NULL && fm_process.traced && !hidden)
        entry = fm_entry_find(thread->tls, identity ^ FM_TRACED_HIDDEN);
    return entry != NULL ? entry->csd : NULL;
}

static void entry_fill(struct fm_tls *tls, struct fm_rec_csd *csd, uint64_t identity, uint64_t key)
{
    struct fm_entry *entry = fm_entry_at(tls, identity);
    if (entry->identity != 0)
        entry = fm_entry_at(tls, identity ^ 32);
    for (uint64_t step = 64; entry->identity != 0; step += 64) {
        entry = fm_entry_at(tls, (identity & ~32ull) + step);
        if (entry->identity != 0)
            entry = fm_entry_at(tls, (identity | 32) + step);
    }
    entry->csd = csd;
    entry->callee_key = key;
    __atomic_store_n(&entry->identity, identity, __ATOMIC_RELEASE);
}

/* Moves the edges with the most calls first, to the places that the fast path checks first. Three
 * classes suffice: edges with a thousandth of the calls may be anywhere. */
static void entries_move(struct fm_tls *to, const struct fm_tls *from)
{
    uint64_t most = 0;
    for (uint64_t offset = 0; offset <= from->mask; offset += 32) {
        struct fm_entry *entry = fm_entry_at(from, offset);
        if (entry->identity <= 1)
            continue;
        entry->calls_seen = entry->csd->calls; /* it is elsewhere in memory, so it is read once */
        if (entry->calls_seen > most)
            most = entry->calls_seen;
    }
    const uint64_t least[] = {most >> 5, most >> 10, 0};
    for (unsigned rank = 0; rank < 3; rank++)
        for (uint64_t offset = 0; offset <= from->mask; offset += 32) {
            const struct fm_entry *entry = fm_entry_at(from, offset);
            uint64_t calls = entry->calls_seen;
            if (entry->identity > 1 && calls >= least[rank] &&
                (rank == 0 || calls < least[rank - 1]))
                entry_fill(to, entry->csd, entry->identity, entry->callee_key);
        }
}

bool fm_table_make(struct fm_thread *thread, uint32_t entries)
{
    size_t bytes = entries * sizeof(struct fm_entry);
    struct fm_entry *table =
        thread->tls->table == NULL ? fm_private_alloc(bytes) : fm_private_alloc_ahead(bytes);
    if (table == NULL)
        return false;
    struct fm_tls fresh = {.table = table, .mask = (entries - 1) * 32ull};
    if (thread->tls->table != NULL)
        entries_move(&fresh, thread->tls);
    /* The old table is not unmapped: a lookup that a signal interrupted may still read it. The
     * table before the mask: it is not smaller. */
    thread->tls->table = fresh.table;
    __asm__ volatile("" ::: "memory");
    thread->tls->mask = fresh.mask;
    thread->table = table;
    thread->table_bytes = bytes;
    return true;
}

/* Too many lookups of edges that are not at home: a new table with the edges in the order of their
 * calls. Each time eight times as many are allowed, as all old tables stay. */
void fm_table_arrange(struct fm_thread *thread)
{
    thread->far_allowed *= 8;
    thread->tls->far_left = thread->far_allowed;
    fm_table_make(thread, (uint32_t)(thread->tls->mask / 32 + 1));
}

static bool index_add(struct fm_thread *thread, struct fm_rec_csd *csd, uint64_t identity,
                      uint64_t callee_key)
{
    uint64_t entries = thread->tls->mask / 32 + 1;
    if (thread->entries_used + 1u > entries / 2 && !fm_table_make(thread, (uint32_t)entries * 2) &&
        thread->entries_used + 2u > entries)
        return false;
    thread->entries_used++;
    entry_fill(thread->tls, csd, identity, callee_key);
    return true;
}

static bool table_add(struct fm_thread *thread, struct fm_rec_csd *csd, uint64_t caller_key)
{
    bool hidden = (csd->epoch_flags & FM_REC_CSD_SIGNAL) != 0;
    uint64_t identity = fm_identity(csd->hook_pc, csd->site, caller_key);
    bool traced = !hidden && (csd->epoch_flags & FM_REC_CSD_TRACED) != 0;
    return index_add(thread, csd,
                     identity ^ (hidden ? HIDDEN : 0) ^ (traced ? FM_TRACED_HIDDEN : 0),
                     fm_callee_key(thread, csd, caller_key));
}

/* The edge for calls for which there will be no room: its function is an address without code. */
static bool lost_make(struct fm_thread *thread)
{
    struct fm_rec_csd *csd = node_alloc(thread, sizeof *csd + FM_CSD_COUNTERS_BYTES);
    struct fm_rec_pd *pd = csd != NULL ? node_alloc(thread, sizeof *pd) : NULL;
    struct fm_rec_alloc *alloc =
        pd != NULL ? fm_arena_alloc_line(&thread->bump, sizeof *alloc) : NULL;
    if (alloc == NULL)
        return false;
    *fm_csd_counters(csd) = fm_uncounted_v1;
    csd->caller = thread->rec->root_pd;
    csd->callee = fm_ref(pd);
    csd->alloc = fm_ref(alloc);
    alloc->thread = fm_ref(thread->rec);
    csd->epoch_flags = FM_REC_CSD_MADE_CALLEE;
    pd->fn = FM_REC_FN_LOST;
    pd->maker = fm_ref(csd);
    thread->lost = csd;
    return true;
}

struct fm_rec_csd *fm_graph_lost(struct fm_thread *thread)
{
    struct fm_rec_csd *lost = thread->lost;
    struct fm_rec_pd *root = fm_at(thread->rec->root_pd);
    if (!thread->lost_linked) {
        thread->lost_linked = true;
        lost->next = root->first_csd;
        __atomic_store_n(&root->first_csd, fm_ref(lost), __ATOMIC_RELEASE);
    }
    return lost;
}

struct fm_rec_csd *fm_edge_lose(struct fm_thread *thread, uint64_t caller_key, uint64_t hook_pc,
                                uint64_t site, uint32_t flags)
{
    uint64_t identity = fm_identity(hook_pc, site, caller_key);
    identity ^= (flags & FM_REC_CSD_SIGNAL) != 0 ? HIDDEN : 0;
    struct fm_rec_csd *lost = fm_graph_lost(thread);
    index_add(thread, lost, identity, fm_callee_key(thread, lost, caller_key));
    __atomic_fetch_add(&fm_process.header->dropped_nodes, 1, __ATOMIC_RELAXED);
    return lost;
}

struct fm_rec_pd *fm_graph_root(struct fm_thread *thread)
{
    struct fm_rec_pd *pd = node_alloc(thread, sizeof *pd);
    struct fm_rec_csd *csd = pd != NULL ? node_alloc(thread, sizeof *csd) : NULL;
    if (csd == NULL)
        return NULL;
    csd->callee = fm_ref(pd);
    csd->epoch_flags = FM_REC_CSD_MADE_CALLEE;
    thread->lost = NULL;
    thread->lost_linked = false;
    pd->maker = fm_ref(csd);
    thread->rec->root_csd = fm_ref(csd);
    thread->rec->root_pd = fm_ref(pd);
    thread->root_key = fm_key_of_root(fm_ref(pd));
    return lost_make(thread) ? pd : NULL;
}

/* For a csd that counts by depth. */
static int64_t *to_depths(struct fm_rec_csd *csd)
{
    return (int64_t *)(void *)(csd + 1);
}

/* The counts by depth of a pd that is entered again; NULL = no room. */
static struct fm_rec_depths *depths_of(struct fm_thread *thread, const struct fm_rec_pd *pd)
{
    struct fm_rec_csd *maker = fm_at(pd->maker);
    for (uint32_t ref = maker->side; ref != 0;) {
        const struct fm_rec_side *side = fm_at(ref);
        if (side->kind == FM_REC_SIDE_DEPTHS)
            return fm_at((uint32_t)side->value);
        ref = side->next;
    }
    struct fm_rec_depths *depths = node_alloc(thread, sizeof *depths);
    if (depths == NULL)
        return NULL;
    fm_side_add(thread, maker, FM_REC_SIDE_DEPTHS, fm_ref(depths));
    const struct fm_rec_side *made = maker->side != 0 ? fm_at(maker->side) : NULL;
    return made != NULL && made->kind == FM_REC_SIDE_DEPTHS ? depths : NULL;
}

/* As fm_deeper_v1 of hooks.S does: down to the last frame that closed a recursion of the clique, or
 * entered it. */
uint64_t fm_depth_count(struct fm_rec_csd *csd, const struct fm_rec_frame *caller)
{
    struct fm_rec_depths *depths = (struct fm_rec_depths *)(void *)((char *)csd + *to_depths(csd));
    uint64_t depth = FM_DEPTH_UNKNOWN;
    for (const struct fm_rec_frame *frame = caller;; frame--) {
        const struct fm_rec_csd *by = (const struct fm_rec_csd *)frame->csd;
        if (frame->cfa == FM_CFA_GUARD || (frame->cfa & FM_CFA_UNCOUNTED) != 0)
            break;
        if ((by->epoch_flags & FM_REC_CSD_MADE_CALLEE) == 0) {
            depth = (by->epoch_flags & FM_REC_CSD_DEPTHS) != 0 ? frame->fn : FM_DEPTH_UNKNOWN;
            break;
        }
        if ((by->epoch_flags & FM_REC_CSD_WITHIN) == 0) {
            depth = 1;
            break;
        }
    }
    if (depth >= FM_DEPTH_UNKNOWN) {
        depths->unknown++;
        return FM_DEPTH_UNKNOWN;
    }
    depth += (csd->epoch_flags & FM_REC_CSD_ACROSS) == 0;
    if (depth > depths->greatest)
        depths->greatest = depth;
    depths->calls[63 - __builtin_clzll(depth)]++;
    return depth;
}

/* hook_pc, site and flags are taken from `like`. callee NULL: make one. */
struct fm_rec_csd *fm_csd_make(struct fm_thread *thread, struct fm_rec_csd *caller,
                               uint64_t caller_key, const struct fm_rec_csd *like, uint64_t fn,
                               struct fm_rec_pd *callee)
{
    uint32_t epoch = fm_modules_epoch();
    if (epoch > 0xffffff)
        epoch = 0xffffff;
    uint32_t flags = like->epoch_flags & 0xff & ~(uint32_t)FM_REC_CSD_MADE_CALLEE;
    bool closes = callee != NULL && (flags & FM_REC_CSD_DEPTHS) != 0;
    uint32_t blocks = like->hook_pc != fn ? fm_hook_blocks(like->hook_pc) : 0;
    size_t behind = closes ? sizeof(int64_t) : 0;
    struct fm_rec_csd *csd =
        node_alloc(thread, sizeof *csd + (blocks > 0 ? FM_CSD_COUNTERS_BYTES : behind));
    if (csd == NULL)
        return NULL;
    /* Once there is an edge that counts: else a file that is full would have counts of nothing. */
    struct fm_rec_depths *depths = closes ? depths_of(thread, callee) : NULL;
    if (depths != NULL)
        *to_depths(csd) = (char *)depths - (char *)csd;
    else
        flags &= ~(uint32_t)FM_REC_CSD_DEPTHS;
    if (callee == NULL) {
        callee = node_alloc(thread, sizeof *callee);
        if (callee == NULL)
            return NULL;
        callee->fn = fn;
        callee->epoch = epoch;
        callee->maker = fm_ref(csd);
        flags |= FM_REC_CSD_MADE_CALLEE;
    }
    if (blocks > 0)
        *fm_csd_counters(csd) = fm_pd_counters(thread, callee, like->hook_pc);
    csd->hook_pc = like->hook_pc;
    csd->site = like->site;
    csd->caller = caller->callee;
    csd->callee = fm_ref(callee);
    csd->epoch_flags = epoch << FM_REC_CSD_EPOCH_SHIFT | flags;
    if (!table_add(thread, csd, caller_key))
        return NULL;
    struct fm_rec_pd *from = fm_at(csd->caller);
    csd->next = from->first_csd;
    __atomic_store_n(&from->first_csd, fm_ref(csd), __ATOMIC_RELEASE);
    return csd;
}

void fm_side_add(struct fm_thread *thread, struct fm_rec_csd *csd, uint32_t kind, uint64_t add)
{
    for (uint32_t ref = csd->side; ref != 0;) {
        struct fm_rec_side *side = fm_at(ref);
        if (side->kind == kind) {
            side->value += add;
            return;
        }
        ref = side->next;
    }
    struct fm_rec_side *side = node_alloc(thread, sizeof *side);
    if (side == NULL)
        return;
    side->kind = kind;
    side->value = add;
    side->next = csd->side;
    __atomic_store_n(&csd->side, fm_ref(side), __ATOMIC_RELEASE);
}

#define SAMPLES_MAX 4096 /* maximum number of addresses examined for one tick */

static struct fm_rec_side *side_of(struct fm_thread *thread, struct fm_rec_csd *csd, uint32_t kind)
{
    for (uint32_t ref = csd->side; ref != 0;) {
        struct fm_rec_side *side = fm_at(ref);
        if (side->kind == kind)
            return side;
        ref = side->next;
    }
    fm_side_add(thread, csd, kind, 0);
    struct fm_rec_side *made = csd->side != 0 ? fm_at(csd->side) : NULL;
    return made != NULL && made->kind == kind ? made : NULL;
}

void fm_csd_add_sample(struct fm_thread *thread, struct fm_rec_csd *csd, uint64_t pc,
                       uint64_t quanta)
{
    struct fm_rec_side *side = NULL;
    uint32_t epoch = fm_modules_epoch();
    if (!fm_arena_refuses(&thread->bump, sizeof(struct fm_rec_sample)))
        side = side_of(thread, csd, FM_REC_SIDE_SAMPLES);
    if (side == NULL)
        return;
    uint32_t ref = (uint32_t)side->value;
    for (unsigned steps = 0; ref != 0 && steps < SAMPLES_MAX; steps++) {
        struct fm_rec_sample *sample = fm_at(ref);
        if (sample->pc == pc && sample->epoch == epoch) {
            sample->quanta += quanta;
            return;
        }
        ref = sample->next;
    }
    struct fm_rec_sample *sample = ref == 0 ? node_alloc(thread, sizeof *sample) : NULL;
    if (sample == NULL)
        return;
    *sample = (struct fm_rec_sample){pc, quanta, (uint32_t)side->value, epoch};
    __atomic_store_n(&side->value, fm_ref(sample), __ATOMIC_RELEASE);
}

void fm_csd_add_foreign(struct fm_thread *thread, struct fm_rec_csd *csd,
                        const struct fm_rec_foreign *like)
{
    struct fm_rec_side *side = NULL;
    uint32_t epoch = fm_modules_epoch() | like->epoch;
    if (!fm_arena_refuses(&thread->bump, sizeof(struct fm_rec_foreign)))
        side = side_of(thread, csd, FM_REC_SIDE_FOREIGN);
    if (side == NULL)
        return;
    uint32_t ref = (uint32_t)side->value;
    for (unsigned steps = 0; ref != 0 && steps < SAMPLES_MAX; steps++) {
        struct fm_rec_foreign *foreign = fm_at(ref);
        if (foreign->fn == like->fn && foreign->call == like->call && foreign->epoch == epoch) {
            foreign->quanta += like->quanta;
            return;
        }
        ref = foreign->next;
    }
    struct fm_rec_foreign *foreign = ref == 0 ? node_alloc(thread, sizeof *foreign) : NULL;
    if (foreign == NULL)
        return;
    *foreign = *like;
    foreign->next = (uint32_t)side->value;
    foreign->epoch = epoch;
    __atomic_store_n(&side->value, fm_ref(foreign), __ATOMIC_RELEASE);
}

void fm_csd_add_excp(struct fm_thread *thread, struct fm_rec_csd *csd)
{
    if (++csd->excps == 0)
        fm_side_add(thread, csd, FM_REC_SIDE_EXCPS_CARRY, 1);
}

void fm_csd_add_quanta(struct fm_thread *thread, struct fm_rec_csd *csd, uint64_t quanta)
{
    uint64_t sum = csd->quanta + quanta;
    csd->quanta = (uint32_t)sum;
    if (FM_UNLIKELY(sum >> 32 != 0))
        fm_side_add(thread, csd, FM_REC_SIDE_QUANTA_CARRY, sum >> 32);
}

static bool inside(uint64_t address, uint64_t start, uint64_t end)
{
    return start <= address && address < end;
}

/* A key depends on the addresses of the whole path, so callees of the code are included. */
static bool path_is_inside(const struct fm_rec_csd *csd, uint64_t start, uint64_t end)
{
    while (csd->caller != 0) {
        if (inside(csd->hook_pc, start, end) || inside(csd->site, start, end))
            return true;
        csd = fm_at(((const struct fm_rec_pd *)fm_at(csd->caller))->maker);
    }
    return false;
}

/* The code is unloaded, so no thread is looking up these entries; other code may be loaded at the
 * same addresses and must not find them. */
void fm_graph_purge(uint64_t start, uint64_t end)
{
    uint64_t mask = fm_block_signals();
    fm_lock_take(&fm_process.threads_lock);
    for (struct fm_thread *t = fm_process.threads; t != NULL; t = t->next) {
        fm_lock_take(&t->lock);
        for (uint64_t offset = 0; offset <= t->tls->mask; offset += 32) {
            struct fm_entry *entry = fm_entry_at(t->tls, offset);
            if (entry->identity > 1 && path_is_inside(entry->csd, start, end))
                __atomic_store_n(&entry->identity, 1, __ATOMIC_RELEASE);
        }
        fm_points_purge(t, start, end);
        fm_lock_give(&t->lock);
    }
    fm_lock_give(&fm_process.threads_lock);
    fm_restore_signals(mask);
}

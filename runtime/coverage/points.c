/* SPDX-License-Identifier: Apache-2.0 */
/* Coverage points of a thread, by context: counted in the pd at the top of its shadow stack. */
#include "internal.h"

static struct fm_point_entry *entry_at(const struct fm_tls *tls, uint64_t offset)
{
    return (struct fm_point_entry *)((char *)tls->points + (offset & tls->point_mask));
}

/* The entry with the identity, or the free one for it: home, its neighbour in the pair, then the
 * following pairs. At most a quarter is in use. */
static struct fm_point_entry *entry_for(const struct fm_tls *of, uint64_t identity)
{
    /* A signal handler may put a larger table in place meanwhile: the mask is read first. */
    struct fm_tls tls = {.point_mask = *(const volatile uint64_t *)&of->point_mask};
    tls.points = *(struct fm_point_entry *const volatile *)&of->points;
    for (uint64_t step = 0;; step += 32) {
        struct fm_point_entry *entry = entry_at(&tls, (identity & ~15ull) + step);
        if (entry->identity == identity || entry->identity == 0)
            return entry;
        entry = entry_at(&tls, ((identity & ~15ull) + step) ^ 16);
        if (entry->identity == identity || entry->identity == 0)
            return entry;
    }
}

static uint64_t identity_of(const struct fm_tls *tls, uint64_t pc)
{
    return pc * FM_HOOK_FACTOR + tls->top->key;
}

static bool grow(struct fm_thread *thread)
{
    struct fm_tls *tls = thread->tls;
    uint64_t entries =
        tls->points == fm_no_points ? FM_TABLE_ENTRIES_FIRST : (tls->point_mask / 16 + 1) * 2;
    struct fm_point_entry *table = fm_private_alloc(entries * sizeof *table);
    if (table == NULL)
        return false;
    struct fm_tls fresh = {.points = table, .point_mask = (entries - 1) * 16};
    for (uint64_t offset = 0; offset <= tls->point_mask; offset += 16) {
        const struct fm_point_entry *entry = entry_at(tls, offset);
        if (entry->identity > 1)
            *entry_for(&fresh, entry->identity) = *entry;
    }
    /* The old table stays mapped: a lookup that a signal interrupted may still read it. */
    tls->points = fresh.points;
    __asm__ volatile("" ::: "memory");
    tls->point_mask = fresh.point_mask;
    thread->points = table;
    thread->points_bytes = entries * sizeof *table;
    return true;
}

static struct fm_rec_point *point_make(struct fm_thread *thread, struct fm_rec_pd *pd, uint64_t pc)
{
    struct fm_rec_point *point = fm_arena_alloc(&thread->bump, sizeof *point);
    if (point == NULL) {
        __atomic_fetch_add(&fm_process.header->dropped_nodes, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&fm_process.header->dropped_points, 1, __ATOMIC_RELAXED);
        return &thread->lost_point; /* so that the next time is fast */
    }
    uint32_t epoch = fm_modules_epoch();
    point->pc = pc;
    point->epoch = epoch > 0xffffff ? 0xffffff : epoch;
    point->next = pd->first_point;
    __atomic_store_n(&pd->first_point, fm_ref(point), __ATOMIC_RELEASE);
    fm_process.grade_flags |= FM_REC_COVERAGE;
    fm_process.header->grade_flags |= FM_REC_COVERAGE;
    return point;
}

FM_RUNTIME_TEXT void fm_points_count(struct fm_thread *thread, uint64_t pc)
{
    struct fm_tls *tls = thread->tls;
    const struct fm_rec_csd *csd = (const struct fm_rec_csd *)tls->top->csd;
    uint64_t identity = identity_of(tls, pc);
    if (identity <= 1)
        return; /* these values mean "free" and "purged": probability 2^-62 */
    struct fm_point_entry *entry = entry_for(tls, identity);
    if (entry->identity == 0) {
        if (tls->points == fm_no_points || thread->points_used * 4ull > tls->point_mask / 16) {
            if (!grow(thread))
                return;
            entry = entry_for(tls, identity);
        }
        entry->point = point_make(thread, fm_at(csd->callee), pc);
        __atomic_store_n(&entry->identity, identity, __ATOMIC_RELEASE);
        thread->points_used++;
    }
    entry->point->count++;
}

struct fm_rec_point *fm_points_known(const struct fm_tls *tls, uint64_t pc)
{
    uint64_t identity = identity_of(tls, pc);
    const struct fm_point_entry *entry = identity > 1 ? entry_for(tls, identity) : NULL;
    return entry != NULL && entry->identity == identity ? entry->point : NULL;
}

void fm_points_purge(struct fm_thread *thread, uint64_t start, uint64_t end)
{
    if (thread->tls->points == fm_no_points)
        return;
    for (uint64_t offset = 0; offset <= thread->tls->point_mask; offset += 16) {
        struct fm_point_entry *entry = entry_at(thread->tls, offset);
        if (entry->identity > 1 && start <= entry->point->pc && entry->point->pc < end)
            __atomic_store_n(&entry->identity, 1, __ATOMIC_RELEASE);
    }
}

void fm_points_reset(struct fm_thread *thread)
{
    struct fm_tls *tls = thread->tls;
    tls->point_mask = 0;
    __asm__ volatile("" ::: "memory");
    tls->points = fm_no_points;
    thread->points_used = 0;
}

void fm_points_free(struct fm_thread *thread)
{
    if (thread->points != NULL)
        fm_private_free(thread->points, thread->points_bytes);
}

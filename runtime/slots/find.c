/* SPDX-License-Identifier: Apache-2.0 */
/* Finds nodes that exist, for hooks that do not find them by themselves. Vector registers are not
 * kept there, so this file is compiled for general registers alone. */
#include "slots.h"

#define CALLEES_BY_HOOKS 3u /* compared by the hooks themselves */

uint64_t fm_slots_handlers_return[FM_SLOTS_HANDLERS_RETURN_MAX];
uint32_t fm_slots_table[1u << FM_SLOTS_TABLE_BITS];

/* The slot by which a function is called that returns to `site`. */
FM_RUNTIME_TEXT uint32_t fm_slots_index(const struct fm_slots_node *node, uint64_t site)
{
    const struct fm_slots_about *about = node->function;
    uint32_t count = about != NULL ? fm_slots_sites(about) : 0;
    uint32_t used = node->site < FM_SLOTS_HEADER ? 0 : (node->site - FM_SLOTS_HEADER) / 4;
    used = used < count ? used : 0;
    if (count == 0 || fm_slots_return(about, used) == site || !FM_SLOTS_IN_EXECUTABLE(site))
        return used;
    for (uint32_t i = 0; i < count; i++)
        if (fm_slots_return(about, i) == site)
            return i;
    return used;
}

static bool is_callee(const struct fm_slots_node *callee, const struct fm_slots_about *function,
                      bool signal)
{
    return callee->function == function && ((callee->special & FM_SLOTS_SIGNAL) != 0) == signal;
}

static uint32_t first_place(const struct fm_slots_node *owner, uint32_t slot,
                            const struct fm_slots_about *function)
{
    uint32_t key = fm_slots_ref(owner) + slot * 4 + (uint32_t)(uintptr_t)function;
    return key * FM_SLOTS_TABLE_FACTOR >> (32 - FM_SLOTS_TABLE_BITS);
}

static struct fm_slots_node *in_table(const struct fm_slots_node *owner, uint32_t slot,
                                      const struct fm_slots_about *function)
{
    uint32_t place = first_place(owner, slot, function);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t known = __atomic_load_n(&fm_slots_table[place ^ i], __ATOMIC_ACQUIRE);
        struct fm_slots_node *node = fm_slots_at(known);
        if (known != 0 && node->parent == fm_slots_ref(owner) && node->slot == slot &&
            is_callee(node, function, false))
            return node;
    }
    return NULL;
}

FM_RUNTIME_TEXT void fm_slots_table_put(const struct fm_slots_node *owner, uint32_t slot,
                                        const struct fm_slots_node *callee)
{
    uint32_t place = first_place(owner, slot, callee->function);
    uint32_t before = __atomic_load_n(&fm_slots_table[place], __ATOMIC_RELAXED);
    __atomic_store_n(&fm_slots_table[place], fm_slots_ref(callee), __ATOMIC_RELEASE);
    if (before != 0)
        __atomic_store_n(&fm_slots_table[place ^ 1], before, __ATOMIC_RELEASE);
}

/* All nodes of a context have the lists of the one that made it. */
FM_RUNTIME_TEXT struct fm_slots_node *fm_slots_callee(struct fm_slots_node *node, uint32_t slot,
                                                      const struct fm_slots_about *function,
                                                      bool signal)
{
    const struct fm_slots_node *nobody = fm_slots_nobody();
    const struct fm_slots_node *owner = node->maker != 0 ? fm_slots_at(node->maker) : node;
    if (node->maker != 0)
        node->slots[slot] = owner->slots[slot];
    struct fm_slots_node *callee = fm_slots_at(owner->slots[slot]);
    for (unsigned i = 0; i < CALLEES_BY_HOOKS && callee != nobody; i++) {
        if (is_callee(callee, function, signal))
            return callee;
        callee = fm_slots_at(callee->next);
    }
    if (callee == nobody)
        return NULL;
    struct fm_slots_node *known = signal ? NULL : in_table(owner, slot, function);
    if (known != NULL)
        return known;
    while (callee != nobody && !is_callee(callee, function, signal))
        callee = fm_slots_at(callee->next);
    if (callee == nobody)
        return NULL;
    if (!signal)
        fm_slots_table_put(owner, slot, callee);
    return callee;
}

/* The node that calls: r15's, also after jumps and switches of stacks. Code without hooks
 * may have something else there: then it is the one that hooked code was left from. */
FM_RUNTIME_TEXT struct fm_slots_node *fm_slots_caller(const struct fm_tls *tls, uint64_t r15,
                                                      bool *ret_foreign)
{
    *ret_foreign = false;
    if (fm_slots_is_node(r15))
        return fm_slots_at((uint32_t)r15);
    *ret_foreign = true;
    return fm_slots_is_current(tls->slot_current) ? fm_slots_at((uint32_t)tls->slot_current)
                                                  : tls->thread->slots->root;
}

FM_RUNTIME_TEXT struct fm_slots_node *fm_slots_stand_in(struct fm_slots_thread *own,
                                                        struct fm_slots_node *caller,
                                                        const struct fm_slots_about *function,
                                                        bool leaf, bool open)
{
    if (own->stand_in == NULL || fm_slots_sites(function) > FM_SLOTS_STAND_IN_SITES)
        return fm_slots_nowhere(fm_slots_sites(function));
    if (!leaf && (caller->special & FM_SLOTS_STAND_IN) == 0)
        own->stand_in->parent = fm_slots_ref(caller);
    return open && !leaf ? own->stand_in_open : own->stand_in;
}

FM_RUNTIME_TEXT bool fm_slots_entry_push(struct fm_thread *thread, struct fm_slots_node *callee,
                                         uint64_t key, unsigned signal)
{
    struct fm_slots_thread *own = thread->slots;
    if (own->entry_count == own->entry_room)
        return false;
    struct fm_slots_entry entry = {
        .key = key, .current = thread->tls->slot_current, .signal = signal};
    uint32_t index = own->entry_count;
    own->entries[index] = entry;
    __asm__ volatile("" ::: "memory");
    own->entry_count = index + 1;
    /* Until then a handler pushes its own there, which is gone when it ends; and one may have more
     * room made for them. */
    struct fm_slots_entry *entries;
    do {
        entries = __atomic_load_n(&own->entries, __ATOMIC_RELAXED);
        entries[index] = entry;
        __asm__ volatile("" ::: "memory");
    } while (entries != __atomic_load_n(&own->entries, __ATOMIC_RELAXED));
    callee->special |= FM_SLOTS_OPEN;
    return true;
}

/* An edge that exists: its node. 0: not at hand. */
FM_RUNTIME_TEXT uint64_t fm_slots_find(const struct fm_slots_about *function, uint64_t key,
                                       uint64_t site, uint64_t r15, unsigned kind)
{
    struct fm_tls *tls = &fm_tls_v2;
    struct fm_thread *thread = tls->thread;
    bool foreign;
    if (FM_UNLIKELY(thread == NULL && fm_process.state == FM_INERT))
        return (uint64_t)fm_slots_nowhere(fm_slots_sites(function));
    if (thread == NULL || thread->slots == NULL || tls->inside != 0 || fm_process_is_copy())
        return 0;
    for (unsigned i = 0; i < FM_SLOTS_HANDLERS_RETURN_MAX; i++)
        if (fm_slots_handlers_return[i] == site)
            return 0;
    struct fm_slots_node *node = fm_slots_caller(tls, r15, &foreign), *callee;
    if (FM_UNLIKELY(tls->slot_stopped != NULL)) {
        callee = fm_slots_stand_in(thread->slots, node, function, kind == FM_SLOTS_LEAF, foreign);
        bool recorded = foreign && kind != FM_SLOTS_LEAF;
        return !recorded || fm_slots_entry_push(thread, callee, key, 0) ? (uint64_t)callee : 0;
    }
    if (node->csd == NULL || (node->special & FM_SLOTS_STALE) != 0 ||
        (node->function == NULL && node != thread->slots->root))
        return 0;
    callee = fm_slots_callee(node, fm_slots_index(node, site), function, false);
    if (callee == NULL || (callee->special & FM_SLOTS_STALE) != 0)
        return 0;
    if (foreign && kind != FM_SLOTS_LEAF && !fm_slots_entry_push(thread, callee, key, 0))
        return 0;
    return (uint64_t)callee;
}

/* The exit of a function into whose context code without hooks, or the kernel, has called; r15: its
 * caller's. Index of a handler's entry, for fm_slots_exit_handler(); 0: done. */
FM_RUNTIME_TEXT uint64_t fm_slots_exit_find(uint64_t key, uint64_t r15)
{
    struct fm_tls *tls = &fm_tls_v2;
    struct fm_slots_thread *own = tls->thread != NULL ? tls->thread->slots : NULL;
    uint32_t at = own != NULL ? own->entry_count : 0;
    while (at > 0 && own->entries[at - 1].key != key)
        at--;
    if (at == 0) { /* r15 of code without hooks must not get there: it would pass for a node */
        tls->slot_current = fm_slots_is_node(r15) ? r15 : FM_SLOTS_NOWHERE;
        return 0;
    }
    struct fm_slots_entry entry = own->entries[at - 1];
    tls->slot_current = entry.current;
    for (; at < own->entry_count; at++)
        own->entries[at - 1] = own->entries[at];
    own->entry_count--;
    return entry.signal;
}

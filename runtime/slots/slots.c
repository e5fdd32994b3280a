/* SPDX-License-Identifier: Apache-2.0 */
/* Answers the hooks for nodes that find.c does not find (slots.S). */
#include "slots.h"

#include <errno.h>
#include <string.h>

#define ENTRIES_FIRST 64u

/* The kernel's code behind a handler. */
static bool is_signal_return(uint64_t site)
{
    static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};
    if (!fm_module_known(site) || memcmp((const void *)site, code, sizeof code) != 0)
        return false;
    for (unsigned i = 0; i < FM_SLOTS_HANDLERS_RETURN_MAX; i++) {
        if (fm_slots_handlers_return[i] == 0)
            fm_slots_handlers_return[i] = site;
        if (fm_slots_handlers_return[i] == site)
            break;
    }
    return true;
}

static bool thread_begin(struct fm_thread *thread)
{
    struct fm_slots_thread *own = thread->slots;
    if (own != NULL)
        return true;
    own = fm_private_alloc(sizeof *own);
    struct fm_slots_entry *entries = fm_private_alloc(ENTRIES_FIRST * sizeof *entries);
    struct fm_slots_node *root = own != NULL && entries != NULL ? fm_slots_node_make(own, 1) : NULL;
    if (root == NULL) {
        if (own != NULL)
            fm_private_free(own, sizeof *own);
        if (entries != NULL)
            fm_private_free(entries, ENTRIES_FIRST * sizeof *entries);
        return false;
    }
    root->csd = fm_at(thread->rec->root_csd);
    own->root = root;
    own->entries = entries;
    own->entry_room = ENTRIES_FIRST;
    __atomic_store_n(&thread->slots, own, __ATOMIC_RELEASE);
    /* Hooks of the other kind are told by their slow path (hooks.c). */
    thread->tls->bound = fm_thread_bound(thread, 0);
    if (fm_process.stopped)
        fm_slots_stop(thread, true);
    thread->tls->slot_own = own;
    thread->tls->slot_root = (uint64_t)root;
    return true;
}

static bool entries_grow(struct fm_slots_thread *own)
{
    if (own->entry_count < own->entry_room)
        return true;
    struct fm_slots_entry *more = fm_private_alloc(own->entry_room * 2ul * sizeof *more);
    if (more == NULL)
        return false;
    memcpy(more, own->entries, own->entry_count * sizeof *more);
    own->entries = more;
    own->entry_room *= 2;
    return true;
}

/* Coroutines that change threads: contexts of another thread's tree get no new edges. */
static bool is_of_thread(const struct fm_thread *thread, const struct fm_slots_node *node)
{
    while (node->parent != 0)
        node = fm_slots_at(node->parent);
    return node == thread->slots->root;
}

/* NULL: no room. */
static struct fm_slots_node *find_or_make(struct fm_thread *thread, struct fm_slots_node *node,
                                          struct fm_slots_call *call)
{
    if (!fm_slots_revive(thread, node))
        return NULL;
    uint32_t slot = fm_slots_index(node, call->site);
    struct fm_slots_node *callee = node == thread->slots->lost
                                       ? NULL
                                       : fm_slots_callee(node, slot, call->function, call->signal);
    if (callee == NULL)
        return fm_slots_edge(thread, node, slot, call);
    return fm_slots_revive(thread, callee) ? callee : NULL;
}

static struct fm_slots_node *enter_locked(struct fm_thread *thread, uint64_t key, uint64_t r15,
                                          unsigned kind, struct fm_slots_call *call)
{
    struct fm_tls *tls = thread->tls;
    struct fm_slots_thread *own = thread->slots;
    bool foreign;
    struct fm_slots_node *asked = fm_slots_caller(tls, r15, &foreign);
    struct fm_slots_node *node = fm_slots_recorded(asked), *callee;
    if (!is_of_thread(thread, node)) {
        node = own->root;
        foreign = true;
    }
    call->signal = is_signal_return(call->site);
    if (fm_process.stopped)
        callee = fm_slots_stand_in(own, node, call->function, kind == FM_SLOTS_LEAF,
                                   foreign || call->signal);
    else
        callee = find_or_make(thread, node, call);
    if (callee == NULL)
        return fm_slots_nowhere(fm_slots_sites(call->function));
    if (asked != node && !fm_process.stopped && !foreign && !call->signal)
        fm_slots_stand_in_called(asked, call->site, callee);
    if (kind == FM_SLOTS_LEAF || !(foreign || call->signal))
        return callee;
    if (!entries_grow(own))
        return fm_slots_nowhere(fm_slots_sites(call->function));
    unsigned index = 0;
    if (call->signal) {
        if (own->handlers < FM_SIGNAL_SAVES_MAX)
            fm_waiting_put_aside(thread, own->handlers);
        index = ++own->handlers;
    }
    fm_slots_entry_push(thread, callee, key, index);
    return callee;
}

/* sp, bp: of the caller. */
FM_RUNTIME_TEXT uint64_t fm_slots_make(const struct fm_slots_about *function, uint64_t key,
                                       uint64_t site, uint64_t r15, unsigned kind, uint64_t sp,
                                       uint64_t bp)
{
    struct fm_tls *tls = &fm_tls_v2;
    struct fm_thread *thread;
    struct fm_slots_call call = {.function = function, .site = site, .sp = sp, .bp = bp};
    if (tls->inside != 0 || (tls->bound == FM_BOUND_NONE && tls->thread == NULL) ||
        (tls->thread == NULL && fm_process_is_early()))
        return (uint64_t)fm_slots_nowhere(fm_slots_sites(function));
    int saved_errno = errno;
    uint64_t mask = fm_block_signals();
    struct fm_slots_node *node = NULL;
    tls->inside = 1;
    if (FM_UNLIKELY(fm_process_is_copy()))
        fm_process_after_fork();
    thread = tls->thread;
    if (thread == NULL && fm_process_start())
        thread = fm_thread_make(sp);
    else if (thread == NULL)
        fm_thread_disable();
    if (thread != NULL) {
        fm_lock_take(&thread->lock);
        if (thread_begin(thread))
            node = enter_locked(thread, key, r15, kind, &call);
        fm_lock_give(&thread->lock);
    }
    if (FM_UNLIKELY(fm_process.leaving != NULL))
        fm_threads_free_gone();
    tls->inside = 0;
    fm_control_look(false);
    fm_restore_signals(mask);
    errno = saved_errno;
    return (uint64_t)(node != NULL ? node : fm_slots_nowhere(fm_slots_sites(function)));
}

FM_RUNTIME_TEXT void fm_slots_exit_handler(uint64_t index)
{
    struct fm_tls *tls = &fm_tls_v2;
    struct fm_thread *thread = tls->thread;
    uint64_t mask = fm_block_signals();
    tls->inside++;
    thread->slots->handlers = (unsigned)index - 1;
    if (index <= FM_SIGNAL_SAVES_MAX)
        fm_waiting_take_up(thread, (unsigned)index - 1);
    tls->inside--;
    fm_restore_signals(mask);
}

void fm_slots_left(struct fm_thread *thread, uint64_t sp)
{
    struct fm_slots_thread *own = thread->slots;
    uint64_t mask = fm_block_signals();
    const struct fm_stack *stack = fm_stack_of(thread, sp);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < own->entry_count; i++) {
        const struct fm_slots_entry *entry = &own->entries[i];
        bool gone = stack->low <= entry->key && entry->key < sp && sp <= stack->high;
        if (gone && kept == i) /* the outermost */
            thread->tls->slot_current = entry->current;
        if (gone && entry->signal != 0 && own->handlers >= entry->signal)
            own->handlers = entry->signal - 1;
        if (!gone)
            own->entries[kept++] = *entry;
    }
    own->entry_count = kept;
    fm_restore_signals(mask);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the nodes of new edges, in the same graph as other hooks (graph.c). */
#include "../unwind/unwind.h"
#include "slots.h"

#include <string.h>

#define STEPS_MAX 65536u

/* Functions by their numbers. Two of the same number cannot be told apart by the hooks' fast way.
 */
static const struct fm_slots_about **numbers;
static uint32_t numbers_used, numbers_room;
static fm_lock numbers_lock;

static void number_put(const struct fm_slots_about **table, uint32_t room,
                       const struct fm_slots_about *function)
{
    uint32_t i = function->number % room;
    while (table[i] != NULL)
        i = (i + 1) % room;
    table[i] = function;
}

/* Whether no other function with the number has been met. */
static bool number_is_unique(const struct fm_slots_about *function)
{
    bool unique = true, known = false;
    fm_lock_take(&numbers_lock);
    if ((numbers_used + 1) * 2 > numbers_room) {
        uint32_t room = numbers_room == 0 ? 1024 : numbers_room * 2;
        const struct fm_slots_about **table = fm_private_alloc(room * sizeof *table);
        for (uint32_t i = 0; table != NULL && i < numbers_room; i++)
            if (numbers[i] != NULL)
                number_put(table, room, numbers[i]);
        if (table != NULL && numbers != NULL)
            fm_private_free(numbers, numbers_room * sizeof *numbers);
        if (table != NULL) {
            numbers = table;
            numbers_room = room;
        }
    }
    uint32_t at = numbers_room > 0 ? function->number % numbers_room : 0;
    for (; numbers_room > 0 && numbers[at] != NULL; at = (at + 1) % numbers_room) {
        known |= numbers[at] == function;
        unique &= numbers[at] == function || numbers[at]->number != function->number;
    }
    if (!known && numbers_used + 1 < numbers_room) {
        numbers[at] = function;
        numbers_used++;
    }
    fm_lock_give(&numbers_lock);
    return unique;
}

uint32_t fm_slots_number(const struct fm_slots_node *node)
{
    bool fast = (node->special & FM_SLOTS_SIGNAL) == 0 && number_is_unique(node->function);
    return fast ? node->function->number : 0;
}

static uint64_t hook_of(const struct fm_slots_about *function)
{
    return (uint64_t)&function->to_hook + (uint64_t)(int64_t)function->to_hook;
}

static struct fm_rec_pd *pd_of(const struct fm_slots_node *node)
{
    return fm_at(node->csd->callee);
}

/* Up the nodes by which they were made; right where no recursion leads into one of them. */
static struct fm_slots_node *active_above(struct fm_slots_node *from, uint64_t fn)
{
    for (struct fm_slots_node *node = from; node->parent != 0; node = fm_slots_at(node->parent))
        if ((node->special & FM_SLOTS_STALE) == 0 && pd_of(node)->fn == fn)
            return node;
    return NULL;
}

/* Whether a recursion leads to it or to one above it: then its open frames may be others than those
 * by which it was made. What was found once holds for good. */
static bool may_recur(struct fm_slots_node *node)
{
    struct fm_slots_node *at = node;
    while (at->parent != 0 && (at->special & (FM_SLOTS_RECURSIVE | FM_SLOTS_UNDER)) == 0)
        at = fm_slots_at(at->parent);
    if (at->parent == 0)
        return false;
    for (; node != at; node = fm_slots_at(node->parent))
        node->special |= FM_SLOTS_UNDER;
    return true;
}

/* Indices of return addresses in the descriptions, by address: proved when they are used. */
#define RETURNS_BITS 12
static uint32_t returns[1u << RETURNS_BITS];

static bool returns_to(const struct fm_slots_about *function, uint64_t ip)
{
    uint32_t sites = function != NULL ? fm_slots_sites(function) : 0;
    uint32_t *known = &returns[(uint32_t)ip * 0x9E3779B1u >> (32 - RETURNS_BITS)];
    uint32_t index = __atomic_load_n(known, __ATOMIC_RELAXED);
    if (index < sites && fm_slots_return(function, index) == ip)
        return true;
    for (uint32_t i = 0; i < sites; i++) {
        if (fm_slots_return(function, i) != ip)
            continue;
        __atomic_store_n(known, i, __ATOMIC_RELAXED);
        return true;
    }
    return false;
}

/* r15 of the caller of the frame that the walk is at, by unwind tables. */
static bool r15_by_tables(const struct fm_unwind *walk, uint64_t *ret)
{
    struct fm_unwind_registers registers = {0};
    struct fm_unwind one;
    registers.value[FM_UNWIND_RIP] = walk->ip;
    registers.value[FM_UNWIND_RSP] = walk->sp;
    registers.value[FM_UNWIND_RBP] = walk->bp;
    registers.known = 1u << FM_UNWIND_RIP | 1u << FM_UNWIND_RSP | 1u << FM_UNWIND_RBP;
    fm_unwind_begin(&one, &registers, walk->memory.low, walk->memory.high);
    one.exact = one.all_exact = false;
    if (fm_unwind_step_all(&one) != FM_UNWIND_FRAME ||
        !fm_unwind_register_known(&one.all, FM_UNWIND_R15))
        return false;
    *ret = one.all.value[FM_UNWIND_R15];
    return true;
}

/* The node that called the node's function, or that left hooked code for what called it, by the
 * value of r15 that its frame has kept, and the frame's key (0: not known). */
static struct fm_slots_node *caller_of(const struct fm_thread *thread,
                                       const struct fm_slots_node *node, uint64_t saved,
                                       uint64_t key)
{
    const struct fm_slots_entry *entry = NULL;
    if (!fm_slots_is_node(saved) && key != 0)
        entry = fm_slots_entry_of(thread->slots, key);
    saved = entry != NULL ? entry->current : saved;
    if (!fm_slots_is_node(saved))
        return NULL;
    struct fm_slots_node *caller = fm_slots_at((uint32_t)saved);
    /* Entered while the recording was stopped: what called that is in a stand-in no more. */
    return (caller->special & FM_SLOTS_STAND_IN) != 0 ? fm_slots_at(node->parent) : caller;
}

/* Leaves the frame of the node's function that the walk is at. Returns the node of the function
 * that called it, or that left hooked code for what called it; NULL: not known. */
static struct fm_slots_node *leave_frame(const struct fm_thread *thread,
                                         const struct fm_slots_node *node, struct fm_unwind *walk)
{
    int32_t place = node->function->place & ~1;
    bool near = place != 0 && place == node->function->place; /* its frame is as usual */
    uint64_t saved, ip, bp, key = near ? walk->bp + 8 : walk->bp + (uint64_t)(int64_t)place;
    bool known = place != 0
                     ? fm_unwind_word(&walk->memory, walk->bp + (uint64_t)(int64_t)place, &saved)
                     : r15_by_tables(walk, &saved);
    if (!known)
        return NULL;
    if (near) {
        if (!fm_unwind_word(&walk->memory, walk->bp, &bp) ||
            !fm_unwind_word(&walk->memory, walk->bp + 8, &ip))
            return NULL;
        fm_unwind_begin_at(walk, ip, walk->bp + 16, bp, walk->memory.low, walk->memory.high);
    } else if (fm_unwind_step(walk) != FM_UNWIND_FRAME) {
        return NULL;
    }
    return caller_of(thread, node, saved, place != 0 ? key : 0);
}

/* The node of an open call of fn; NULL: none. Contexts are those of the open frames: an activation
 * within a recursion has other callers than that which made the node. Functions with hooks have
 * frames by rbp: so it is followed, and tables are asked for what lies between them alone. */
static struct fm_slots_node *active(struct fm_thread *thread, struct fm_slots_node *from,
                                    uint64_t fn, const struct fm_slots_call *call)
{
    struct fm_unwind walk;
    const struct fm_stack *stack = thread->stack;
    bool known = !stack->guessed && stack->low <= call->sp && call->sp < stack->high;
    fm_unwind_begin_at(&walk, call->site, call->sp, call->bp, known ? call->sp : 0,
                       known ? stack->high : 0);
    struct fm_slots_node *node = from;
    unsigned steps = 0;
    for (; node != NULL && node->parent != 0 && may_recur(node);
         node = leave_frame(thread, node, &walk)) {
        while (!returns_to(node->function, walk.ip))
            if (++steps > STEPS_MAX || fm_unwind_step(&walk) != FM_UNWIND_FRAME)
                return active_above(node, fn);
        if (++steps > STEPS_MAX)
            break;
        if (fm_slots_revive(thread, node) && pd_of(node)->fn == fn)
            return node;
        from = node;
    }
    return active_above(node != NULL ? node : from, fn);
}

/* As leave_frame(), where a signal has interrupted the function: at any instruction tables alone
 * tell where its frame is. */
static struct fm_slots_node *leave_interrupted(const struct fm_thread *thread,
                                               const struct fm_slots_node *node,
                                               struct fm_unwind *walk)
{
    int32_t place = node->function->place;
    uint64_t late = walk->bp + (uint64_t)(int64_t)(place & ~1);
    if (fm_unwind_step_all(walk) != FM_UNWIND_FRAME ||
        !fm_unwind_register_known(&walk->all, FM_UNWIND_R15))
        return NULL;
    return caller_of(thread, node, walk->all.value[FM_UNWIND_R15],
                     (place & 1) != 0 ? late : walk->sp - 8);
}

static bool walk_to(struct fm_unwind *walk, const struct fm_slots_node *node)
{
    unsigned steps = 0;
    while (!returns_to(node->function, walk->ip))
        if (++steps > STEPS_MAX || fm_unwind_step(walk) != FM_UNWIND_FRAME)
            return false;
    return true;
}

uint32_t fm_slots_open(struct fm_thread *thread, struct fm_slots_node *node,
                       const struct fm_unwind_registers *at, const struct fm_rec_csd **ret,
                       uint32_t room)
{
    struct fm_unwind walk;
    uint64_t sp = at->value[FM_UNWIND_RSP];
    const struct fm_stack *stack = fm_stack_of(thread, sp);
    bool known = !stack->guessed && stack->low <= sp && sp < stack->high, on_stack = true;
    uint32_t count = 0;
    if (node->parent == 0 || node == thread->slots->lost || !may_recur(node))
        return 0;
    fm_unwind_begin(&walk, at, known ? sp : 0, known ? stack->high : 0);
    bool own = fm_function_start(walk.ip) == pd_of(node)->fn;
    while (node->parent != 0 && count < room && fm_slots_revive(thread, node)) {
        on_stack = on_stack && may_recur(node) && ((count == 0 && own) || walk_to(&walk, node));
        struct fm_slots_node *caller = NULL;
        if (on_stack && count == 0 && own)
            caller = leave_interrupted(thread, node, &walk);
        else if (on_stack)
            caller = leave_frame(thread, node, &walk);
        on_stack = caller != NULL;
        ret[count++] = node->csd;
        /* Outside of recursions the way by which a node was made is that of the stack. */
        node = on_stack ? caller : fm_slots_at(node->parent);
    }
    return count;
}

static struct fm_rec_csd *csd_make(struct fm_thread *thread, const struct fm_rec_csd *like,
                                   uint64_t fn, struct fm_rec_pd *callee, bool leaf)
{
    uint32_t epoch = fm_modules_epoch();
    epoch = epoch > 0xffffff ? 0xffffff : epoch;
    struct fm_rec_csd_exits *made = fm_arena_alloc(&thread->bump, sizeof *made);
    if (made == NULL)
        return NULL;
    uint32_t flags = like->epoch_flags & 0xff & ~(uint32_t)FM_REC_CSD_MADE_CALLEE;
    if (callee == NULL) {
        callee = fm_arena_alloc(&thread->bump, sizeof *callee);
        if (callee == NULL)
            return NULL;
        callee->fn = fn;
        callee->epoch = epoch;
        callee->maker = fm_ref(made);
        flags |= FM_REC_CSD_MADE_CALLEE;
    }
    made->exits = leaf ? FM_REC_EXITS_ALL : 0;
    made->csd.hook_pc = like->hook_pc;
    made->csd.site = like->site;
    made->csd.caller = like->caller;
    made->csd.callee = fm_ref(callee);
    made->csd.epoch_flags = epoch << FM_REC_CSD_EPOCH_SHIFT | flags;
    struct fm_rec_pd *from = fm_at(like->caller);
    made->csd.next = from->first_csd;
    __atomic_store_n(&from->first_csd, fm_ref(made), __ATOMIC_RELEASE);
    return &made->csd;
}

/* Counts the calls for which there is no room. */
static struct fm_slots_node *lost(struct fm_thread *thread, uint32_t slots)
{
    struct fm_slots_thread *own = thread->slots;
    __atomic_fetch_add(&fm_process.header->dropped_nodes, 1, __ATOMIC_RELAXED);
    if (own->lost == NULL || own->lost_slots < slots) {
        uint32_t room = slots < 256 ? 256 : slots * 2;
        struct fm_slots_node *node = fm_slots_node_make(NULL, room);
        if (node == NULL)
            return fm_slots_nowhere(slots);
        node->csd = fm_graph_lost(thread);
        node->parent = fm_slots_ref(own->root);
        own->lost = node;
        own->lost_slots = room;
    }
    return own->lost;
}

static void link_in(struct fm_slots_node *from, uint32_t slot, struct fm_slots_node *made)
{
    uint32_t *at = &from->slots[slot];
    if (*at != fm_slots_ref(fm_slots_nobody())) /* behind the first, of which others have copies */
        at = &fm_slots_at(*at)->next;
    made->next = *at;
    __atomic_store_n(at, fm_slots_ref(made), __ATOMIC_RELEASE);
    if (made->next != fm_slots_ref(fm_slots_nobody()) && (made->special & FM_SLOTS_SIGNAL) == 0)
        fm_slots_table_put(from, slot, made);
}

static void modules_known(struct fm_thread *thread, uint64_t hook, uint64_t site)
{
    if (!fm_module_known(hook) || !fm_module_known(site)) {
        fm_lock_give(&thread->lock); /* see edge_make() of hooks.c */
        fm_modules_refresh();
        fm_lock_take(&thread->lock);
    }
    fm_module_set_instrumented(hook);
}

struct fm_slots_node *fm_slots_edge(struct fm_thread *thread, struct fm_slots_node *from,
                                    uint32_t slot, const struct fm_slots_call *call)
{
    const struct fm_slots_about *function = call->function;
    uint64_t hook = hook_of(function), via = 0;
    uint32_t slots = fm_slots_sites(function);
    bool leaf = (function->sites_leaf & 1) != 0;
    if (from == thread->slots->lost ||
        fm_arena_refuses(&thread->bump, sizeof(struct fm_rec_csd_exits)))
        return lost(thread, slots);
    modules_known(thread, hook, call->site);
    uint64_t fn = fm_function_start(hook);
    struct fm_rec_csd like = {.hook_pc = hook,
                              .site = call->site,
                              .caller = from->csd->callee,
                              .epoch_flags = call->signal ? FM_REC_CSD_SIGNAL : 0};
    if (!fm_module_is_instrumented(call->site)) {
        like.epoch_flags |= FM_REC_CSD_CALLBACK;
        if (from->function != NULL && slot < fm_slots_sites(from->function))
            via = fm_slots_return(from->function, slot);
        thread->rec->callbacks_unresolved += via == 0 && from->function != NULL;
    }
    fn = fn != 0 ? fn : hook - 1;
    if (thread->rec->started_in == 0)
        thread->rec->started_in = fn;
    struct fm_slots_node *again = active(thread, from, fn, call);
    struct fm_slots_node *made = fm_slots_node_make(thread->slots, slots > 0 ? slots : 1);
    struct fm_rec_csd *csd =
        made == NULL ? NULL
                     : csd_make(thread, &like, fn, again != NULL ? pd_of(again) : NULL, leaf);
    if (csd == NULL)
        return lost(thread, slots);
    if (via != 0)
        fm_side_add(thread, csd, FM_REC_SIDE_VIA, via);
    if (again != NULL) {
        struct fm_slots_node *maker = again->maker != 0 ? fm_slots_at(again->maker) : again;
        maker->special |= FM_SLOTS_RECURSIVE;
        made->special |= FM_SLOTS_RECURSIVE;
    }
    made->csd = csd;
    made->function = function;
    made->special |= call->signal ? FM_SLOTS_SIGNAL : 0;
    made->slot = slot;
    made->maker = again == NULL ? 0 : again->maker != 0 ? again->maker : fm_slots_ref(again);
    made->number = fm_slots_number(made);
    /* Nodes that a recursion leads to have the lists of the one that made the context. */
    struct fm_slots_node *owner = from->maker != 0 ? fm_slots_at(from->maker) : from;
    made->parent = fm_slots_ref(owner);
    thread->slots->edges++;
    link_in(owner, slot, made);
    from->slots[slot] = owner->slots[slot];
    return made;
}

bool fm_slots_revive(struct fm_thread *thread, struct fm_slots_node *node)
{
    if ((node->special & FM_SLOTS_STALE) == 0)
        return true;
    struct fm_slots_node *parent = fm_slots_at(node->parent);
    struct fm_slots_node *maker = node->maker != 0 ? fm_slots_at(node->maker) : NULL;
    if (node->parent == 0 || !fm_slots_revive(thread, parent) ||
        (maker != NULL && !fm_slots_revive(thread, maker)))
        return false;
    struct fm_rec_csd like = *node->csd;
    if (like.hook_pc == 0) { /* there was no room for a copy */
        like.hook_pc = hook_of(node->function);
        like.site = parent->function != NULL ? fm_slots_return(parent->function, node->slot) : 0;
    }
    uint64_t fn = fm_function_start(like.hook_pc);
    bool leaf = (node->function->sites_leaf & 1) != 0;
    like.caller = parent->csd->callee;
    struct fm_rec_csd *csd = csd_make(thread, &like, fn != 0 ? fn : like.hook_pc - 1,
                                      maker != NULL ? pd_of(maker) : NULL, leaf);
    if (csd == NULL)
        return false;
    if ((like.epoch_flags & FM_REC_CSD_CALLBACK) != 0 && parent->function != NULL &&
        node->slot < fm_slots_sites(parent->function))
        fm_side_add(thread, csd, FM_REC_SIDE_VIA, fm_slots_return(parent->function, node->slot));
    node->csd = csd;
    node->special &= ~(uint32_t)FM_SLOTS_STALE;
    node->number = fm_process.stopped ? 0 : fm_slots_number(node);
    return true;
}

const struct fm_slots_entry *fm_slots_entry_of(const struct fm_slots_thread *thread, uint64_t key)
{
    for (uint32_t i = thread->entry_count; i-- > 0;)
        if (thread->entries[i].key == key)
            return &thread->entries[i];
    return NULL;
}

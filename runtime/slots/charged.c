/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts of code that runs, for charges; contexts of a child of fork; a note to the user. */
#include "slots.h"

#include <errno.h>

static const struct fm_rec_frame *frame_of(struct fm_thread *thread, struct fm_slots_node *node)
{
    node = fm_slots_recorded(node);
    if ((node->special & FM_SLOTS_STALE) != 0) {
        uint64_t mask = fm_block_signals();
        bool revived = fm_slots_revive(thread, node);
        fm_restore_signals(mask);
        if (!revived)
            node = thread->slots->root;
    }
    if (node->parent == 0 && node != thread->slots->root)
        node = thread->slots->root; /* nowhere, or another thread's */
    return (const struct fm_rec_frame *)(const void *)node;
}

const struct fm_rec_frame *fm_slots_charged(struct fm_thread *thread)
{
    uint64_t current = thread->tls->slot_current;
    return frame_of(thread, fm_slots_is_current(current) ? fm_slots_at((uint32_t)current)
                                                         : thread->slots->root);
}

const struct fm_rec_frame *fm_slots_charged_quickly(const struct fm_tls *tls)
{
    uint64_t current = tls->slot_current;
    if (FM_UNLIKELY(!fm_slots_is_current(current)))
        return (const struct fm_rec_frame *)tls->slot_root;
    const struct fm_slots_node *node = fm_slots_at((uint32_t)current);
    bool plain = node->parent != 0 && (node->special & (FM_SLOTS_STALE | FM_SLOTS_STAND_IN)) == 0;
    return plain ? (const struct fm_rec_frame *)(const void *)node : NULL;
}

const struct fm_rec_frame *fm_slots_interrupted(struct fm_thread *thread,
                                                const mcontext_t *registers)
{
    uint64_t pc = (uint64_t)registers->gregs[REG_RIP], r15 = (uint64_t)registers->gregs[REG_R15];
    if (FM_SLOTS_IN_EXECUTABLE(pc) && fm_slots_is_node(r15))
        return frame_of(thread, fm_slots_at((uint32_t)r15));
    return fm_slots_charged(thread);
}

#define STACK_MAX 4096u
/* The open calls, outermost first, behind the thread's root, as a shadow stack has them. */
struct fm_slots_stack {
    const struct fm_rec_csd *open[STACK_MAX];
    struct fm_rec_frame frames[STACK_MAX + 1];
};

void fm_slots_totals(struct fm_thread *thread, const struct fm_rec_frame *top,
                     const struct fm_unwind_registers *at, const struct fm_rec_csd *charged,
                     uint64_t quanta)
{
    struct fm_slots_thread *own = thread->slots;
    struct fm_slots_node *node = fm_slots_at((uint32_t)(uintptr_t)top);
    if (own->stack == NULL)
        own->stack = fm_private_alloc(sizeof *own->stack);
    struct fm_slots_stack *stack = own->stack;
    if (quanta == 0 || stack == NULL)
        return;
    uint32_t count = fm_slots_open(thread, node, at, stack->open, STACK_MAX);
    if (count == 0)
        return;
    stack->frames[0].cfa = FM_CFA_GUARD;
    stack->frames[0].csd = (uint64_t)own->root->csd;
    for (uint32_t i = 0; i < count; i++)
        stack->frames[count - i].csd = (uint64_t)stack->open[i];
    fm_totals_charge(thread, &stack->frames[count], charged, quanta);
}

uint64_t fm_slots_call_under_way(const struct fm_slots_node *node)
{
    const struct fm_slots_about *about = node->function;
    uint32_t slot = (node->site - FM_SLOTS_HEADER) / 4;
    if (about == NULL || node->site < FM_SLOTS_HEADER || slot >= fm_slots_sites(about))
        return 0;
    return fm_slots_return(about, slot) - 1;
}

void fm_slots_caught(uint64_t r15)
{
    struct fm_tls *tls = &fm_tls_v2;
    if (tls->slot_root != 0 && fm_slots_is_node(r15))
        tls->slot_current = r15;
}

void fm_slots_other_hooks(uint64_t hook_pc)
{
    static bool said;
    if (__atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
        return;
    int saved_errno = errno;
    const struct fm_rec_module *module =
        fm_process.state == FM_RECORDING ? fm_module_record(hook_pc) : NULL;
    const struct fm_rec_text *path = module != NULL ? fm_at(module->path) : NULL;
    fm_complain("functions with hooks of another kind than --hooks=slots are not recorded",
                path != NULL ? path->bytes : NULL);
    errno = saved_errno;
}

/* copies: where the next copy goes; NULL: nowhere. */
static void make_stale(struct fm_slots_node *node, void *copies)
{
    struct fm_rec_csd_exits **next = copies, *copy = *next;
    if (copy != NULL) {
        copy->csd = *node->csd;
        *next = copy + 1;
    }
    node->csd = copy != NULL ? &copy->csd : &fm_slots_uncounted.csd;
    node->special |= FM_SLOTS_STALE;
    node->number = 0;
}

void fm_slots_after_fork(struct fm_thread *thread)
{
    struct fm_slots_thread *own = thread->slots;
    if (own == NULL)
        return;
    /* Exits of calls that the parent counts go to copies. They stay. */
    struct fm_rec_csd_exits *copies = fm_private_alloc((own->edges + 1ul) * sizeof *copies);
    fm_slots_each(own->root, make_stale, &copies);
    own->root->csd = fm_at(thread->rec->root_csd);
    if (own->lost != NULL) {
        own->lost->csd = &fm_slots_uncounted.csd;
        own->lost->parent = 0;
        own->lost = NULL;
        own->lost_slots = 0;
    }
    thread->tls->bound = fm_thread_bound(thread, 0);
    const struct fm_rec_frame *at = fm_slots_charged(thread);
    if (at->csd != (uint64_t)own->root->csd)
        fm_process.header->forked_in = fm_ref((const void *)at->csd);
}

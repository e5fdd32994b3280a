/* SPDX-License-Identifier: Apache-2.0 */
/* Stops and starts: while the recording is stopped, calls run in a stand-in that is nobody's. */
#include "slots.h"

#include <string.h>

/* As deep as the tree of contexts, in which each function occurs once on a path. */
void fm_slots_each(const struct fm_slots_node *root,
                   void (*visit)(struct fm_slots_node *node, void *data), void *data)
{
    const struct fm_slots_node *nobody = fm_slots_nobody();
    uint32_t slots = root->function != NULL ? fm_slots_sites(root->function) : 1;
    for (uint32_t i = 0; i < (slots > 0 ? slots : 1); i++)
        for (struct fm_slots_node *callee = fm_slots_at(root->slots[i]); callee != nobody;
             callee = fm_slots_at(callee->next)) {
            visit(callee, data);
            if (callee->maker == 0)
                fm_slots_each(callee, visit, data);
        }
}

static void hide(struct fm_slots_node *node, void *data)
{
    (void)data;
    __atomic_store_n(&node->number, 0, __ATOMIC_RELAXED);
}

static void show(struct fm_slots_node *node, void *data)
{
    (void)data;
    if ((node->special & FM_SLOTS_STALE) == 0)
        __atomic_store_n(&node->number, fm_slots_number(node), __ATOMIC_RELAXED);
}

static bool stand_ins_make(struct fm_slots_thread *own)
{
    /* Not the one that all threads share: each counts there at every call. */
    struct fm_rec_csd_exits *unread = fm_private_alloc(sizeof *unread);
    struct fm_slots_node *closed = fm_slots_node_make(NULL, FM_SLOTS_STAND_IN_SITES);
    struct fm_slots_node *open = fm_slots_node_make(NULL, FM_SLOTS_STAND_IN_SITES);
    if (unread == NULL || closed == NULL || open == NULL) {
        if (unread != NULL)
            fm_private_free(unread, sizeof *unread);
        return false; /* nodes are never freed */
    }
    closed->csd = open->csd = &unread->csd;
    closed->parent = fm_slots_ref(own->root);
    closed->special = FM_SLOTS_STAND_IN;
    open->parent = fm_slots_ref(closed);
    open->special = FM_SLOTS_STAND_IN | FM_SLOTS_OPEN;
    own->stand_in_open = open;
    own->stand_in = closed;
    return true;
}

void fm_slots_stop(struct fm_thread *thread, bool stopped)
{
    struct fm_slots_thread *own = thread->slots;
    if (own == NULL) /* it asks when it begins */
        return;
    if (stopped && own->stand_in == NULL && !stand_ins_make(own))
        return; /* all calls take the slow path, where they go nowhere */
    if (!stopped && own->stand_in != NULL)
        own->stand_in->special &= ~(uint32_t)FM_SLOTS_ANY;
    __atomic_store_n(&thread->tls->slot_stopped, stopped ? own->stand_in : NULL, __ATOMIC_RELEASE);
    if (stopped) {
        struct fm_slots_node *closed = own->stand_in;
        for (uint32_t i = 0; i < FM_SLOTS_STAND_IN_SITES; i++)
            closed->slots[i] = own->stand_in_open->slots[i] = fm_slots_ref(closed);
        closed->next = fm_slots_ref(closed);
        closed->special |= FM_SLOTS_ANY;
    }
    fm_slots_each(own->root, stopped ? hide : show, NULL);
}

/* The slot of a call that returns to `site`. A call within a file has loaded it: movl N(%r15),
 * %r11d; call. Others have stored its offset. */
static uint32_t slot_of_call(const struct fm_slots_node *node, uint64_t site)
{
    static const uint32_t near_call = 5;
    const uint8_t *call = (const uint8_t *)(site - near_call);
    int64_t offset = node->site;
    if (FM_SLOTS_IN_EXECUTABLE(site) && call[0] == 0xe8) {
        static const uint8_t by_byte[] = {0x45, 0x8b, 0x5f}, by_word[] = {0x45, 0x8b, 0x9f};
        int32_t word;
        memcpy(&word, call - 4, sizeof word);
        if (memcmp(call - 4, by_byte, sizeof by_byte) == 0)
            offset = word >> 24; /* its last byte, with its sign */
        else if (memcmp(call - 7, by_word, sizeof by_word) == 0)
            offset = word;
    }
    offset = (offset - FM_SLOTS_HEADER) / 4;
    return offset >= 0 && offset < FM_SLOTS_STAND_IN_SITES ? (uint32_t)offset
                                                           : FM_SLOTS_STAND_IN_SITES;
}

void fm_slots_stand_in_called(struct fm_slots_node *stand_in, uint64_t site,
                              const struct fm_slots_node *callee)
{
    uint32_t slot = slot_of_call(stand_in, site);
    if (slot < FM_SLOTS_STAND_IN_SITES && callee->number != 0)
        __atomic_store_n(&stand_in->slots[slot], fm_slots_ref(callee), __ATOMIC_RELEASE);
}

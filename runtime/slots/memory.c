/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of nodes: below 4 GiB, never given back, since r15 of code that runs later may still be a
 * node of a thread that has ended. */
#include "slots.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define LOW ((uint64_t)FM_SLOTS_LOW)
#define HIGH ((uint64_t)FM_SLOTS_HIGH)
#define REGION (1u << 20)
#define CHUNK_FIRST (4u << 10)
#define CHUNK_MOST (64u << 10)
#define MARK 0x5f4d4e44u /* a node's address xor this */

static uint8_t mapped[(HIGH - LOW) / REGION];
static char *at, *end;
static uint64_t next_region = LOW;
static fm_lock lock;
static struct fm_slots_node *nobody, *nowhere;
static uint32_t nowhere_slots;
struct fm_rec_csd_exits fm_slots_uncounted;

bool fm_slots_is_node(uint64_t address)
{
    if (address < LOW || address >= HIGH || address % 8 != 0 ||
        __atomic_load_n(&mapped[(address - LOW) / REGION], __ATOMIC_ACQUIRE) == 0 ||
        address % REGION > REGION - sizeof(struct fm_slots_node))
        return false;
    return fm_slots_at((uint32_t)address)->mark == ((uint32_t)address ^ MARK);
}

/* Locked. Regions that others have are passed over. */
static bool region_map(uint64_t bytes)
{
    bytes = (bytes + REGION - 1) / REGION * REGION;
    for (; next_region + bytes <= HIGH; next_region += REGION) {
        void *got = fm_memory_map((void *)next_region, bytes, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
        if (got == NULL)
            continue;
        if (got != (void *)next_region) { /* a kernel that does not know the flag */
            fm_memory_unmap(got, bytes);
            continue;
        }
        if (end != got)
            at = got;
        end = (char *)got + bytes;
        for (uint64_t i = 0; i < bytes; i += REGION)
            __atomic_store_n(&mapped[(next_region + i - LOW) / REGION], 1, __ATOMIC_RELEASE);
        next_region += bytes;
        return true;
    }
    return false;
}

static void *take(size_t bytes)
{
    void *taken = NULL;
    fm_lock_take(&lock);
    if ((size_t)(end - at) >= bytes || region_map(bytes)) {
        taken = at;
        at += bytes;
    }
    fm_lock_give(&lock);
    return taken;
}

static struct fm_slots_node *node_init(void *memory, uint32_t slots, uint32_t fill)
{
    struct fm_slots_node *node = memory;
    if (node == NULL)
        return NULL;
    for (uint32_t i = 0; i < slots; i++)
        node->slots[i] = fill;
    node->next = fill;
    node->site =
        FM_SLOTS_HEADER; /* also before the first call that leaves: a handler looks there */
    node->csd = &fm_slots_uncounted.csd;
    __atomic_store_n(&node->mark, fm_slots_ref(node) ^ MARK, __ATOMIC_RELEASE);
    return node;
}

static size_t bytes_of(uint32_t slots)
{
    return (sizeof(struct fm_slots_node) + slots * sizeof(uint32_t) + 7) & ~(size_t)7;
}

static _Noreturn void give_up(void)
{
    fm_complain("no memory below 4 GiB, which --hooks=slots needs", NULL);
    _exit(127);
}

struct fm_slots_node *fm_slots_nobody(void)
{
    struct fm_slots_node *known = __atomic_load_n(&nobody, __ATOMIC_ACQUIRE);
    if (known != NULL)
        return known;
    void *memory = take(bytes_of(0));
    if (memory == NULL)
        give_up();
    struct fm_slots_node *made = node_init(memory, 0, (uint32_t)(uintptr_t)memory);
    if (__atomic_compare_exchange_n(&nobody, &known, made, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return made;
    return known;
}

struct fm_slots_node *fm_slots_node_make(struct fm_slots_thread *of, uint32_t slots)
{
    size_t bytes = bytes_of(slots);
    uint32_t fill = fm_slots_ref(fm_slots_nobody());
    if (of == NULL || bytes > CHUNK_FIRST)
        return node_init(take(bytes), slots, fill);
    if ((size_t)(of->end - of->at) < bytes) {
        of->chunk_bytes = of->chunk_bytes == 0           ? CHUNK_FIRST
                          : of->chunk_bytes < CHUNK_MOST ? of->chunk_bytes * 2
                                                         : CHUNK_MOST;
        of->at = take(of->chunk_bytes);
        of->end = of->at != NULL ? of->at + of->chunk_bytes : NULL;
        if (of->at == NULL)
            return NULL;
    }
    struct fm_slots_node *node = node_init(of->at, slots, fill);
    of->at += bytes;
    return node;
}

struct fm_slots_node *fm_slots_nowhere(uint32_t slots)
{
    struct fm_slots_node *node = __atomic_load_n(&nowhere, __ATOMIC_ACQUIRE);
    if (node != NULL && slots <= nowhere_slots)
        return node;
    slots = slots < 1024 ? 1024 : slots * 2;
    node = fm_slots_node_make(NULL, slots);
    if (node == NULL)
        give_up();
    /* Code without hooks may enter it, without a record: its exits look at r15 before they keep it.
     */
    node->special = FM_SLOTS_OPEN;
    nowhere_slots = slots;
    __atomic_store_n(&nowhere, node, __ATOMIC_RELEASE);
    return node;
}

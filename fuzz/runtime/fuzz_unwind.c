/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an object in memory: unwind tables, code and stack are parts of them. An unwind
 * reads nothing out of bounds, and ends. The loader and the kernel are replaced. */
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#include "unwind/rules.h"
#include "unwind/unwind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STEPS_MAX 200u
#define HEAD_BYTES 8u /* offsets of rip, rsp and rbp, flags */
#define IMAGE_BYTES_MAX (64u << 10)

static struct fm_unwind_bounds image;

static bool is_inside(uint64_t address, uint64_t bytes)
{
    uint64_t low = (uint64_t)image.low, high = (uint64_t)image.high;
    return address >= low && address <= high && high - address >= bytes;
}

bool fm_unwind_table_of(uint64_t pc, struct fm_unwind_table *ret)
{
    *ret = (struct fm_unwind_table){.header = image.low, .around = image, .frames = image};
    return is_inside(pc, 1);
}

bool fm_unwind_is_code(uint64_t address, unsigned bytes)
{
    return is_inside(address, bytes);
}

bool fm_unwind_is_readable(uint64_t address)
{
    return is_inside(address, 8);
}

bool fm_unwind_word_slowly(struct fm_unwind_memory *memory, uint64_t address, uint64_t *ret)
{
    (void)memory;
    if (!is_inside(address, 8) || address % 8 != 0)
        return false;
    memcpy(ret, (const void *)address, sizeof *ret);
    return true;
}

static uint64_t place(const uint8_t *data, unsigned index)
{
    uint16_t offset;
    memcpy(&offset, data + 2 * index, sizeof offset);
    return (uint64_t)image.low + offset;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size <= HEAD_BYTES || size - HEAD_BYTES > IMAGE_BYTES_MAX)
        return 0;
    size_t bytes = size - HEAD_BYTES;
    uint8_t *copy = g_memdup2(data + HEAD_BYTES, bytes);
    image = (struct fm_unwind_bounds){copy, copy + bytes};
    struct fm_unwind_registers registers;
    for (unsigned i = 0; i < FM_UNWIND_REGISTERS; i++)
        registers.value[i] = (uint64_t)image.low + i * 16;
    registers.value[FM_UNWIND_RIP] = place(data, 0);
    registers.value[FM_UNWIND_RSP] = place(data, 1);
    registers.value[FM_UNWIND_RBP] = place(data, 2);
    registers.known = (1u << FM_UNWIND_REGISTERS) - 1;
    struct fm_unwind walk;
    bool bounded = (data[6] & 1) != 0;
    fm_unwind_begin(&walk, &registers, bounded ? (uint64_t)image.low : 0,
                    bounded ? (uint64_t)image.high : 0);
    if ((data[6] & 2) != 0)
        walk.exact = walk.all_exact = false;
    enum fm_unwind_result result = FM_UNWIND_FRAME;
    for (unsigned i = 0; i < STEPS_MAX && result == FM_UNWIND_FRAME; i++)
        result = fm_unwind_step(&walk);
    /* A cached rule equals a newly computed one. */
    for (uint64_t pc = (uint64_t)image.low; pc < (uint64_t)image.high; pc += 1 + bytes / 64) {
        fm_rule rule = fm_unwind_rule_known(pc);
        if (rule != FM_RULE_NONE && rule != fm_unwind_rule_make(pc, true) &&
            rule != fm_unwind_rule_make(pc, false))
            abort();
    }
    fm_unwind_forget(); /* the next object may have the same addresses */
    g_free(copy);
    return 0;
}

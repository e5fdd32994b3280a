/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/file/machine/instructions.h"

#include <capstone/capstone.h>
#include <string.h>

#define MARK_BYTES 8

static void instruction_clear(void *data)
{
    g_free(((struct fm_instruction *)data)->text);
}

/* The long nops that fathom's hooks begin and end with: runtime/hot.h. */
static bool is_mark(const uint8_t *bytes, size_t left, char kind)
{
    static const uint8_t nop[] = {0x0f, 0x1f, 0x84, 0x00, 'F', 'T', 'F'};
    return left >= MARK_BYTES && memcmp(bytes, nop, sizeof nop) == 0 &&
           bytes[MARK_BYTES - 1] == (uint8_t)kind;
}

/* How many bytes the hook that begins here has, its marks included; 0: none begins here. */
static size_t hook_size(const uint8_t *bytes, size_t left)
{
    if (!is_mark(bytes, left, 'B'))
        return 0;
    for (size_t at = MARK_BYTES; at + MARK_BYTES <= left; at++) {
        if (is_mark(bytes + at, left - at, 'E') || is_mark(bytes + at, left - at, 'L'))
            return at + MARK_BYTES;
        if (is_mark(bytes + at, left - at, 'B'))
            return 0; /* it has no end */
    }
    return 0;
}

/* Direct calls and jumps have their distance at the end. */
static void find_target(const uint8_t *bytes, struct fm_instruction *one)
{
    size_t at = 0;
    while (at < one->size && (bytes[at] == 0xf2 || bytes[at] == 0x66 || bytes[at] == 0x2e ||
                              bytes[at] == 0x3e || (bytes[at] & 0xf0) == 0x40))
        at++;
    size_t left = one->size - at;
    int32_t far;
    if (left < 2)
        return;
    bool call = bytes[at] == 0xe8 && left == 5;
    bool jump = (bytes[at] == 0xe9 && left == 5) ||
                (bytes[at] == 0x0f && (bytes[at + 1] & 0xf0) == 0x80 && left == 6);
    bool near = (bytes[at] == 0xeb || (bytes[at] & 0xf0) == 0x70) && left == 2;
    uint64_t next = one->address + one->size;
    if (call || jump) {
        memcpy(&far, bytes + one->size - sizeof far, sizeof far);
        one->target = next + (uint64_t)(int64_t)far;
    } else if (near) {
        one->target = next + (uint64_t)(int64_t)(int8_t)bytes[one->size - 1];
    } else if (bytes[at] == 0xff && ((bytes[at + 1] >> 3) & 7) == 2) {
        call = true;
    }
    if (call)
        one->kind = FM_INSTRUCTION_CALL;
    else if (jump || near)
        one->kind = FM_INSTRUCTION_JUMP;
}

static void decode(csh handle, cs_insn *insn, const uint8_t *bytes, size_t left,
                   struct fm_instruction *one)
{
    const uint8_t *at = bytes;
    size_t rest = left;
    uint64_t address = one->address;
    if (!cs_disasm_iter(handle, &at, &rest, &address, insn)) {
        one->kind = FM_INSTRUCTION_BAD;
        one->size = 1;
        one->text = g_strdup_printf(".byte 0x%02x", bytes[0]);
        return;
    }
    one->size = insn->size;
    one->text = insn->op_str[0] ? g_strdup_printf("%-6s %s", insn->mnemonic, insn->op_str)
                                : g_strdup(insn->mnemonic);
    find_target(bytes, one);
}

GArray *fm_instructions(const uint8_t *bytes, uint64_t size, uint64_t address, uint32_t max,
                        bool *ret_all)
{
    g_return_val_if_fail((bytes != NULL || size == 0) && ret_all != NULL, NULL);
    csh handle;
    if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle) != CS_ERR_OK)
        return NULL;
    cs_insn *insn = cs_malloc(handle);
    GArray *all = g_array_new(FALSE, FALSE, sizeof(struct fm_instruction));
    g_array_set_clear_func(all, instruction_clear);
    size_t at = 0;
    while (at < size && all->len < max) {
        struct fm_instruction one = {.address = address + at};
        one.size = (uint32_t)hook_size(bytes + at, size - at);
        if (one.size > 0)
            one.kind = FM_INSTRUCTION_HOOK;
        else
            decode(handle, insn, bytes + at, size - at, &one);
        at += one.size;
        g_array_append_val(all, one);
    }
    *ret_all = at >= size;
    cs_free(insn, 1);
    cs_close(&handle);
    return all;
}

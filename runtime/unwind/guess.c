/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of code without unwind tables: JIT code, hand-written assembly, or code compiled with
 * -fno-asynchronous-unwind-tables. A return address is a word whose target follows a call
 * instruction; which word it is, is a guess. */
#include "rules.h"
#include "unwind.h"

#include "../valgrind.h"

#include <stddef.h>
#include <string.h>

#define FRAME_BYTES_MAX (1u << 20)
#define WORDS_SEARCHED 64u
#define CALL_BYTES_MAX 7u /* bytes examined before a return address */

/* Length of an indirect call from its ff on (ff /2), 0: not one. */
static unsigned indirect_call_bytes(const uint8_t *code)
{
    unsigned mode = code[1] >> 6, base = code[1] & 7;
    if (code[0] != 0xff || (code[1] >> 3 & 7) != 2)
        return 0;
    if (mode == 3)
        return 2;
    bool has_sib = base == 4;
    unsigned bytes = 2 + has_sib + (mode == 1 ? 1 : mode == 2 ? 4 : 0);
    if (mode == 0 && (base == 5 || (has_sib && (code[2] & 7) == 5)))
        bytes += 4;
    return bytes;
}

/* An entry of a procedure linkage table: jmp *N(%rip), possibly after endbr64 and with a bnd
 * prefix. */
static bool is_stub(uint64_t target)
{
    static const uint8_t endbr64[] = {0xf3, 0x0f, 0x1e, 0xfa};
    uint8_t code[7];
    if (!fm_unwind_is_code(target, sizeof code))
        return false;
    memcpy(code, (const void *)target, sizeof code);
    const uint8_t *at = code + (memcmp(code, endbr64, sizeof endbr64) == 0 ? sizeof endbr64 : 0);
    at += *at == 0xf2;
    return at[0] == 0xff && at[1] == 0x25;
}

/* Whether a call of target can have led to the code at left, which the walk is about to leave: it
 * is in the same function, or the target is unknown, or the function has run into the padding after
 * it. */
static bool can_lead_to(uint64_t target, uint64_t left)
{
    struct fm_unwind_table table;
    struct fm_unwind_entry entry;
    uint64_t below;
    if (!fm_unwind_table_of(target, &table) || !fm_unwind_entry_find(&table, target, &entry, NULL))
        return true; /* code without tables, too */
    if ((left >= entry.start && left < entry.end) || is_stub(target))
        return true;
    return fm_unwind_table_of(left, &table) &&
           !fm_unwind_entry_find(&table, left, &entry, &below) && below == target;
}

#define LEFT_UNKNOWN 0

/* Whether ip is the return address of a call that can have led to the code at left, if that is
 * known. */
static bool is_behind_call(uint64_t ip, uint64_t left, bool anywhere)
{
    uint8_t code[CALL_BYTES_MAX + 2] = {0}; /* two more are examined */
    if (ip < 4096 || ip >> 47 != 0)
        return false;
    uint64_t first = ip - CALL_BYTES_MAX;
    if (!fm_unwind_is_code(first, CALL_BYTES_MAX) &&
        !(anywhere && fm_unwind_is_readable(first) && fm_unwind_is_readable(ip - 1)))
        return false;
    memcpy(code, (const void *)first, CALL_BYTES_MAX);
    if (code[2] == 0xe8) {
        int32_t distance;
        memcpy(&distance, code + 3, sizeof distance);
        return left == LEFT_UNKNOWN || can_lead_to(ip + (uint64_t)(int64_t)distance, left);
    }
    for (unsigned bytes = 2; bytes <= CALL_BYTES_MAX; bytes++)
        if (indirect_call_bytes(code + CALL_BYTES_MAX - bytes) == bytes)
            return true;
    return false;
}

bool fm_unwind_is_made_by_hand(uint64_t ip)
{
    return fm_unwind_rule_make(ip - 1, false) == FM_RULE_NONE &&
           fm_unwind_rule_make(ip, true) != FM_RULE_NONE &&
           !is_behind_call(ip, LEFT_UNKNOWN, false);
}

static void leave_to(struct fm_unwind *walk, uint64_t ip, uint64_t slot)
{
    walk->ip = ip;
    walk->ip_slot = slot;
    walk->bp_slot = 0;
    walk->sp = slot + 8;
}

/* In a function's first instruction, or in one without a frame. */
static bool guess_at_sp(struct fm_unwind *walk)
{
    uint64_t ip;
    if (!walk->exact || !fm_unwind_word(&walk->memory, walk->sp, &ip) ||
        !is_behind_call(ip, walk->ip, false))
        return false;
    walk->by_bp = false;
    leave_to(walk, ip, walk->sp);
    return true;
}

/* A chain of frame pointers. It may lead into code that no object has: compilers at run time keep
 * such chains. As long as the code is what it is, the step follows from the two words. */
static bool guess_by_bp(struct fm_unwind *walk)
{
    uint64_t bp, ip, slot = walk->bp;
    if (slot < walk->sp || slot - walk->sp >= FRAME_BYTES_MAX || slot % 8 != 0 ||
        !fm_unwind_word(&walk->memory, slot, &bp) ||
        !fm_unwind_word(&walk->memory, slot + 8, &ip) || !is_behind_call(ip, walk->ip, true))
        return false;
    walk->by_bp = walk->by_slots = true;
    leave_to(walk, ip, slot + 8);
    walk->bp = bp;
    walk->bp_slot = slot;
    return true;
}

/* Code that no object has may be entered by a jump, and share the frame of the function that jumped
 * (LuaJIT's traces): there the call leads to that function. */
static bool guess_by_search(struct fm_unwind *walk)
{
    uint64_t slot = (walk->sp + 7) & ~7ull, ip;
    uint64_t left = fm_unwind_is_code(walk->ip - 1, 1) ? walk->ip : LEFT_UNKNOWN;
    for (unsigned i = 0; i < WORDS_SEARCHED; i++, slot += 8) {
        if (!fm_unwind_word(&walk->memory, slot, &ip))
            return false;
        if (!is_behind_call(ip, left, false))
            continue;
        walk->by_bp = false;
        leave_to(walk, ip, slot);
        return true;
    }
    return false;
}

bool fm_unwind_guess(struct fm_unwind *walk)
{
    if (fm_under_valgrind()) /* valgrind would report each word that was never written */
        return false;
    return guess_at_sp(walk) || guess_by_bp(walk) || guess_by_search(walk);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "rules.h"

#include <stddef.h>
#include <string.h>
#include <ucontext.h>

struct fm_rule_slot fm_rule_slots[1u << FM_RULE_SLOTS_LOG2];
uint64_t fm_rule_epoch;

/* The bits of addresses are below, so checks of two epochs differ in their high bits. */
#define EPOCH_STEP (1ull << 48)

void fm_unwind_forget(void)
{
    __atomic_fetch_add(&fm_rule_epoch, EPOCH_STEP, __ATOMIC_RELAXED);
}

#define OFFSET_MAX ((1 << 26) - 1)

static bool fits(int64_t offset)
{
    return offset >= -OFFSET_MAX && offset <= OFFSET_MAX;
}

static fm_rule make(enum fm_rule_kind kind, unsigned column, int64_t offset, enum fm_rule_bp bp,
                    int64_t bp_offset)
{
    if (!fits(offset) || !fits(bp_offset))
        return FM_RULE_INTERPRETED;
    uint64_t bits = (uint64_t)offset & (2u * OFFSET_MAX + 1u);
    return (uint64_t)bp_offset << 37 | bits << 10 | (uint64_t)bp << 8 | (uint64_t)column << 4 |
           (uint64_t)kind;
}

/* Operations of expressions. */
#define RIP_IN_CONTEXT (int64_t)(offsetof(ucontext_t, uc_mcontext.gregs) + REG_RIP * sizeof(greg_t))
#define OP_BREG0 0x70
#define OP_DEREF 0x06
#define OP_PLUS_UCONST 0x23

/* Reads "register + offset" off the begin of an expression. */
static bool read_base(struct fm_unwind_bounds *expression, unsigned *ret_column,
                      int64_t *ret_offset)
{
    const uint8_t *at = expression->low;
    if (at == expression->high || at[0] < OP_BREG0 || at[0] >= OP_BREG0 + 16)
        return false;
    *ret_column = at[0] - OP_BREG0;
    int64_t offset = 0;
    for (unsigned shift = 0;; shift += 7) {
        at++;
        if (at == expression->high || shift > 28)
            return false;
        offset |= (int64_t)(*at & 0x7f) << shift;
        if ((*at & 0x80) == 0) {
            offset -= (*at & 0x40) != 0 ? (int64_t)128 << shift : 0;
            break;
        }
    }
    expression->low = at + 1;
    *ret_offset = offset;
    return true;
}

/* Lazy entries of a procedure linkage table, all described by one row: the second instruction of
 * each pushes a word. rsp + 8 + ((rip & 15) >= N) << 3; N is 11, or less with other
 * instructions. */
static bool is_plt(struct fm_unwind_bounds expression, int64_t *ret_from)
{
    static const uint8_t first[] = {0x77, 0x08, 0x80, 0x00, 0x3f, 0x1a};
    static const uint8_t last[] = {0x2a, 0x33, 0x24, 0x22};
    const uint8_t *at = expression.low;
    if (expression.high - at != 11 || memcmp(at, first, sizeof first) != 0 ||
        memcmp(at + 7, last, sizeof last) != 0 || at[6] < 0x30 || at[6] > 0x3f)
        return false;
    *ret_from = at[6] - 0x30; /* lit0.. */
    return true;
}

static bool classify_cfa(const struct fm_unwind_entry *entry, const struct fm_unwind_row *row,
                         enum fm_rule_kind *ret_kind, unsigned *ret_column, int64_t *ret_offset)
{
    if (row->cfa_how == FM_UNWIND_REGISTER_OFFSET) {
        *ret_kind = FM_RULE_OFFSET;
        *ret_column = row->cfa_register;
        *ret_offset = row->cfa_value;
        return row->cfa_register < FM_UNWIND_RIP;
    }
    struct fm_unwind_bounds expression = fm_unwind_expression(entry, row->cfa_value);
    if (is_plt(expression, ret_offset)) {
        *ret_kind = FM_RULE_PLT;
        *ret_column = FM_UNWIND_RSP;
        return true;
    }
    if (!read_base(&expression, ret_column, ret_offset))
        return false;
    const uint8_t *at = expression.low;
    int64_t left = expression.high - at;
    if (left == 1 && at[0] == OP_DEREF) {
        *ret_kind = FM_RULE_LOADED;
        return true;
    }
    *ret_kind = FM_RULE_LOADED_8;
    return left == 3 && at[0] == OP_DEREF && at[1] == OP_PLUS_UCONST && at[2] == 8;
}

static bool classify_bp(const struct fm_unwind_entry *entry, const struct fm_unwind_row *row,
                        enum fm_rule_bp *ret_bp, int64_t *ret_offset)
{
    unsigned column;
    *ret_offset = row->value[FM_UNWIND_RBP];
    switch (row->how[FM_UNWIND_RBP]) {
    case FM_UNWIND_UNSET:
    case FM_UNWIND_SAME:
        *ret_bp = FM_RULE_BP_SAME;
        *ret_offset = 0;
        return true;
    case FM_UNWIND_UNDEFINED:
        *ret_bp = FM_RULE_BP_LOST;
        *ret_offset = 0;
        return true;
    case FM_UNWIND_AT_CFA:
        *ret_bp = FM_RULE_BP_AT_CFA;
        return true;
    case FM_UNWIND_AT_EXPRESSION: {
        struct fm_unwind_bounds expression = fm_unwind_expression(entry, row->value[FM_UNWIND_RBP]);
        *ret_bp = FM_RULE_BP_AT_BP;
        return read_base(&expression, &column, ret_offset) && column == FM_UNWIND_RBP &&
               expression.low == expression.high;
    }
    default:
        return false;
    }
}

/* Whether the frame is as the kernel makes it for a handler: e.g. rip in a ucontext_t at rsp.
 * Hand-written code marks other frames as a signal's, too. */
static bool is_kernels(const struct fm_unwind_entry *entry, const struct fm_unwind_row *row)
{
    unsigned column;
    int64_t offset;
    if (row->how[FM_UNWIND_RIP] != FM_UNWIND_AT_EXPRESSION)
        return false;
    struct fm_unwind_bounds place = fm_unwind_expression(entry, row->value[FM_UNWIND_RIP]);
    return read_base(&place, &column, &offset) && place.low == place.high &&
           column == FM_UNWIND_RSP && offset == RIP_IN_CONTEXT;
}

fm_rule fm_unwind_rule_of(const struct fm_unwind_entry *entry, const struct fm_unwind_row *row)
{
    enum fm_rule_kind kind;
    enum fm_rule_bp bp;
    unsigned column;
    int64_t offset, bp_offset;
    if (entry->signal)
        return is_kernels(entry, row) ? FM_RULE_SIGNAL : FM_RULE_INTERPRETED;
    if (row->how[FM_UNWIND_RIP] == FM_UNWIND_UNDEFINED)
        return FM_RULE_END;
    if (row->cfa_how == FM_UNWIND_UNSET) /* a table that says nothing, as some JITs make */
        return FM_RULE_NONE;
    if (row->may_be_left || row->how[FM_UNWIND_RIP] != FM_UNWIND_AT_CFA ||
        row->value[FM_UNWIND_RIP] != -8 ||
        (row->how[FM_UNWIND_RSP] != FM_UNWIND_UNSET && row->how[FM_UNWIND_RSP] != FM_UNWIND_SAME) ||
        !classify_cfa(entry, row, &kind, &column, &offset) ||
        !classify_bp(entry, row, &bp, &bp_offset))
        return FM_RULE_INTERPRETED;
    return make(kind, column, offset, bp, bp_offset);
}

/* gcc's rows for functions that realign their frame are wrong between `leave` and `ret`: they still
 * say that rbp and others are stored relative to rbp, though all have the caller's values again.
 * The same rows are right in the prologue, so registers and stack must decide (leave.c). */
static void amend(struct fm_unwind_row *row)
{
    row->may_be_left = row->how[FM_UNWIND_RBP] == FM_UNWIND_AT_EXPRESSION &&
                       row->cfa_how == FM_UNWIND_REGISTER_OFFSET &&
                       row->cfa_register != FM_UNWIND_RBP;
}

bool fm_unwind_row_at(uint64_t pc, bool exact, struct fm_unwind_entry *ret_entry,
                      struct fm_unwind_row *ret)
{
    struct fm_unwind_table table;
    if (!fm_unwind_table_of(pc, &table) || !fm_unwind_entry_find(&table, pc, ret_entry, NULL) ||
        !fm_unwind_row_find(ret_entry, pc, ret))
        return false;
    if (exact)
        amend(ret);
    return true;
}

fm_rule fm_unwind_rule_make(uint64_t pc, bool exact)
{
    struct fm_unwind_entry entry;
    struct fm_unwind_row row;
    return fm_unwind_row_at(pc, exact, &entry, &row) ? fm_unwind_rule_of(&entry, &row)
                                                     : FM_RULE_NONE;
}

fm_rule fm_unwind_rule_learn(uint64_t pc, bool exact)
{
    uint64_t epoch = __atomic_load_n(&fm_rule_epoch, __ATOMIC_ACQUIRE);
    fm_rule rule = fm_unwind_rule_make(pc, exact);
    if (rule == FM_RULE_NONE) /* code that is loaded later may have one */
        return rule;
    struct fm_rule_slot *slot = fm_rule_slot_of(pc);
    __atomic_store_n(&slot->check, pc ^ epoch ^ rule * FM_RULE_FACTOR, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->rule, rule, __ATOMIC_RELAXED);
    return rule;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "expression.h"

#include "bytes.h"

#define VALUES_MAX 16u      /* linkers and compilers need three */
#define OPERATIONS_MAX 256u /* jumps can make an expression endless */

struct machine {
    struct fm_unwind_bounds all;
    struct fm_bytes bytes;
    const struct fm_unwind_registers *registers;
    struct fm_unwind_memory *memory;
    uint64_t values[VALUES_MAX];
    unsigned count;
    bool bad;
};

static void push(struct machine *m, uint64_t value)
{
    if (m->count == VALUES_MAX)
        m->bad = true;
    else
        m->values[m->count++] = value;
}

static uint64_t pop(struct machine *m)
{
    if (m->count == 0) {
        m->bad = true;
        return 0;
    }
    return m->values[--m->count];
}

static void pick(struct machine *m, uint64_t depth)
{
    if (depth >= m->count)
        m->bad = true;
    else
        push(m, m->values[m->count - 1 - depth]);
}

static void push_register(struct machine *m, uint64_t column, int64_t offset)
{
    if (!fm_unwind_register_known(m->registers, column))
        m->bad = true;
    else
        push(m, m->registers->value[column] + (uint64_t)offset);
}

static void load(struct machine *m, unsigned size)
{
    uint64_t address = pop(m), word = 0;
    if (m->bad || size == 0 || size > 8 || address % 8 + size > 8 ||
        !fm_unwind_word(m->memory, address & ~7ull, &word)) {
        m->bad = true;
        return;
    }
    word >>= address % 8 * 8;
    push(m, size == 8 ? word : word & ((1ull << size * 8) - 1));
}

static void jump(struct machine *m, int64_t distance)
{
    int64_t to = m->bytes.at - m->all.low + distance;
    if (to < 0 || to > m->all.high - m->all.low)
        m->bad = true;
    else
        m->bytes.at = m->all.low + to;
}

static bool compare(struct machine *m, uint8_t code)
{
    static const uint8_t first = 0x29, last = 0x2e; /* DW_OP_eq, ge, gt, le, lt, ne */
    if (code < first || code > last)
        return false;
    int64_t b = (int64_t)pop(m), a = (int64_t)pop(m);
    const bool results[] = {a == b, a >= b, a > b, a <= b, a < b, a != b};
    push(m, results[code - first]);
    return true;
}

static uint64_t divide(struct machine *m, int64_t a, int64_t b)
{
    if (b == 0 || (b == -1 && a == INT64_MIN)) {
        m->bad = true;
        return 0;
    }
    return (uint64_t)(a / b);
}

static uint64_t remainder_of(struct machine *m, uint64_t a, uint64_t b)
{
    m->bad |= b == 0;
    return b == 0 ? 0 : a % b;
}

/* Operations that have two operands and one result. */
static bool calculate(struct machine *m, uint8_t code)
{
    if (code < 0x1a || code > 0x27 || code == 0x1f || code == 0x20 || code == 0x23)
        return false;
    uint64_t b = pop(m), a = pop(m);
    switch (code) {
    case 0x1a:
        push(m, a & b);
        break;
    case 0x1b:
        push(m, divide(m, (int64_t)a, (int64_t)b));
        break;
    case 0x1c:
        push(m, a - b);
        break;
    case 0x1d:
        push(m, remainder_of(m, a, b));
        break;
    case 0x1e:
        push(m, a * b);
        break;
    case 0x21:
        push(m, a | b);
        break;
    case 0x22:
        push(m, a + b);
        break;
    case 0x24:
        push(m, b < 64 ? a << b : 0);
        break;
    case 0x25:
        push(m, b < 64 ? a >> b : 0);
        break;
    case 0x26: /* DW_OP_shra */
        push(m, (uint64_t)((int64_t)a >> (b < 63 ? b : 63)));
        break;
    default: /* DW_OP_xor */
        push(m, a ^ b);
        break;
    }
    return true;
}

static bool constant(struct machine *m, uint8_t code)
{
    static const uint8_t sizes[] = {1, 1, 2, 2, 4, 4, 8, 8}; /* unsigned and signed alternately */
    if (code >= 0x08 && code <= 0x0f) {
        unsigned size = sizes[code - 0x08];
        push(m, code % 2 == 0 ? fm_bytes_number(&m->bytes, size)
                              : (uint64_t)fm_bytes_signed(&m->bytes, size));
        return true;
    }
    if (code >= 0x30 && code <= 0x4f) { /* DW_OP_lit0 to lit31 */
        push(m, code - 0x30u);
        return true;
    }
    switch (code) {
    case 0x03: /* DW_OP_addr */
        push(m, fm_bytes_number(&m->bytes, 8));
        return true;
    case 0x10:
        push(m, fm_bytes_uleb(&m->bytes));
        return true;
    case 0x11:
        push(m, (uint64_t)fm_bytes_sleb(&m->bytes));
        return true;
    default:
        return false;
    }
}

static void rearrange_or_jump(struct machine *m, uint8_t code)
{
    uint64_t a, b, c;
    switch (code) {
    case 0x12:
        pick(m, 0);
        break;
    case 0x13:
        pop(m);
        break;
    case 0x14:
        pick(m, 1);
        break;
    case 0x15:
        pick(m, fm_bytes_number(&m->bytes, 1));
        break;
    case 0x16: /* DW_OP_swap */
        a = pop(m);
        b = pop(m);
        push(m, a);
        push(m, b);
        break;
    case 0x17: /* DW_OP_rot: the top becomes the third */
        a = pop(m);
        b = pop(m);
        c = pop(m);
        push(m, a);
        push(m, c);
        push(m, b);
        break;
    case 0x28: { /* DW_OP_bra */
        int64_t distance = fm_bytes_signed(&m->bytes, 2);
        if (pop(m) != 0)
            jump(m, distance);
        break;
    }
    case 0x2f: /* DW_OP_skip */
        jump(m, fm_bytes_signed(&m->bytes, 2));
        break;
    default:
        m->bad = true;
    }
}

static void run_one(struct machine *m)
{
    uint8_t code = (uint8_t)fm_bytes_number(&m->bytes, 1);
    uint64_t value;
    if (code >= 0x70 && code <= 0x8f) { /* DW_OP_breg0 to breg31 */
        push_register(m, code - 0x70u, fm_bytes_sleb(&m->bytes));
        return;
    }
    switch (code) {
    case 0x06:
        load(m, 8);
        return;
    case 0x94:
        load(m, (unsigned)fm_bytes_number(&m->bytes, 1));
        return;
    case 0x19: /* DW_OP_abs */
        value = pop(m);
        push(m, (int64_t)value < 0 ? 0 - value : value);
        return;
    case 0x1f:
        push(m, 0 - pop(m));
        return;
    case 0x20:
        push(m, ~pop(m));
        return;
    case 0x23: /* DW_OP_plus_uconst */
        value = pop(m);
        push(m, value + fm_bytes_uleb(&m->bytes));
        return;
    case 0x92: /* DW_OP_bregx */
        value = fm_bytes_uleb(&m->bytes);
        push_register(m, value, fm_bytes_sleb(&m->bytes));
        return;
    case 0x96: /* DW_OP_nop */
        return;
    default:
        if (!constant(m, code) && !calculate(m, code) && !compare(m, code))
            rearrange_or_jump(m, code);
    }
}

bool fm_unwind_evaluate(struct fm_unwind_bounds expression,
                        const struct fm_unwind_registers *registers,
                        struct fm_unwind_memory *memory, const uint64_t *cfa, uint64_t *ret)
{
    struct machine m;
    m.all = expression;
    m.bytes = fm_bytes_of(expression);
    m.registers = registers;
    m.memory = memory;
    m.count = 0;
    m.bad = false;
    if (cfa != NULL)
        push(&m, *cfa);
    for (unsigned i = 0; m.bytes.at < m.bytes.end && !m.bad; i++) {
        run_one(&m);
        m.bad |= m.bytes.bad || i == OPERATIONS_MAX;
    }
    uint64_t value = pop(&m);
    if (m.bad)
        return false;
    *ret = value;
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/filter.h"

#include <stdbool.h>
#include <string.h>

struct machine {
    uint32_t a, x;
    uint32_t memory[BPF_MEMWORDS];
    const struct seccomp_data *call;
};

/* BPF_LD and BPF_LDX. False: seccomp has no such instruction. */
static bool load(struct machine *m, const struct sock_filter *step, uint32_t *into)
{
    if (BPF_SIZE(step->code) != BPF_W)
        return false;
    switch (BPF_MODE(step->code)) {
    case BPF_IMM:
        *into = step->k;
        return true;
    case BPF_MEM:
        if (step->k >= BPF_MEMWORDS)
            return false;
        *into = m->memory[step->k];
        return true;
    case BPF_LEN:
        *into = sizeof *m->call;
        return true;
    case BPF_ABS:
        if (step->k % sizeof *into != 0 || step->k > sizeof *m->call - sizeof *into)
            return false;
        memcpy(into, (const char *)m->call + step->k, sizeof *into);
        return true;
    }
    return false;
}

static bool store(struct machine *m, const struct sock_filter *step, uint32_t value)
{
    if (step->k >= BPF_MEMWORDS)
        return false;
    m->memory[step->k] = value;
    return true;
}

/* BPF_ALU. False: no such instruction, or a division by zero, which ends the filter with 0. */
static bool compute(struct machine *m, const struct sock_filter *step, uint32_t value)
{
    switch (BPF_OP(step->code)) {
    case BPF_ADD:
        m->a += value;
        return true;
    case BPF_SUB:
        m->a -= value;
        return true;
    case BPF_MUL:
        m->a *= value;
        return true;
    case BPF_DIV:
        if (value == 0)
            return false;
        m->a /= value;
        return true;
    case BPF_AND:
        m->a &= value;
        return true;
    case BPF_OR:
        m->a |= value;
        return true;
    case BPF_XOR:
        m->a ^= value;
        return true;
    case BPF_LSH:
        m->a <<= value & 31;
        return true;
    case BPF_RSH:
        m->a >>= value & 31;
        return true;
    case BPF_NEG:
        m->a = -m->a;
        return true;
    }
    return false;
}

/* BPF_JMP: how many steps are skipped. */
static bool jump(const struct machine *m, const struct sock_filter *step, uint32_t value,
                 uint32_t *ret_skipped)
{
    bool taken;
    switch (BPF_OP(step->code)) {
    case BPF_JA:
        *ret_skipped = step->k;
        return true;
    case BPF_JEQ:
        taken = m->a == value;
        break;
    case BPF_JGT:
        taken = m->a > value;
        break;
    case BPF_JGE:
        taken = m->a >= value;
        break;
    case BPF_JSET:
        taken = (m->a & value) != 0;
        break;
    default:
        return false;
    }
    *ret_skipped = taken ? step->jt : step->jf;
    return true;
}

/* All but BPF_RET. */
static bool take_step(struct machine *m, const struct sock_filter *step, uint32_t *ret_skipped)
{
    uint32_t value = BPF_SRC(step->code) == BPF_X ? m->x : step->k;
    switch (BPF_CLASS(step->code)) {
    case BPF_LD:
        return load(m, step, &m->a);
    case BPF_LDX:
        return BPF_MODE(step->code) != BPF_ABS && load(m, step, &m->x);
    case BPF_ST:
        return store(m, step, m->a);
    case BPF_STX:
        return store(m, step, m->x);
    case BPF_ALU:
        return compute(m, step, value);
    case BPF_JMP:
        return jump(m, step, value, ret_skipped);
    case BPF_MISC:
        if (BPF_MISCOP(step->code) == BPF_TAX)
            m->x = m->a;
        else
            m->a = m->x;
        return true;
    }
    return false;
}

/* Jumps lead forward only, so each step is executed at most once. */
uint32_t fm_filter_run(const struct sock_filter *code, unsigned count,
                       const struct seccomp_data *call)
{
    struct machine m = {.call = call};
    for (uint64_t at = 0; at < count; at++) {
        const struct sock_filter *step = &code[at];
        uint32_t skipped = 0;
        if (BPF_CLASS(step->code) == BPF_RET)
            return BPF_RVAL(step->code) == BPF_A ? m.a : step->k;
        if (!take_step(&m, step, &skipped))
            return SECCOMP_RET_KILL_PROCESS;
        at += skipped;
    }
    return SECCOMP_RET_KILL_PROCESS;
}

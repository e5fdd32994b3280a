/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/gate.h"

#include <linux/audit.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/syscall.h>

#include "sandbox/filter.h"

struct fm_sandbox fm_sandbox;

static bool is_strictly_allowed(long number)
{
    return number == SYS_read || number == SYS_write || number == SYS_exit ||
           number == SYS_rt_sigreturn;
}

static bool passes(const struct fm_sandbox_filter *filter, const struct seccomp_data *call)
{
    uint32_t action = fm_filter_run(filter->code, filter->count, call) & SECCOMP_RET_ACTION_FULL;
    return action == SECCOMP_RET_ALLOW;
}

static struct seccomp_data call_of(long number, const uint64_t arguments[6])
{
    struct seccomp_data call = {
        .nr = (int)number,
        .arch = AUDIT_ARCH_X86_64,
        .instruction_pointer = (uint64_t)__builtin_return_address(0),
    };
    memcpy(call.args, arguments, sizeof call.args);
    return call;
}

bool fm_sandbox_allows(long number, const uint64_t arguments[6])
{
    const struct fm_sandbox *s = &fm_sandbox;
    if (s->strict && !is_strictly_allowed(number))
        return false;
    struct seccomp_data call = call_of(number, arguments);
    unsigned count = __atomic_load_n(&s->filter_count, __ATOMIC_ACQUIRE);
    for (unsigned i = 0; i < count; i++)
        if (!passes(&s->filters[i], &call))
            return false;
    return true;
}

bool fm_sandbox_would_allow(const struct fm_sandbox_filter *more, long number,
                            const uint64_t arguments[6])
{
    struct seccomp_data call = call_of(number, arguments);
    bool allowed = more == NULL ? is_strictly_allowed(number) : passes(more, &call);
    return allowed && fm_sandbox_allows(number, arguments);
}

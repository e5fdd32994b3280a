/* SPDX-License-Identifier: Apache-2.0 */
#include "record/statics/extract/choice.h"

#include <string.h>

/* Does one of the choices that begin with prefix hold? *ret_any: is there one at all? */
static bool matches(const GPtrArray *choices, const char *prefix, const char *name,
                    const char *other, bool *ret_any)
{
    size_t length = strlen(prefix);
    for (guint i = 0; i < choices->len; i++) {
        const char *choice = g_ptr_array_index(choices, i);
        if (strncmp(choice, prefix, length) != 0)
            continue;
        *ret_any = true;
        if (strstr(name, choice + length) != NULL || strstr(other, choice + length) != NULL)
            return true;
    }
    return false;
}

static bool is_left_out(const GPtrArray *choices, const struct fm_proc *proc)
{
    bool any = false, alone = false;
    if (matches(choices, "-function:", proc->name, proc->linkage, &any) ||
        matches(choices, "-file:", proc->file, proc->unit, &any))
        return true;
    return !matches(choices, "+function:", proc->name, proc->linkage, &alone) && alone;
}

void fm_choice_leave_out(struct fm_statics *statics, const GPtrArray *choices)
{
    g_assert(statics->sites == NULL); /* sites depend on live scopes */
    if (choices->len == 0)
        return;
    for (uint32_t i = 0; i < statics->proc_count; i++) {
        struct fm_proc *proc = &statics->procs[i];
        proc->left_out = proc->instrumented && is_left_out(choices, proc);
        if (proc->left_out)
            proc->instrumented = false;
    }
    for (uint32_t i = 0; i < statics->scope_count; i++) {
        if (statics->procs[statics->scopes[i].proc].left_out)
            statics->scopes[i].live = false;
    }
}

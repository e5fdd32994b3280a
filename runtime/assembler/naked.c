/* SPDX-License-Identifier: Apache-2.0 */
#include "naked.h"

#include <string.h>

static const char *skip_space(const char *at)
{
    return at + strspn(at, " \t");
}

static const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return line + (*line == '\n');
}

static bool has(const char *text, const char *wanted)
{
    return memmem(text, strcspn(text, "\n"), wanted, strlen(wanted)) != NULL;
}

bool fm_naked_has_marker(const char *rest)
{
    for (; *rest != '\0'; rest = next_line(rest)) {
        const char *text = skip_space(rest);
        if (strncmp(text, "fathom_", 7) == 0)
            return true;
        if (strncmp(text, ".size", 5) == 0 || has(text, ", %rbp"))
            return false;
    }
    return false;
}

static bool is_hook_call(const char *text)
{
    return strncmp(text, "call", 4) == 0 &&
           (has(text, "__cyg_profile_func_") || has(text, "__sanitizer_cov_trace_pc"));
}

/* All others that call something keep the frame pointer first. */
bool fm_naked_has_call(const char *rest)
{
    bool in_app = false;
    for (; *rest != '\0'; rest = next_line(rest)) {
        const char *text = skip_space(rest);
        if (strncmp(text, "#APP", 4) == 0 || strncmp(text, "#NO_APP", 7) == 0)
            in_app = text[1] == 'A';
        else if (strncmp(text, ".size", 5) == 0 || (!in_app && strncmp(text, "push", 4) == 0))
            return false;
        else if (!in_app && is_hook_call(text))
            return true;
    }
    return false;
}

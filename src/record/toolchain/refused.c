/* SPDX-License-Identifier: Apache-2.0 */
#include "record/toolchain/refused.h"

#include <string.h>

#include "base/error.h"

/* Hooks may need kilobytes of stack, and such code looks for room behind them. */
static bool check_stack(const struct fm_command_line *line, GError **error)
{
    if (!line->split_stack || line->stage < FM_STAGE_COMPILE)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                "-fsplit-stack: programs with split stacks cannot be recorded; build without it");
    return false;
}

static bool check_machine(const struct fm_toolchain *toolchain, const struct fm_command_line *line,
                          GError **error)
{
    const char *found = line->other_machine;
    if (found == NULL && fm_compiler_is_foreign(toolchain->compiler))
        found = toolchain->compiler;
    if (found == NULL || line->stage < FM_STAGE_COMPILE)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE,
                "%s: only programs for x86-64 (64 bits) can be recorded", found);
    return false;
}

/* Refuses commands that --hooks=slots cannot record. */
static bool check_slots(const struct fm_toolchain *toolchain, const struct fm_command_line *line,
                        GError **error)
{
    const char *why = NULL;
    if (!toolchain->slots || line->stage < FM_STAGE_COMPILE)
        return true;
    if (strcmp(toolchain->grade, "deep") != 0 && strcmp(toolchain->grade, "fast") != 0)
        why = "it is for --grade=deep alone";
    else if (toolchain->clang)
        why = "clang cannot leave register r15 alone; use gcc";
    else if (line->lto)
        why = "-flto: the text of one source is not there";
    else if (line->sanitizers)
        why = "-fsanitize: sanitizers have frames of their own";
    else if (fm_command_line_lacks_includes(line))
        why = "it is for C and C++ alone, without modules";
    else if (line->shared)
        why = "-shared: it is for programs alone";
    else if (line->profiled)
        why = "-pg: gprof's calls stand where hooks do";
    for (guint i = 0; i < line->arguments->len && why == NULL; i++) {
        const char *argument = g_ptr_array_index(line->arguments, i);
        if (g_str_has_prefix(argument, "-masm=intel"))
            why = "-masm=intel: the hooks are in AT&T's syntax";
        else if (g_str_has_prefix(argument, "-mcmodel=large"))
            why = "-mcmodel=large: the hooks are for small models";
    }
    if (why == NULL)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE, "--hooks=slots: %s", why);
    return false;
}

bool fm_toolchain_check(const struct fm_toolchain *toolchain, const struct fm_command_line *line,
                        GError **error)
{
    return check_machine(toolchain, line, error) && check_stack(line, error) &&
           check_slots(toolchain, line, error);
}

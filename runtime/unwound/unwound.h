/* SPDX-License-Identifier: Apache-2.0 */
/* Contexts of code without hooks: the stack is walked (unwind/), and its frames become edges of the
 * call graph. They are never pushed on the shadow stack, whose hooks would take them for frames
 * that were left. All with signals blocked. */
#pragma once

#include "../internal.h"

/* Contexts are those of unwound stacks from now on. Before the process is started. */
void fm_unwound_begin(void) FM_HIDDEN;

/* Whether the address is in this library, while it records another's code. */
static inline bool fm_unwound_is_own(uint64_t pc)
{
    const struct fm_unwound_actions *own = fm_process.unwinds;
    return own != NULL && pc - own->own_low < own->own_high - own->own_low;
}

/* target.c: whether our library must leave the environment of a program that is to be started: how
 * many bytes the environment without it takes; 0: it may stay. */
size_t fm_unwound_unfit(const char *file, char *const envp[]) FM_HIDDEN;
char **fm_unwound_without(char *const envp[], void *room) FM_HIDDEN;

/* modules.c */
void fm_module_set_unwound(uint64_t address);
/* Lists the object that has the address, without asking for the loader's lock, which the code that
 * a signal interrupted may hold. False: there is none, or another thread lists objects just now. */
bool fm_module_meet(uint64_t address);

/* threads.c: what runs in a new thread in the place of its function. */
struct fm_unwound_start *fm_unwound_start_new(void *(*function)(void *), void *argument) FM_HIDDEN;
void fm_unwound_start_free(struct fm_unwound_start *start) FM_HIDDEN;
void *fm_unwound_run(void *start) FM_HIDDEN;
int fm_unwound_run_c11(void *start) FM_HIDDEN;
/* The calling thread is recorded from here on. */
void fm_unwound_thread_begin(uint64_t started_in) FM_HIDDEN;

/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of unwound.h for those who need not know of it: reached by fm_process.unwinds. */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

struct fm_rec_csd;
struct fm_rec_frame;
struct fm_thread;
struct fm_unwound_start;
struct fm_unwound_actions {
    /* The innermost frame of the stack that the registers are of, as fm_totals_charge() takes it:
     * below it are its callers, outermost the guard. base: the frame that the walked ones stand on.
     * NULL: no memory. Valid until the next call. */
    const struct fm_rec_frame *(*stack)(struct fm_thread *thread, const mcontext_t *registers,
                                        const struct fm_rec_frame *base);
    /* The context of a call of one of ours, in front of libc's, with that CFA. The function has a
     * frame pointer. NULL: nothing is recorded. */
    struct fm_rec_csd *(*charged)(struct fm_thread *thread, uint64_t cfa);
    void (*tell)(struct fm_thread *thread);  /* the header knows all stacks that were walked */
    void (*reset)(struct fm_thread *thread); /* in a child of fork */
    void (*free)(struct fm_thread *thread);
    struct fm_unwound_start *(*start_new)(void *(*function)(void *), void *argument);
    void (*start_free)(struct fm_unwound_start *start);
    void *(*run)(void *start);
    int (*run_c11)(void *start);
    size_t (*unfit)(const char *file, char *const envp[]);
    char **(*without)(char *const envp[], void *room);
    uint64_t own_low, own_high; /* this library's addresses */
};
/* envp, or a copy in the calling function without our library where `file` would not start with it.
 */
#define FM_FIT_ENVIRONMENT(fit, file, envp)                                                     \
    char *const *fit = envp;                                                                    \
    size_t fit##_bytes = fm_process.unwinds != NULL ? fm_process.unwinds->unfit(file, fit) : 0; \
    if (FM_UNLIKELY(fit##_bytes != 0))                                                          \
    fit = fm_process.unwinds->without(fit, __builtin_alloca(fit##_bytes))

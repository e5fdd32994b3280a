/* SPDX-License-Identifier: Apache-2.0 */
/* Expands hooks to instructions: the fast paths of runtime/hooks.S, reduced by what is known at
 * each place. Layouts: hot.h. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum fm_hook_kind {
    FM_HOOK_ENTER_LEAF,    /* own body of a function that calls nothing: no exit hook */
    FM_HOOK_ENTER_OWN,     /* own body of a function: pushes a new frame */
    FM_HOOK_ENTER_INLINED, /* a body inlined into a function that has its own hook */
    FM_HOOK_ENTER_ANY,     /* not known */
    FM_HOOK_EXIT_OWN,
    FM_HOOK_EXIT_ANY,
    FM_HOOK_RETURN, /* --grade=deep, in front of a return */
    FM_HOOK_BODY,   /* --grade=deep, in the place of the nop at a function's entry */
    FM_HOOK_LEAF,   /* in a function that calls nothing: no hooks before its returns */
    /* --grade=coverage, the same: they leave the address of the context's counters in r11, which
     * the compiler does not use. */
    FM_HOOK_COUNTED_RETURN,
    FM_HOOK_COUNTED_BODY,
    FM_HOOK_COUNTED_LEAF,
};

struct fm_hook_place {
    const char *function;     /* an operand of lea that gives the function's address */
    const char *registers[3]; /* "%rax": different registers, free to change; exits need two */
    const char *thread; /* a further register, for code that is not an executable's; else NULL */
    /* FM_HOOK_BODY, FM_HOOK_LEAF: rax may hold the number of vector arguments, r10 the static chain
     * of a nested function. */
    bool keep_rax, keep_chain;
    bool keep_all;     /* FM_HOOK_BODY, FM_HOOK_LEAF, FM_HOOK_RETURN: no register is free */
    bool plain_return; /* FM_HOOK_RETURN: of a return that may be duplicated: a plain "ret" */
    uint32_t counted;  /* FM_HOOK_COUNTED_...: number of the function in the file */
};

void fm_hook_write(FILE *out, enum fm_hook_kind kind, const struct fm_hook_place *place);

/* Counts a block. number: among the function's. keep_flags: they are in use. */
void fm_count_write(FILE *out, uint32_t number, bool keep_flags);
/* As above, in a function that uses r11. All registers and flags are preserved. */
void fm_count_write_careful(FILE *out, uint32_t counted, uint32_t number, bool executable);
/* Reloads the address of the counters into r11. behind_call: r10 and the flags are free. */
void fm_take_write(FILE *out, uint32_t counted, bool executable, bool behind_call);
/* How many blocks the function has turned out to have. */
void fm_counts_write(FILE *out, uint32_t counted, uint32_t blocks);

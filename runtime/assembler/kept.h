/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the registers that a function's hooks must preserve. In the usual calling convention every
 * call may change rax, r8, r10 and r11. Other conventions pass arguments or results in them, or
 * preserve them. The source of this knowledge is the text itself, and clang's debug information. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum fm_kept_registers {
    FM_KEPT_RAX = 1,
    FM_KEPT_R10 = 2,
    FM_KEPT_ALL = 4,     /* at the entry and in front of returns */
    FM_KEPT_SURELY = 8,  /* with FM_KEPT_ALL: more certain than a guess from saved registers */
    FM_KEPT_NO_HOOK = 16 /* the function does not return as functions do */
};

/* A function's entry in the debug information, or a declaration that entries refer to. */
struct fm_kept_entry {
    /* start of its code: a label, up to the end of line or a blank; NULL: none */
    const char *begin;
    unsigned long place, origin; /* 0: none */
    bool convention;             /* not the usual one */
};

struct fm_kept {
    struct fm_kept_entry *entries;
    size_t count;
    bool failed;              /* no memory: nothing is known */
    bool callers_count_on_it; /* code reads, after calls, registers that calls may change */
};

/* Reads what the text and clang's comments say about calling conventions. Release with
 * fm_kept_done(). */
void fm_kept_read(struct fm_kept *kept, const char *text);
void fm_kept_done(struct fm_kept *kept);

/* Returns a set of enum fm_kept_registers. name: the function's label, up to its colon; rest: the
 * text after the place of its entry hook. O(length of the function). */
unsigned fm_kept_of(const struct fm_kept *kept, const char *begin, const char *rest);

/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/statics/extract/bodies.h"
#include "record/statics/extract/units.h"

/* Kinds of borders of code blocks. */
enum fm_bound_kind {
    FM_BOUND_POINT,  /* a coverage callback */
    FM_BOUND_ENTER,  /* an entry hook */
    FM_BOUND_EXIT,   /* an exit hook */
    FM_BOUND_BRANCH, /* the instruction jumps or returns */
    FM_BOUND_TARGET, /* a jump leads here */
};

struct fm_block_bound {
    uint64_t address; /* behind the instruction; of a target: its own */
    enum fm_bound_kind kind;
    uint32_t scope; /* points and hooks */
};

/* Code that counts a block (runtime/assembler/expand.c), or the entry hook of a function whose
 * blocks are counted. */
struct fm_counter {
    uint64_t begin;   /* begin of the block: of its hook, if the block begins with one */
    uint64_t address; /* behind the instruction that counts */
    uint64_t limit;   /* end of the stretch of code */
    uint32_t scope;
    uint32_t block; /* number of its counter; FM_POINT_ENTRY: a hook */
    bool shared;    /* it only jumps to an address in a register: gcc joins all computed gotos of a
                       function in one jump, described as part of the line before it */
};

/* Disassembles all bodies once. Appends calls to machine_sites (struct fm_machine_site), borders of
 * blocks to bounds (struct fm_block_bound; NULL = not needed) and counters (struct fm_counter, in
 * the order of the code; NULL with bounds). Bodies that call hooks become live, and their
 * procedures instrumented. FM_ERROR_UNAVAILABLE. */
FM_MUST_USE bool fm_disassemble(const struct fm_elf *elf, struct fm_units *units,
                                const struct fm_bodies *bodies, GArray *machine_sites,
                                GArray *bounds, GArray *counters, GError **error);

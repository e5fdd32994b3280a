/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "record/statics/extract/bodies.h"
#include "record/statics/extract/units.h"

/* What bounds the blocks of code. */
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

/* Disassembles all bodies once: calls are appended to machine_sites (struct fm_machine_site), what
 * bounds blocks to bounds (struct fm_block_bound; NULL = not wanted), and the bodies that call the
 * hooks become live, their procedures instrumented. FM_ERROR_UNAVAILABLE. */
FM_MUST_USE bool fm_disassemble(const struct fm_elf *elf, struct fm_units *units,
                                const struct fm_bodies *bodies, GArray *machine_sites,
                                GArray *bounds, GError **error);

/* SPDX-License-Identifier: Apache-2.0 */
/* Procedures and their bodies while they are gathered: first from the debug information, then from
 * symbols that it does not cover. Later steps add which of them have hooks. */
#pragma once

#include "record/statics/extract/elf_module.h"
#include "record/statics/statics.h"

/* Code of a scope with all that is inlined into it. */
struct fm_interval {
    uint64_t low, high; /* [low, high) */
    uint32_t scope;
    uint32_t depth; /* 0 = of an out-of-line body */
};

struct fm_bodies {
    GArray *procs;         /* struct fm_proc */
    GArray *scopes;        /* struct fm_scope */
    GArray *unit_of_scope; /* uint32_t, FM_NONE */
    GArray *intervals;     /* struct fm_interval; in order once flattened */
    GArray *segments;      /* struct fm_segment: the intervals made disjoint */
    GArray *entries;       /* struct fm_entry; in order once folded */
};

void fm_bodies_init(struct fm_bodies *bodies);
void fm_bodies_done(struct fm_bodies *bodies);
struct fm_proc *fm_bodies_proc(const struct fm_bodies *bodies, uint32_t proc);
struct fm_scope *fm_bodies_scope(const struct fm_bodies *bodies, uint32_t scope);
uint32_t fm_bodies_add_proc(struct fm_bodies *bodies, const struct fm_proc *proc);
/* unit: of struct fm_units, FM_NONE. */
uint32_t fm_bodies_add_scope(struct fm_bodies *bodies, const struct fm_scope *scope, uint32_t unit);
void fm_bodies_drop_last_scope(struct fm_bodies *bodies);
void fm_bodies_add_interval(struct fm_bodies *bodies, uint64_t low, uint64_t high, uint32_t scope,
                            uint32_t depth);
void fm_bodies_add_entry(struct fm_bodies *bodies, uint64_t address, uint32_t proc);
/* Disjoint segments from the nested intervals: the innermost scope of each address. */
void fm_bodies_flatten(struct fm_bodies *bodies);
/* Several procedures at one address become one. */
void fm_bodies_fold_entries(struct fm_bodies *bodies);

/* symbol_bodies.c: functions that have a symbol, and no segment yet. Strings: of elf. */
void fm_bodies_add_symbols(struct fm_bodies *bodies, const struct fm_elf *elf);

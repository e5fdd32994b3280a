/* SPDX-License-Identifier: Apache-2.0 */
/* Checkpoints in memory, shared by checkpoint.c and checkpoint_file.c. */
#pragma once

#include "trace/state/pack.h"
#include "trace/state/state_internal.h"

enum {
    CHECKPOINT_INTERVAL = 25000, /* events, at first */
    CHECKPOINT_FULL_EVERY = 16,
    CHECKPOINT_BLOCK = 64, /* bytes of the model that are compared and kept together */
};

/* Facts that are the same in all checkpoints, and the lane as it was when it ended. */
struct lane_fact {
    uint64_t key, born, ended; /* ended: number of the first checkpoint after it; 0 = no */
    double number;
    uint32_t parent, name_value;
    uint8_t kind;
    bool has_number;
};

/* Lanes: records (number, length, body) of living lanes, ascending. A full checkpoint has all of
 * them, another those that differ from the last full one before it. Model: bytes, or blocks that
 * differ. */
struct checkpoint {
    uint64_t time;     /* time of the next event */
    uint64_t sequence; /* ascends, from 1; not all are kept */
    struct fm_place *places;
    uint32_t lane_count;
    bool full;
    GByteArray *lanes;
    GByteArray *model;
    uint64_t inconsistent, hidden;
};

struct fm_checkpoints {
    struct fm_trace *trace;
    size_t budget, memory;
    unsigned tracefile_count;
    GArray *facts;                        /* holds struct lane_fact, by lane */
    GPtrArray *list;                      /* holds struct checkpoint, ascending in time */
    GByteArray *full_model;               /* the model of the last full one */
    uint64_t interval, sequence, unsaved; /* unsaved: events since the last one */
    bool follows;                         /* what comes behind the last one is little */
    uint64_t known_until;                 /* ns: all before it can be restored */
    bool complete;
    unsigned since_full;
    struct fm_state *state; /* the one being recorded */
};

size_t fm_checkpoint_memory(const struct checkpoint *checkpoint);
/* One record of a list of lanes. False at the end, or when damaged (then from->bad). */
struct lane_record {
    uint32_t index;
    const uint8_t *begin, *body, *end; /* begin: of the record with its head */
};
/* Every second one is dropped; of those kept one in sixteen is full. */
void fm_checkpoints_thin(struct fm_checkpoints *checkpoints);

/* checkpoint_file.c, for tests and fuzzing: reads what fm_checkpoints_write() writes; identity
 * (five numbers) must match unless it is NULL. The checksum is not looked at. */
struct fm_checkpoints *fm_checkpoints_parse(struct fm_trace *trace, const uint8_t *bytes,
                                            size_t length, const uint64_t *identity,
                                            const char *name, size_t memory_budget, GError **error);

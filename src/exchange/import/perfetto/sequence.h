/* SPDX-License-Identifier: Apache-2.0 */
/* What the packets of one writer say once for all that follow: names by number, a clock, a track.
 * Also the clocks of the whole trace. */
#pragma once

#include <glib.h>

#include "exchange/import/protobuf/fields.h"

enum fm_perfetto_table {
    FM_PERFETTO_EVENT_NAMES = 2,
    FM_PERFETTO_FUNCTION_NAMES = 5,
    FM_PERFETTO_FRAMES = 6,
    FM_PERFETTO_CALLSTACKS = 7,
    FM_PERFETTO_BUILD_IDS = 16,
    FM_PERFETTO_PATHS = 17,
    FM_PERFETTO_MAPPINGS = 19,
    FM_PERFETTO_TABLES
};

struct fm_perfetto_sequence {
    GHashTable *tables[FM_PERFETTO_TABLES]; /* number -> entry; NULL = not used */
    GHashTable *stacks;                     /* number of a call stack -> of one of the trace + 1 */
    uint64_t track;                         /* of events without one; 0 = the writer's thread */
    uint64_t pid, tid, clock;
    int64_t reference_us; /* of times that are told as differences */
    bool threaded;        /* pid and tid are known */
    bool seen;            /* it had a packet */
};

struct fm_perfetto_sequence *fm_perfetto_sequence_new(void);
void fm_perfetto_sequence_free(gpointer sequence);
/* Numbers mean nothing any more. */
void fm_perfetto_sequence_clear(struct fm_perfetto_sequence *sequence);
/* Adds the entries of an InternedData, or one to a table. */
void fm_perfetto_sequence_intern(struct fm_perfetto_sequence *sequence,
                                 const struct fm_field *data);
void fm_perfetto_sequence_add(struct fm_perfetto_sequence *sequence, enum fm_perfetto_table table,
                              const struct fm_field *entry);
/* NULL: there is none. */
const struct fm_field *fm_perfetto_sequence_find(const struct fm_perfetto_sequence *sequence,
                                                 enum fm_perfetto_table table, uint64_t number);
/* What the caller has made of an entry, 0 at first; NULL: there is none. */
uint32_t *fm_perfetto_sequence_made(const struct fm_perfetto_sequence *sequence,
                                    enum fm_perfetto_table table, uint64_t number);
/* The text of an entry; "" = there is none. */
struct fm_field fm_perfetto_sequence_text(const struct fm_perfetto_sequence *sequence,
                                          enum fm_perfetto_table table, uint64_t number);

/* --- clocks --- */

#define FM_PERFETTO_BOOTTIME 6u

struct fm_perfetto_clocks {
    GHashTable *known; /* of the trace, and of sequences -> struct clock */
};
void fm_perfetto_clocks_init(struct fm_perfetto_clocks *clocks);
void fm_perfetto_clocks_done(struct fm_perfetto_clocks *clocks);
void fm_perfetto_clocks_snapshot(struct fm_perfetto_clocks *clocks, uint64_t sequence,
                                 const struct fm_field *snapshot);
/* A time of a clock as one of the trace's. Clocks that no snapshot names are taken as they are. */
int64_t fm_perfetto_clocks_time(struct fm_perfetto_clocks *clocks, uint64_t sequence,
                                uint64_t clock, uint64_t time);

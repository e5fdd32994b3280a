/* SPDX-License-Identifier: Apache-2.0 */
/* A trace of event log events in memory, and a recorder of what happens to its state, as text. */
#pragma once

#include "trace/state/state.h"

struct event_list;

struct event_list *event_list_new(void);
void event_list_free(struct event_list *list);
/* fields: '1' '2' '4' '8' = an integer of so many bytes (always given as uint64_t), 's' = text
 * without its end, 'z' = text with a zero byte. lane -1 = none. */
void event_add(struct event_list *list, uint64_t time, int lane, unsigned id, const char *fields,
               ...);
uint64_t event_list_count(const struct event_list *list);
/* All events in one tracefile; the list is borrowed. */
struct fm_trace *event_list_trace(const struct event_list *list);

/* Lines, as things happen:
 *   + thread 1                       a lane added
 *   thread 1:0 parse 10-20           a segment: lane, depth, value, begin, end
 *   counter "queue" = 3 @10          named in quotes where the name is not the default one
 *   ! thread 1 hello @10             a mark
 *   thread 1 @10 -> thread 2 @12     an arrow */
struct recorder {
    struct fm_state_observer observer;
    struct fm_trace *trace;
    GString *lines;
};
void recorder_init(struct recorder *recorder, struct fm_trace *trace);
void recorder_clear(struct recorder *recorder);

/* Reads all with a state, observed by the recorder; NULL = not. */
struct fm_state *read_state(struct fm_trace *trace, struct recorder *recorder);
/* Every lane with everything in it, for comparing states. Caller frees. */
char *describe_state(const struct fm_state *state);

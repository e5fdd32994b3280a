/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks of several hosts brought together by the messages that they exchanged: for each trace a
 * drift and an offset, corrected = drift * time + offset, so that nothing is received before it was
 * sent.
 *
 *   messages ──▶ for each pair of traces: a line between their clocks ──▶ one tree ──▶ corrections
 *
 * The pair's line by convex hulls: messages of one way bound it from above, those of the other way
 * from below; the steepest and the flattest line that fit are found, and their bisector is taken.
 * No message of such a pair is inverted. Or by linear regression over exchanges (a message and its
 * answer), which assumes that both ways take equally long and promises nothing. */
#pragma once

#include "trace/clock/clock.h"

enum fm_synchronize_method { FM_SYNCHRONIZE_HULL, FM_SYNCHRONIZE_REGRESSION };

/* Knowledge of the clocks of a pair of traces. */
enum fm_synchronize_status {
    FM_SYNCHRONIZE_ABSENT,      /* no messages both ways */
    FM_SYNCHRONIZE_INCOMPLETE,  /* only one of the bounds */
    FM_SYNCHRONIZE_ACCURATE,    /* bounds on both sides (regression: three exchanges or more) */
    FM_SYNCHRONIZE_APPROXIMATE, /* no line fits all messages: the one that is least wrong */
    FM_SYNCHRONIZE_FAIL,        /* not even that */
};
const char *fm_synchronize_status_name(enum fm_synchronize_status status);

struct fm_synchronize_pair {
    enum fm_synchronize_status status;
    /* From the clock of the lesser trace to that of the greater one. */
    struct fm_correction line;
    double least_drift, greatest_drift;   /* -inf, inf = not bounded */
    double least_offset, greatest_offset; /* ns: of the lines with these drifts */
    /* Hull: greatest less least drift; approximate: ns that messages are inverted by, in all;
     * regression: ns, standard error. Smaller is better. */
    double accuracy;
    uint64_t messages, exchanges;
};

struct fm_synchronize;

struct fm_synchronize *fm_synchronize_new(unsigned trace_count, enum fm_synchronize_method method);
void fm_synchronize_free(struct fm_synchronize *synchronize);
/* Times in ns of the clocks of the traces. In any order; from one trace to itself: left out. */
void fm_synchronize_message(struct fm_synchronize *synchronize, unsigned from, uint64_t sent,
                            unsigned to, uint64_t received);
/* A message of trace a to b, and the answer that acknowledges it. */
void fm_synchronize_exchange(struct fm_synchronize *synchronize, unsigned a, uint64_t sent,
                             unsigned b, uint64_t received, uint64_t answered,
                             uint64_t answer_received);

/* The lines of all pairs, and the corrections: ret has one a trace. Traces that are connected by
 * pairs whose line is known are corrected to one of them, the one with the least sum of distances;
 * others are their own reference. Then all are shifted so that the least offset is 0. */
void fm_synchronize_solve(struct fm_synchronize *synchronize, struct fm_correction *ret);
/* After solving. i < j. */
const struct fm_synchronize_pair *fm_synchronize_pair_of(const struct fm_synchronize *synchronize,
                                                         unsigned i, unsigned j);
/* Returns the trace that it was corrected to, after solving. */
unsigned fm_synchronize_reference(const struct fm_synchronize *synchronize, unsigned trace);
/* Tables for people. names: one a trace, or NULL. Caller frees. */
char *fm_synchronize_print(const struct fm_synchronize *synchronize,
                           const struct fm_correction *corrections, const char *const *names);

/* --- evaluation (synchronize_evaluate.c): how good it is; after solving --- */

struct fm_synchronize_evaluation {
    uint64_t messages, inversions; /* received before they were sent */
    double worst_inversion_ns;
    uint64_t too_fast; /* in less than half of the least round trip, where that is given */
    uint64_t exchanges;
    double least_round_trip_ns, mean_round_trip_ns;
    uint64_t round_trips[64]; /* by the binary logarithm of ns */
    uint64_t broadcasts;
    double broadcast_square_sum; /* ns^2: of the spread of receptions, summed over broadcasts */
};
struct fm_evaluate;
/* corrections: borrowed, one a trace; NULL = times as they are. */
struct fm_evaluate *fm_evaluate_new(unsigned trace_count, const struct fm_correction *corrections);
void fm_evaluate_free(struct fm_evaluate *evaluate);
/* Lines "A B MILLISECONDS" (numbers of traces), # begins a comment. */
FM_MUST_USE bool fm_evaluate_round_trips(struct fm_evaluate *evaluate, const char *text,
                                         GError **error);
void fm_evaluate_message(struct fm_evaluate *evaluate, unsigned from, uint64_t sent, unsigned to,
                         uint64_t received);
void fm_evaluate_exchange(struct fm_evaluate *evaluate, unsigned a, uint64_t sent, unsigned b,
                          uint64_t received, uint64_t answered, uint64_t answer_received);
const struct fm_synchronize_evaluation *fm_evaluate_result(const struct fm_evaluate *evaluate);

/* --- finding messages --- */

struct fm_message_sink {
    void *user;
    void (*message)(void *user, unsigned from, uint64_t sent, unsigned to, uint64_t received);
    void (*exchange)(void *user, unsigned a, uint64_t sent, unsigned b, uint64_t received,
                     uint64_t answered, uint64_t answer_received); /* NULL = not wanted */
    /* One datagram, received by every trace: times[i] by trace i. NULL = not wanted. */
    void (*broadcast)(void *user, const uint64_t *times);
};
struct fm_message_sink fm_synchronize_sink(struct fm_synchronize *synchronize);
struct fm_message_sink fm_evaluate_sink(struct fm_evaluate *evaluate);

struct fm_message_counts {
    uint64_t events, sent, received, matched, unmatched, lost, broadcasts;
};
/* Text: the number of traces, then lines "SENDER RECEIVER SENT RECEIVED" (seconds, with fractions);
 * # begins a comment. *ret_traces: that number, when sink is NULL nothing else is done. */
FM_MUST_USE bool fm_messages_of_text(const char *text, const struct fm_message_sink *sink,
                                     unsigned *ret_traces, GError **error);
/* Reads all events of the traces, with their clocks as they are now, and matches
 *
 *   - TCP segments of kernel network events (dev_xmit_extended, dev_receive with
 *     tcpv4_rcv_extended; inet_sock_local_out and _in), and UDP broadcasts (udpv4_rcv_extended);
 *   - asynchronous spans of programs that begin in one trace and end in another with the same name
 *     and id.
 *
 * False when cancelled. */
FM_MUST_USE bool fm_messages_of_traces(struct fm_trace *const *traces, unsigned count,
                                       const struct fm_message_sink *sink,
                                       bool (*cancelled)(void *user), void *user,
                                       struct fm_message_counts *ret_counts);

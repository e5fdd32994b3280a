/* SPDX-License-Identifier: Apache-2.0 */
/* Matching what was sent with what was received; seen by this folder only. */
#pragma once

#include "trace/clock/synchronize.h"

struct segment {
    uint32_t saddr, daddr, seq, ack_seq;
    uint16_t source, dest, total_length;
    uint8_t ihl, doff, flags; /* FLAG_* */
    uint8_t zero;             /* so that no byte is undefined: keys are compared as bytes */
};
enum { FLAG_ACK = 1, FLAG_RST = 2, FLAG_SYN = 4, FLAG_FIN = 8 };

struct datagram {
    uint32_t saddr, daddr;
    uint16_t source, dest, length;
    uint16_t zero;
    uint8_t data[8];
};

struct matcher;

struct matcher *fm_matcher_new(unsigned traces, const struct fm_message_sink *sink,
                               struct fm_message_counts *counts);
void fm_matcher_free(struct matcher *matcher);
void fm_matcher_segment(struct matcher *matcher, const struct segment *segment, bool received,
                        unsigned trace, uint64_t time);
/* Any other message: by a key of its own. */
void fm_matcher_named(struct matcher *matcher, const void *key, size_t length, bool received,
                      unsigned trace, uint64_t time);
void fm_matcher_broadcast(struct matcher *matcher, const struct datagram *datagram, unsigned trace,
                          uint64_t time);

/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of the live profile monitor of 2016: encoding, splitting, collecting, state.
 *
 * Over TCP each message is a frame (transport.h), over UDP a datagram. A message is one CBOR value;
 * a value of several forms is an array of the form's index and its fields. */
#pragma once

#include "eventlog/reader/eventlog.h"

enum fm_monitor_kind {
    FM_MONITOR_SERVICE,       /* pause */
    FM_MONITOR_HEADER_LENGTH, /* number */
    FM_MONITOR_HEADER_TYPE,   /* bytes: an entry with its etb and ete marks */
    FM_MONITOR_BLOCK_HEAD,    /* block */
    FM_MONITOR_BLOCK_PART,    /* block_id, and a partial */
    FM_MONITOR_EVENT,         /* a partial */
    FM_MONITOR_STATE,         /* a partial */
};

enum fm_monitor_form {
    FM_MONITOR_FULL,  /* bytes */
    FM_MONITOR_FIRST, /* message_id, number = pieces that follow */
    FM_MONITOR_PIECE, /* message_id, number from 0, bytes */
};

struct fm_monitor_block {
    uint64_t id, begin_ns, end_ns;
    uint32_t capability; /* 0 = none, n + 1 = capability n */
    uint32_t count;      /* of events; of bytes after the marker when an old monitor sends it */
};

struct fm_monitor_message {
    enum fm_monitor_kind kind;
    enum fm_monitor_form form;
    bool pause;
    uint64_t block_id, message_id, number;
    const uint8_t *bytes; /* borrowed */
    size_t length;
    struct fm_monitor_block block;
};

void fm_monitor_encode(GByteArray *out, const struct fm_monitor_message *message);
/* bytes of the message point into the input. FM_ERROR_FORMAT for anything else than one message. */
bool fm_monitor_decode(const uint8_t *bytes, size_t length, struct fm_monitor_message *ret,
                       GError **error);

/* ---- Splitter: a log becomes messages ---- */

typedef bool fm_monitor_send(void *user, const struct fm_monitor_message *message, GError **error);

struct fm_monitor_splitter {
    fm_monitor_send *send;
    void *user;
    size_t payload_max; /* longer payloads are sent in pieces; 0 = never */
    bool
        single_events; /* the way of 2016: events after the head of their block, not as its parts */
    uint64_t next_message, next_block;
    /* The block being gathered. */
    struct fm_monitor_block block;
    bool in_block;
    uint64_t block_key; /* offset of its marker */
    GByteArray *events; /* of the block, one after the other */
    GArray *lengths;    /* uint32_t each */
};

void fm_monitor_splitter_init(struct fm_monitor_splitter *splitter, size_t payload_max,
                              fm_monitor_send *send, void *user);
void fm_monitor_splitter_clear(struct fm_monitor_splitter *splitter);
bool fm_monitor_split_header(struct fm_monitor_splitter *splitter,
                             const struct fm_eventlog_header *header, GError **error);
/* Events as the reader gives them, markers included. Blocks leave when they are whole. */
bool fm_monitor_split_event(struct fm_monitor_splitter *splitter,
                            const struct fm_eventlog_event *event, GError **error);
/* The block that is open leaves now. */
bool fm_monitor_split_flush(struct fm_monitor_splitter *splitter, GError **error);
bool fm_monitor_split_state(struct fm_monitor_splitter *splitter, const uint8_t *bytes,
                            size_t length, GError **error);

/* ---- Collector: messages become a log again ----
 *
 * Pieces and parts may come in any order and more than once. What stays incomplete longer than the
 * time-out, or beyond the limits, is given up and counted. */

struct fm_monitor_limits {
    size_t bytes_max;     /* of half-received messages and blocks; 0 = 16 MiB */
    uint32_t pending_max; /* half-received messages; 0 = 4,096 */
    uint64_t timeout_ms;  /* 0 = 360,000 */
};

struct fm_monitor_collector;

struct fm_monitor_collector *fm_monitor_collector_new(const struct fm_monitor_limits *limits);
void fm_monitor_collector_free(struct fm_monitor_collector *collector);
/* Takes one message; what is complete is appended to log: header, blocks, events, as a plain log.
 * now_ms: any clock that does not go back. */
void fm_monitor_collect(struct fm_monitor_collector *collector,
                        const struct fm_monitor_message *message, uint64_t now_ms, GByteArray *log);
/* Gives up what has waited too long. */
void fm_monitor_collector_expire(struct fm_monitor_collector *collector, uint64_t now_ms,
                                 GByteArray *log);
/* No more messages: blocks that are open leave as they are; the end mark when whole is set. */
void fm_monitor_collector_finish(struct fm_monitor_collector *collector, bool whole,
                                 GByteArray *log);
/* The last state received, NULL before; borrowed. */
const GByteArray *fm_monitor_collector_state(const struct fm_monitor_collector *collector);

struct fm_monitor_collected {
    uint64_t events, blocks, states;
    uint64_t lost_messages; /* given up incomplete */
    uint64_t lost_blocks;   /* left with fewer events than announced */
    uint64_t duplicates;    /* pieces that came again */
    uint64_t ignored;       /* messages that had no place: a second header length, ... */
    size_t pending_bytes;   /* held now */
};

void fm_monitor_collector_counts(const struct fm_monitor_collector *collector,
                                 struct fm_monitor_collected *ret);

/* ---- State: what a client needs to know that comes late ---- */

struct fm_monitor_state;

struct fm_monitor_state *fm_monitor_state_new(void);
void fm_monitor_state_free(struct fm_monitor_state *state);
void fm_monitor_state_event(struct fm_monitor_state *state, const struct fm_eventlog_event *event);
/* As the CBOR value that state messages carry. */
void fm_monitor_state_encode(const struct fm_monitor_state *state, GByteArray *out);
/* Reads one. FM_ERROR_FORMAT. */
struct fm_monitor_state *fm_monitor_state_decode(const uint8_t *bytes, size_t length,
                                                 GError **error);

struct fm_monitor_state_counts {
    uint32_t threads, capsets, capabilities, tasks;
    uint64_t last_ns;
};

void fm_monitor_state_counts(const struct fm_monitor_state *state,
                             struct fm_monitor_state_counts *ret);

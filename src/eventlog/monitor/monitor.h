/* SPDX-License-Identifier: Apache-2.0 */
/* The messages of GHC's live profile monitor of 2016: encoding, splitting, collecting, state.
 *
 * Over TCP each message is a frame (transport.h), over UDP a datagram. A message is one CBOR
 * value; a value that has several forms is an array of the form's index and the form's fields. */
#pragma once

#include "eventlog/reader/eventlog.h"

enum fm_monitor_kind {
    FM_MONITOR_SERVICE,       /* field: pause */
    FM_MONITOR_HEADER_LENGTH, /* field: number */
    FM_MONITOR_HEADER_TYPE,   /* field: bytes, one entry of the header with its etb and ete marks */
    FM_MONITOR_BLOCK_HEAD,    /* field: block */
    FM_MONITOR_BLOCK_PART,    /* fields: block_id, and a partial */
    FM_MONITOR_EVENT,         /* field: a partial */
    FM_MONITOR_STATE,         /* field: a partial */
};

enum fm_monitor_form {
    FM_MONITOR_FULL,  /* field: bytes */
    FM_MONITOR_FIRST, /* fields: message_id, number = pieces that follow */
    FM_MONITOR_PIECE, /* fields: message_id, number from 0, bytes */
};

struct fm_monitor_block {
    uint64_t id, begin_ns, end_ns;
    uint32_t capability; /* 0 = none, n + 1 = capability n */
    uint32_t count;      /* number of events; old monitors: bytes after the marker */
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
/* The message's bytes point into the input. FM_ERROR_FORMAT for anything but one message. */
bool fm_monitor_decode(const uint8_t *bytes, size_t length, struct fm_monitor_message *ret,
                       GError **error);

/* ---- Splitter: makes messages of a log ---- */

typedef bool fm_monitor_send(void *user, const struct fm_monitor_message *message, GError **error);

struct fm_monitor_splitter {
    fm_monitor_send *send;
    void *user;
    size_t payload_max; /* longer payloads are sent in pieces; 0 = no limit */
    /* 2016 protocol: events follow the head of their block as messages of their own */
    bool single_events;
    uint64_t next_message, next_block;
    /* The block that is being gathered. */
    struct fm_monitor_block block;
    bool in_block;
    uint64_t block_key; /* offset of its marker */
    GByteArray *events; /* events of the block, one after the other */
    GArray *lengths;    /* lengths of the events: uint32_t each */
};

void fm_monitor_splitter_init(struct fm_monitor_splitter *splitter, size_t payload_max,
                              fm_monitor_send *send, void *user);
void fm_monitor_splitter_done(struct fm_monitor_splitter *splitter);
bool fm_monitor_split_header(struct fm_monitor_splitter *splitter,
                             const struct fm_eventlog_header *header, GError **error);
/* Takes events as the reader returns them, with markers. Blocks are sent when they are complete. */
bool fm_monitor_split_event(struct fm_monitor_splitter *splitter,
                            const struct fm_eventlog_event *event, GError **error);
/* Sends the open block now. */
bool fm_monitor_split_flush(struct fm_monitor_splitter *splitter, GError **error);
bool fm_monitor_split_state(struct fm_monitor_splitter *splitter, const uint8_t *bytes,
                            size_t length, GError **error);

/* ---- Collector: makes a log of messages ----
 *
 * Pieces and parts may arrive in any order and more than once. Messages and blocks that stay
 * incomplete beyond the time-out or the limits are dropped and counted. */

struct fm_monitor_limits {
    size_t bytes_max;     /* memory for incomplete messages and blocks; 0 = 16 MiB */
    uint32_t pending_max; /* number of incomplete messages; 0 = 4,096 */
    uint64_t timeout_ms;  /* 0 = 360,000 */
};

struct fm_monitor_collector;

struct fm_monitor_collector *fm_monitor_collector_new(const struct fm_monitor_limits *limits);
void fm_monitor_collector_free(struct fm_monitor_collector *collector);
/* Takes one message. Complete data is appended to log: header, blocks, events, as a plain log.
 * now_ms: any monotonic clock. */
void fm_monitor_collect(struct fm_monitor_collector *collector,
                        const struct fm_monitor_message *message, uint64_t now_ms, GByteArray *log);
/* Drops what has been incomplete for too long. */
void fm_monitor_collector_expire(struct fm_monitor_collector *collector, uint64_t now_ms,
                                 GByteArray *log);
/* No more messages come: open blocks are written as they are, and the end mark when whole is
 * set. */
void fm_monitor_collector_finish(struct fm_monitor_collector *collector, bool whole,
                                 GByteArray *log);
/* The last state received, NULL before; borrowed. */
const GByteArray *fm_monitor_collector_state(const struct fm_monitor_collector *collector);

struct fm_monitor_collected {
    uint64_t events, blocks, states;
    uint64_t lost_messages; /* dropped incomplete */
    uint64_t lost_blocks;   /* written with fewer events than announced */
    uint64_t duplicates;    /* pieces received again */
    uint64_t ignored;       /* unexpected messages, as a second header length */
    size_t pending_bytes;   /* memory in use */
};

void fm_monitor_collector_counts(const struct fm_monitor_collector *collector,
                                 struct fm_monitor_collected *ret);

/* ---- State: what a client needs to know when it connects late ---- */

struct fm_monitor_state;

struct fm_monitor_state *fm_monitor_state_new(void);
void fm_monitor_state_free(struct fm_monitor_state *state);
void fm_monitor_state_event(struct fm_monitor_state *state, const struct fm_eventlog_event *event);
/* Encodes the state as the CBOR value of state messages. */
void fm_monitor_state_encode(const struct fm_monitor_state *state, GByteArray *out);
/* Decodes a state. FM_ERROR_FORMAT. */
struct fm_monitor_state *fm_monitor_state_decode(const uint8_t *bytes, size_t length,
                                                 GError **error);

struct fm_monitor_state_counts {
    uint32_t threads, capsets, capabilities, tasks;
    uint64_t last_ns;
};

void fm_monitor_state_counts(const struct fm_monitor_state *state,
                             struct fm_monitor_state_counts *ret);

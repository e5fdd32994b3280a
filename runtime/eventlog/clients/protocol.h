/* SPDX-License-Identifier: Apache-2.0 */
/* The protocol between clients and the library: control messages, the monitor's messages,
 * addresses. */
#pragma once
#include "core/block.h"

#include <sys/socket.h>
#include <sys/un.h>

#define FM_EL_FRAME_MAX (16u << 20)
#define FM_EL_TOKEN_MAX 240u

enum fm_el_kind { FM_EL_PLAIN, FM_EL_MONITOR, FM_EL_UDP };

/* ---- control messages: F0 9E 97 8C, version, name length, name, number. The result does not
 * depend on how the bytes are split; after other bytes the search for a message starts again. */
struct fm_el_control {
    uint8_t state, version, name_bytes, got;
    char name[256];
};
struct fm_el_command {
    uint8_t version, number;
    char name[256]; /* ends with a zero byte; may contain zero bytes: name_bytes is its length */
    uint8_t name_bytes;
};
/* Feeds one byte; true when it completes a message, which is in *ret. */
bool fm_el_control_feed(struct fm_el_control *c, uint8_t byte, struct fm_el_command *ret);
/* Calls the registered handler, without holding locks. Returns the status. */
uint8_t fm_el_control_run(const struct fm_el_command *c);
void fm_el_control_answer(struct fm_el_bytes *b, const struct fm_el_command *c, uint8_t status);
void fm_el_control_after_fork(void);

/* ---- messages of the monitor's clients: frames with a service message, and control messages
 * between them. An impossible frame length begins a control message. */
struct fm_el_frames {
    struct fm_el_control control;
    uint32_t left, got; /* for the current frame: bytes to come, bytes received */
    uint8_t length_got;
    unsigned char data[64]; /* the frame's length, then its first bytes */
};
enum fm_el_said {
    FM_EL_SAID_NOTHING,
    FM_EL_SAID_COMMAND,
    FM_EL_SAID_PAUSE,
    FM_EL_SAID_RESUME,
    FM_EL_SAID_NONSENSE, /* a whole frame with a message that clients may not send */
    FM_EL_SAID_TOO_LONG, /* a frame whose length is 0 or beyond the limit */
};
/* Feeds one byte; with FM_EL_SAID_COMMAND, *ret is set. */
enum fm_el_said fm_el_frames_feed(struct fm_el_frames *f, uint8_t byte, struct fm_el_command *ret);

/* ---- the monitor's messages, as frames: w32 length, one CBOR value */
struct fm_el_monitor {
    uint64_t block_id, message_id;
    size_t datagram_max; /* payload; 0 = never split */
    bool singles;
    bool in_block;
};
void fm_el_monitor_header(struct fm_el_monitor *m, struct fm_el_bytes *out);
void fm_el_monitor_state(struct fm_el_monitor *m, struct fm_el_bytes *out); /* state lock held */
/* Encodes the event at data[*at]; moves *at behind it. data: whole blocks without header, or FF
 * FF. */
void fm_el_monitor_event(struct fm_el_monitor *m, const unsigned char *data, size_t bytes,
                         size_t *at, struct fm_el_bytes *out);
/* Whether it is a service message (one CBOR value); sets *pause then. */
bool fm_el_monitor_service(const unsigned char *data, size_t bytes, bool *pause);

/* ---- addresses */
struct fm_el_listener {
    int fd;
    bool used, closing;
    enum fm_el_kind kind;
    int port;
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
    char token[FM_EL_TOKEN_MAX + 1];
    struct fm_eventlog_listen_options options; /* token points to the copy above, or is NULL */
};
/* Opens the socket of an address; 0 or a negative errno number. */
int fm_el_listener_open(struct fm_el_listener *l, const char *address,
                        const struct fm_eventlog_listen_options *options);

/* SPDX-License-Identifier: Apache-2.0 */
/* The client's side of the live transport: addresses, connections, frames, control messages. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- Addresses ---- */

enum fm_transport_kind {
    FM_TRANSPORT_UNIX,    /* unix:PATH             plain log over a Unix stream socket */
    FM_TRANSPORT_TCP,     /* tcp:HOST:PORT         plain log over TCP */
    FM_TRANSPORT_MONITOR, /* monitor:HOST:PORT     framed messages over TCP */
    FM_TRANSPORT_UDP,     /* udp:HOST:PORT         one message a datagram */
};

struct fm_transport_address {
    enum fm_transport_kind kind;
    char *path; /* for a Unix socket */
    char *host; /* IPv6 addresses are written in brackets; host is without them */
    uint16_t port;
};

/* Whether the text has the form of an address; otherwise it is a file name. */
bool fm_transport_is_address(const char *text);
bool fm_transport_parse(const char *text, struct fm_transport_address *ret, GError **error);
void fm_transport_done(struct fm_transport_address *address);

/* Connects; tries again until timeout_ms is over (0 = one attempt). token may be NULL. Returns a
 * descriptor, or -1 with FM_ERROR_IO. A UDP "connection" announces itself to the peer. */
int fm_transport_connect(const struct fm_transport_address *address, int timeout_ms,
                         const char *token, GError **error);
/* Listens. A Unix socket gets mode 0600; a stale socket file is removed. A host that is not
 * loopback needs a token (FM_ERROR_USAGE without). Port 0 = any; *ret_port. */
int fm_transport_listen(const struct fm_transport_address *address, const char *token,
                        uint16_t *ret_port, GError **error);
/* Announces this client to a UDP peer again: the peer forgets it after a minute of silence. */
bool fm_transport_announce(int fd, const char *token, GError **error);

/* ---- Frames: 4 bytes of length, big-endian, then the message ---- */

enum { FM_FRAME_MAX = 16 << 20 };

struct fm_frame_parser {
    GByteArray *bytes;
    uint32_t used; /* number of bytes already returned */
    bool broken;
};

void fm_frame_parser_init(struct fm_frame_parser *parser);
void fm_frame_parser_done(struct fm_frame_parser *parser);
void fm_frame_parser_push(struct fm_frame_parser *parser, const uint8_t *bytes, size_t length);
/* Returns 1: *ret_message is valid until the next call; 0: more bytes are needed; -1 with an error
 * (FM_ERROR_LIMIT): length over 16 MiB, close the connection. */
int fm_frame_parser_next(struct fm_frame_parser *parser, const uint8_t **ret_message,
                         size_t *ret_length, GError **error);
/* Whether the input stopped inside a frame. */
bool fm_frame_parser_inside(const struct fm_frame_parser *parser);
void fm_frame_append(GByteArray *out, const uint8_t *message, size_t length);

/* ---- Control messages: F0 9E 97 8C, version, length, name space, number [, status] ---- */

enum {
    FM_CONTROL_SILENT = 0,   /* version: no answer is sent */
    FM_CONTROL_ANSWERED = 1, /* version: the answer is the message with a status */
    FM_CONTROL_LENGTH_MAX = 4 + 1 + 1 + 255 + 1 + 1,
};

struct fm_control_message {
    uint8_t version;
    uint8_t space_length; /* 1..255 */
    char space[256];      /* followed by a zero byte */
    uint8_t number;
    uint8_t status; /* only in answers */
};

/* Finds messages (or answers) in bytes that come in pieces of any size. Other bytes are skipped:
 * after a wrong byte, the search for the magic goes on at the next byte. */
struct fm_control_parser {
    bool answers; /* answers are expected, with a status byte */
    uint8_t held[FM_CONTROL_LENGTH_MAX];
    size_t held_length;
    uint64_t skipped; /* bytes outside of messages */
};

/* Takes bytes up to the end of the first message. Returns their number; *ret_found: *ret is set.
 * Call again with the rest. */
size_t fm_control_parse(struct fm_control_parser *parser, const uint8_t *bytes, size_t length,
                        struct fm_control_message *ret, bool *ret_found);
/* space: 1 to 255 bytes. with_status appends the status of an answer. */
void fm_control_append(GByteArray *out, const struct fm_control_message *message, bool with_status);
/* Finds a command by name: the five of name space "eventlog-socket" ("start-heap-profiling", ...),
 * fathom's own ("flush", "pause", "resume"), or "SPACE/NUMBER". */
bool fm_control_named(const char *name, struct fm_control_message *ret, GError **error);

/* ---- Refusals: a server sends one instead of the log, over any transport ---- */

enum fm_refusal_status {
    FM_REFUSAL_WRONG_TOKEN = 252,
    FM_REFUSAL_TOKEN_NEEDED = 253,
    FM_REFUSAL_FULL = 254,
};

/* Checks the first bytes of a connection for a refusal. */
struct fm_refusal_watch {
    bool over; /* the log has begun: no refusal */
    struct fm_control_parser parser;
};
/* Whether the bytes belong to the log. If they are a refusal, *error gives it as soon as it is
 * complete. */
bool fm_refusal_passes(struct fm_refusal_watch *watch, const uint8_t *bytes, size_t length,
                       const char *name, GError **error);
/* The connection has ended; sets an error if no byte of a log came before. */
bool fm_refusal_at_end(const struct fm_refusal_watch *watch, const char *name, GError **error);
/* Appends the refusal with that status. */
void fm_refusal_append(GByteArray *out, uint8_t status);

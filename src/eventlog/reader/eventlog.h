/* SPDX-License-Identifier: Apache-2.0 */
/* Event logs in GHC's format: incremental reading, the table of event types, writing.
 *
 * A log is a header that declares event types with their payload sizes, then events: number,
 * time, [length,] payload, all big-endian. Events are grouped in blocks; a block marker (event
 * 18) gives the block's length and capability. Reading in order of time: merge.h; block offsets
 * for random access: index.h; counting without a call per event: count.h.
 *
 * Threads: an object may be used by one thread at a time; the tables are constant. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

/* ---- Event types ---- */

enum fm_eventlog_number {
#define EVENT(number, constant, name, size, ...) FM_EVENTLOG_##constant = number,
#define EMPTY(number, constant, name) FM_EVENTLOG_##constant = number,
#include "eventlog/reader/types.def"
#undef EVENT
#undef EMPTY
};

enum fm_eventlog_kind {
    FM_EVENTLOG_U8,
    FM_EVENTLOG_U16,
    FM_EVENTLOG_U32,
    FM_EVENTLOG_U64,
    FM_EVENTLOG_I64,
    FM_EVENTLOG_F64,
    FM_EVENTLOG_TEXT,          /* to the end of the payload; UTF-8 by convention only */
    FM_EVENTLOG_TEXT_BEFORE_4, /* to four bytes before the end */
    FM_EVENTLOG_TEXTZ,         /* to a zero byte, which is not part of it */
    FM_EVENTLOG_TEXTZ_LIST,    /* texts each ended by a zero byte, to the end of the payload */
    FM_EVENTLOG_U32_LIST,      /* the field before is their number */
    FM_EVENTLOG_DATA,          /* to the end of the payload, not text */
};

enum fm_eventlog_unit {
    FM_EVENTLOG_UNIT_NONE,
    FM_EVENTLOG_UNIT_NUMBER, /* a plain number, or an id without a table */
    FM_EVENTLOG_UNIT_COUNT,
    FM_EVENTLOG_UNIT_BYTES,
    FM_EVENTLOG_UNIT_MEGABLOCKS,
    FM_EVENTLOG_UNIT_NS,
    FM_EVENTLOG_UNIT_SECONDS,
    FM_EVENTLOG_UNIT_THREAD,
    FM_EVENTLOG_UNIT_CAPABILITY, /* 0xFFFF = none */
    FM_EVENTLOG_UNIT_CAPSET,
    FM_EVENTLOG_UNIT_CAPSET_TYPE, /* fm_eventlog_enum_name() */
    FM_EVENTLOG_UNIT_STOP_STATUS, /* fm_eventlog_enum_name() */
    FM_EVENTLOG_UNIT_BREAKDOWN,   /* fm_eventlog_enum_name() */
    FM_EVENTLOG_UNIT_PROCESS,
    FM_EVENTLOG_UNIT_TASK,
    FM_EVENTLOG_UNIT_KERNEL_THREAD,
    FM_EVENTLOG_UNIT_COST_CENTRE,
    FM_EVENTLOG_UNIT_STRING, /* id of an interned text (event 42) */
    FM_EVENTLOG_UNIT_ADDRESS,
    FM_EVENTLOG_UNIT_FLAGS,
    FM_EVENTLOG_UNIT_JSON, /* a text: an array or object of JSON, as far as its writer keeps to it
                            */
};

struct fm_eventlog_field {
    const char *name;
    uint8_t kind;  /* enum fm_eventlog_kind */
    uint8_t unit;  /* enum fm_eventlog_unit */
    bool optional; /* only from newer producers */
};

enum { FM_EVENTLOG_FIELDS_MAX = 32 };

struct fm_eventlog_type {
    uint16_t number;
    const char *name;    /* "CreateThread" */
    int32_t exact_size;  /* valid for this declared size only; -1 = any */
    uint32_t fixed_size; /* bytes of the fields that are always present; texts count as empty */
    bool variable;       /* has a field without a fixed size */
    uint8_t field_count;
    struct fm_eventlog_field fields[FM_EVENTLOG_FIELDS_MAX];
};

/* All rows, ascending by number. */
const struct fm_eventlog_type *fm_eventlog_types(size_t *ret_count);
/* Returns the layout for a number declared with that size (-1 = variable); NULL when the number is
 * unknown or the size is smaller than every known layout. */
const struct fm_eventlog_type *fm_eventlog_type_find(uint16_t number, int32_t declared_size);
/* Finds a type by its exact name; NULL when there is none. */
const struct fm_eventlog_type *fm_eventlog_type_named(const char *name);
const char *fm_eventlog_kind_name(enum fm_eventlog_kind kind);
const char *fm_eventlog_unit_name(enum fm_eventlog_unit unit);
/* Returns the word for a value of an enumerated unit ("blocked on MVar"), or NULL. */
const char *fm_eventlog_enum_name(enum fm_eventlog_unit unit, uint64_t value);

/* ---- Header ---- */

struct fm_eventlog_declared {
    uint16_t number;
    int32_t size;                    /* payload bytes of each event; -1 = variable */
    uint32_t name_at, name_length;   /* in the header's bytes; UTF-8 by convention only */
    uint32_t extra_at, extra_length; /* in the header's bytes */
    bool replaced;                   /* a later entry declares the same number */
    /* The layout from the table. For other numbers, the layout in the extra text ("fields:a=w32,
     * b=str", with the kinds of fathom/eventlog.h and f64, ns, strz, data); quotes, blanks and
     * non-ASCII characters are removed from names. NULL: events are skipped by size. */
    const struct fm_eventlog_type *known;
};

struct fm_eventlog_header {
    GByteArray *bytes;     /* "hdrb" to "datb", as read or composed */
    GArray *declared;      /* elements: struct fm_eventlog_declared, in file order */
    uint32_t number_count; /* maximum declared number + 1 */
    int32_t *slots;        /* number_count entries: index in declared, -1 = not declared */
    GPtrArray *types;      /* private: layouts from the header; NULL = none */
    gint refs;
};

struct fm_eventlog_header *fm_eventlog_header_ref(struct fm_eventlog_header *header);
void fm_eventlog_header_unref(struct fm_eventlog_header *header);
/* NULL when the number is not declared. */
const struct fm_eventlog_declared *fm_eventlog_header_find(const struct fm_eventlog_header *header,
                                                           uint32_t number);
/* "CreateThread", or "Unknown213" for a type that is in no table; free with g_free(). */
char *fm_eventlog_type_label(uint16_t number);

/* Composes a header: begin, add any number of types, end. */
struct fm_eventlog_header *fm_eventlog_header_begin(void);
void fm_eventlog_header_add(struct fm_eventlog_header *header, uint16_t number, int32_t size,
                            const char *description);
/* extra: "fields:..." as above. */
void fm_eventlog_header_add_extra(struct fm_eventlog_header *header, uint16_t number, int32_t size,
                                  const char *description, const char *extra);
void fm_eventlog_header_end(struct fm_eventlog_header *header);
/* Parses a whole header in memory. name is for messages. */
struct fm_eventlog_header *fm_eventlog_header_parse(const uint8_t *bytes, size_t length,
                                                    const char *name, GError **error);

/* ---- Events ---- */

enum { FM_EVENTLOG_NO_CAPABILITY = -1 };
#define FM_EVENTLOG_NO_BLOCK UINT64_MAX

struct fm_eventlog_event {
    uint64_t time_ns;        /* since the program's start */
    uint64_t offset;         /* offset of the event in the stream */
    uint64_t block;          /* offset of its block's marker, or FM_EVENTLOG_NO_BLOCK */
    const uint8_t *payload;  /* valid until the reader is used again */
    uint32_t payload_length; /* at most 65,535 */
    uint32_t head_length;    /* 10, or 12 with a length field; payload at offset + this */
    int32_t capability;      /* capability of the block; -1 = none */
    uint16_t number;
    const struct fm_eventlog_type *type; /* NULL: unknown, skipped by size */
};

struct fm_eventlog_value {
    const struct fm_eventlog_field *field;
    uint64_t number;      /* value of integer kinds; U32_LIST: the count */
    double real;          /* value of F64 */
    const uint8_t *bytes; /* for texts, lists and data: points into the payload */
    uint32_t length;      /* length of `bytes` */
};

/* Decodes the fields in order. values has FM_EVENTLOG_FIELDS_MAX places. Returns the number of
 * fields decoded (optional ones may be absent). *ret_malformed: a field runs past the payload; then
 * this event is malformed, not the log. An unknown type has no fields. */
size_t fm_eventlog_decode(const struct fm_eventlog_event *event, struct fm_eventlog_value *values,
                          bool *ret_malformed);
/* The wall clock at the log's time 0, from a WallClockTime event: ns since 1970. False: the payload
 * is too short, or beyond what 64 bits of nanoseconds hold. */
bool fm_eventlog_wall_clock(const uint8_t *payload, uint32_t length, uint64_t time_ns,
                            int64_t *ret_ns);
/* Decodes one field by name; false when the event has none. Slower than decode. */
bool fm_eventlog_field(const struct fm_eventlog_event *event, const char *name,
                       struct fm_eventlog_value *ret);

static inline uint16_t fm_eventlog_get16(const uint8_t *bytes)
{
    return (uint16_t)(bytes[0] << 8 | bytes[1]);
}

static inline uint32_t fm_eventlog_get32(const uint8_t *bytes)
{
    uint32_t value;
    __builtin_memcpy(&value, bytes, sizeof value);
    return GUINT32_FROM_BE(value);
}

static inline uint64_t fm_eventlog_get64(const uint8_t *bytes)
{
    uint64_t value;
    __builtin_memcpy(&value, bytes, sizeof value);
    return GUINT64_FROM_BE(value);
}

/* The integer at a byte offset of the payload; 0 when the payload is too short. */
static inline uint16_t fm_eventlog_u16(const struct fm_eventlog_event *event, uint32_t at)
{
    return at + 2 <= event->payload_length ? fm_eventlog_get16(event->payload + at) : 0;
}

static inline uint32_t fm_eventlog_u32(const struct fm_eventlog_event *event, uint32_t at)
{
    return at + 4 <= event->payload_length ? fm_eventlog_get32(event->payload + at) : 0;
}

static inline uint64_t fm_eventlog_u64(const struct fm_eventlog_event *event, uint32_t at)
{
    return at + 8 <= event->payload_length ? fm_eventlog_get64(event->payload + at) : 0;
}

/* ---- Reader: push bytes in pieces of any size; take items until it asks for more ---- */

enum fm_eventlog_status {
    FM_EVENTLOG_MORE,       /* push more bytes, or call finish */
    FM_EVENTLOG_HAS_HEADER, /* a header has been read: fm_eventlog_reader_header() */
    FM_EVENTLOG_HAS_EVENT,  /* an event, block markers included */
    FM_EVENTLOG_HAS_GAP,    /* damaged bytes were skipped: fm_eventlog_reader_gap() */
    FM_EVENTLOG_HAS_END,    /* the end mark FF FF; another log may follow */
    FM_EVENTLOG_FINISHED,   /* nothing follows: fm_eventlog_reader_tail() */
    FM_EVENTLOG_FAILED,     /* not readable at all: empty, no event log, damaged header */
};

/* Damaged bytes that were skipped. The number of events in them is unknown. */
struct fm_eventlog_gap {
    uint64_t offset, length;
    int32_t capability; /* capability of the block where the damage began; -1 = none or unknown */
    uint64_t time_ns;   /* time of the last event before, 0 when there is none */
    char reason[96];    /* "event number 777 is not declared" */
};

/* The bytes after the last whole event. */
struct fm_eventlog_tail {
    bool end_mark;   /* the log is finished */
    uint64_t offset; /* offset of the incomplete event, or of the bytes after the end mark */
    uint64_t length; /* number of bytes there; 0 = the input ends cleanly */
    bool block_cut;  /* the last block is shorter than its marker says */
    uint64_t bytes;  /* length of the whole input */
};

struct fm_eventlog_reader;

/* name is for messages and copied. */
struct fm_eventlog_reader *fm_eventlog_reader_new(const char *name);
void fm_eventlog_reader_free(struct fm_eventlog_reader *reader);

/* Copies the bytes. Only an incomplete event is kept, or a damaged part whose end is not yet found
 * (at most 64 MiB). */
void fm_eventlog_reader_push(struct fm_eventlog_reader *reader, const void *bytes, size_t length);
/* To push without a copy: returns a buffer of *ret_length bytes (at least wanted) to read into;
 * then call fm_eventlog_reader_commit() with their number. */
uint8_t *fm_eventlog_reader_space(struct fm_eventlog_reader *reader, size_t wanted,
                                  size_t *ret_length);
void fm_eventlog_reader_commit(struct fm_eventlog_reader *reader, size_t length);
/* Reads from memory instead (a mapped file) that holds the stream from its beginning and stays
 * valid. Call again with a greater length when more is available. Not together with push. */
void fm_eventlog_reader_view(struct fm_eventlog_reader *reader, const uint8_t *bytes,
                             size_t length);
/* A program that serves its log may send answers to control messages (transport.h) between two
 * blocks, or before the header. With a callback they are passed to it; without, they count as
 * damage. */
struct fm_control_message;
typedef void fm_eventlog_answer_callback(void *user, const struct fm_control_message *answer);
void fm_eventlog_reader_expect_answers(struct fm_eventlog_reader *reader,
                                       fm_eventlog_answer_callback *callback, void *user);
/* No more bytes will come. */
void fm_eventlog_reader_finish(struct fm_eventlog_reader *reader);

/* Returns the next item. The items do not depend on how the bytes were split. error is set for
 * FM_EVENTLOG_FAILED only (FM_ERROR_FORMAT, _TRUNCATED, _LIMIT). */
enum fm_eventlog_status fm_eventlog_reader_next(struct fm_eventlog_reader *reader,
                                                struct fm_eventlog_event *ret, GError **error);
/* Header of the log that is being read; NULL before the first. Borrowed: take a reference to keep
 * it. */
struct fm_eventlog_header *fm_eventlog_reader_header(const struct fm_eventlog_reader *reader);
const struct fm_eventlog_gap *fm_eventlog_reader_gap(const struct fm_eventlog_reader *reader);
const struct fm_eventlog_tail *fm_eventlog_reader_tail(const struct fm_eventlog_reader *reader);
/* Stream offset of the next item. */
uint64_t fm_eventlog_reader_offset(const struct fm_eventlog_reader *reader);
/* Bytes of memory used for input. */
size_t fm_eventlog_reader_memory(const struct fm_eventlog_reader *reader);

/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of the reader. Private to this folder. */
#pragma once

#include "eventlog/reader/eventlog.h"

enum {
    FM_EVENTLOG_END_MARK = 0xFFFF,
    FM_EVENTLOG_NO_CAPABILITY_16 = 0xFFFF,
    FM_EVENTLOG_MARKER_LENGTH = 24,
    FM_EVENTLOG_BLOCK_MAX = 64 << 20, /* a plausible block size, for guesses */
};

/* One number of the header, prepared for the loop over events. */
struct fm_eventlog_step {
    uint32_t length; /* total size of a fixed event; 12 for a variable one; 0 = not declared */
    bool variable;
    /* total size of a short event of fixed size that is no marker and has no text; 0 = use the slow
     * path */
    uint8_t quick;
    const struct fm_eventlog_type *type;
};

enum { FM_EVENTLOG_QUICK_BYTES = 64 }; /* the largest of those */

/* Continues to scan a header from *at. Returns 1 at its end (then *at is its length), 0 when more
 * bytes are needed, -1 with an error. base is the stream offset of bytes[0]. */
int fm_eventlog_header_scan(struct fm_eventlog_header *header, const uint8_t *bytes, size_t length,
                            size_t *at, uint64_t base, bool final, const char *name,
                            GError **error);
struct fm_eventlog_header *fm_eventlog_header_new(void);
/* Keeps the bytes and indexes the numbers. */
void fm_eventlog_header_complete(struct fm_eventlog_header *header, const uint8_t *bytes,
                                 size_t length);
/* schema.c: parses the layout in an entry's extra text; NULL when there is none that fits. */
struct fm_eventlog_type *fm_eventlog_schema_parse(uint16_t number, int32_t size,
                                                  const uint8_t *name, uint32_t name_length,
                                                  const uint8_t *extra, uint32_t extra_length);
void fm_eventlog_schema_free(void *type);
/* Returns number_count entries; free with g_free(). */
struct fm_eventlog_step *fm_eventlog_header_steps(const struct fm_eventlog_header *header);

enum reader_state {
    READER_HEADER,
    READER_EVENTS,
    READER_TO_BLOCK_END, /* after damage: check for a boundary at the block's end */
    READER_SEARCH,       /* after damage: search the next marker */
    READER_AFTER_END,    /* after FF FF: another log, or trailing bytes */
    READER_TRAILING,
    READER_FINISHED,
    READER_FAILED,
};

struct fm_eventlog_reader {
    char *name;
    enum reader_state state;
    const uint8_t *data; /* own buffer, or the caller's memory */
    size_t pos, end;     /* range in data that is not yet read */
    uint64_t base;       /* stream offset of data[0] */
    bool final;
    uint8_t *buffer;
    size_t buffer_size;

    struct fm_eventlog_header *header;  /* header of the log that is being read */
    struct fm_eventlog_header *reading; /* an incomplete header */
    size_t header_at;                   /* bytes of it scanned, from pos */
    struct fm_eventlog_step *steps;
    uint32_t step_count;

    uint64_t block;     /* offset of the marker, or FM_EVENTLOG_NO_BLOCK */
    uint64_t block_end; /* offset; 0 when the marker does not say */
    int32_t capability;
    int32_t capability_max;
    uint64_t last_time;
    uint64_t search_from;
    struct fm_eventlog_gap gap;
    struct fm_eventlog_tail tail;
    GError *failure;
    fm_eventlog_answer_callback *on_answer;
    void *answer_user;
};

static inline uint64_t fm_eventlog_reader_at(const struct fm_eventlog_reader *reader, size_t pos)
{
    return reader->base + pos;
}

/* Makes a reader that starts at an offset of its stream, among the events of that header; in a
 * header when `header` is NULL. */
struct fm_eventlog_reader *
fm_eventlog_reader_new_at(const char *name, struct fm_eventlog_header *header, uint64_t offset);
struct fm_eventlog_counts;
/* count.c: sets the header of a reader made by fm_eventlog_reader_new_at(). */
void fm_eventlog_counts_take_header(struct fm_eventlog_counts *counts,
                                    const struct fm_eventlog_header *header);
/* recover.c: one step of resynchronising after damage. Returns HAS_GAP when it succeeded (the
 * reader is at that place, with its state set), or MORE. */
enum fm_eventlog_status fm_eventlog_recover(struct fm_eventlog_reader *reader);
/* Whether 24 bytes may be a marker: size, times and capability are plausible. capability_max: the
 * maximum so far. */
bool fm_eventlog_marker_plausible(int32_t capability_max, const uint8_t *bytes);

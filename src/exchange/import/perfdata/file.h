/* SPDX-License-Identifier: Apache-2.0 */
/* perf.data: the file that perf record writes. Its header, its events, and where its records are,
 * in the order of time. Fields are in the byte order of the machine that wrote it. */
#pragma once

#include "exchange/import/internal.h"

/* Numbers of records; others are passed over. */
enum {
    FM_PERF_MMAP = 1,
    FM_PERF_LOST = 2,
    FM_PERF_COMM = 3,
    FM_PERF_EXIT = 4,
    FM_PERF_THROTTLE = 5,
    FM_PERF_FORK = 7,
    FM_PERF_SAMPLE = 9,
    FM_PERF_MMAP2 = 10,
    FM_PERF_LOST_SAMPLES = 13,
    FM_PERF_KSYMBOL = 17,
    FM_PERF_USER_FIRST = 64, /* those from here on are perf's own */
    FM_PERF_HEADER_ATTR = 64,
    FM_PERF_EVENT_TYPE = 65,
    FM_PERF_TRACING_DATA = 66,
    FM_PERF_BUILD_ID = 67,
    FM_PERF_AUXTRACE = 71,
    FM_PERF_EVENT_UPDATE = 78,
    FM_PERF_HEADER_FEATURE = 80,
    FM_PERF_COMPRESSED = 81,
    FM_PERF_COMPRESSED2 = 83
};

/* Bits of sample_type, in the order of a sample's fields, but for IDENTIFIER, the first. */
enum {
    FM_PERF_IP = 1u << 0,
    FM_PERF_TID = 1u << 1,
    FM_PERF_TIME = 1u << 2,
    FM_PERF_ADDR = 1u << 3,
    FM_PERF_READ = 1u << 4,
    FM_PERF_CALLCHAIN = 1u << 5,
    FM_PERF_ID = 1u << 6,
    FM_PERF_CPU = 1u << 7,
    FM_PERF_PERIOD = 1u << 8,
    FM_PERF_STREAM_ID = 1u << 9,
    FM_PERF_RAW = 1u << 10,
    FM_PERF_BRANCH_STACK = 1u << 11,
    FM_PERF_REGS_USER = 1u << 12,
    FM_PERF_STACK_USER = 1u << 13,
    FM_PERF_IDENTIFIER = 1u << 16
};

#define FM_PERF_HEADER ((size_t)8) /* bytes of a record's own header */
#define FM_PERF_MISC_KERNEL 1u
#define FM_PERF_MISC_USER 2u
#define FM_PERF_MISC_MODE 7u
#define FM_PERF_MISC_EXEC (1u << 13)     /* a COMM by exec, a FORK that was no fork */
#define FM_PERF_MISC_BUILD_ID (1u << 14) /* MMAP2 has it */
#define FM_PERF_MISC_ID_SIZE (1u << 15)  /* BUILD_ID has it */
#define FM_PERF_ID_BYTES 20u

struct fm_perf_event {
    char *name; /* NULL: by type and config */
    uint32_t type;
    uint64_t config, period, sample_type, read_format, branches, registers_user;
    uint32_t stack_user; /* bytes that were asked for */
    bool by_frequency, ids_in_all;
    uint64_t samples;
};

struct fm_perf_record {
    uint64_t time;
    uint64_t at; /* offset in the file, or with FM_PERF_UNPACKED in what was compressed */
};
#define FM_PERF_UNPACKED ((uint64_t)1 << 63)

struct fm_perf_file {
    const struct fm_import_input *input;
    bool swapped, pipe;
    GArray *events;                                      /* struct fm_perf_event */
    GHashTable *by_id;                                   /* id -> number of the event + 1 */
    GArray *records;                                     /* struct fm_perf_record, by time */
    GByteArray *unpacked;                                /* records that were compressed */
    GHashTable *build_ids;                               /* name of a file -> GBytes */
    char *hostname, *release, *version, *arch, *command; /* NULL: not recorded */
    uint64_t lost, lost_samples, throttled;
    uint64_t aux; /* bytes of a processor's trace */
    bool killed;  /* the recorder never wrote the header's sizes */
    char *damage; /* why reading ended before the end; NULL: it did not */
};

/* Without events and records. The input stays the caller's. */
void fm_perf_file_init(struct fm_perf_file *file, const struct fm_import_input *input);
/* Errors: FM_ERROR_FORMAT, _TRUNCATED, _LIMIT with an offset. A file that ends too early, or is
 * damaged behind its header, is read up to there. */
FM_MUST_USE bool fm_perf_file_open(struct fm_perf_file *file, const struct fm_import_input *input,
                                   GError **error);
void fm_perf_file_close(struct fm_perf_file *file);
/* The event's name, g_free. */
char *fm_perf_event_name(const struct fm_perf_event *event);

/* --- numbers --- */

static inline uint16_t fm_perf_u16(const struct fm_perf_file *file, const uint8_t *at)
{
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return file->swapped ? GUINT16_SWAP_LE_BE(value) : value;
}
static inline uint32_t fm_perf_u32(const struct fm_perf_file *file, const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return file->swapped ? GUINT32_SWAP_LE_BE(value) : value;
}
static inline uint64_t fm_perf_u64(const struct fm_perf_file *file, const uint8_t *at)
{
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return file->swapped ? GUINT64_SWAP_LE_BE(value) : value;
}

/* Fields one behind the other. Beyond the end they are 0, and `bad` is set. */
struct fm_perf_fields {
    const struct fm_perf_file *file;
    const uint8_t *at, *end;
    bool bad;
};

static inline const uint8_t *fm_perf_take(struct fm_perf_fields *fields, uint64_t size)
{
    const uint8_t *at = fields->at;
    if ((uint64_t)(fields->end - at) < size) {
        fields->bad = true;
        fields->at = fields->end;
        return NULL;
    }
    fields->at += size;
    return at;
}
static inline uint32_t fm_perf_take_u32(struct fm_perf_fields *fields)
{
    const uint8_t *at = fm_perf_take(fields, 4);
    return at == NULL ? 0 : fm_perf_u32(fields->file, at);
}
static inline uint64_t fm_perf_take_u64(struct fm_perf_fields *fields)
{
    const uint8_t *at = fm_perf_take(fields, 8);
    return at == NULL ? 0 : fm_perf_u64(fields->file, at);
}
/* The text up to a NUL byte or the end; g_free. */
static inline char *fm_perf_text(const struct fm_perf_fields *fields)
{
    return g_strndup((const char *)fields->at, (size_t)(fields->end - fields->at));
}

/* --- records --- */

struct fm_perf_body {
    uint32_t type;
    uint16_t misc;
    struct fm_perf_fields fields; /* without the fields that all records of the kernel end with */
};
/* Counts what a record says was lost. Whether it is one that profiles are made of. */
bool fm_perf_count_losses(struct fm_perf_file *file, const uint8_t *record, size_t size);
struct fm_perf_body fm_perf_body_at(const struct fm_perf_file *file, uint64_t at);

struct fm_perf_sample {
    const struct fm_perf_event *event; /* NULL: its id belongs to no event */
    uint64_t ip, time, period;
    int32_t pid, tid;
    bool has_period, has_ip, has_chain, has_branches;
    uint64_t chain_size;
    const uint8_t *chain; /* u64 each, innermost first */
    const uint8_t *raw;   /* bytes of its own; NULL: none */
    uint32_t raw_size;
    uint64_t registers_abi;
    const uint8_t *registers; /* u64 each, by the bits of registers_user; NULL: none */
    const uint8_t *stack;     /* copy of its innermost part; NULL: none */
    uint64_t stack_size, stack_used;
};
/* False: the record is shorter than its fields. */
bool fm_perf_sample_of(const struct fm_perf_file *file, const struct fm_perf_body *body,
                       struct fm_perf_sample *ret);

/* --- for the files of this folder that read the header --- */

/* An attribute of `size` bytes, its own size among them. */
void fm_perf_add_event(struct fm_perf_file *file, const uint8_t *attr, size_t size);
void fm_perf_add_ids(struct fm_perf_file *file, uint32_t event, const uint8_t *ids, size_t size);
void fm_perf_read_feature(struct fm_perf_file *file, uint64_t number, const uint8_t *bytes,
                          size_t size);
/* One record of a build id, with its header. */
void fm_perf_read_build_id(struct fm_perf_file *file, const uint8_t *record, size_t size);
bool fm_perf_read_records(struct fm_perf_file *file, uint64_t at, uint64_t size, GError **error);

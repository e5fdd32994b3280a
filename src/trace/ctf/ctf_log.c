/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "eventlog/output/writer.h"
#include "trace/ctf/ctf_import.h"

enum { MARKER_BYTES = 24, ROUND_BYTES = 1 << 20, FIRST_ROUND_BYTES = 64 << 10 };

struct lane {
    unsigned capability;
    GByteArray *block; /* with room for its marker */
    uint64_t begin_ns;
};

struct ctf_log {
    int fd;
    GPtrArray *lanes; /* holds struct lane */
    GHashTable *by_capability;
    struct lane *last;
    size_t last_length; /* length of its block when it was returned */
    size_t held;        /* bytes of all blocks but that one */
    size_t round_bytes;
    uint64_t latest_ns;
    GByteArray *round; /* written at once, so that a reader never sees a part of it */
};

static void lane_free(void *data)
{
    struct lane *lane = data;
    g_byte_array_unref(lane->block);
    g_free(lane);
}

struct ctf_log *fm_ctf_log_new(int fd)
{
    struct ctf_log *log = g_new0(struct ctf_log, 1);
    log->fd = fd;
    log->lanes = g_ptr_array_new_with_free_func(lane_free);
    log->by_capability = g_hash_table_new(NULL, NULL);
    log->round = g_byte_array_new();
    log->round_bytes = FIRST_ROUND_BYTES; /* small, so that results appear soon */
    return log;
}

void fm_ctf_log_free(struct ctf_log *log)
{
    if (log == NULL)
        return;
    g_hash_table_unref(log->by_capability);
    g_byte_array_unref(log->round);
    g_ptr_array_unref(log->lanes);
    g_free(log);
}

void fm_ctf_log_header(struct ctf_log *log, const struct fm_eventlog_header *header)
{
    g_byte_array_append(log->round, header->bytes->data, header->bytes->len);
}

static struct lane *add_lane(struct ctf_log *log, unsigned capability, uint64_t time_ns)
{
    g_assert(!g_hash_table_contains(log->by_capability, GUINT_TO_POINTER(capability + 1)));
    struct lane *lane = g_new0(struct lane, 1);
    lane->capability = capability;
    lane->block = g_byte_array_new();
    lane->begin_ns = time_ns;
    g_byte_array_set_size(lane->block, MARKER_BYTES);
    g_ptr_array_add(log->lanes, lane);
    g_hash_table_insert(log->by_capability, GUINT_TO_POINTER(capability + 1), lane);
    return lane;
}

static void count_last(struct ctf_log *log)
{
    if (log->last != NULL)
        log->held += log->last->block->len - log->last_length;
    log->last = NULL;
}

GByteArray *fm_ctf_log_place(struct ctf_log *log, unsigned capability, uint64_t time_ns)
{
    count_last(log);
    struct lane *lane = g_hash_table_lookup(log->by_capability, GUINT_TO_POINTER(capability + 1));
    if (lane == NULL)
        lane = add_lane(log, capability, time_ns);
    if (lane->block->len == MARKER_BYTES)
        lane->begin_ns = time_ns;
    log->latest_ns = MAX(log->latest_ns, time_ns);
    log->last = lane;
    g_assert(lane->block->len >= MARKER_BYTES);
    log->last_length = lane->block->len;
    return lane->block;
}

static void put_marker(struct lane *lane, uint64_t end_ns)
{
    g_assert(lane->block->len >= MARKER_BYTES);
    uint8_t *at = lane->block->data;
    uint64_t begin = GUINT64_TO_BE(lane->block->len == MARKER_BYTES ? end_ns : lane->begin_ns);
    uint64_t end = GUINT64_TO_BE(end_ns);
    uint32_t size = GUINT32_TO_BE(lane->block->len);
    uint16_t number = GUINT16_TO_BE(FM_EVENTLOG_BLOCK_MARKER);
    uint16_t capability = GUINT16_TO_BE((uint16_t)lane->capability);
    memcpy(at, &number, 2);
    memcpy(at + 2, &begin, 8);
    memcpy(at + 10, &size, 4);
    memcpy(at + 14, &end, 8);
    memcpy(at + 22, &capability, 2);
}

static bool write_round(struct ctf_log *log, bool *ret_written, GError **error)
{
    *ret_written = fm_eventlog_write_fd(&log->fd, log->round->data, log->round->len, error);
    g_byte_array_set_size(log->round, 0);
    return *ret_written;
}

bool fm_ctf_log_round(struct ctf_log *log, bool always, bool *ret_written, GError **error)
{
    count_last(log);
    *ret_written = false;
    if (log->held == 0 || (!always && log->held < log->round_bytes))
        return true;
    for (guint i = 0; i < log->lanes->len; i++) {
        struct lane *lane = log->lanes->pdata[i];
        put_marker(lane, log->latest_ns);
        g_byte_array_append(log->round, lane->block->data, lane->block->len);
        g_byte_array_set_size(lane->block, MARKER_BYTES);
    }
    log->held = 0;
    log->round_bytes = ROUND_BYTES;
    return write_round(log, ret_written, error);
}

bool fm_ctf_log_end(struct ctf_log *log, GError **error)
{
    static const uint8_t end[2] = {0xFF, 0xFF};
    bool written;
    if (!fm_ctf_log_round(log, true, &written, error))
        return false;
    g_byte_array_append(log->round, end, sizeof end);
    return write_round(log, &written, error);
}

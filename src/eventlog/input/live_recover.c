/* SPDX-License-Identifier: Apache-2.0 */
/* Appends to a log what LOG.live holds: blocks that were handed over but not written, then the
 * buffers' events, as blocks. The log may end in a torn block, which LOG.live then holds too. */
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "base/error.h"
#include "eventlog/reader/internal.h"
#include "eventlog/input/live_internal.h"

enum { HEADER_MAX = 1 << 20 };

struct recovery {
    struct fm_live live;
    struct fm_eventlog_header *header;
    struct fm_eventlog_step *steps;
    uint64_t begin, end; /* offsets in the log: range of the whole blocks */
    uint64_t at;         /* offset of the next byte to write */
    uint64_t latest_ns;
    uint64_t ticks, ns; /* clock rate: `ticks` stamps take `ns` nanoseconds */
    bool finished;      /* the log has its end mark */
    struct fm_eventlog_recovered *result;
};

/* An event of a buffer, with its stamp: raw, or in nanoseconds. */
struct found {
    const uint8_t *bytes;
    uint32_t length;
    uint64_t stamp;
};

/* ---- the log ----------------------------------------------------------------------------------
 */

static bool get(int fd, void *out, size_t bytes, uint64_t at)
{
    return pread(fd, out, bytes, (off_t)at) == (ssize_t)bytes;
}

static bool put(struct recovery *r, const void *data, size_t bytes, GError **error)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t n = pwrite(r->live.log_fd, (const uint8_t *)data + done, bytes - done,
                           (off_t)(r->at + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: cannot write: %s", r->live.log_path,
                        g_strerror(n < 0 ? errno : ENOSPC));
            return false;
        }
        done += (size_t)n;
    }
    r->at += bytes;
    return true;
}

static bool read_header(struct recovery *r, GError **error)
{
    static const char last[] = "hetehdredatb";
    size_t want = MIN(r->live.log_bytes, HEADER_MAX);
    g_autofree uint8_t *bytes = g_malloc(want + 1);
    if (!get(r->live.log_fd, bytes, want, 0))
        want = 0;
    const uint8_t *end = memmem(bytes, want, last, sizeof last - 1);
    if (end == NULL) {
        g_set_error(error, FM_ERROR, FM_ERROR_TRUNCATED,
                    "%s: offset 0: expected the whole header of an event log", r->live.log_path);
        return false;
    }
    r->begin = (uint64_t)(end - bytes) + sizeof last - 1;
    r->header = fm_eventlog_header_parse(bytes, r->begin, r->live.log_path, error);
    if (r->header == NULL)
        return false;
    r->steps = fm_eventlog_header_steps(r->header);
    if (r->header->number_count > FM_EVENTLOG_BLOCK_MARKER &&
        r->steps[FM_EVENTLOG_BLOCK_MARKER].length == FM_EVENTLOG_MARKER_LENGTH &&
        r->steps[FM_EVENTLOG_MESSAGE].variable)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                "%s: offset 0: expected a log with block markers and messages, as "
                "libfathom-eventlog writes it",
                r->live.log_path);
    return false;
}

/* Follows the block markers to the end of the last whole block. A torn block may follow; anything
 * else is an error that a human must judge. */
static bool walk_log(struct recovery *r, GError **error)
{
    uint8_t marker[FM_EVENTLOG_MARKER_LENGTH];
    uint64_t end = r->live.head->recovering ? MIN(r->live.head->recovered_at, r->live.log_bytes)
                                            : r->live.log_bytes;
    uint64_t at = r->begin;
    while (at + sizeof marker <= end && get(r->live.log_fd, marker, sizeof marker, at)) {
        uint64_t size = fm_eventlog_get32(marker + 10);
        if (fm_eventlog_get16(marker) != FM_EVENTLOG_BLOCK_MARKER || size < sizeof marker ||
            size > end - at)
            break;
        r->latest_ns = MAX(r->latest_ns, fm_eventlog_get64(marker + 14));
        at += size;
    }
    r->finished = at + 2 == end && get(r->live.log_fd, marker, 2, at) &&
                  fm_eventlog_get16(marker) == FM_EVENTLOG_END_MARK;
    r->end = at;
    if (r->finished || end - at < sizeof marker ||
        !get(r->live.log_fd, marker, sizeof marker, at) ||
        (fm_eventlog_get16(marker) == FM_EVENTLOG_BLOCK_MARKER &&
         fm_eventlog_get32(marker + 10) > end - at))
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                "%s: offset %" G_GUINT64_FORMAT
                ": expected a block; nothing is recovered, as the rest of the log would be lost",
                r->live.log_path, at);
    return false;
}

/* ---- blocks that were handed over but not written
 * --------------------------------------------- */

/* A block counts when the turn of its source buffer has moved on: then its events are no longer in
 * the buffer. */
static bool counts(const struct recovery *r, const struct fm_live_slot *slot)
{
    const struct fm_live_slot *source = fm_live_slot_at(&r->live, slot->source);
    return slot->kind == FM_LIVE_BLOCK && source != NULL && source->turn != slot->source_turn &&
           slot->data_bytes >= FM_EVENTLOG_MARKER_LENGTH &&
           slot->data_bytes <= slot->bytes - FM_LIVE_SLOT_BYTES;
}

/* Sorts blocks in the order in which the writer got them. Blocks that it did not get come last,
 * those with definitions first. */
static gint by_sequence(gconstpointer a, gconstpointer b)
{
    const struct fm_live_slot *x = *(const struct fm_live_slot *const *)a;
    const struct fm_live_slot *y = *(const struct fm_live_slot *const *)b;
    uint64_t p = x->sequence - 1, q = y->sequence - 1;
    if (p != q)
        return p < q ? -1 : 1;
    return (x->lane != FM_EVENTLOG_NO_CAPABILITY_16) - (y->lane != FM_EVENTLOG_NO_CAPABILITY_16);
}

static GPtrArray *find_blocks(struct recovery *r)
{
    GPtrArray *blocks = g_ptr_array_new();
    for (guint i = 0; i < r->live.slots->len; i++) {
        const struct fm_live_slot *slot = g_ptr_array_index(r->live.slots, i);
        if (!counts(r, slot))
            continue;
        g_ptr_array_add(blocks, (gpointer)(uintptr_t)slot);
        if (slot->file_at > r->begin && slot->file_at - 1 < r->end)
            r->end = slot->file_at - 1; /* the program was writing the block there */
    }
    g_ptr_array_sort(blocks, by_sequence);
    return blocks;
}

/* Length of the event at p; 0 = not an event. */
static uint32_t event_length(const struct recovery *r, const uint8_t *p, const uint8_t *end)
{
    if (end - p < 10)
        return 0;
    uint16_t number = fm_eventlog_get16(p);
    if (number >= r->header->number_count || number == FM_EVENTLOG_BLOCK_MARKER)
        return 0;
    uint32_t length = r->steps[number].length; /* 0 = type not declared */
    if (r->steps[number].variable)
        length = end - p < 12 ? 0 : length + fm_eventlog_get16(p + 10);
    return length <= (uint64_t)(end - p) ? length : 0;
}

static bool add_blocks(struct recovery *r, GPtrArray *blocks, GError **error)
{
    for (guint i = 0; i < blocks->len; i++) {
        const struct fm_live_slot *slot = g_ptr_array_index(blocks, i);
        const uint8_t *data = (const uint8_t *)slot + FM_LIVE_SLOT_BYTES;
        const uint8_t *end = data + slot->data_bytes, *p = data + FM_EVENTLOG_MARKER_LENGTH;
        uint64_t events = 0;
        for (uint32_t length; (length = event_length(r, p, end)) != 0; p += length)
            events++;
        if (p != end || fm_eventlog_get16(data) != FM_EVENTLOG_BLOCK_MARKER ||
            fm_eventlog_get32(data + 10) != slot->data_bytes) {
            r->result->left_out += slot->data_bytes;
            continue;
        }
        r->result->events += events;
        r->result->blocks++;
        r->latest_ns = MAX(r->latest_ns, fm_eventlog_get64(data + 14));
        if (!put(r, data, slot->data_bytes, error))
            return false;
    }
    return true;
}

/* ---- buffers ----------------------------------------------------------------------------------
 */

static void find_events(struct recovery *r, const uint8_t *p, const uint8_t *end, bool raw,
                        GArray *list)
{
    uint32_t length;
    for (; (length = event_length(r, p, end)) != 0; p += length) {
        struct found f = {p, length, fm_eventlog_get64(p + 2)};
        if (raw)
            memcpy(&f.stamp, p + 2, sizeof f.stamp); /* in the machine's order */
        g_array_append_val(list, f);
    }
    r->result->left_out += (uint64_t)(end - p);
}

/* Finds the events that signal handlers queued, except those that were being written. */
static void find_queued(struct recovery *r, const uint8_t *slot, uint64_t done, GArray *list)
{
    const uint8_t *p = slot + FM_LIVE_SIDE_DATA, *end;
    uint64_t side, low = (UINT64_C(1) << FM_LIVE_SIDE_BITS) - 1,
                   turns = ~(low << FM_LIVE_SIDE_BITS | low);
    memcpy(&side, slot + FM_LIVE_SIDE_AT, sizeof side);
    end = p + MIN(side >> FM_LIVE_SIDE_BITS & low, FM_LIVE_SIDE_BYTES);
    if ((side & turns) == (done & turns))
        p += MIN(done & low, (uint64_t)(end - p));
    while (p < end) {
        uint32_t length = event_length(r, p, end);
        if (length > 0) {
            find_events(r, p, p + length, true, list);
        } else if (*p == 0xFF) {
            length = 1;
        } else if (end - p >= 4 && p[0] == 0xFE && p[1] == 0xFE) {
            length = fm_eventlog_get16(p + 2);
        }
        if (length == 0 || length > (uint64_t)(end - p)) {
            r->result->left_out += (uint64_t)(end - p);
            return;
        }
        p += length;
    }
}

static gint by_stamp(gconstpointer a, gconstpointer b)
{
    const struct found *x = a, *y = b;
    return x->stamp != y->stamp ? (x->stamp < y->stamp ? -1 : 1)
                                : (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static void find_buffer(struct recovery *r, const struct fm_live_slot *slot, GArray *list)
{
    const uint8_t *base = (const uint8_t *)slot, *data = base + FM_LIVE_SLOT_BYTES;
    const struct fm_live_state *state = &slot->state[slot->turn % 2];
    uint64_t room = slot->bytes - FM_LIVE_SLOT_BYTES, pos = slot->pos - slot->address;
    bool raw = slot->kind == FM_LIVE_LANE;
    if (pos <= room && state->taken < pos)
        find_events(r, data + state->taken, data + pos, raw, list);
    if (!raw)
        return;
    find_queued(r, base, state->side_done, list);
    g_array_sort(list, by_stamp); /* sorts handlers' events among the others */
}

/* Calibrates the clock with two samples that lie far apart: two of the program, or its first and a
 * sample of now if the system has not rebooted since. */
static void calibrate(struct recovery *r)
{
    const struct fm_live_head *head = r->live.head;
    uint64_t ticks = head->ticks[1], ns = head->ns[1];
#if defined(__x86_64__)
    if (head->counter && fm_live_same_boot(head)) {
        struct timespec now;
        ticks = __rdtsc();
        clock_gettime(CLOCK_MONOTONIC, &now);
        ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec - head->start_ns;
    }
#endif
    bool good = ticks > head->ticks[0] && ns > head->ns[0];
    r->ticks = head->counter && good ? ticks - head->ticks[0] : 1;
    r->ns = head->counter && good ? ns - head->ns[0] : !head->counter;
}

static uint64_t time_of(const struct recovery *r, const struct fm_live_slot *slot, uint64_t stamp)
{
    const struct fm_live_state *state = &slot->state[slot->turn % 2];
    if (slot->kind != FM_LIVE_LANE)
        return stamp;
    uint64_t since = stamp > state->ticks ? stamp - state->ticks : 0;
    return state->ns + (uint64_t)((unsigned __int128)since * r->ns / r->ticks);
}

static void put_marker(uint8_t *out, size_t bytes, uint64_t begin, uint64_t end,
                       uint16_t capability)
{
    uint16_t number = GUINT16_TO_BE(FM_EVENTLOG_BLOCK_MARKER);
    uint32_t size = GUINT32_TO_BE((uint32_t)bytes);
    begin = GUINT64_TO_BE(begin);
    end = GUINT64_TO_BE(end);
    capability = GUINT16_TO_BE(capability);
    memcpy(out, &number, 2);
    memcpy(out + 2, &begin, 8);
    memcpy(out + 10, &size, 4);
    memcpy(out + 14, &end, 8);
    memcpy(out + 22, &capability, 2);
}

static bool add_buffer(struct recovery *r, const struct fm_live_slot *slot, GError **error)
{
    g_autoptr(GArray) list = g_array_new(FALSE, FALSE, sizeof(struct found));
    find_buffer(r, slot, list);
    if (list->len == 0)
        return true;
    g_autoptr(GByteArray) block = g_byte_array_new();
    g_byte_array_set_size(block, FM_EVENTLOG_MARKER_LENGTH);
    uint64_t begin = UINT64_MAX, last = 0;
    for (guint i = 0; i < list->len; i++) {
        const struct found *f = &g_array_index(list, struct found, i);
        uint64_t ns = time_of(r, slot, f->stamp), told = GUINT64_TO_BE(ns);
        guint at = block->len;
        begin = MIN(begin, ns);
        last = MAX(last, ns);
        g_byte_array_append(block, f->bytes, f->length);
        memcpy(block->data + at + 2, &told, sizeof told);
    }
    put_marker(block->data, block->len, begin, last, (uint16_t)slot->lane);
    r->latest_ns = MAX(r->latest_ns, last);
    r->result->events += list->len;
    r->result->blocks++;
    return put(r, block->data, block->len, error);
}

/* Writes definitions before the events that use them. */
static bool add_buffers(struct recovery *r, GError **error)
{
    static const uint32_t kinds[] = {FM_LIVE_GLOBAL, FM_LIVE_LANE};
    for (size_t k = 0; k < G_N_ELEMENTS(kinds); k++)
        for (guint i = 0; i < r->live.slots->len; i++) {
            const struct fm_live_slot *slot = g_ptr_array_index(r->live.slots, i);
            if (slot->kind == kinds[k] && !add_buffer(r, slot, error))
                return false;
        }
    return true;
}

/* ---- all of it --------------------------------------------------------------------------------
 */

static bool add_message(struct recovery *r, GError **error)
{
    uint8_t block[256];
    uint8_t *p = block + FM_EVENTLOG_MARKER_LENGTH;
    int n = g_snprintf((char *)p + 12, 200,
                       "fathom: the program ended here; %" G_GUINT64_FORMAT
                       " events recovered from its buffers",
                       r->result->events);
    uint16_t number = GUINT16_TO_BE(FM_EVENTLOG_MESSAGE), length = GUINT16_TO_BE((uint16_t)n);
    uint64_t now = GUINT64_TO_BE(r->latest_ns);
    memcpy(p, &number, 2);
    memcpy(p + 2, &now, 8);
    memcpy(p + 10, &length, 2);
    size_t bytes = FM_EVENTLOG_MARKER_LENGTH + 12 + (size_t)n;
    put_marker(block, bytes, r->latest_ns, r->latest_ns, FM_EVENTLOG_NO_CAPABILITY_16);
    block[bytes] = block[bytes + 1] = 0xFF;
    return put(r, block, bytes + 2, error);
}

/* Marks the place, so that another attempt starts there, too. */
static bool mark(struct recovery *r, GError **error)
{
    struct fm_live_head head = *r->live.head;
    head.recovering = 1;
    head.recovered_at = r->end;
    r->result->cut = r->live.log_bytes - r->end;
    if (pwrite(r->live.fd, &head, sizeof head, 0) == sizeof head && fsync(r->live.fd) == 0 &&
        ftruncate(r->live.log_fd, (off_t)r->end) == 0)
        return true;
    g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: cannot write: %s", r->live.path,
                g_strerror(errno));
    return false;
}

static bool recover(struct recovery *r, GError **error)
{
    if (!read_header(r, error) || !walk_log(r, error))
        return false;
    if (!r->finished) {
        g_autoptr(GPtrArray) blocks = find_blocks(r);
        calibrate(r);
        if (!mark(r, error))
            return false;
        r->at = r->end;
        if (!add_blocks(r, blocks, error) || !add_buffers(r, error) || !add_message(r, error))
            return false;
        if (fsync(r->live.log_fd) != 0 && errno != EINVAL) {
            g_set_error(error, FM_ERROR, FM_ERROR_IO, "%s: cannot write: %s", r->live.log_path,
                        g_strerror(errno));
            return false;
        }
    }
    unlink(r->live.path);
    return true;
}

bool fm_eventlog_live_recover(const char *log_path, struct fm_eventlog_recovered *ret,
                              GError **error)
{
    struct recovery r = {.result = ret};
    *ret = (struct fm_eventlog_recovered){0};
    bool good = fm_live_open(&r.live, log_path, error) && recover(&r, error);
    fm_live_close(&r.live);
    if (r.header != NULL)
        fm_eventlog_header_unref(r.header);
    g_free(r.steps);
    return good;
}

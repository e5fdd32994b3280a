/* SPDX-License-Identifier: Apache-2.0 */
/* Writes an event log of any size, always the same for the same options: a mix of the events of a
 * busy GHC program over several capabilities, in blocks flushed as the runtime flushes them.
 *
 *   generate-eventlog --events N [--caps N] [--block BYTES] [--seed N] [--disorder N] [FILE]
 *
 * disorder: each N-th event carries a time up to 34 us before its predecessor (0 = none). */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "eventlog/reader/eventlog.h"
#include "eventlog/output/writer.h"

struct lane {
    uint64_t state; /* of the random numbers */
    uint64_t time_ns, begin_ns;
    uint8_t *block;
    size_t used;
    uint64_t events;
};

static gint64 event_count = 1000000;
static int lane_count = 4, block_bytes = 2 << 20, seed = 1, disorder = 1000;

static uint32_t next_random(struct lane *lane)
{
    lane->state = lane->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(lane->state >> 33);
}

static void put(uint8_t *at, uint64_t value, int bytes)
{
    for (int i = bytes - 1; i >= 0; i--, value >>= 8)
        at[i] = (uint8_t)value;
}

static const struct {
    uint16_t number, weight; /* of 256 */
    int16_t size;
    const char *name;
} kinds[] = {
    {1, 70, 4, "Run thread"},      {2, 70, 10, "Stop thread"},  {8, 40, 6, "Wakeup thread"},
    {35, 30, 0, "Spark create"},   {40, 10, 0, "Spark fizzle"}, {19, 16, -1, "User message"},
    {0, 6, 4, "Create thread"},    {4, 6, 6, "Migrate thread"}, {49, 4, 12, "Heap allocated"},
    {34, 2, 56, "Spark counters"}, {9, 1, 0, "Starting GC"},    {10, 1, 0, "Finished GC"},
};

static size_t pick(uint32_t random)
{
    random &= 255;
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        if (random < kinds[i].weight)
            return i;
        random -= kinds[i].weight;
    }
    return 0;
}

static bool flush_lane(struct lane *lane, int number, int fd, GError **error)
{
    put(lane->block, FM_EVENTLOG_BLOCK_MARKER, 2);
    put(lane->block + 2, lane->begin_ns, 8);
    put(lane->block + 10, lane->used, 4);
    put(lane->block + 14, lane->time_ns, 8);
    put(lane->block + 22, (uint64_t)number, 2);
    bool written = fm_eventlog_write_fd(&fd, lane->block, lane->used, error);
    lane->used = 24;
    lane->begin_ns = lane->time_ns + 1;
    return written;
}

/* One event; blocks are flushed before they overflow. */
static bool log_one(struct lane *lane, int number, int fd, GError **error)
{
    uint32_t random = next_random(lane);
    size_t kind = pick(random);
    uint32_t payload = kinds[kind].size < 0 ? (random >> 8) % 40 : (uint32_t)kinds[kind].size;
    uint32_t head = kinds[kind].size < 0 ? 12 : 10;
    if (lane->used + head + payload > (size_t)block_bytes && !flush_lane(lane, number, fd, error))
        return false;
    lane->time_ns += 20 + (random >> 16) % 200;
    uint64_t time_ns = lane->time_ns;
    lane->events++;
    if (disorder > 0 && lane->events % (unsigned)disorder == 0)
        time_ns -= MIN(time_ns - lane->begin_ns, next_random(lane) % 34000);
    uint8_t *at = lane->block + lane->used;
    put(at, kinds[kind].number, 2);
    put(at + 2, time_ns, 8);
    put(at + 10, payload, 2);
    uint64_t value = random * 0x9E3779B97F4A7C15u;
    for (uint32_t i = 0; i < payload; i++) {
        uint32_t byte = head == 12 ? 'a' + i % 26 : (uint32_t)(value >> (i % 8 * 8)) & 0xFF;
        at[head + i] = (uint8_t)byte;
    }
    lane->used += head + payload;
    return true;
}

static bool write_log(int fd, GError **error)
{
    struct fm_eventlog_header *header = fm_eventlog_header_begin();
    fm_eventlog_header_add(header, FM_EVENTLOG_BLOCK_MARKER, 14, "Block marker");
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
        fm_eventlog_header_add(header, kinds[i].number, kinds[i].size, kinds[i].name);
    fm_eventlog_header_end(header);
    bool good = fm_eventlog_write_fd(&fd, header->bytes->data, header->bytes->len, error);
    fm_eventlog_header_unref(header);

    struct lane *lanes = g_new0(struct lane, (gsize)lane_count);
    for (int i = 0; i < lane_count; i++) {
        lanes[i].state = (uint64_t)seed * 1000003u + (uint64_t)i;
        lanes[i].time_ns = lanes[i].begin_ns = 100000 + (uint64_t)i;
        lanes[i].block = g_malloc((gsize)block_bytes);
        /* Buffers do not fill at the same moment. */
        lanes[i].used = 24;
    }
    for (gint64 written = 0; good && written < event_count; written++) {
        int lane = (int)(written % lane_count);
        good = log_one(&lanes[lane], lane, fd, error);
    }
    for (int i = 0; i < lane_count; i++) {
        good = good && flush_lane(&lanes[i], i, fd, error);
        g_free(lanes[i].block);
    }
    g_free(lanes);
    return good && fm_eventlog_write_fd(&fd, (const uint8_t *)"\xFF\xFF", 2, error);
}

int main(int argc, char **argv)
{
    const GOptionEntry options[] = {
        {"events", 0, 0, G_OPTION_ARG_INT64, &event_count, "Events", "N"},
        {"caps", 0, 0, G_OPTION_ARG_INT, &lane_count, "Capabilities", "N"},
        {"block", 0, 0, G_OPTION_ARG_INT, &block_bytes, "Size of blocks", "BYTES"},
        {"seed", 0, 0, G_OPTION_ARG_INT, &seed, "Of the random numbers", "N"},
        {"disorder", 0, 0, G_OPTION_ARG_INT, &disorder, "Each N-th event is early", "N"},
        {NULL},
    };
    g_autoptr(GOptionContext) context = g_option_context_new("[FILE]");
    g_option_context_add_main_entries(context, options, NULL);
    GError *error = NULL;
    int fd = STDOUT_FILENO;
    if (!g_option_context_parse(context, &argc, &argv, &error) || argc > 2 || lane_count < 1 ||
        lane_count > 65535 || block_bytes < 200) {
        fprintf(stderr, "generate-eventlog: %s\n", error != NULL ? error->message : "bad usage");
        return 2;
    }
    if (argc == 2)
        fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 || !write_log(fd, &error)) {
        fprintf(stderr, "generate-eventlog: %s\n", error != NULL ? error->message : "cannot open");
        return 1;
    }
    return 0;
}

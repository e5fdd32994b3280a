/* SPDX-License-Identifier: Apache-2.0 */
/* Makes an event log for benchmarks: make_log PATH EVENTS [c|haskell]. Like a log of a program with
 * 8 threads: blocks of 2 MiB a lane, functions, spans, locks, counters, messages. Or of a Haskell
 * program on 8 capabilities: threads, collections, sparks, heap. About 25 bytes an event. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "eventlog/reader/eventlog.h"

enum { LANES = 8, BLOCK_BYTES = 2 << 20, DEPTH_MAX = 10, NAMES = 40, LOCKS = 16, COUNTERS = 6 };

struct lane {
    uint8_t bytes[BLOCK_BYTES];
    size_t used;
    uint64_t begin, now; /* ns */
    uint64_t random;
    struct {
        bool function;
        uint32_t id;
    } stack[DEPTH_MAX];
    unsigned depth;
    uint32_t lock; /* held lock; 0 = none */
    uint32_t thread;
    unsigned number;
    bool collecting;
};

static FILE *out;
static struct lane lanes[LANES];
static uint64_t events;

static uint32_t roll(struct lane *lane, uint32_t below)
{
    lane->random = lane->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((lane->random >> 33) % below);
}

static void put(struct lane *lane, uint64_t value, unsigned bytes)
{
    for (unsigned i = bytes; i-- > 0;)
        lane->bytes[lane->used++] = (uint8_t)(value >> (8 * i));
}

static void head(struct lane *lane, unsigned number)
{
    lane->now += 100 + roll(lane, 1800);
    put(lane, number, 2);
    put(lane, lane->now, 8);
    events++;
}

static void open_block(struct lane *lane)
{
    lane->used = 0;
    lane->begin = lane->now;
    put(lane, FM_EVENTLOG_BLOCK_MARKER, 2);
    put(lane, lane->now, 8);
    put(lane, 0, 8);
    put(lane, 0, 4);
    put(lane, lane->number, 2);
}

static void close_block(struct lane *lane)
{
    size_t used = lane->used;
    lane->used = 10;
    put(lane, used, 4);
    put(lane, lane->now, 8);
    lane->used = used;
    if (fwrite(lane->bytes, 1, used, out) != used) {
        perror("make_log");
        exit(1);
    }
}

static void text(struct lane *lane, unsigned number, const char *string, int64_t before,
                 int64_t after)
{
    size_t length = strlen(string);
    head(lane, number);
    put(lane, length + (before >= 0 ? 4 : 0) + (after >= 0 ? 4 : 0), 2);
    if (before >= 0)
        put(lane, (uint64_t)before, 4);
    for (size_t i = 0; i < length; i++)
        put(lane, (uint8_t)string[i], 1);
    if (after >= 0)
        put(lane, (uint64_t)after, 4);
}

static void begin_lane(struct lane *lane, bool haskell)
{
    char name[40];
    head(lane, FM_EVENTLOG_CAP_CREATE);
    put(lane, lane->number, 2);
    if (haskell)
        return;
    lane->thread = lane->number + 1;
    head(lane, FM_EVENTLOG_CREATE_THREAD);
    put(lane, lane->thread, 4);
    snprintf(name, sizeof name, "worker %u", lane->number);
    text(lane, FM_EVENTLOG_THREAD_LABEL, name, lane->thread, -1);
    head(lane, FM_EVENTLOG_RUN_THREAD);
    put(lane, lane->thread, 4);
}

static void begin_program(struct lane *lane, bool haskell)
{
    char name[40];
    text(lane, FM_EVENTLOG_RTS_IDENTIFIER, haskell ? "GHC-9.0.2 rts_thr_l" : "fathom 1", 0, -1);
    for (unsigned i = 1; !haskell && i <= NAMES; i++) {
        snprintf(name, sizeof name, "work of kind %u", i);
        text(lane, FM_EVENTLOG_INTERN_STRING, name, -1, i);
    }
}

static void push(struct lane *lane, bool function)
{
    /* A function's callees depend on it: three others. */
    uint32_t above = lane->depth == 0 ? lane->number : lane->stack[lane->depth - 1].id;
    uint32_t id = 1 + (above * 7 + roll(lane, 3)) % NAMES;
    if (function) {
        head(lane, FM_EVENTLOG_FUNCTION_ENTER);
        put(lane, 0x400000 + id * 64, 8);
        put(lane, 0x400000 + id * 64 + 12, 8);
    } else {
        head(lane, FM_EVENTLOG_SPAN_BEGIN);
        put(lane, id, 4);
    }
    lane->stack[lane->depth].function = function;
    lane->stack[lane->depth++].id = id;
}

static void pop(struct lane *lane)
{
    lane->depth--;
    if (lane->stack[lane->depth].function) {
        head(lane, FM_EVENTLOG_FUNCTION_EXIT);
        put(lane, 0x400000 + lane->stack[lane->depth].id * 64, 8);
    } else {
        head(lane, FM_EVENTLOG_SPAN_END);
        put(lane, lane->stack[lane->depth].id, 4);
    }
}

static void c_event(struct lane *lane)
{
    uint32_t die = roll(lane, 100);
    if (die < 14) {
        bool held = lane->lock != 0;
        uint32_t lock = held ? lane->lock : 1 + lane->number + LANES * roll(lane, LOCKS / LANES);
        head(lane, held ? FM_EVENTLOG_LOCK_RELEASE : FM_EVENTLOG_LOCK_ACQUIRE);
        put(lane, 0x7000 + lock * 64, 8);
        lane->lock = held ? 0 : lock;
    } else if (die < 18) {
        head(lane, FM_EVENTLOG_COUNTER);
        put(lane, 1 + roll(lane, COUNTERS), 4);
        put(lane, roll(lane, 100000), 8);
    } else if (die < 30) {
        text(lane, FM_EVENTLOG_USER_MESSAGE, "a request of 1,234 bytes from a client was answered",
             -1, -1);
    } else if (lane->depth == 0 || (lane->depth < DEPTH_MAX && roll(lane, 2) == 0)) {
        push(lane, lane->depth > 1);
    } else {
        pop(lane);
    }
}

static void haskell_event(struct lane *lane)
{
    uint32_t die = roll(lane, 1000);
    if (lane->collecting) {
        head(lane, FM_EVENTLOG_END_GC);
        lane->collecting = false;
    } else if (die < 2) {
        head(lane, FM_EVENTLOG_START_GC);
        lane->collecting = true;
    } else if (die < 100) {
        head(lane, FM_EVENTLOG_HEAP_ALLOCATED);
        put(lane, 0, 4);
        put(lane, lane->now, 8);
    } else if (die < 200) {
        head(lane, FM_EVENTLOG_SPARK_RUN);
    } else if (die < 500) {
        text(lane, FM_EVENTLOG_USER_MESSAGE, "a request of 1,234 bytes was answered within time",
             -1, -1);
    } else if (lane->thread == 0) {
        lane->thread = 1 + lane->number + LANES * roll(lane, 50);
        head(lane, FM_EVENTLOG_RUN_THREAD);
        put(lane, lane->thread, 4);
    } else {
        head(lane, FM_EVENTLOG_STOP_THREAD);
        put(lane, lane->thread, 4);
        put(lane, roll(lane, 2) ? 3 : 7, 2);
        put(lane, 0, 4);
        lane->thread = 0;
    }
}

static void write_header(void)
{
    static const uint16_t empty_or_small[][2] = {
        {FM_EVENTLOG_CREATE_THREAD, 4},   {FM_EVENTLOG_RUN_THREAD, 4},
        {FM_EVENTLOG_STOP_THREAD, 10},    {FM_EVENTLOG_START_GC, 0},
        {FM_EVENTLOG_END_GC, 0},          {FM_EVENTLOG_BLOCK_MARKER, 14},
        {FM_EVENTLOG_SPARK_RUN, 0},       {FM_EVENTLOG_CAP_CREATE, 2},
        {FM_EVENTLOG_HEAP_ALLOCATED, 12}, {FM_EVENTLOG_SPAN_BEGIN, 4},
        {FM_EVENTLOG_SPAN_END, 4},        {FM_EVENTLOG_COUNTER, 12},
        {FM_EVENTLOG_LOCK_ACQUIRE, 8},    {FM_EVENTLOG_LOCK_RELEASE, 8},
        {FM_EVENTLOG_FUNCTION_ENTER, 16}, {FM_EVENTLOG_FUNCTION_EXIT, 8},
    };
    struct fm_eventlog_header *header = fm_eventlog_header_begin();
    for (size_t i = 0; i < G_N_ELEMENTS(empty_or_small); i++)
        fm_eventlog_header_add(header, empty_or_small[i][0], empty_or_small[i][1], "type");
    fm_eventlog_header_add(header, FM_EVENTLOG_USER_MESSAGE, -1, "User message");
    fm_eventlog_header_add(header, FM_EVENTLOG_INTERN_STRING, -1, "Interned string");
    fm_eventlog_header_add(header, FM_EVENTLOG_THREAD_LABEL, -1, "Thread label");
    fm_eventlog_header_add(header, FM_EVENTLOG_RTS_IDENTIFIER, -1, "Identifier");
    fm_eventlog_header_end(header);
    fwrite(header->bytes->data, 1, header->bytes->len, out);
    fm_eventlog_header_unref(header);
}

int main(int argc, char **argv)
{
    if (argc < 3 || (out = fopen(argv[1], "wb")) == NULL) {
        fprintf(stderr, "usage: make_log PATH EVENTS [c|haskell]\n");
        return 2;
    }
    uint64_t wanted = strtoull(argv[2], NULL, 10);
    bool haskell = argc > 3 && strcmp(argv[3], "haskell") == 0;
    write_header();
    for (unsigned i = 0; i < LANES; i++) {
        lanes[i].number = i;
        lanes[i].random = i * 77 + 1;
        lanes[i].now = 1000;
        open_block(&lanes[i]);
        if (i == 0)
            begin_program(&lanes[i], haskell);
        begin_lane(&lanes[i], haskell);
    }
    while (events < wanted) {
        struct lane *lane = &lanes[0];
        for (unsigned i = 1; i < LANES; i++) {
            if (lanes[i].now < lane->now)
                lane = &lanes[i];
        }
        if (lane->used > BLOCK_BYTES - 128) {
            close_block(lane);
            open_block(lane);
        }
        if (haskell)
            haskell_event(lane);
        else
            c_event(lane);
    }
    for (unsigned i = 0; i < LANES; i++) {
        while (!haskell && lanes[i].depth > 0 && lanes[i].used < BLOCK_BYTES - 64)
            pop(&lanes[i]);
        close_block(&lanes[i]);
    }
    fwrite("\xFF\xFF", 1, 2, out);
    if (fclose(out) != 0) {
        perror(argv[1]);
        return 1;
    }
    printf("%llu events\n", (unsigned long long)events);
    return 0;
}

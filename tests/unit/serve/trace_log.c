/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_log.h"

#include <string.h>

#include "eventlog/reader/eventlog.h"

enum { PARSE = 1, LEX = 2, QUEUE = 3, HOSTILE = 4, LATE = 5, BLOCK_EVENTS = 500 };

static void put(GByteArray *to, uint64_t value, unsigned bytes)
{
    for (unsigned i = bytes; i-- > 0;) {
        uint8_t byte = (uint8_t)(value >> (8 * i));
        g_byte_array_append(to, &byte, 1);
    }
}

static void put_header(GByteArray *to)
{
    static const struct {
        uint16_t number;
        int32_t size;
        const char *text;
    } types[] = {
        {FM_EVENTLOG_CREATE_THREAD, 4, "Create thread"},
        {FM_EVENTLOG_RUN_THREAD, 4, "Run thread"},
        {FM_EVENTLOG_STOP_THREAD, 10, "Stop thread"},
        {FM_EVENTLOG_WAKEUP_THREAD, 6, "Wakeup thread"},
        {FM_EVENTLOG_BLOCK_MARKER, 14, "Block marker"},
        {FM_EVENTLOG_USER_MESSAGE, -1, "User message"},
        {FM_EVENTLOG_RTS_IDENTIFIER, -1, "RTS name and version"},
        {FM_EVENTLOG_PROGRAM_ARGS, -1, "Program arguments"},
        {FM_EVENTLOG_OS_PROCESS_PID, 8, "Process id"},
        {FM_EVENTLOG_INTERN_STRING, -1, "Interned string"},
        {FM_EVENTLOG_SPAN_BEGIN, 4, "Span begin"},
        {FM_EVENTLOG_SPAN_END, 4, "Span end"},
        {FM_EVENTLOG_COUNTER, 12, "Counter"},
        {FM_EVENTLOG_WALL_CLOCK_TIME, 16, "Wall clock time"},
        {FM_EVENTLOG_START_GC, 0, "Starting GC"},
        {FM_EVENTLOG_END_GC, 0, "Finished GC"},
        {FM_EVENTLOG_REQUEST_PAR_GC, 0, "Request parallel GC"},
        {FM_EVENTLOG_CAP_CREATE, 2, "Create capability"},
        {FM_EVENTLOG_GC_STATS_GHC, 50, "GC statistics"},
        {FM_EVENTLOG_HEAP_PROF_SAMPLE_BEGIN, 8, "Heap sample begin"},
        {FM_EVENTLOG_HEAP_PROF_SAMPLE_STRING, -1, "Heap sample"},
        {FM_EVENTLOG_HEAP_PROF_SAMPLE_END, 8, "Heap sample end"},
    };
    struct fm_eventlog_header *header = fm_eventlog_header_begin();
    for (unsigned i = 0; i < G_N_ELEMENTS(types); i++)
        fm_eventlog_header_add(header, types[i].number, types[i].size, types[i].text);
    fm_eventlog_header_end(header);
    g_byte_array_append(to, header->bytes->data, header->bytes->len);
    fm_eventlog_header_unref(header);
}

/* --- blocks --- */

struct block {
    GByteArray *to;
    guint begin;
    uint64_t end_ns;
};

static struct block begin_block(GByteArray *to, uint16_t capability, uint64_t time)
{
    struct block block = {to, to->len, time};
    put(to, FM_EVENTLOG_BLOCK_MARKER, 2);
    put(to, time, 8);
    put(to, 0, 4);
    put(to, 0, 8);
    put(to, capability, 2);
    return block;
}

static void end_block(struct block *block)
{
    uint32_t size = GUINT32_TO_BE(block->to->len - block->begin);
    uint64_t end = GUINT64_TO_BE(block->end_ns);
    memcpy(block->to->data + block->begin + 10, &size, sizeof size);
    memcpy(block->to->data + block->begin + 14, &end, sizeof end);
}

static void event(struct block *block, uint16_t number, uint64_t time)
{
    put(block->to, number, 2);
    put(block->to, time, 8);
    block->end_ns = MAX(block->end_ns, time);
}

static void event4(struct block *block, uint16_t number, uint64_t time, uint32_t value)
{
    event(block, number, time);
    put(block->to, value, 4);
}

static void text_event(struct block *block, uint16_t number, uint64_t time, const char *text,
                       int64_t number_before, int64_t number_after)
{
    size_t size = strlen(text);
    event(block, number, time);
    put(block->to, size + (number_before >= 0 ? 4 : 0) + (number_after >= 0 ? 4 : 0), 2);
    if (number_before >= 0)
        put(block->to, (uint64_t)number_before, 4);
    g_byte_array_append(block->to, (const guint8 *)text, (guint)size);
    if (number_after >= 0)
        put(block->to, (uint64_t)number_after, 4);
}

static void counter(struct block *block, uint64_t time, uint64_t value)
{
    event4(block, FM_EVENTLOG_COUNTER, time, QUEUE);
    put(block->to, value, 8);
}

void trace_log_begin(GByteArray *to)
{
    put_header(to);
    struct block block = begin_block(to, 0xFFFF, 0);
    text_event(&block, FM_EVENTLOG_RTS_IDENTIFIER, 0, "fathom-0.1.0 C event log", 0, -1);
    event4(&block, FM_EVENTLOG_OS_PROCESS_PID, 0, 0);
    put(to, 77, 4);
    static const char *const names[] = {[PARSE] = "parse",
                                        [LEX] = "lex",
                                        [QUEUE] = "queue",
                                        [HOSTILE] = TRACE_LOG_HOSTILE,
                                        [LATE] = "late"};
    for (unsigned i = PARSE; i <= LATE; i++)
        text_event(&block, FM_EVENTLOG_INTERN_STRING, 0, names[i], -1, i);
    end_block(&block);
}

static struct block begin_thread(GByteArray *to, uint16_t lane)
{
    struct block block = begin_block(to, lane, 0);
    event4(&block, FM_EVENTLOG_CREATE_THREAD, 0, lane + 1u);
    event4(&block, FM_EVENTLOG_RUN_THREAD, 0, lane + 1u);
    return block;
}

void trace_log_write(GByteArray *to, bool end)
{
    trace_log_begin(to);
    struct block block = begin_thread(to, 0);
    event4(&block, FM_EVENTLOG_SPAN_BEGIN, 1000, PARSE);
    event4(&block, FM_EVENTLOG_SPAN_BEGIN, 2000, LEX);
    counter(&block, 2500, 5);
    event4(&block, FM_EVENTLOG_SPAN_END, 3000, LEX);
    text_event(&block, FM_EVENTLOG_USER_MESSAGE, 3500, "hello <script>", -1, -1);
    counter(&block, 4000, 9);
    event4(&block, FM_EVENTLOG_SPAN_END, 5000, PARSE);
    end_block(&block);
    block = begin_thread(to, 1);
    event4(&block, FM_EVENTLOG_SPAN_BEGIN, 4000, HOSTILE);
    event4(&block, FM_EVENTLOG_SPAN_END, 8000, HOSTILE);
    text_event(&block, FM_EVENTLOG_USER_MESSAGE, 9000, "bye", -1, -1);
    end_block(&block);
    if (end)
        put(to, 0xFFFF, 2);
}

void trace_log_write_clock(GByteArray *to, uint64_t epoch_ns)
{
    trace_log_write(to, false);
    struct block block = begin_block(to, 0xFFFF, 0);
    event4(&block, FM_EVENTLOG_WALL_CLOCK_TIME, 7, 0);
    put(to, (epoch_ns + 7) / 1000000000, 8);
    put(to, (epoch_ns + 7) % 1000000000, 4);
    end_block(&block);
    put(to, 0xFFFF, 2);
}

void trace_log_append(GByteArray *to, uint64_t from_ns, unsigned count)
{
    for (unsigned i = 0; i < count;) {
        struct block block = begin_block(to, 0, from_ns + i * UINT64_C(1000));
        for (unsigned j = 0; j < BLOCK_EVENTS && i < count; i++, j++) {
            event4(&block, FM_EVENTLOG_SPAN_BEGIN, from_ns + i * UINT64_C(1000), LATE);
            event4(&block, FM_EVENTLOG_SPAN_END, from_ns + i * UINT64_C(1000) + 100, LATE);
        }
        end_block(&block);
    }
}

void trace_log_add_steps(GByteArray *to, uint16_t lane, const struct trace_log_step *steps,
                         unsigned count)
{
    struct block block = begin_thread(to, lane);
    for (unsigned i = 0; i < count; i++) {
        if (i % BLOCK_EVENTS == BLOCK_EVENTS - 1) {
            end_block(&block);
            block = begin_block(to, lane, steps[i].time);
        }
        event4(&block, steps[i].begins ? FM_EVENTLOG_SPAN_BEGIN : FM_EVENTLOG_SPAN_END,
               steps[i].time, PARSE);
    }
    end_block(&block);
}

void trace_log_append_steps(GByteArray *to, const struct trace_log_step *steps, unsigned count)
{
    struct block block = begin_block(to, 0, steps[0].time);
    for (unsigned i = 0; i < count; i++)
        event4(&block, steps[i].begins ? FM_EVENTLOG_SPAN_BEGIN : FM_EVENTLOG_SPAN_END,
               steps[i].time, PARSE);
    end_block(&block);
}

void trace_log_add_threads(GByteArray *to, unsigned threads)
{
    enum { BLOCKED_ON_FOREIGN_CALL = 8 };
    struct block block = begin_thread(to, 0);
    for (unsigned i = 0; i < threads; i++) {
        uint64_t time = 1000 * (i + UINT64_C(1));
        if (i % BLOCK_EVENTS == BLOCK_EVENTS - 1) {
            end_block(&block);
            block = begin_block(to, 0, time);
        }
        event4(&block, FM_EVENTLOG_CREATE_THREAD, time, i + 2);
        event4(&block, FM_EVENTLOG_RUN_THREAD, time, i + 2);
        event4(&block, FM_EVENTLOG_STOP_THREAD, time + 400, i + 2);
        put(to, BLOCKED_ON_FOREIGN_CALL, 2);
        put(to, 0, 4);
    }
    end_block(&block);
}

void trace_log_add_counters(GByteArray *to, unsigned counters)
{
    struct block block = begin_block(to, 0xFFFF, 0);
    for (unsigned i = 1; i <= counters; i++) {
        g_autofree char *name = g_strdup_printf("counter %u", i);
        text_event(&block, FM_EVENTLOG_INTERN_STRING, 0, name, -1, LATE + i);
    }
    for (unsigned i = 1; i <= counters; i++) {
        event4(&block, FM_EVENTLOG_COUNTER, 1000 * i, LATE + i);
        put(to, i, 8);
    }
    end_block(&block);
}

void trace_log_end(GByteArray *to)
{
    put(to, 0xFFFF, 2);
}

static void stop_thread(struct block *block, uint64_t time, uint16_t status)
{
    event4(block, FM_EVENTLOG_STOP_THREAD, time, 1);
    put(block->to, status, 2);
    put(block->to, 0, 4);
}

static void begin_haskell(GByteArray *to)
{
    put_header(to);
    struct block block = begin_block(to, 0xFFFF, 0);
    text_event(&block, FM_EVENTLOG_RTS_IDENTIFIER, 0, "GHC-9.0.2 rts_thr_l", 0, -1);
    event4(&block, FM_EVENTLOG_OS_PROCESS_PID, 0, 0);
    put(to, 77, 4);
    for (unsigned i = 0; i < 2; i++) {
        event(&block, FM_EVENTLOG_CAP_CREATE, 0);
        put(to, i, 2);
    }
    end_block(&block);
}

void trace_log_write_wakeups(GByteArray *to, unsigned turns)
{
    enum { THREAD_YIELDING = 3 };
    begin_haskell(to);
    struct block block = begin_block(to, 0, 0);
    for (unsigned i = 0; i < turns; i++) {
        uint64_t time = 1000 * (i + UINT64_C(1));
        unsigned thread = 1 + i % 2;
        if (i % BLOCK_EVENTS == BLOCK_EVENTS - 1) {
            end_block(&block);
            block = begin_block(to, 0, time);
        }
        event4(&block, FM_EVENTLOG_RUN_THREAD, time, thread);
        event4(&block, FM_EVENTLOG_WAKEUP_THREAD, time + 100, 3 - thread);
        put(to, 0, 2);
        event4(&block, FM_EVENTLOG_STOP_THREAD, time + 500, thread);
        put(to, THREAD_YIELDING, 2);
        put(to, 0, 4);
    }
    end_block(&block);
    trace_log_end(to);
}

void trace_log_write_haskell(GByteArray *to)
{
    enum { HEAP_OVERFLOW = 1, FINISHED = 5, REST_OF_STATISTICS = 44 };
    begin_haskell(to);
    struct block block = begin_block(to, 0, 0);
    event4(&block, FM_EVENTLOG_CREATE_THREAD, 1000, 1);
    event4(&block, FM_EVENTLOG_RUN_THREAD, 1000, 1);
    stop_thread(&block, 4000, HEAP_OVERFLOW);
    event(&block, FM_EVENTLOG_REQUEST_PAR_GC, 4000);
    event(&block, FM_EVENTLOG_START_GC, 4000);
    event(&block, FM_EVENTLOG_END_GC, 8000);
    event4(&block, FM_EVENTLOG_GC_STATS_GHC, 8000, 0);
    put(to, 1, 2);
    for (unsigned i = 0; i < REST_OF_STATISTICS; i++)
        put(to, 0, 1);
    event4(&block, FM_EVENTLOG_RUN_THREAD, 8000, 1);
    stop_thread(&block, 9000, FINISHED);
    end_block(&block);
    block = begin_block(to, 1, 4000);
    event(&block, FM_EVENTLOG_START_GC, 4000);
    event(&block, FM_EVENTLOG_END_GC, 9500);
    end_block(&block);
    put(to, 0xFFFF, 2);
}

void trace_log_write_bands(GByteArray *to, unsigned bands, unsigned samples)
{
    put_header(to);
    struct block block = begin_block(to, 0xFFFF, 0);
    text_event(&block, FM_EVENTLOG_RTS_IDENTIFIER, 0, "GHC-9.0.2 rts_thr_p", 0, -1);
    for (unsigned sample = 1; sample <= samples; sample++) {
        uint64_t time = sample * UINT64_C(1000);
        event(&block, FM_EVENTLOG_HEAP_PROF_SAMPLE_BEGIN, time);
        put(to, sample, 8);
        for (unsigned i = 1; i <= bands; i++) {
            g_autofree char *name = g_strdup_printf("band %u", i);
            event(&block, FM_EVENTLOG_HEAP_PROF_SAMPLE_STRING, time);
            put(to, 9 + strlen(name) + 1, 2);
            put(to, 0, 1);
            put(to, UINT64_C(1024) * i * sample, 8);
            g_byte_array_append(to, (const guint8 *)name, (guint)strlen(name) + 1);
        }
        event(&block, FM_EVENTLOG_HEAP_PROF_SAMPLE_END, time);
        put(to, sample, 8);
    }
    end_block(&block);
    put(to, 0xFFFF, 2);
}

static void add_spans(GByteArray *to, uint16_t lane, unsigned spans)
{
    struct block block = begin_thread(to, lane);
    for (unsigned i = 0; i < spans; i++) {
        uint32_t name = i % 2 == 0 ? PARSE : LEX;
        uint64_t time = 1000 + i * UINT64_C(100);
        if (i % BLOCK_EVENTS == BLOCK_EVENTS - 1) {
            end_block(&block);
            block = begin_block(to, lane, time);
        }
        event4(&block, FM_EVENTLOG_SPAN_BEGIN, time, name);
        event4(&block, FM_EVENTLOG_SPAN_END, time + 100, name);
    }
    end_block(&block);
}

void trace_log_write_long(GByteArray *to, unsigned threads, unsigned spans)
{
    trace_log_begin(to);
    for (unsigned lane = 0; lane < threads; lane++)
        add_spans(to, (uint16_t)lane, spans);
    put(to, 0xFFFF, 2);
}

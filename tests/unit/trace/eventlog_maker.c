/* SPDX-License-Identifier: Apache-2.0 */
#include "eventlog_maker.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "eventlog/reader/eventlog.h"

static void put(GByteArray *to, uint64_t value, unsigned bytes)
{
    for (unsigned i = bytes; i-- > 0;) {
        uint8_t byte = (uint8_t)(value >> (8 * i));
        g_byte_array_append(to, &byte, 1);
    }
}

static void put_header(GByteArray *to)
{
    struct fm_eventlog_header *header = fm_eventlog_header_begin();
    fm_eventlog_header_add(header, FM_EVENTLOG_BLOCK_MARKER, 14, "Block marker");
    fm_eventlog_header_add(header, FM_EVENTLOG_RUN_THREAD, 4, "Run thread");
    fm_eventlog_header_add(header, FM_EVENTLOG_STOP_THREAD, 10, "Stop thread");
    fm_eventlog_header_add(header, FM_EVENTLOG_USER_MESSAGE, -1, "User message");
    fm_eventlog_header_add(header, FM_EVENTLOG_INTERN_STRING, -1, "Interned string");
    fm_eventlog_header_add(header, FM_EVENTLOG_SPAN_BEGIN, 4, "Span begin");
    fm_eventlog_header_add(header, FM_EVENTLOG_SPAN_END, 4, "Span end");
    fm_eventlog_header_add(header, FM_EVENTLOG_START_GC, 0, "GC begins");
    fm_eventlog_header_end(header);
    g_byte_array_append(to, header->bytes->data, header->bytes->len);
    fm_eventlog_header_unref(header);
}

static void put_event(GByteArray *to, GRand *random, uint64_t time, unsigned thread)
{
    static const uint16_t numbers[] = {FM_EVENTLOG_RUN_THREAD,   FM_EVENTLOG_STOP_THREAD,
                                       FM_EVENTLOG_USER_MESSAGE, FM_EVENTLOG_SPAN_BEGIN,
                                       FM_EVENTLOG_SPAN_END,     FM_EVENTLOG_INTERN_STRING};
    uint16_t number = numbers[g_rand_int_range(random, 0, G_N_ELEMENTS(numbers))];
    put(to, number, 2);
    put(to, time, 8);
    switch (number) {
    case FM_EVENTLOG_STOP_THREAD:
        put(to, thread, 4);
        put(to, 5, 2);
        put(to, 0, 4);
        break;
    case FM_EVENTLOG_USER_MESSAGE: {
        unsigned length = (unsigned)g_rand_int_range(random, 0, 40);
        put(to, length, 2);
        for (unsigned i = 0; i < length; i++)
            put(to, 'a' + i % 26, 1);
        break;
    }
    case FM_EVENTLOG_INTERN_STRING:
        put(to, 4 + 4, 2);
        put(to, 0x6E616D65, 4); /* "name" */
        put(to, thread, 4);
        break;
    default:
        put(to, thread, 4);
        break;
    }
}

/* A message that leaves place for an event without payload before end. */
static void fill_block(GByteArray *to, guint end, uint64_t time)
{
    g_assert_cmpuint(to->len + 22, <=, end);
    unsigned length = end - to->len - 22;
    put(to, FM_EVENTLOG_USER_MESSAGE, 2);
    put(to, time, 8);
    put(to, length, 2);
    for (unsigned i = 0; i < length; i++)
        put(to, 'x', 1);
    put(to, FM_EVENTLOG_START_GC, 2);
    put(to, time, 8);
}

static uint64_t put_block(GByteArray *to, GRand *random, const struct maker_options *options,
                          unsigned capability, uint64_t time)
{
    guint begin = to->len;
    uint64_t marker_time = time;
    uint64_t step = MAX(options->step_ns, 1);
    if (!options->unmarked) {
        put(to, FM_EVENTLOG_BLOCK_MARKER, 2);
        put(to, marker_time, 8);
        put(to, 0, 4);
        put(to, 0, 8);
        put(to, capability, 2);
    }
    for (unsigned i = 0; i < options->events; i++) {
        time += (uint64_t)(g_rand_double(random) * 2 * (double)step);
        if (options->ties)
            time -= time % 100;
        uint64_t at = time;
        if (options->strays > 0 && g_rand_int_range(random, 0, (gint32)options->strays) == 0)
            at -= MIN(at, (uint64_t)(g_rand_double(random) * (double)options->stray_ns));
        put_event(to, random, at, capability + 1);
    }
    if (options->block_bytes > 0)
        fill_block(to, begin + options->block_bytes, time);
    if (!options->unmarked) {
        uint32_t size = GUINT32_TO_BE(to->len - begin);
        uint64_t end = GUINT64_TO_BE(time);
        memcpy(to->data + begin + 10, &size, 4);
        memcpy(to->data + begin + 14, &end, 8);
    }
    return time;
}

void maker_log(GByteArray *to, const struct maker_options *options)
{
    GRand *random = g_rand_new_with_seed(options->seed);
    g_autofree uint64_t *times = g_new(uint64_t, options->capabilities);
    put_header(to);
    for (unsigned i = 0; i < options->capabilities; i++)
        times[i] = 1000000;
    for (unsigned block = 0; block < options->blocks; block++) {
        for (unsigned i = 0; i < options->capabilities; i++)
            times[i] = put_block(to, random, options, i, times[i]);
    }
    if (!options->no_end)
        put(to, 0xFFFF, 2);
    g_rand_free(random);
}

void maker_age(const char *path)
{
    struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {.tv_sec = time(NULL) - 3600}};
    g_assert_cmpint(utimensat(AT_FDCWD, path, times, 0), ==, 0);
}

char *maker_file(const GByteArray *bytes)
{
    GError *error = NULL;
    char *path = NULL;
    int fd = g_file_open_tmp("fathom-XXXXXX.eventlog", &path, &error);
    g_assert_no_error(error);
    close(fd);
    g_file_set_contents(path, (const char *)bytes->data, (gssize)bytes->len, &error);
    g_assert_no_error(error);
    maker_age(path);
    return path;
}

void maker_remove(char *path)
{
    g_unlink(path);
    g_free(path);
}

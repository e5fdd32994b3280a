/* SPDX-License-Identifier: Apache-2.0 */
/* The order of time while a log comes: when an event has its turn. */
#include "eventlog/log/reorder.h"

#include <string.h>

#include "support.h"

enum { HOLD_US = 1000000 };

static uint64_t offset; /* of the next event in the stream */

static void push(struct fm_eventlog_reorder *r, int32_t capability, uint16_t number, uint64_t time,
                 const void *payload, uint32_t length, uint64_t block, uint64_t now)
{
    struct fm_eventlog_event event = {.time_ns = time,
                                      .offset = offset,
                                      .block = block,
                                      .payload = payload,
                                      .payload_length = length,
                                      .head_length = 10,
                                      .capability = capability,
                                      .number = number};
    offset += 10 + length;
    fm_eventlog_reorder_push(r, &event, now);
}

/* A block of events without payload at these times. */
static void push_block(struct fm_eventlog_reorder *r, int32_t capability, const uint64_t *times,
                       unsigned count, uint64_t now)
{
    uint64_t block = offset;
    uint32_t size = 24 + 10 * count;
    uint8_t marker[14] = {0};
    marker[2] = (uint8_t)(size >> 8);
    marker[3] = (uint8_t)size;
    for (int i = 0; i < 8; i++)
        marker[4 + i] = (uint8_t)(times[count - 1] >> (56 - 8 * i));
    push(r, capability, FM_EVENTLOG_BLOCK_MARKER, times[0], marker, sizeof marker, block, now);
    for (unsigned i = 0; i < count; i++)
        push(r, capability, 59, times[i], NULL, 0, block, now);
}

/* "time/capability " of all events that have their turn, markers left out. */
static char *popped(struct fm_eventlog_reorder *r, uint64_t now)
{
    GString *out = g_string_new(NULL);
    struct fm_eventlog_event event;
    while (fm_eventlog_reorder_pop(r, now, &event))
        if (event.number != FM_EVENTLOG_BLOCK_MARKER)
            g_string_append_printf(out, "%" G_GUINT64_FORMAT "/%d ", event.time_ns,
                                   event.capability);
    return g_string_free(out, FALSE);
}

#define POPPED(r, now, text)                   \
    do {                                       \
        g_autofree char *got = popped(r, now); \
        g_assert_cmpstr(got, ==, text);        \
    } while (0)

static const uint64_t A[] = {10, 20, 30}, B[] = {15, 25, 35}, C[] = {40, 50}, D[] = {5};

static void lanes_are_learnt_first(void)
{
    struct fm_eventlog_reorder *r = fm_eventlog_reorder_new(HOLD_US, 0);
    g_assert_cmpint(fm_eventlog_reorder_wait_us(r, 0), ==, -1);
    push_block(r, 0, A, 3, 0);
    POPPED(r, 1, "");
    push_block(r, 1, B, 3, HOLD_US / 2); /* a lane that nobody knew of is in time */
    POPPED(r, HOLD_US / 2, "");
    g_assert_cmpint(fm_eventlog_reorder_wait_us(r, HOLD_US / 2), ==, HOLD_US / 2);
    POPPED(r, HOLD_US, "10/0 15/1 20/0 25/1 30/0 ");
    g_assert_cmpuint(fm_eventlog_reorder_late(r), ==, 0);
    fm_eventlog_reorder_free(r);
}

static void events_go_when_every_lane_has_passed_them(void)
{
    struct fm_eventlog_reorder *r = fm_eventlog_reorder_new(HOLD_US, 0);
    push_block(r, 0, A, 3, 0);
    push_block(r, 1, B, 3, 0);
    POPPED(r, HOLD_US, "10/0 15/1 20/0 25/1 30/0 35/1 ");
    push_block(r, 0, C, 2, HOLD_US + 100);
    POPPED(r, HOLD_US + 100, ""); /* the other lane may still tell of 36 */
    const uint64_t more[] = {36, 45};
    push_block(r, 1, more, 2, HOLD_US + 200);
    POPPED(r, HOLD_US + 200, "36/1 40/0 45/1 ");
    fm_eventlog_reorder_free(r);
}

static void an_idle_lane_holds_the_others_only_so_long(void)
{
    struct fm_eventlog_reorder *r = fm_eventlog_reorder_new(HOLD_US, 0);
    push_block(r, 0, A, 3, 0);
    push_block(r, 1, B, 3, 0);
    POPPED(r, 2 * HOLD_US, "10/0 15/1 20/0 25/1 30/0 35/1 ");
    push_block(r, 0, C, 2, 3 * HOLD_US);
    POPPED(r, 4 * HOLD_US - 1, "");
    g_assert_cmpint(fm_eventlog_reorder_wait_us(r, 4 * HOLD_US - 1), ==, 1);
    POPPED(r, 4 * HOLD_US, "40/0 50/0 ");
    g_assert_cmpint(fm_eventlog_reorder_wait_us(r, 4 * HOLD_US), ==, -1);
    fm_eventlog_reorder_free(r);
}

static void an_ended_lane_holds_nobody(void)
{
    struct fm_eventlog_reorder *r = fm_eventlog_reorder_new(HOLD_US, 0);
    push_block(r, 0, A, 3, 0);
    push_block(r, 1, B, 3, 0);
    POPPED(r, HOLD_US, "10/0 15/1 20/0 25/1 30/0 35/1 ");
    push(r, -1, 47, 36, "\0\1", 2, FM_EVENTLOG_NO_BLOCK, HOLD_US + 10); /* disabled */
    push_block(r, 0, C, 2, HOLD_US + 20);
    POPPED(r, HOLD_US + 30, "36/-1 40/0 50/0 ");
    fm_eventlog_reorder_free(r);
}

static void what_comes_too_late_goes_at_once_and_is_counted(void)
{
    struct fm_eventlog_reorder *r = fm_eventlog_reorder_new(HOLD_US, 0);
    push_block(r, 0, A, 3, 0);
    POPPED(r, HOLD_US, "10/0 20/0 30/0 ");
    push_block(r, 3, D, 1, HOLD_US + 1);
    POPPED(r, HOLD_US + 1, "5/3 ");
    g_assert_cmpuint(fm_eventlog_reorder_late(r), ==, 2); /* its marker too */
    fm_eventlog_reorder_free(r);
}

static void memory_is_bounded(void)
{
    enum { LIMIT = 100000, EVENTS = 20000 };
    struct fm_eventlog_reorder *r = fm_eventlog_reorder_new(HOLD_US, LIMIT);
    struct fm_eventlog_event event;
    unsigned given = 0;
    uint64_t last = 0;
    for (unsigned i = 0; i < EVENTS; i++) { /* nearly in order: the earliest goes first */
        push(r, 0, 19, 1000 + (i ^ 7), "some text", 9, FM_EVENTLOG_NO_BLOCK, 0);
        while (fm_eventlog_reorder_pop(r, 0, &event)) {
            g_assert_cmpuint(event.time_ns, >=, last);
            g_assert_cmpmem(event.payload, event.payload_length, "some text", 9);
            last = event.time_ns;
            given++;
        }
        g_assert_cmpuint(fm_eventlog_reorder_bytes(r), <=, LIMIT);
    }
    g_assert_cmpuint(given, >, EVENTS / 2);
    fm_eventlog_reorder_release(r);
    while (fm_eventlog_reorder_pop(r, 0, &event))
        given++;
    g_assert_cmpuint(given, ==, EVENTS);
    g_assert_cmpuint(fm_eventlog_reorder_bytes(r), ==, 0);
    fm_eventlog_reorder_free(r);
}

static void without_holding_events_go_as_they_come(void)
{
    struct fm_eventlog_reorder *r = fm_eventlog_reorder_new(0, 0);
    push_block(r, 0, A, 3, 0);
    POPPED(r, 0, "10/0 20/0 30/0 ");
    push_block(r, 1, B, 3, 0);
    POPPED(r, 0, "15/1 25/1 35/1 ");
    fm_eventlog_reorder_free(r);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/reorder/learning", lanes_are_learnt_first);
    g_test_add_func("/reorder/passed-by-all", events_go_when_every_lane_has_passed_them);
    g_test_add_func("/reorder/idle-lane", an_idle_lane_holds_the_others_only_so_long);
    g_test_add_func("/reorder/ended-lane", an_ended_lane_holds_nobody);
    g_test_add_func("/reorder/late", what_comes_too_late_goes_at_once_and_is_counted);
    g_test_add_func("/reorder/memory", memory_is_bounded);
    g_test_add_func("/reorder/no-hold", without_holding_events_go_as_they_come);
    return g_test_run();
}

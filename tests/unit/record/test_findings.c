/* SPDX-License-Identifier: Apache-2.0 */
/* What finishing says of a recording, sentence by sentence. */
#include <string.h>

#include "record/finish/findings.h"

static char *say(const struct fm_raw_recording *recording)
{
    struct fm_finish_notes notes = {.lines = g_ptr_array_new_with_free_func(g_free)};
    fm_findings_of_recording(recording, NULL, &notes);
    g_ptr_array_add(notes.lines, NULL);
    char *said = g_strjoinv("\n", (char **)notes.lines->pdata);
    fm_finish_notes_done(&notes);
    return said;
}

static void assert_says(const char *said, const char *text)
{
    if (strstr(said, text) == NULL)
        g_error("'%s' is not in: %s", text, said);
}

/* An exit without entry has several reasons; a stop is told only where there was one. */
static void test_exits_without_entry(void)
{
    struct fm_raw_thread thread = {.number = 1, .exits_unmatched = 3};
    struct fm_raw_recording recording = {
        .header = {.state = FM_REC_CLOSED, .recording_on = 1},
        .path = "p.rec",
        .thread_count = 1,
        .threads = &thread,
    };
    g_autofree char *never_stopped = say(&recording);
    assert_says(never_stopped, "3 exits had no entry (of calls made before the recording began");
    g_assert_null(strstr(never_stopped, "stopped"));
    recording.header.grade_flags = FM_REC_WAS_STOPPED;
    g_autofree char *stopped = say(&recording);
    assert_says(stopped, "3 exits had no entry (recording was stopped then)");
    thread.exits_unmatched = 0;
    g_autofree char *none = say(&recording);
    g_assert_cmpstr(none, ==, "");
}

/* Of a full recording: those calls whose edge is not known, and those that not even count there. */
static void test_lost_calls(void)
{
    struct fm_raw_thread thread = {.number = 1, .calls_dropped = 5};
    struct fm_raw_pd pds[] = {{.fn = 0}, {.fn = 4096}, {.fn = FM_REC_FN_LOST}};
    struct fm_raw_csd csds[] = {{.caller = FM_RAW_NONE, .callee = 0, .calls = 1},
                                {.caller = 0, .callee = 1, .calls = 10},
                                {.caller = 0, .callee = 2, .calls = 700}};
    struct fm_raw_recording recording = {
        .header = {.state = FM_REC_CLOSED, .dropped_nodes = 9},
        .path = "p.rec",
        .pd_count = G_N_ELEMENTS(pds),
        .csd_count = G_N_ELEMENTS(csds),
        .thread_count = 1,
        .pds = pds,
        .csds = csds,
        .threads = &thread,
    };
    g_autofree char *said = say(&recording);
    assert_says(said, "the contexts of 705 calls had no room");
}

/* Of waiting: what is not counted is told, and nothing where all is. */
static void test_lost_waits(void)
{
    struct fm_raw_thread thread = {.number = 1};
    struct fm_raw_recording recording = {
        .header = {.state = FM_REC_CLOSED,
                   .wait_dropped = 11,
                   .blame_dropped = 12,
                   .wait_backwards = 13},
        .path = "p.rec",
        .thread_count = 1,
        .threads = &thread,
    };
    g_autofree char *said = say(&recording);
    assert_says(said, "11 calls that can wait, and their waits, are not counted");
    assert_says(said, "the lock and its holder are not recorded for 12 waits");
    assert_says(said, "13 waits have no time");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/findings/exits", test_exits_without_entry);
    g_test_add_func("/findings/lost", test_lost_calls);
    g_test_add_func("/findings/waits", test_lost_waits);
    return g_test_run();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Boxes of random windows against all segments of the log: what a box stands for has its own begin
 * and end, whatever of it is in the window. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace_log.h"
#include "traces_world.h"

enum { THREADS = 3, STEPS = 20000, DEPTH_MAX = 4 };

struct segment {
    unsigned thread, level;
    uint64_t start, end;
};

/* Spans of some nanoseconds to milliseconds, within each other. */
static GArray *make_log(const char *path)
{
    GArray *segments = g_array_new(FALSE, FALSE, sizeof(struct segment));
    GRand *random = g_rand_new_with_seed(1);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    trace_log_begin(bytes);
    for (unsigned thread = 1; thread <= THREADS; thread++) {
        g_autoptr(GArray) steps = g_array_new(FALSE, FALSE, sizeof(struct trace_log_step));
        uint64_t time = 1000, open[DEPTH_MAX];
        unsigned depth = 0;
        for (unsigned i = 0; i < STEPS || depth > 0; i++) {
            time += 1 + (uint64_t)g_rand_int_range(
                            random, 0, g_rand_int_range(random, 0, 40) == 0 ? 300000 : 500);
            bool begins = i < STEPS && depth < DEPTH_MAX && (depth == 0 || g_rand_boolean(random));
            struct trace_log_step step = {time, begins};
            g_array_append_val(steps, step);
            if (begins) {
                open[depth++] = time;
                continue;
            }
            depth--;
            struct segment segment = {thread, depth, open[depth], time};
            g_array_append_val(segments, segment);
        }
        trace_log_add_steps(bytes, (uint16_t)(thread - 1),
                            (const struct trace_log_step *)(const void *)steps->data, steps->len);
    }
    trace_log_end(bytes);
    write_log(path, bytes);
    g_rand_free(random);
    return segments;
}

static bool is_segment(const GArray *segments, const struct segment *box)
{
    for (guint i = 0; i < segments->len; i++) {
        const struct segment *one = &g_array_index(segments, struct segment, i);
        if (memcmp(one, box, sizeof *one) == 0)
            return true;
    }
    return false;
}

/* Boxes of one segment are those of the log; returns how many reach over an end of the window. */
static unsigned check_boxes(const GArray *segments, const char *json, uint64_t start, uint64_t end)
{
    unsigned over = 0;
    for (unsigned thread = 1; thread <= THREADS; thread++) {
        g_autofree char *name = g_strdup_printf("\"name\": \"thread %u\"", thread);
        const char *lane = strstr(json, name);
        if (lane == NULL)
            continue;
        g_autofree char *boxes = between(lane, "\"boxes\": [", "}");
        for (const char *at = boxes; (at = strchr(at, '[')) != NULL; at++) {
            struct segment box = {.thread = thread};
            unsigned value, count, cut;
            uint64_t detail;
            double share, load;
            g_assert_cmpint(
                sscanf(at, "[%u, %" SCNu64 ", %" SCNu64 ", %u, %u, %lf, %" SCNu64 ", %lf, %u]",
                       &box.level, &box.start, &box.end, &value, &count, &share, &detail, &load,
                       &cut),
                ==, 9);
            g_assert_cmpuint(box.start, <, end);
            g_assert_cmpuint(box.end, >=, start);
            if (count > 1)
                continue;
            g_assert_cmpuint(cut, ==, (box.start < start ? 1u : 0u) | (box.end > end ? 2u : 0u));
            if (!is_segment(segments, &box))
                g_error("thread %u, level %u: %" PRIu64 " to %" PRIu64 " is no segment", thread,
                        box.level, box.start, box.end);
            over += cut != 0;
        }
    }
    return over;
}

/* Each segment that is wide enough for a box of its own has one. */
static void check_segments(const GArray *segments, const char *json, uint64_t start, uint64_t end,
                           uint64_t pixel)
{
    for (guint i = 0; i < segments->len; i++) {
        const struct segment *one = &g_array_index(segments, struct segment, i);
        if (one->start >= end || one->end <= start || one->end - one->start < 2 * pixel)
            continue;
        g_autofree char *box =
            g_strdup_printf("[%u, %" PRIu64 ", %" PRIu64 ", ", one->level, one->start, one->end);
        assert_has(json, box);
    }
}

static void test_random_windows(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *path = g_build_filename(f->folder, "random.eventlog", NULL);
    g_autoptr(GArray) segments = make_log(path);
    g_assert_true(fm_server_add(f->server, path, NULL));
    uint64_t last = 0;
    for (guint i = 0; i < segments->len; i++)
        last = MAX(last, g_array_index(segments, struct segment, i).end);
    GRand *random = g_rand_new_with_seed(2);
    unsigned over = 0, exact = 0;
    enum { WINDOWS = 12, COLUMNS = 400 };
    for (unsigned i = 0; i < WINDOWS; i++) {
        uint64_t length =
            i == 0 ? last : last >> (i + 1); /* the whole log is drawn by its summary */
        uint64_t start = i == 0 ? 0 : (uint64_t)(g_rand_double(random) * (double)(last - length));
        g_autofree char *query =
            g_strdup_printf("file=%s&view=timeline&width=%d&start=%" PRIu64 "ns&end=%" PRIu64 "ns",
                            path, COLUMNS, start, start + length);
        g_autofree char *json = ask(f, "/trace.json", query, 200);
        exact += strstr(json, "\"exact\": true") != NULL;
        over += check_boxes(segments, json, start, start + length);
        if (length < last / 16) /* fewer boxes than an answer may have */
            check_segments(segments, json, start, start + length, length / COLUMNS + 1);
    }
    g_rand_free(random);
    g_assert_cmpuint(over, >, 10);
    g_assert_cmpuint(exact, >, 5);
    g_assert_cmpuint(exact, <, WINDOWS);
}

static char *write_many(struct fixture *f, unsigned threads)
{
    char *path = g_build_filename(f->folder, "many.eventlog", NULL);
    g_autoptr(GByteArray) bytes = g_byte_array_new();
    trace_log_begin(bytes);
    trace_log_add_threads(bytes, threads);
    trace_log_end(bytes);
    write_log(path, bytes);
    g_assert_true(fm_server_add(f->server, path, NULL));
    return path;
}

static struct fm_later *ask_later(struct fixture *f, const char *path, const char *query)
{
    const struct fm_request request = {
        .method = "GET", .path = path, .query = query, .can_wait = true};
    struct fm_response response;
    fm_server_handle(f->server, &request, &response);
    struct fm_later *later = g_steal_pointer(&response.later);
    g_assert_nonnull(later);
    fm_response_done(&response);
    return later;
}

/* While a page of many lanes is made, others are answered, and it is the page that is made at once.
 */
static void test_turns(struct fixture *f, gconstpointer user)
{
    (void)user;
    g_autofree char *path = write_many(f, 20000);
    g_autofree char *query = g_strdup_printf("file=%s&view=timeline&width=500&lanes=5", path);
    g_autofree char *other = g_strdup_printf("file=%s&view=timeline&width=100&lanes=2", path);
    static const char *const pages[] = {"/trace", "/trace.json"};
    for (unsigned i = 0; i < G_N_ELEMENTS(pages); i++) {
        g_free(ask(f, pages[i], query, 200)); /* all is known now */
        g_autofree char *at_once = ask(f, pages[i], query, 200);
        g_autofree char *expected = ask(f, "/trace.json", other, 200);
        struct fm_later *later = ask_later(f, pages[i], query),
                        *left = ask_later(f, pages[i], query);
        unsigned turns = 0;
        for (; later->step(later); turns++) {
            if (turns < 3)
                g_assert_true(left->step(left));
            g_autofree char *between_turns = ask(f, "/trace.json", other, 200);
            g_assert_cmpstr(between_turns, ==, expected);
        }
        g_assert_cmpuint(turns, >, 4);
        left->drop(left); /* its reader has gone */
        struct fm_response response;
        later->end(later, &response);
        gsize size;
        const char *bytes = g_bytes_get_data(response.body, &size);
        g_autofree char *in_turns = g_strndup(bytes, size);
        g_assert_cmpuint(response.status, ==, 200);
        g_assert_cmpstr(in_turns, ==, at_once);
        fm_response_done(&response);
    }
    g_autofree char *bad = g_strdup_printf("file=%s&view=events&from=nowhere", path);
    struct fm_later *later = ask_later(f, "/trace.json", bad);
    while (later->step(later))
        ;
    struct fm_response response;
    later->end(later, &response);
    g_assert_cmpuint(response.status, ==, 400);
    fm_response_done(&response);
}

/* Of a hundred thousand lanes an answer has those that are asked for, and counts all. */
static void test_many_lanes(struct fixture *f, gconstpointer user)
{
    (void)user;
    enum { THREADS_MANY = 100000 };
    g_autofree char *path = write_many(f, THREADS_MANY);
    g_autofree char *query =
        g_strdup_printf("file=%s&view=timeline&width=1000&lanes=3&first=50000", path);
    g_autofree char *json = ask(f, "/trace.json", query, 200);
    assert_has(json, "\"lanes_total\": 100002, \"first\": 50000,"); /* the process, thread 1 */
    assert_has(json, "\"exact\": false");
    for (unsigned i = 0; i < 3; i++) {
        uint64_t time = 1000 * (UINT64_C(49999) + i); /* created and runs: two segments */
        g_autofree char *lane = g_strdup_printf(
            "\"name\": \"thread %u\", \"indent\": 1, \"levels\": 1,\n   \"boxes\": [[0, %" PRIu64
            ", %" PRIu64 ", ",
            50000 + i, time, time + 400);
        assert_has(json, lane);
    }
    g_assert_cmpuint(count(json, "\"boxes\": "), ==, 3);
    /* At each instant but those between two of them one thread runs. */
    g_autofree char *activity = between(json, "\"at_work\": ", ",");
    g_assert_cmpfloat_with_epsilon(g_ascii_strtod(activity, NULL), 0.4, 0.001);
    assert_has(json, "\"lanes\": 100001, ");
    g_autofree char *running = between(json, "\"class\": \"running\"", "]");
    unsigned columns = 0;
    for (const char *at = strstr(running, "\"load\": ["); at != NULL; at = strchr(at + 1, ','))
        g_assert_cmpfloat_with_epsilon(g_ascii_strtod(at + (columns++ == 0 ? 9 : 1), NULL), 0.4,
                                       0.05);
    g_assert_cmpuint(columns, ==, 1000);
}

/* Of too many counters the largest are shown, wherever they stand, and the others counted. */
static void test_many_counters(struct fixture *f, gconstpointer user)
{
    (void)user;
    enum { COUNTERS = 1100, READ = 1024, SHOWN = 32 };
    for (unsigned counters = SHOWN; counters <= COUNTERS; counters = counters == SHOWN ? 50
                                                                     : counters == 50
                                                                         ? COUNTERS
                                                                         : COUNTERS + 1) {
        g_autofree char *path = g_strdup_printf("%s/counters%u.eventlog", f->folder, counters);
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        trace_log_begin(bytes);
        trace_log_add_counters(bytes, counters);
        trace_log_end(bytes);
        write_log(path, bytes);
        g_assert_true(fm_server_add(f->server, path, NULL));
        g_autofree char *query = g_strdup_printf("file=%s&view=counters&width=10", path);
        g_autofree char *json = ask(f, "/trace.json", query, 200);
        g_autofree char *left_out = g_strdup_printf("\"left_out\": %u,", counters - SHOWN);
        assert_has(json, left_out);
        g_assert_cmpuint(count(json, "\"kind\": \"counter\""), ==, SHOWN);
        unsigned largest = MIN(counters, (unsigned)READ);
        const char *at = json;
        for (unsigned i = 0; i < SHOWN; i++) {
            g_autofree char *name = g_strdup_printf("\"name\": \"counter %u\"",
                                                    counters == SHOWN ? i + 1 : largest - i);
            at = strstr(at, name);
            g_assert_nonnull(at);
        }
        g_autofree char *page = ask(f, "/trace", query, 200);
        g_autofree char *more = g_strdup_printf("%u more counters", counters - SHOWN);
        g_assert_true((strstr(page, more) != NULL) == (counters > SHOWN));
    }
}

int main(int argc, char **argv)
{
    static const struct traces_test tests[] = {{"boxes of random windows", test_random_windows},
                                               {"many lanes", test_many_lanes},
                                               {"many lanes in turns", test_turns},
                                               {"many counters", test_many_counters}};
    return traces_run(argc, argv, tests, G_N_ELEMENTS(tests));
}

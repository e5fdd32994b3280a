/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "memory_trace.h"
#include "trace/clock/synchronize.h"

static bool close_to(double a, double b, double tolerance)
{
    return fabs(a - b) <= tolerance;
}

/* The messages whose answer is known. */
static const char given[] = "# sender receiver sent received\n"
                            "2\n"
                            "0 1 10.0 12.1\n"
                            "0 1 20.0 22.1\n"
                            "1 0 13.0 11.2\n"
                            "1 0 23.0 21.2\n";

static void test_given(void)
{
    unsigned count;
    struct fm_correction corrections[2];
    g_assert_true(fm_messages_of_text(given, NULL, &count, NULL));
    g_assert_cmpuint(count, ==, 2);
    struct fm_synchronize *synchronize = fm_synchronize_new(count, FM_SYNCHRONIZE_HULL);
    struct fm_message_sink sink = fm_synchronize_sink(synchronize);
    g_assert_true(fm_messages_of_text(given, &sink, &count, NULL));
    fm_synchronize_solve(synchronize, corrections);
    const struct fm_synchronize_pair *pair = fm_synchronize_pair_of(synchronize, 0, 1);
    g_assert_cmpint(pair->status, ==, FM_SYNCHRONIZE_ACCURATE);
    g_assert_cmpuint(pair->messages, ==, 4);
    double least = 10.9 / 11.2, greatest = 9.1 / 8.8;
    g_assert_true(close_to(pair->least_drift, least, 1e-9));
    g_assert_true(close_to(pair->greatest_drift, greatest, 1e-9));
    g_assert_true(close_to(pair->accuracy, greatest - least, 1e-9));
    g_assert_cmpfloat(pair->line.drift, >, least);
    g_assert_cmpfloat(pair->line.drift, <, greatest);
    /* The bisector by its formula. */
    double b =
        (least * greatest - 1 +
         sqrt(1 + least * least * greatest * greatest + least * least + greatest * greatest)) /
        (least + greatest);
    double a1 = 12.1 - least * 10, a2 = 13 - greatest * 11.2;
    double a = a1 - (a1 - a2) / 2 * (b * b + 1) / (1 + b * greatest);
    g_assert_true(close_to(pair->least_offset / 1e9, a1, 1e-6));
    g_assert_true(close_to(pair->greatest_offset / 1e9, a2, 1e-6));
    g_assert_true(close_to(pair->line.drift, b, 1e-9));
    g_assert_true(close_to(pair->line.offset_ns / 1e9, a, 1e-6));
    struct fm_evaluate *evaluate = fm_evaluate_new(2, corrections);
    sink = fm_evaluate_sink(evaluate);
    g_assert_true(fm_messages_of_text(given, &sink, &count, NULL));
    g_assert_cmpuint(fm_evaluate_result(evaluate)->messages, ==, 4);
    g_assert_cmpuint(fm_evaluate_result(evaluate)->inversions, ==, 0);
    fm_evaluate_free(evaluate);
    evaluate = fm_evaluate_new(2, NULL);
    sink = fm_evaluate_sink(evaluate);
    g_assert_true(fm_messages_of_text(given, &sink, &count, NULL));
    g_assert_cmpuint(fm_evaluate_result(evaluate)->inversions, ==, 2); /* as recorded */
    g_assert_true(close_to(fm_evaluate_result(evaluate)->worst_inversion_ns, 1.8e9, 1));
    fm_evaluate_free(evaluate);
    fm_synchronize_free(synchronize);
}

static struct fm_synchronize_pair solve(const char *text, struct fm_correction *ret)
{
    unsigned count;
    g_autoptr(GError) error = NULL;
    struct fm_correction corrections[8];
    g_assert_true(fm_messages_of_text(text, NULL, &count, NULL));
    struct fm_synchronize *synchronize = fm_synchronize_new(count, FM_SYNCHRONIZE_HULL);
    struct fm_message_sink sink = fm_synchronize_sink(synchronize);
    g_assert_true(fm_messages_of_text(text, &sink, &count, &error));
    g_assert_no_error(error);
    fm_synchronize_solve(synchronize, corrections);
    struct fm_synchronize_pair pair = *fm_synchronize_pair_of(synchronize, 0, 1);
    if (ret != NULL)
        memcpy(ret, corrections, count * sizeof *ret);
    fm_synchronize_free(synchronize);
    return pair;
}

static void test_statuses(void)
{
    struct fm_correction corrections[2];
    g_assert_cmpint(solve("2\n", corrections).status, ==, FM_SYNCHRONIZE_ABSENT);
    g_assert_cmpfloat(corrections[1].drift, ==, 1);
    g_assert_cmpfloat(corrections[1].offset_ns, ==, 0);
    g_assert_cmpint(solve("2\n0 1 1 2\n0 1 2 3\n0 1 3 4\n", NULL).status, ==,
                    FM_SYNCHRONIZE_ABSENT);
    g_assert_cmpint(solve("2\n0 1 1 2\n1 0 3 2\n", NULL).status, ==, FM_SYNCHRONIZE_INCOMPLETE);
    /* At 11.5 it must be above 14, but between 10 and 20 below 12.1 and 22.1. */
    struct fm_synchronize_pair pair = solve("2\n0 1 10.0 12.1\n0 1 20.0 22.1\n"
                                            "1 0 14.0 11.5\n1 0 23.0 21.2\n",
                                            NULL);
    g_assert_cmpint(pair.status, ==, FM_SYNCHRONIZE_APPROXIMATE);
    g_assert_cmpfloat(pair.accuracy, >, 0);
    g_assert_true(close_to(pair.line.drift, 1, 0.3));
    static const char *const wrong[] = {
        "", "x", "2\n0 2 1 2\n", "2\n0 1 1\n", "2\n0 1 1 2 3\n", "2\n0 1 -1 2\n", "10001\n"};
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_autoptr(GError) error = NULL;
        unsigned count = 0;
        struct fm_synchronize *none = fm_synchronize_new(2, FM_SYNCHRONIZE_HULL);
        struct fm_message_sink sink = fm_synchronize_sink(none);
        g_assert_false(fm_messages_of_text(wrong[i], &sink, &count, &error));
        g_assert_nonnull(strstr(error->message, "messages: line "));
        fm_synchronize_free(none);
    }
}

/* --- clocks that are known --- */

struct host {
    double drift, offset_ns; /* its clock = drift * true time + offset */
};

static uint64_t clock_of(const struct host *host, double true_ns)
{
    return (uint64_t)llround(host->drift * true_ns + host->offset_ns);
}

static struct host random_host(void)
{
    return (struct host){1 + g_test_rand_double_range(-2e-4, 2e-4),
                         g_test_rand_double_range(0, 1e13)};
}

static double random_delay(void)
{
    double u = g_test_rand_double_range(1e-6, 1);
    return 20000 - 50000 * log(u); /* at least 20 us */
}

struct message {
    unsigned from, to;
    uint64_t sent, received;
};

/* n messages both ways between two hosts over 100 s. */
static void exchange(const struct host *hosts, unsigned a, unsigned b, unsigned n, GArray *messages,
                     struct fm_synchronize *synchronize)
{
    for (unsigned i = 0; i < n; i++) {
        double at = g_test_rand_double_range(0, 1e11), there = random_delay(),
               back = random_delay();
        unsigned x = i % 2 == 0 ? a : b, y = i % 2 == 0 ? b : a;
        struct message out = {x, y, clock_of(&hosts[x], at), clock_of(&hosts[y], at + there)};
        struct message in = {y, x, clock_of(&hosts[y], at + there + 1000),
                             clock_of(&hosts[x], at + there + 1000 + back)};
        g_array_append_val(messages, out);
        g_array_append_val(messages, in);
        fm_synchronize_message(synchronize, x, out.sent, y, out.received);
        fm_synchronize_message(synchronize, y, in.sent, x, in.received);
        fm_synchronize_exchange(synchronize, x, out.sent, y, out.received, in.sent, in.received);
    }
}

static struct fm_synchronize_evaluation evaluate_all(const GArray *messages, unsigned count,
                                                     const struct fm_correction *corrections)
{
    struct fm_evaluate *evaluate = fm_evaluate_new(count, corrections);
    for (guint i = 0; i < messages->len; i++) {
        const struct message *message = &g_array_index(messages, struct message, i);
        fm_evaluate_message(evaluate, message->from, message->sent, message->to, message->received);
    }
    struct fm_synchronize_evaluation result = *fm_evaluate_result(evaluate);
    fm_evaluate_free(evaluate);
    return result;
}

/* The drift between two clocks as corrected: 1 when it is perfect. */
static double drift_between(const struct host *hosts, const struct fm_correction *corrections,
                            unsigned i, unsigned j)
{
    return hosts[i].drift * corrections[i].drift / (hosts[j].drift * corrections[j].drift);
}

static void check_pairs(const struct fm_synchronize *synchronize, const struct host *hosts,
                        unsigned i, unsigned j)
{
    const struct fm_synchronize_pair *pair = fm_synchronize_pair_of(synchronize, i, j);
    g_assert_cmpint(pair->status, ==, FM_SYNCHRONIZE_ACCURATE);
    double true_drift = hosts[j].drift / hosts[i].drift;
    g_assert_true(close_to(pair->line.drift, true_drift, pair->accuracy + 1e-12));
    g_assert_cmpfloat(pair->least_drift, <=, true_drift + 1e-12);
    g_assert_cmpfloat(pair->greatest_drift, >=, true_drift - 1e-12);
    /* At 50 s of true time the line tells the other's clock within the delays. */
    double x = hosts[i].drift * 5e10 + hosts[i].offset_ns;
    double y = hosts[j].drift * 5e10 + hosts[j].offset_ns;
    g_assert_true(close_to(pair->line.drift * x + pair->line.offset_ns, y, 100000));
}

static void test_random_pair(void)
{
    for (unsigned round = 0; round < 50; round++) {
        struct host hosts[2] = {random_host(), random_host()};
        struct fm_correction corrections[2];
        g_autoptr(GArray) messages = g_array_new(FALSE, FALSE, sizeof(struct message));
        struct fm_synchronize *synchronize = fm_synchronize_new(2, FM_SYNCHRONIZE_HULL);
        exchange(hosts, 0, 1, round == 0 ? 60000 : 300, messages, synchronize);
        fm_synchronize_solve(synchronize, corrections);
        check_pairs(synchronize, hosts, 0, 1);
        struct fm_synchronize_evaluation found = evaluate_all(messages, 2, corrections);
        /* To the nanosecond that clocks are rounded to. */
        g_assert_cmpfloat(found.worst_inversion_ns, <, 2);
        g_assert_true(close_to(drift_between(hosts, corrections, 0, 1), 1, 1e-5));
        g_assert_cmpfloat(MIN(corrections[0].offset_ns, corrections[1].offset_ns), ==, 0);
        fm_synchronize_free(synchronize);
    }
}

/* A chain: 0 - 1 - 2 - 3 - 4, neighbours alone talk; corrections are composed along it. */
static void test_chain(void)
{
    enum { HOSTS = 5 };
    for (unsigned method = 0; method < 2; method++) {
        struct host hosts[HOSTS];
        struct fm_correction corrections[HOSTS];
        g_autoptr(GArray) messages = g_array_new(FALSE, FALSE, sizeof(struct message));
        struct fm_synchronize *synchronize =
            fm_synchronize_new(HOSTS, (enum fm_synchronize_method)method);
        /* Large drifts: a wrong composition shows. */
        for (unsigned i = 0; i < HOSTS; i++)
            hosts[i] = (struct host){1 + 0.01 * i, 1e12 * (HOSTS - i)};
        static const unsigned order[HOSTS] = {3, 0, 4, 1, 2}; /* not the order of numbers */
        for (unsigned i = 0; i + 1 < HOSTS; i++)
            exchange(hosts, order[i], order[i + 1], 500, messages, synchronize);
        fm_synchronize_solve(synchronize, corrections);
        for (unsigned i = 0; i < HOSTS; i++) {
            g_assert_cmpuint(fm_synchronize_reference(synchronize, i), ==,
                             fm_synchronize_reference(synchronize, 0));
            for (unsigned j = 0; j < HOSTS; j++) {
                g_assert_true(close_to(drift_between(hosts, corrections, i, j), 1, 1e-5));
                double at_i = corrections[i].drift * (double)clock_of(&hosts[i], 5e10) +
                              corrections[i].offset_ns;
                double at_j = corrections[j].drift * (double)clock_of(&hosts[j], 5e10) +
                              corrections[j].offset_ns;
                g_assert_true(close_to(at_i, at_j, 200000));
            }
        }
        if (method == FM_SYNCHRONIZE_HULL) {
            struct fm_synchronize_evaluation found = evaluate_all(messages, HOSTS, corrections);
            g_assert_cmpfloat(found.worst_inversion_ns, <, 4);
            g_assert_cmpint(fm_synchronize_pair_of(synchronize, 0, 1)->status, ==,
                            FM_SYNCHRONIZE_ABSENT);
        }
        fm_synchronize_free(synchronize);
    }
}

/* Two islands of two: each has its own reference; none is lost. */
static void test_islands(void)
{
    struct host hosts[4] = {{1, 0}, {1.001, 1e9}, {1, 5e9}, {0.999, 0}};
    struct fm_correction corrections[4];
    g_autoptr(GArray) messages = g_array_new(FALSE, FALSE, sizeof(struct message));
    struct fm_synchronize *synchronize = fm_synchronize_new(4, FM_SYNCHRONIZE_HULL);
    exchange(hosts, 0, 1, 200, messages, synchronize);
    exchange(hosts, 2, 3, 200, messages, synchronize);
    fm_synchronize_solve(synchronize, corrections);
    g_assert_cmpuint(fm_synchronize_reference(synchronize, 0), ==,
                     fm_synchronize_reference(synchronize, 1));
    g_assert_cmpuint(fm_synchronize_reference(synchronize, 2), ==,
                     fm_synchronize_reference(synchronize, 3));
    g_assert_cmpuint(fm_synchronize_reference(synchronize, 0), <, 2);
    g_assert_true(close_to(drift_between(hosts, corrections, 0, 1), 1, 1e-5));
    g_assert_true(close_to(drift_between(hosts, corrections, 2, 3), 1, 1e-5));
    g_autofree char *text = fm_synchronize_print(synchronize, corrections, NULL);
    g_assert_nonnull(strstr(text, "  0   1  accurate          400        200  "));
    g_assert_nonnull(strstr(text, "  1   2  absent              0          0  inf"));
    fm_synchronize_free(synchronize);
}

/* Against every pair of points: the steepest and the flattest line that fit. */
static void test_bounds(void)
{
    for (unsigned round = 0; round < 300; round++) {
        struct host hosts[2] = {random_host(), random_host()};
        struct fm_correction corrections[2];
        g_autoptr(GArray) messages = g_array_new(FALSE, FALSE, sizeof(struct message));
        struct fm_synchronize *synchronize = fm_synchronize_new(2, FM_SYNCHRONIZE_HULL);
        exchange(hosts, 0, 1, 2 + round % 20, messages, synchronize);
        fm_synchronize_solve(synchronize, corrections);
        double least = -INFINITY, greatest = INFINITY;
        for (guint i = 0; i < messages->len; i++) {
            const struct message *in = &g_array_index(messages, struct message, i);
            for (guint j = 0; in->to == 0 && j < messages->len; j++) {
                const struct message *out = &g_array_index(messages, struct message, j);
                if (out->from != 0 || out->sent == in->received)
                    continue;
                double slope = (double)(int64_t)(out->received - in->sent) /
                               (double)(int64_t)(out->sent - in->received);
                if (out->sent > in->received)
                    greatest = MIN(greatest, slope);
                else
                    least = MAX(least, slope);
            }
        }
        const struct fm_synchronize_pair *pair = fm_synchronize_pair_of(synchronize, 0, 1);
        g_assert_true(pair->least_drift == least || close_to(pair->least_drift, least, 1e-9));
        g_assert_true(pair->greatest_drift == greatest ||
                      close_to(pair->greatest_drift, greatest, 1e-9));
        fm_synchronize_free(synchronize);
    }
}

static void test_regression(void)
{
    struct fm_correction corrections[2];
    struct host hosts[2] = {{1, 5e12}, {1.0001, 2e12}};
    g_autoptr(GArray) messages = g_array_new(FALSE, FALSE, sizeof(struct message));
    struct fm_synchronize *synchronize = fm_synchronize_new(2, FM_SYNCHRONIZE_REGRESSION);
    exchange(hosts, 0, 1, 2, messages, synchronize);
    fm_synchronize_solve(synchronize, corrections);
    g_assert_cmpint(fm_synchronize_pair_of(synchronize, 0, 1)->status, ==, FM_SYNCHRONIZE_ABSENT);
    exchange(hosts, 0, 1, 2000, messages, synchronize);
    fm_synchronize_solve(synchronize, corrections);
    const struct fm_synchronize_pair *pair = fm_synchronize_pair_of(synchronize, 0, 1);
    g_assert_cmpint(pair->status, ==, FM_SYNCHRONIZE_ACCURATE);
    g_assert_true(close_to(pair->line.drift, 1.0001, 2e-7));
    g_assert_cmpfloat(pair->accuracy, >, 1000); /* delays differ by tens of microseconds */
    g_assert_cmpfloat(pair->accuracy, <, 200000);
    fm_synchronize_free(synchronize);
    /* Without delays that differ it is exact: y = 2000 + 1.5 x. */
    synchronize = fm_synchronize_new(2, FM_SYNCHRONIZE_REGRESSION);
    for (uint64_t t = 0; t < 5; t++)
        fm_synchronize_exchange(synchronize, 1, 2000 + 3 * t * 1000, 0, t * 2000, t * 2000,
                                2000 + 3 * t * 1000);
    fm_synchronize_solve(synchronize, corrections);
    pair = fm_synchronize_pair_of(synchronize, 0, 1);
    g_assert_true(close_to(pair->line.drift, 1.5, 1e-12));
    g_assert_true(close_to(pair->line.offset_ns, 2000, 1e-6));
    g_assert_true(close_to(pair->accuracy, 0, 1e-6));
    fm_synchronize_free(synchronize);
}

static void test_round_trips(void)
{
    g_autoptr(GError) error = NULL;
    struct fm_evaluate *evaluate = fm_evaluate_new(2, NULL);
    g_assert_true(fm_evaluate_round_trips(evaluate, "# least\n0 1 2.0\n", &error));
    fm_evaluate_message(evaluate, 0, 1000000, 1, 1500000); /* 0.5 ms, least is 1 */
    fm_evaluate_message(evaluate, 1, 1000000, 0, 3000000);
    fm_evaluate_exchange(evaluate, 0, 0, 1, 5000, 6000, 9192);
    g_assert_cmpuint(fm_evaluate_result(evaluate)->too_fast, ==, 1);
    g_assert_cmpuint(fm_evaluate_result(evaluate)->round_trips[13], ==, 1); /* 8,192 ns */
    g_assert_cmpfloat(fm_evaluate_result(evaluate)->least_round_trip_ns, ==, 8192);
    struct fm_message_sink sink = fm_evaluate_sink(evaluate);
    sink.broadcast(sink.user, (const uint64_t[]){100, 300});
    g_assert_cmpuint(fm_evaluate_result(evaluate)->broadcasts, ==, 1);
    g_assert_cmpfloat(fm_evaluate_result(evaluate)->broadcast_square_sum, ==, 10000);
    g_assert_false(fm_evaluate_round_trips(evaluate, "0 1 x\n", &error));
    g_assert_nonnull(strstr(error->message, "round trips: line 1"));
    fm_evaluate_free(evaluate);
}

/* --- a trace with a corrected clock --- */

static void collect_times(struct fm_trace *trace, GArray *times)
{
    struct fm_context *context = fm_context_new(&trace, 1);
    fm_context_seek_time(context, 0);
    while (fm_context_time(context) != FM_TIME_INF) {
        uint64_t time = fm_context_time(context);
        g_array_append_val(times, time);
        g_assert_cmpuint(fm_context_time(context), ==, time);
        fm_context_middle(context, FM_TIME_INF, 1, NULL);
    }
    fm_context_free(context);
}

static void test_corrected_trace(void)
{
    enum { EVENTS = 500 };
    struct memory_event events[EVENTS + 1] = {0};
    for (unsigned i = 0; i < EVENTS; i++)
        events[i] = (struct memory_event){.time = 1000 + i / 2, .label = "x"};
    struct fm_trace *trace = fm_trace_new("memory", "1:1");
    memory_trace_add(trace, "c", events);
    unsigned generation = trace->generation;
    g_assert_true(fm_trace_set_correction(trace, (struct fm_correction){0.75, 5000}, NULL));
    g_assert_cmpuint(trace->generation, ==, generation + 1);
    g_assert_cmpuint(trace->start_time, ==, 5750);
    g_assert_cmpuint(trace->end_time, ==, (uint64_t)llrint(0.75 * 1249 + 5000));
    g_autoptr(GArray) times = g_array_new(FALSE, FALSE, sizeof(uint64_t));
    collect_times(trace, times);
    g_assert_cmpuint(times->len, ==, EVENTS);
    struct fm_context *context = fm_context_new(&trace, 1);
    for (unsigned i = 0; i < EVENTS; i++) {
        uint64_t time = g_array_index(times, uint64_t, i);
        g_assert_true(close_to((double)time, 0.75 * (1000 + i / 2) + 5000, 0.51));
        /* To each time: the first event of it. */
        fm_context_seek_time(context, time);
        g_assert_cmpuint(fm_context_time(context), ==, time);
        unsigned first = i;
        while (first > 0 && g_array_index(times, uint64_t, first - 1) == time)
            first--;
        for (unsigned j = first; j < i; j++)
            fm_context_middle(context, FM_TIME_INF, 1, NULL);
        /* And back to a place among events of one time. */
        struct fm_position *place = fm_context_save_position(context);
        fm_context_seek_time(context, 0);
        fm_context_seek_position(context, place);
        uint64_t left = 0;
        while (fm_context_time(context) != FM_TIME_INF)
            left += fm_context_middle(context, FM_TIME_INF, 1, NULL);
        g_assert_cmpuint(left, ==, EVENTS - i);
        fm_position_free(place);
    }
    fm_context_free(context);
    g_assert_false(fm_trace_set_correction(trace, (struct fm_correction){0, 0}, NULL));
    g_assert_false(fm_trace_set_correction(trace, (struct fm_correction){NAN, 0}, NULL));
    g_assert_true(fm_trace_set_correction(trace, (struct fm_correction){1, 0}, NULL));
    g_assert_cmpuint(trace->start_time, ==, 1000);
    fm_trace_free(trace);
}

/* Addresses name any time and place: the end is reached, and the next place is right again. */
static void test_any_place(void)
{
    static const struct fm_correction corrections[] = {
        {0.5, -4e18 + 1024}, {0.75, 5000}, {1, -5000}, {1, 3.9e18}, {2, 3.9e18}, {2, -7}};
    static const uint64_t times[] = {0,
                                     1,
                                     1000,
                                     INT64_MAX - 1,
                                     INT64_MAX,
                                     (uint64_t)INT64_MAX + 1,
                                     FM_TIME_INF - 4096,
                                     FM_TIME_INF - 1};
    const struct memory_event events[] = {{.time = 1000, .label = "x"}, {0}};
    for (unsigned i = 0; i < G_N_ELEMENTS(corrections); i++) {
        struct fm_trace *trace = fm_trace_new("memory", "1:1");
        memory_trace_add(trace, "c", events);
        g_assert_true(fm_trace_set_correction(trace, corrections[i], NULL));
        int64_t wanted =
            1000 + llrint((corrections[i].drift - 1) * 1000 + corrections[i].offset_ns);
        uint64_t there = wanted < 0 ? 0 : (uint64_t)wanted;
        struct fm_context *context = fm_context_new(&trace, 1);
        for (unsigned j = 0; j < G_N_ELEMENTS(times); j++) {
            fm_context_seek_time(context, times[j]);
            g_assert_cmpuint(fm_context_time(context), ==, times[j] <= there ? there : FM_TIME_INF);
            fm_context_seek_time(context, 0);
            struct fm_position *position = fm_context_save_position(context);
            position->time = position->places[0].time = times[j];
            position->places[0].location = UINT64_MAX;
            fm_context_seek_position(context, position);
            fm_position_free(position);
            fm_context_seek_time(context, 0);
            g_assert_cmpuint(fm_context_time(context), ==, there);
        }
        fm_context_free(context);
        fm_trace_free(trace);
    }
}

/* What a correction would carry beyond the end of time stands at it, not at the begin. */
static void test_end_of_time(void)
{
    const struct memory_event events[] = {{.time = FM_TIME_INF - 10, .label = "x"}, {0}};
    struct fm_trace *trace = fm_trace_new("memory", "1:1");
    memory_trace_add(trace, "c", events);
    g_assert_true(fm_trace_set_correction(trace, (struct fm_correction){1, 3.9e18}, NULL));
    struct fm_context *context = fm_context_new(&trace, 1);
    fm_context_seek_time(context, 0);
    g_assert_cmpuint(fm_context_time(context), ==, FM_TIME_INF - 1);
    fm_context_seek_time(context, 5000);
    g_assert_cmpuint(fm_context_time(context), ==, FM_TIME_INF - 1);
    fm_context_free(context);
    fm_trace_free(trace);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/synchronize/given messages", test_given);
    g_test_add_func("/synchronize/statuses", test_statuses);
    g_test_add_func("/synchronize/random pairs", test_random_pair);
    g_test_add_func("/synchronize/bounds", test_bounds);
    g_test_add_func("/synchronize/chain", test_chain);
    g_test_add_func("/synchronize/islands", test_islands);
    g_test_add_func("/synchronize/regression", test_regression);
    g_test_add_func("/synchronize/evaluation", test_round_trips);
    g_test_add_func("/synchronize/corrected trace", test_corrected_trace);
    g_test_add_func("/synchronize/any place of a corrected trace", test_any_place);
    g_test_add_func("/synchronize/end of time", test_end_of_time);
    return g_test_run();
}

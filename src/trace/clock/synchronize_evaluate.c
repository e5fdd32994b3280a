/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/error.h"
#include "trace/clock/synchronize.h"

struct fm_evaluate {
    unsigned count;
    const struct fm_correction *corrections;
    double *round_trips; /* ns, count * count; 0 = not given */
    double round_trip_sum;
    struct fm_synchronize_evaluation result;
};

struct fm_evaluate *fm_evaluate_new(unsigned trace_count, const struct fm_correction *corrections)
{
    struct fm_evaluate *evaluate = g_new0(struct fm_evaluate, 1);
    evaluate->count = trace_count;
    evaluate->corrections = corrections;
    evaluate->round_trips = g_new0(double, (size_t)trace_count *trace_count);
    return evaluate;
}

void fm_evaluate_free(struct fm_evaluate *evaluate)
{
    if (evaluate == NULL)
        return;
    g_free(evaluate->round_trips);
    g_free(evaluate);
}

bool fm_evaluate_round_trips(struct fm_evaluate *evaluate, const char *text, GError **error)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    for (unsigned i = 0; lines[i] != NULL; i++) {
        char *line = g_strstrip(lines[i]), *end;
        if (line[0] == '\0' || line[0] == '#')
            continue;
        uint64_t a = g_ascii_strtoull(line, &end, 10);
        uint64_t b = g_ascii_strtoull(end, &end, 10);
        char *number = end;
        double ms = g_ascii_strtod(number, &end);
        if (end == number || *g_strchug(end) != '\0' || a >= evaluate->count ||
            b >= evaluate->count || !(ms >= 0)) {
            g_set_error(error, FM_ERROR, FM_ERROR_FORMAT,
                        "round trips: line %u: expected \"A B MILLISECONDS\" with traces under %u",
                        i + 1, evaluate->count);
            return false;
        }
        evaluate->round_trips[a * evaluate->count + b] = ms * 1e6;
        evaluate->round_trips[b * evaluate->count + a] = ms * 1e6;
    }
    return true;
}

/* How much later the second time is, on the corrected clocks. */
static double delay(const struct fm_evaluate *evaluate, unsigned from, uint64_t sent, unsigned to,
                    uint64_t received)
{
    static const struct fm_correction none = {1, 0};
    const struct fm_correction *a =
        evaluate->corrections == NULL ? &none : &evaluate->corrections[from];
    const struct fm_correction *b =
        evaluate->corrections == NULL ? &none : &evaluate->corrections[to];
    long double later = (long double)b->drift * (long double)received + (long double)b->offset_ns -
                        (long double)a->drift * (long double)sent - (long double)a->offset_ns;
    return (double)later;
}

void fm_evaluate_message(struct fm_evaluate *evaluate, unsigned from, uint64_t sent, unsigned to,
                         uint64_t received)
{
    struct fm_synchronize_evaluation *result = &evaluate->result;
    if (from == to || from >= evaluate->count || to >= evaluate->count)
        return;
    double took = delay(evaluate, from, sent, to, received);
    double round_trip = evaluate->round_trips[from * evaluate->count + to];
    result->messages++;
    if (took < 0) {
        result->inversions++;
        result->worst_inversion_ns = MAX(result->worst_inversion_ns, -took);
    } else if (took < round_trip / 2) {
        result->too_fast++;
    }
}

void fm_evaluate_exchange(struct fm_evaluate *evaluate, unsigned a, uint64_t sent, unsigned b,
                          uint64_t received, uint64_t answered, uint64_t answer_received)
{
    struct fm_synchronize_evaluation *result = &evaluate->result;
    if (a == b || a >= evaluate->count || b >= evaluate->count)
        return;
    double whole = delay(evaluate, a, sent, a, answer_received);
    double there = delay(evaluate, b, received, b, answered);
    double trip = MAX(0, whole - there);
    unsigned bucket = trip < 1 ? 0 : (unsigned)MIN(63, ilogb(trip));
    result->round_trips[bucket]++;
    result->least_round_trip_ns =
        result->exchanges == 0 ? trip : MIN(result->least_round_trip_ns, trip);
    result->exchanges++;
    evaluate->round_trip_sum += trip;
    result->mean_round_trip_ns = evaluate->round_trip_sum / (double)result->exchanges;
}

/* The mean square of the differences to the mean time of reception. */
static void take_broadcast(void *user, const uint64_t *times)
{
    struct fm_evaluate *evaluate = user;
    struct fm_synchronize_evaluation *result = &evaluate->result;
    double sum = 0, squares = 0;
    for (unsigned i = 0; i < evaluate->count; i++) {
        double at = delay(evaluate, 0, times[0], i, times[i]);
        sum += at;
        squares += at * at;
    }
    double mean = sum / evaluate->count;
    result->broadcasts++;
    result->broadcast_square_sum += MAX(0, squares / evaluate->count - mean * mean);
}

const struct fm_synchronize_evaluation *fm_evaluate_result(const struct fm_evaluate *evaluate)
{
    return &evaluate->result;
}

static void take_message(void *user, unsigned from, uint64_t sent, unsigned to, uint64_t received)
{
    fm_evaluate_message(user, from, sent, to, received);
}

static void take_exchange(void *user, unsigned a, uint64_t sent, unsigned b, uint64_t received,
                          uint64_t answered, uint64_t answer_received)
{
    fm_evaluate_exchange(user, a, sent, b, received, answered, answer_received);
}

struct fm_message_sink fm_evaluate_sink(struct fm_evaluate *evaluate)
{
    return (struct fm_message_sink){.user = evaluate,
                                    .message = take_message,
                                    .exchange = take_exchange,
                                    .broadcast = take_broadcast};
}

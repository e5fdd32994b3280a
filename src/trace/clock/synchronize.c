/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/clock/synchronize.h"

#include <math.h>

#include "trace/clock/synchronize_hull.h"

/* Sums over exchanges; times from those of the first, so that nothing is lost. */
struct regression {
    uint64_t n;
    bool has_origin;
    uint64_t origin_t;
    long double origin_d;
    long double St, Stt, Sd, Sdd, Std;
};

struct pair {
    struct hulls hulls;
    struct regression regression;
    struct fm_synchronize_pair result;
};

struct fm_synchronize {
    unsigned count;
    enum fm_synchronize_method method;
    struct pair *pairs; /* pair i < j at j * (j - 1) / 2 + i */
    unsigned *references;
};

static struct pair *pair_at(const struct fm_synchronize *synchronize, unsigned i, unsigned j)
{
    unsigned less = MIN(i, j), more = MAX(i, j);
    g_assert(less < more && more < synchronize->count);
    return &synchronize->pairs[(size_t)more * (more - 1) / 2 + less];
}

const char *fm_synchronize_status_name(enum fm_synchronize_status status)
{
    static const char *const names[] = {"absent", "incomplete", "accurate", "approximate", "fail"};
    g_assert(status < G_N_ELEMENTS(names));
    return names[status];
}

struct fm_synchronize *fm_synchronize_new(unsigned trace_count, enum fm_synchronize_method method)
{
    struct fm_synchronize *synchronize = g_new0(struct fm_synchronize, 1);
    size_t pairs = (size_t)trace_count * (trace_count > 0 ? trace_count - 1 : 0) / 2;
    synchronize->count = trace_count;
    synchronize->method = method;
    synchronize->pairs = g_new0(struct pair, pairs);
    synchronize->references = g_new0(unsigned, trace_count);
    for (size_t i = 0; i < pairs; i++)
        fm_hulls_init(&synchronize->pairs[i].hulls);
    return synchronize;
}

void fm_synchronize_free(struct fm_synchronize *synchronize)
{
    if (synchronize == NULL)
        return;
    size_t pairs = (size_t)synchronize->count * (synchronize->count - (synchronize->count > 0)) / 2;
    for (size_t i = 0; i < pairs; i++)
        fm_hulls_done(&synchronize->pairs[i].hulls);
    g_free(synchronize->pairs);
    g_free(synchronize->references);
    g_free(synchronize);
}

void fm_synchronize_message(struct fm_synchronize *synchronize, unsigned from, uint64_t sent,
                            unsigned to, uint64_t received)
{
    if (from == to || from >= synchronize->count || to >= synchronize->count)
        return;
    struct pair *pair = pair_at(synchronize, from, to);
    pair->result.messages++;
    if (synchronize->method != FM_SYNCHRONIZE_HULL)
        return;
    if (from < to)
        fm_hulls_add(&pair->hulls, sent, received, false);
    else
        fm_hulls_add(&pair->hulls, received, sent, true);
}

/* --- regression --- */

static long double difference(uint64_t a, uint64_t b)
{
    return (long double)(int64_t)(a - b);
}

void fm_synchronize_exchange(struct fm_synchronize *synchronize, unsigned a, uint64_t sent,
                             unsigned b, uint64_t received, uint64_t answered,
                             uint64_t answer_received)
{
    if (a == b || a >= synchronize->count || b >= synchronize->count)
        return;
    struct pair *pair = pair_at(synchronize, a, b);
    struct regression *sums = &pair->regression;
    pair->result.exchanges++;
    /* t on the clock of the lesser trace, d = greater less lesser. */
    uint64_t first = a < b ? sent : received, last = a < b ? answer_received : answered;
    if (!sums->has_origin) {
        sums->has_origin = true;
        sums->origin_t = first;
        sums->origin_d = difference(a < b ? received : sent, first);
    }
    long double d = (difference(received, sent) + difference(answered, answer_received)) / 2;
    d = (a < b ? d : -d) - sums->origin_d;
    long double t = (difference(first, sums->origin_t) + difference(last, sums->origin_t)) / 2;
    sums->n++;
    sums->St += t;
    sums->Stt += t * t;
    sums->Sd += d;
    sums->Sdd += d * d;
    sums->Std += t * d;
}

static void solve_regression(const struct regression *sums, struct fm_synchronize_pair *ret)
{
    long double n = (long double)sums->n;
    long double D = n * sums->Stt - sums->St * sums->St;
    *ret = (struct fm_synchronize_pair){
        .line = {1, 0},
        .least_drift = -INFINITY,
        .greatest_drift = INFINITY,
        .accuracy = INFINITY,
        .messages = ret->messages,
        .exchanges = ret->exchanges,
    };
    if (sums->n < 3 || D <= 0)
        return;
    long double x = (n * sums->Std - sums->St * sums->Sd) / D;
    long double d0 = (sums->Stt * sums->Sd - sums->St * sums->Std) / D;
    long double explained = (n * sums->Std * sums->Std + sums->Sd * sums->Sd * sums->Stt -
                             2 * sums->St * sums->Sd * sums->Std) /
                            D;
    long double rest = MAX(0, sums->Sdd - explained);
    ret->status = FM_SYNCHRONIZE_ACCURATE;
    ret->accuracy = (double)sqrtl(rest / (n - 2));
    ret->line.drift = (double)(1 + x);
    ret->line.offset_ns = (double)(sums->origin_d + d0 - x * (long double)sums->origin_t);
}

/* --- reduction: one tree an island --- */

/* Second after first. */
static struct fm_correction compose(struct fm_correction second, struct fm_correction first)
{
    return (struct fm_correction){second.drift * first.drift,
                                  second.drift * first.offset_ns + second.offset_ns};
}

static struct fm_correction invert(struct fm_correction line)
{
    return (struct fm_correction){1 / line.drift, -line.offset_ns / line.drift};
}

/* From the clock of one trace to that of another. */
static struct fm_correction line_between(const struct fm_synchronize *synchronize, unsigned from,
                                         unsigned to)
{
    struct fm_correction line = pair_at(synchronize, from, to)->result.line;
    return from < to ? line : invert(line);
}

struct paths {
    double *distance;      /* [from * count + to] */
    unsigned *predecessor; /* the trace before to on the way from from */
};

static double weight_of(const struct fm_synchronize_pair *pair)
{
    /* Differences of drift are far below 1: an approximate pair, whose measure is in ns, is only
     * used where there is no accurate way. */
    if (pair->status == FM_SYNCHRONIZE_ACCURATE)
        return pair->accuracy;
    return pair->status == FM_SYNCHRONIZE_APPROXIMATE ? 1e15 + pair->accuracy : INFINITY;
}

static void find_paths(const struct fm_synchronize *synchronize, struct paths *paths)
{
    unsigned count = synchronize->count;
    for (unsigned i = 0; i < count; i++) {
        for (unsigned j = 0; j < count; j++) {
            paths->distance[i * count + j] =
                i == j ? 0 : weight_of(&pair_at(synchronize, i, j)->result);
            paths->predecessor[i * count + j] = i;
        }
    }
    for (unsigned k = 0; k < count; k++) {
        for (unsigned i = 0; i < count; i++) {
            for (unsigned j = 0; j < count; j++) {
                double through = paths->distance[i * count + k] + paths->distance[k * count + j];
                if (through >= paths->distance[i * count + j])
                    continue;
                paths->distance[i * count + j] = through;
                paths->predecessor[i * count + j] = paths->predecessor[k * count + j];
            }
        }
    }
}

/* Finds, of the traces that can be reached from one, that with the least sum of distances. */
static unsigned find_reference(const struct fm_synchronize *synchronize, const struct paths *paths,
                               unsigned trace)
{
    unsigned count = synchronize->count, best = trace;
    double best_sum = INFINITY;
    for (unsigned i = 0; i < count; i++) {
        if (!isfinite(paths->distance[trace * count + i]))
            continue;
        double sum = 0;
        for (unsigned j = 0; j < count; j++) {
            double distance = paths->distance[i * count + j];
            sum += isfinite(distance) ? distance : 0;
        }
        if (sum < best_sum) {
            best_sum = sum;
            best = i;
        }
    }
    return best;
}

/* Along the tree, step by step from the trace to its reference: each step is the pair of a trace
 * and its predecessor. */
static struct fm_correction correct(const struct fm_synchronize *synchronize,
                                    const struct paths *paths, unsigned trace)
{
    unsigned reference = synchronize->references[trace];
    struct fm_correction correction = {1, 0};
    for (unsigned at = trace; at != reference;) {
        unsigned before = paths->predecessor[reference * synchronize->count + at];
        correction = compose(line_between(synchronize, at, before), correction);
        at = before;
    }
    return correction;
}

void fm_synchronize_solve(struct fm_synchronize *synchronize, struct fm_correction *ret)
{
    unsigned count = synchronize->count;
    struct paths paths = {g_new(double, (size_t)count *count),
                          g_new(unsigned, (size_t)count *count)};
    for (unsigned j = 1; j < count; j++) {
        for (unsigned i = 0; i < j; i++) {
            struct pair *pair = pair_at(synchronize, i, j);
            if (synchronize->method == FM_SYNCHRONIZE_HULL)
                fm_hulls_solve(&pair->hulls, &pair->result);
            else
                solve_regression(&pair->regression, &pair->result);
        }
    }
    find_paths(synchronize, &paths);
    double least = INFINITY;
    for (unsigned i = 0; i < count; i++) {
        synchronize->references[i] = find_reference(synchronize, &paths, i);
        ret[i] = correct(synchronize, &paths, i);
        least = MIN(least, ret[i].offset_ns);
    }
    for (unsigned i = 0; i < count; i++)
        ret[i].offset_ns -= least;
    g_free(paths.distance);
    g_free(paths.predecessor);
}

const struct fm_synchronize_pair *fm_synchronize_pair_of(const struct fm_synchronize *synchronize,
                                                         unsigned i, unsigned j)
{
    return &pair_at(synchronize, i, j)->result;
}

unsigned fm_synchronize_reference(const struct fm_synchronize *synchronize, unsigned trace)
{
    return synchronize->references[trace];
}

char *fm_synchronize_print(const struct fm_synchronize *synchronize,
                           const struct fm_correction *corrections, const char *const *names)
{
    GString *out = g_string_new("trace  reference  drift                 offset (s)\n");
    for (unsigned i = 0; i < synchronize->count; i++)
        g_string_append_printf(out, "%5u  %9u  %-20.17g  %.9f%s%s\n", i, synchronize->references[i],
                               corrections[i].drift, corrections[i].offset_ns / 1e9,
                               names == NULL ? "" : "  ", names == NULL ? "" : names[i]);
    g_string_append(out, "\npair     status       messages  exchanges  accuracy\n");
    for (unsigned j = 1; j < synchronize->count; j++) {
        for (unsigned i = 0; i < j; i++) {
            const struct fm_synchronize_pair *pair = fm_synchronize_pair_of(synchronize, i, j);
            g_string_append_printf(
                out, "%3u %3u  %-11s  %8" G_GUINT64_FORMAT "  %9" G_GUINT64_FORMAT "  %g\n", i, j,
                fm_synchronize_status_name(pair->status), pair->messages, pair->exchanges,
                pair->accuracy);
        }
    }
    return g_string_free(out, FALSE);
}

static void take_message(void *user, unsigned from, uint64_t sent, unsigned to, uint64_t received)
{
    fm_synchronize_message(user, from, sent, to, received);
}

static void take_exchange(void *user, unsigned a, uint64_t sent, unsigned b, uint64_t received,
                          uint64_t answered, uint64_t answer_received)
{
    fm_synchronize_exchange(user, a, sent, b, received, answered, answer_received);
}

struct fm_message_sink fm_synchronize_sink(struct fm_synchronize *synchronize)
{
    bool exchanges = synchronize->method == FM_SYNCHRONIZE_REGRESSION;
    return (struct fm_message_sink){
        .user = synchronize, .message = take_message, .exchange = exchanges ? take_exchange : NULL};
}

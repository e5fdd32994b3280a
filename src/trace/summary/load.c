/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/summary/load.h"

#include <string.h>

enum { CLASSES = FM_STATE_CLASS_COUNT };

void fm_load_init(struct fm_load *load, uint64_t start, uint64_t end, unsigned columns)
{
    g_assert(start < end && columns > 0);
    *load = (struct fm_load){.start = start,
                             .end = end,
                             .columns = columns,
                             .time = g_new0(double, (size_t)columns *CLASSES)};
}

void fm_load_reset(struct fm_load *load)
{
    if (load->high > load->low)
        memset(load->time + (size_t)load->low * CLASSES, 0,
               (size_t)(load->high - load->low) * CLASSES * sizeof *load->time);
    load->low = load->high = 0;
}

static void touch(struct fm_load *load, unsigned low, unsigned high)
{
    g_assert(low < high && high <= load->columns);
    bool none = load->low == load->high;
    load->low = none ? low : MIN(load->low, low);
    load->high = MAX(load->high, high);
}

void fm_load_done(struct fm_load *load)
{
    g_clear_pointer(&load->time, g_free);
    g_clear_pointer(&load->step, g_free);
}

static double column_width(const struct fm_load *load)
{
    return (double)(load->end - load->start) / load->columns;
}

void fm_load_add(struct fm_load *load, enum fm_state_class state_class, uint64_t from, uint64_t to,
                 double time)
{
    uint64_t first = MAX(from, load->start), last = MIN(to, load->end);
    if (first >= last)
        return;
    double width = column_width(load), rate = time / (double)(to - from);
    double at = (double)(first - load->start);
    unsigned column = MIN((unsigned)(at / width), load->columns - 1), begin = column;
    /* In a span of years the begin and the end of a short time are one number. So it is shared out
     * by what has passed since its begin, which is exact, and the last column takes the rest. */
    double length = (double)(last - first), passed = 0;
    for (; column < load->columns && passed < length; column++) {
        bool is_last = column + 1 == load->columns;
        double until = is_last ? length : MIN(length, width * (column + 1) - at);
        if (until > passed) {
            load->time[(size_t)column * CLASSES + state_class] += rate * (until - passed);
            passed = until;
        }
    }
    touch(load, begin, column);
}

void fm_load_add_long(struct fm_load *load, enum fm_state_class state_class, uint64_t from,
                      uint64_t to, double time)
{
    uint64_t first = MAX(from, load->start), last = MIN(to, load->end);
    if (first >= last)
        return;
    double width = column_width(load), rate = time / (double)(to - from);
    unsigned begin = MIN((unsigned)((double)(first - load->start) / width), load->columns - 1);
    unsigned end = MIN((unsigned)((double)(last - load->start) / width), load->columns - 1);
    if (end < begin + 3) {
        fm_load_add(load, state_class, from, to, time);
        return;
    }
    /* The columns between those of its ends are filled. */
    uint64_t after = load->start + (uint64_t)(width * (begin + 1));
    uint64_t before = load->start + (uint64_t)(width * end);
    if (load->step == NULL)
        load->step = g_new0(double, ((size_t)load->columns + 1) * CLASSES);
    fm_load_add(load, state_class, first, after, rate * (double)(after - first));
    fm_load_add(load, state_class, before, last, rate * (double)(last - before));
    double each = rate * (double)(before - after) / (end - begin - 1);
    load->step[(size_t)(begin + 1) * CLASSES + state_class] += each;
    load->step[(size_t)end * CLASSES + state_class] -= each;
    touch(load, begin, end + 1);
}

void fm_load_settle(struct fm_load *load)
{
    double now[CLASSES] = {0};
    for (size_t i = 0; load->step != NULL && i < (size_t)load->columns * CLASSES; i++) {
        now[i % CLASSES] += load->step[i];
        /* The rest of sums that cancel is no time. */
        if (now[i % CLASSES] > 0.1)
            load->time[i] += now[i % CLASSES];
    }
    g_clear_pointer(&load->step, g_free);
}

/* The class that the next bit is taken off; CLASSES when nothing is left. */
static unsigned stood_on(const double *time)
{
    unsigned idle = CLASSES, most = CLASSES;
    if (time[FM_STATE_COLLECTING] > 0)
        return FM_STATE_COLLECTING;
    for (unsigned i = 0; i < CLASSES; i++) {
        if (!(time[i] > 0))
            continue;
        if (most == CLASSES || time[i] > time[most])
            most = i;
        if (!fm_state_class_is_busy((enum fm_state_class)i) &&
            (idle == CLASSES || time[i] > time[idle]))
            idle = i;
    }
    return idle < CLASSES ? idle : most;
}

void fm_load_take_off(struct fm_load *below, const struct fm_load *above)
{
    g_assert(below->columns == above->columns);
    if (below->low == below->high)
        return;
    for (unsigned column = above->low; column < above->high; column++) {
        const double *from = above->time + (size_t)column * CLASSES;
        double *time = below->time + (size_t)column * CLASSES, left = 0;
        for (unsigned i = 0; i < CLASSES; i++)
            left += from[i];
        for (unsigned class_; left > 0 && (class_ = stood_on(time)) < CLASSES;) {
            double part = MIN(left, time[class_]);
            time[class_] -= part;
            left -= part;
        }
    }
}

void fm_load_add_all(struct fm_load *to, const struct fm_load *from)
{
    g_assert(to->columns == from->columns);
    for (size_t i = (size_t)from->low * CLASSES; i < (size_t)from->high * CLASSES; i++)
        to->time[i] += from->time[i];
    if (from->high > from->low)
        touch(to, from->low, from->high);
}

double fm_load_time(const struct fm_load *load, enum fm_state_class state_class)
{
    double sum = 0;
    for (unsigned column = load->low; column < load->high; column++)
        sum += load->time[(size_t)column * CLASSES + state_class];
    return sum;
}

double fm_load_at_work(const struct fm_load *load, unsigned column)
{
    g_assert(column < load->columns);
    const double *time = load->time + (size_t)column * CLASSES;
    double sum = 0;
    for (unsigned i = 0; i < CLASSES; i++) {
        if (fm_state_class_is_busy((enum fm_state_class)i))
            sum += time[i];
    }
    return sum;
}

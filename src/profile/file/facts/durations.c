/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/file/facts/durations.h"

#include "base/error.h"
#include "profile/file/encode.h"
#include "profile/file/facts/facts.h"

/* The least duration of a step, in nanoseconds; of FM_DURATION_STEP_END the end of all. */
static uint64_t step_ns(uint32_t step)
{
    g_return_val_if_fail(step <= FM_DURATION_STEP_END, 0);
    uint32_t octave = step / FM_DURATION_STEPS, within = step % FM_DURATION_STEPS;
    if (step == FM_DURATION_STEP_END)
        return UINT64_MAX;
    return octave == 0 ? within : (uint64_t)(FM_DURATION_STEPS + within) << (octave - 1);
}

double fm_durations_quantile(const struct fm_durations *durations, double share)
{
    uint64_t sum = 0, calls = 0;
    for (uint32_t i = 0; i < durations->step_count; i++)
        sum += durations->steps[i].calls;
    double want = share * (double)sum;
    for (uint32_t i = 0; i < durations->step_count; i++) {
        const struct fm_duration_step *step = &durations->steps[i];
        calls += step->calls;
        if ((double)calls < want)
            continue;
        uint64_t low = step_ns(step->step), high = step_ns(step->step + 1);
        double middle = ((double)low + (double)(high - 1)) / 2;
        return CLAMP(middle, (double)durations->shortest_ns, (double)durations->longest_ns);
    }
    return 0;
}

void fm_durations_add(struct fm_durations *sum, const struct fm_durations *more)
{
    uint32_t count = 0, i = 0, j = 0;
    struct fm_duration_step *steps =
        g_new(struct fm_duration_step, (gsize)sum->step_count + more->step_count + 1);
    while (i < sum->step_count || j < more->step_count) {
        const struct fm_duration_step *a = i < sum->step_count ? &sum->steps[i] : NULL;
        const struct fm_duration_step *b = j < more->step_count ? &more->steps[j] : NULL;
        bool take_a = a != NULL && (b == NULL || a->step <= b->step);
        bool take_b = b != NULL && (a == NULL || b->step <= a->step);
        g_assert(take_a || take_b);
        steps[count] = take_a ? *a : *b;
        if (take_a && take_b)
            steps[count].calls += b->calls;
        count++;
        i += take_a;
        j += take_b;
    }
    g_free(sum->steps);
    sum->steps = steps;
    sum->step_count = count;
    if (more->timed > 0) {
        sum->shortest_ns =
            sum->timed == 0 ? more->shortest_ns : MIN(sum->shortest_ns, more->shortest_ns);
        sum->longest_ns = MAX(sum->longest_ns, more->longest_ns);
    }
    sum->timed += more->timed;
    sum->ns += more->ns;
    sum->left += more->left;
}

void fm_duration_info_add(struct fm_duration_info *info, struct fm_durations *durations)
{
    g_return_if_fail(durations->csd != 0);
    info->of = g_renew(struct fm_durations, info->of, info->count + 1);
    info->of[info->count++] = *durations;
    *durations = (struct fm_durations){0};
}

void fm_duration_info_done(struct fm_duration_info *info)
{
    for (uint32_t i = 0; i < info->count; i++)
        g_free(info->of[i].steps);
    g_free(info->of);
    *info = (struct fm_duration_info){0};
}

static bool read_steps(struct fm_reader *in, struct fm_durations *durations, GError **error)
{
    const uint8_t *at = in->at;
    uint32_t count, step = 0;
    if (!fm_reader_u32(in, "number of steps of durations", &count, error))
        return false;
    if (count > FM_DURATION_STEP_END)
        return fm_reader_fail(in, at, FM_ERROR_FORMAT, error,
                              "%u steps of durations, expected at most %u", count,
                              FM_DURATION_STEP_END);
    durations->steps = g_new0(struct fm_duration_step, (gsize)count + 1);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t further;
        at = in->at;
        if (!fm_reader_u32(in, "step of durations", &further, error) ||
            !fm_reader_num(in, "calls of a step", &durations->steps[i].calls, error))
            return false;
        if ((i > 0 && further == 0) || further >= FM_DURATION_STEP_END - step)
            return fm_reader_fail(in, at, FM_ERROR_FORMAT, error,
                                  "step of durations is %u after step %u, expected "
                                  "ascending steps below %u",
                                  further, step, FM_DURATION_STEP_END);
        step += further;
        durations->steps[i].step = step;
        durations->step_count = i + 1;
    }
    return true;
}

static bool read_durations(struct fm_profile_reading *reading, struct fm_duration_info *info,
                           GError **error)
{
    struct fm_reader *in = &reading->in;
    const struct fm_profile *profile = reading->profile;
    struct fm_durations d = {0};
    const uint8_t *at = in->at;
    uint32_t after = info->count == 0 ? 0 : info->of[info->count - 1].csd;
    if (!fm_reader_u32(in, "context of timed calls", &d.csd, error))
        return false;
    if (d.csd <= after || d.csd > profile->csd_count)
        return fm_reader_fail(in, at, FM_ERROR_FORMAT, error,
                              "context of timed calls is %u, expected %u to %u", d.csd, after + 1,
                              profile->csd_count);
    bool ok = fm_reader_num(in, "timed calls", &d.timed, error) &&
              fm_reader_num(in, "time of timed calls", &d.ns, error) &&
              fm_reader_num(in, "shortest call", &d.shortest_ns, error) &&
              fm_reader_num(in, "longest call", &d.longest_ns, error) &&
              fm_reader_num(in, "timed calls left", &d.left, error) && read_steps(in, &d, error);
    if (ok)
        fm_duration_info_add(info, &d);
    g_free(d.steps);
    return ok;
}

bool fm_read_durations(struct fm_profile_reading *reading, GError **error)
{
    return read_durations(reading, &reading->profile->run_info.durations, error);
}

bool fm_read_lifetimes(struct fm_profile_reading *reading, GError **error)
{
    return read_durations(reading, &reading->profile->run_info.heap_info.lifetimes, error);
}

void fm_encode_durations(struct fm_writer *writer, enum fm_fact fact,
                         const struct fm_duration_info *info)
{
    for (uint32_t i = 0; i < info->count; i++) {
        const struct fm_durations *d = &info->of[i];
        const uint64_t numbers[] = {d->csd,        d->timed, d->ns,        d->shortest_ns,
                                    d->longest_ns, d->left,  d->step_count};
        uint32_t step = 0;
        fm_writer_byte(writer, (uint8_t)fact);
        for (size_t j = 0; j < G_N_ELEMENTS(numbers); j++)
            fm_writer_num(writer, numbers[j]);
        for (uint32_t j = 0; j < d->step_count; j++) {
            fm_writer_num(writer, d->steps[j].step - step);
            fm_writer_num(writer, d->steps[j].calls);
            step = d->steps[j].step;
        }
    }
}

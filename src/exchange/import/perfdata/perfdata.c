/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a profile of a perf.data file. Each event is a measure, the one with most samples the
 * first; threads of one name are one. */
#include <string.h>

#include "base/error.h"
#include "exchange/import/perfdata/reader.h"

/* --- events --- */

static bool is_clock(const struct fm_perf_event *event)
{
    enum { SOFTWARE = 1, CPU_CLOCK = 0, TASK_CLOCK = 1 };
    return event->type == SOFTWARE && (event->config == CPU_CLOCK || event->config == TASK_CLOCK);
}

/* Whether it is known how much a sample stands for. */
static bool has_period(const struct fm_perf_event *event)
{
    return (event->sample_type & FM_PERF_PERIOD) != 0 ||
           (!event->by_frequency && event->period > 0);
}

/* Counts the samples of each event, and finds the process that all of them are of. */
static void count_samples(struct fm_perf_reader *in, int32_t *ret_pid, bool *ret_one)
{
    bool any = false;
    *ret_one = true;
    for (guint i = 0; i < in->file.records->len; i++) {
        struct fm_perf_record record = g_array_index(in->file.records, struct fm_perf_record, i);
        struct fm_perf_body body = fm_perf_body_at(&in->file, record.at);
        struct fm_perf_sample sample;
        if (body.type != FM_PERF_SAMPLE)
            continue;
        if (!fm_perf_sample_of(&in->file, &body, &sample) || sample.event == NULL)
            continue;
        ((struct fm_perf_event *)(uintptr_t)sample.event)->samples++;
        *ret_one = *ret_one && (!any || *ret_pid == sample.pid);
        *ret_pid = sample.pid;
        any = true;
    }
    *ret_one = *ret_one && any;
}

static void add_measure(struct fm_perf_reader *in, guint number)
{
    const struct fm_perf_event *event =
        &g_array_index(in->file.events, struct fm_perf_event, number);
    struct fm_perf_measure *measure = &in->measures[number];
    struct fm_build *build = fm_stacks_build(in->stacks);
    g_autofree char *name = fm_perf_event_name(event);
    measure->counted = !has_period(event);
    measure->time = is_clock(event) && !measure->counted;
    g_autofree char *own =
        measure->counted ? g_strconcat("samples of ", name, NULL) : g_strdup(name);
    const char *unit = measure->counted ? "samples" : measure->time ? "nanoseconds" : NULL;
    if (number != in->main) {
        measure->number = fm_stacks_add_measure(in->stacks, own, unit);
        return;
    }
    measure->number = FM_QUANTA;
    if (measure->time)
        fm_build_header(build)->ticks_per_second = FM_PERF_NS_PER_SECOND;
    else
        fm_stacks_name_quanta(in->stacks, own, unit);
}

static bool choose_measures(struct fm_perf_reader *in, GError **error)
{
    const GArray *events = in->file.events;
    in->measures = g_new0(struct fm_perf_measure, events->len + 1);
    for (guint i = 0; i < events->len; i++) {
        if (g_array_index(events, struct fm_perf_event, i).samples >
            g_array_index(events, struct fm_perf_event, in->main).samples)
            in->main = i;
    }
    if (events->len == 0 || g_array_index(events, struct fm_perf_event, in->main).samples == 0) {
        g_set_error(error, FM_ERROR, FM_ERROR_UNAVAILABLE, "%s: no sample is in it%s%s",
                    in->file.input->name, in->file.damage == NULL ? "" : ": ",
                    in->file.damage == NULL ? "" : in->file.damage);
        return false;
    }
    add_measure(in, in->main);
    for (guint i = 0; i < events->len; i++) {
        if (i != in->main && g_array_index(events, struct fm_perf_event, i).samples > 0)
            add_measure(in, i);
    }
    return true;
}

/* The last name of a process's first thread: of the program that it executed. */
static char *program_of(struct fm_perf_reader *in, const struct fm_import_input *input)
{
    int32_t pid = 0;
    bool one;
    char *name = NULL;
    count_samples(in, &pid, &one);
    if (input->options->program != NULL)
        return g_strdup(input->options->program);
    for (guint i = 0; one && i < in->file.records->len; i++) {
        struct fm_perf_record record = g_array_index(in->file.records, struct fm_perf_record, i);
        struct fm_perf_body body = fm_perf_body_at(&in->file, record.at);
        if (body.type != FM_PERF_COMM)
            continue;
        int32_t of = (int32_t)fm_perf_take_u32(&body.fields);
        if (of != pid || of != (int32_t)fm_perf_take_u32(&body.fields))
            continue;
        g_autofree char *text = fm_perf_text(&body.fields);
        g_free(name);
        name = g_utf8_make_valid(text, -1);
    }
    return name != NULL && name[0] != '\0' ? name : (g_free(name), g_strdup(input->program));
}

static bool add_records(struct fm_perf_reader *in, GError **error)
{
    for (guint i = 0; i < in->file.records->len; i++) {
        if (!fm_perf_reader_add(in, g_array_index(in->file.records, struct fm_perf_record, i).at,
                                error))
            return false;
    }
    return true;
}

bool fm_import_perfdata(const struct fm_import_input *input, struct fm_profile **ret,
                        GError **error)
{
    struct fm_perf_reader in = {0};
    bool done = fm_perf_file_open(&in.file, input, error);
    if (done) {
        g_autofree char *program = program_of(&in, input);
        fm_perf_reader_begin(&in, program, "perf.data");
        done = choose_measures(&in, error) && add_records(&in, error) &&
               fm_perf_reader_finish(&in, ret, error);
    }
    fm_perf_reader_clear(&in);
    return done;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Makes a profile of a perf.data file. Each event is a measure, the one with most samples the
 * first; threads of one name are one. */
#include <string.h>

#include "base/error.h"
#include "exchange/import/perfdata/notes.h"
#include "exchange/import/perfdata/places.h"

#define NS_PER_SECOND 1000000000u
#define MARKS_FROM (UINT64_MAX - 4094) /* addresses that are none: whose those behind are */

enum {
    MARK_HYPERVISOR = 32,
    MARK_KERNEL = 128,
    MARK_USER = 512,
    MARK_USER_DEFERRED = 640,
    MARK_GUEST = 2048,
    MARK_GUEST_KERNEL = 2176,
    MARK_GUEST_USER = 2560
};

struct measure {
    unsigned number; /* 0: there is no room for it */
    bool time, counted;
    uint64_t sum;
};

struct reader {
    struct fm_perf_file file;
    struct fm_perf_processes processes;
    struct fm_perf_places *places;
    struct fm_stacks *stacks;
    struct measure *measures; /* one for each event */
    guint main;               /* event */
    GArray *frames;           /* struct fm_perf_frame, innermost first */
    struct fm_perf_quality quality;
};

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
static void count_samples(struct reader *in, int32_t *ret_pid, bool *ret_one)
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

static void add_measure(struct reader *in, guint number)
{
    const struct fm_perf_event *event =
        &g_array_index(in->file.events, struct fm_perf_event, number);
    struct measure *measure = &in->measures[number];
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
        fm_build_header(build)->ticks_per_second = NS_PER_SECOND;
    else
        fm_stacks_name_quanta(in->stacks, own, unit);
}

static bool choose_measures(struct reader *in, GError **error)
{
    const GArray *events = in->file.events;
    in->measures = g_new0(struct measure, events->len + 1);
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

/* --- stacks --- */

static enum fm_perf_mode mode_of(const struct fm_perf_body *body)
{
    switch (body->misc & FM_PERF_MISC_MODE) {
    case FM_PERF_MISC_KERNEL:
        return FM_PERF_IN_KERNEL;
    case 3:
        return FM_PERF_IN_HYPERVISOR;
    case 4:
    case 5:
        return FM_PERF_IN_GUEST;
    default:
        return FM_PERF_IN_USER;
    }
}

/* The first address behind a mark was interrupted, the others are return addresses. */
static void read_chain(struct reader *in, const struct fm_perf_sample *sample,
                       enum fm_perf_mode mode)
{
    bool exact = true;
    for (uint64_t i = 0; i < sample->chain_size; i++) {
        uint64_t address = fm_perf_u64(&in->file, sample->chain + i * 8);
        if (address < MARKS_FROM) {
            struct fm_perf_frame frame = {address, mode, exact};
            g_array_append_val(in->frames, frame);
            exact = false;
            continue;
        }
        exact = true;
        switch (-address) {
        case MARK_HYPERVISOR:
            mode = FM_PERF_IN_HYPERVISOR;
            break;
        case MARK_KERNEL:
            mode = FM_PERF_IN_KERNEL;
            break;
        case MARK_USER:
            mode = FM_PERF_IN_USER;
            break;
        case MARK_GUEST:
        case MARK_GUEST_KERNEL:
        case MARK_GUEST_USER:
            mode = FM_PERF_IN_GUEST;
            break;
        case MARK_USER_DEFERRED:
            in->quality.deferred++;
            return;
        default:
            break;
        }
    }
}

/* The copy of the stack knows more of the user's frames than the chain. */
static void unwind(struct reader *in, struct fm_perf_process *process,
                   const struct fm_perf_sample *sample)
{
    g_autoptr(GArray) frames = g_array_new(FALSE, FALSE, sizeof(struct fm_perf_frame));
    bool cut;
    in->quality.copies++;
    in->quality.copies_full += sample->stack_used == sample->stack_size;
    if (!fm_perf_unwind(&in->processes, process, sample, frames, &cut)) {
        in->quality.not_unwound++;
        return;
    }
    in->quality.unwound_cut += cut;
    while (in->frames->len > 0 &&
           g_array_index(in->frames, struct fm_perf_frame, in->frames->len - 1).mode ==
               FM_PERF_IN_USER)
        g_array_set_size(in->frames, in->frames->len - 1);
    g_array_append_vals(in->frames, frames->data, frames->len);
}

/* From the outermost frame on. Whether the innermost has a name. */
static bool push_frames(struct reader *in, const struct fm_perf_process *process,
                        const char *thread)
{
    uint32_t line = 0;
    bool named = false;
    fm_stacks_cut(in->stacks, 0);
    fm_stacks_push_outside(in->stacks, thread, strlen(thread));
    for (guint i = in->frames->len; i > 0; i--) {
        const struct fm_perf_frame *frame = &g_array_index(in->frames, struct fm_perf_frame, i - 1);
        struct fm_perf_place place = fm_perf_place_of(in->places, process, frame);
        named = place.named;
        for (uint32_t k = 0; k < place.count; k++) {
            fm_stacks_push(in->stacks, place.bodies[k].function, line);
            line = place.bodies[k].line;
        }
    }
    return named;
}

static bool add_sample(struct reader *in, const struct fm_perf_sample *sample,
                       enum fm_perf_mode mode, GError **error)
{
    struct fm_build_header *header = fm_build_header(fm_stacks_build(in->stacks));
    guint event =
        (guint)(sample->event - (const struct fm_perf_event *)(void *)in->file.events->data);
    struct measure *measure = &in->measures[event];
    struct fm_perf_process *process = fm_perf_process_of(&in->processes, sample->pid);
    struct fm_perf_quality *quality = &in->quality;
    uint64_t value = measure->counted     ? 1
                     : sample->has_period ? sample->period
                                          : sample->event->period,
             square;
    if (measure->number == 0) {
        quality->no_room++;
        return true;
    }
    if (!fm_import_sum(&measure->sum, value)) {
        g_set_error(error, FM_ERROR, FM_ERROR_LIMIT,
                    "%s: the periods of an event are more than 2^63 together",
                    in->file.input->name);
        return false;
    }
    g_array_set_size(in->frames, 0);
    if (sample->has_chain)
        read_chain(in, sample, mode);
    if (in->frames->len == 0 && sample->has_ip) {
        struct fm_perf_frame frame = {sample->ip, mode, true};
        g_array_append_val(in->frames, frame);
    }
    if (sample->stack_size > 0)
        unwind(in, process, sample);
    bool named = push_frames(in, process, fm_perf_thread_name(&in->processes, sample->tid));
    fm_stacks_add(in->stacks, measure->number, value);
    quality->chains += sample->has_chain;
    quality->branches += sample->has_branches;
    if (event != in->main)
        return true;
    quality->samples++;
    quality->value += value;
    quality->unnamed += named ? 0 : value;
    quality->kernel += mode == FM_PERF_IN_KERNEL ? value : 0;
    quality->unnamed_kernel += mode == FM_PERF_IN_KERNEL && !named ? value : 0;
    quality->one_frame += in->frames->len <= 1;
    header->sample_count++;
    if (__builtin_mul_overflow(value, value, &square) ||
        __builtin_add_overflow(header->sample_squares, square, &header->sample_squares))
        header->sample_squares = UINT64_MAX;
    return true;
}

static bool add_records(struct reader *in, GError **error)
{
    for (guint i = 0; i < in->file.records->len; i++) {
        struct fm_perf_record record = g_array_index(in->file.records, struct fm_perf_record, i);
        struct fm_perf_body body = fm_perf_body_at(&in->file, record.at);
        struct fm_perf_sample sample;
        if (body.type != FM_PERF_SAMPLE) {
            fm_perf_processes_apply(&in->processes, &body);
            continue;
        }
        bool whole = fm_perf_sample_of(&in->file, &body, &sample);
        in->quality.damaged += !whole;
        in->quality.no_event += whole && sample.event == NULL;
        if (whole && sample.event != NULL && !add_sample(in, &sample, mode_of(&body), error))
            return false;
    }
    return true;
}

/* The last name of a process's first thread: of the program that it executed. */
static char *program_of(struct reader *in, const struct fm_import_input *input)
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

bool fm_import_perfdata(const struct fm_import_input *input, struct fm_profile **ret,
                        GError **error)
{
    struct reader in = {.frames = g_array_new(FALSE, FALSE, sizeof(struct fm_perf_frame))};
    bool done = fm_perf_file_open(&in.file, input, error);
    g_autofree char *program = done ? program_of(&in, input) : NULL;
    fm_perf_processes_init(&in.processes, &in.file);
    if (done) {
        in.stacks = fm_stacks_new(program, "perf.data");
        in.places = fm_perf_places_new(&in.processes, in.stacks);
        done = choose_measures(&in, error) && add_records(&in, error);
    }
    if (done) {
        fm_perf_add_notes(fm_stacks_build(in.stacks), &in.file, &in.processes, &in.quality);
        fm_import_only_knows(fm_stacks_build(in.stacks), 1u << FM_QUANTA);
        done = fm_stacks_finish(g_steal_pointer(&in.stacks), ret, error);
    }
    fm_stacks_free(in.stacks);
    fm_perf_places_free(in.places);
    fm_perf_processes_clear(&in.processes);
    fm_perf_file_close(&in.file);
    g_array_unref(in.frames);
    g_free(in.measures);
    return done;
}

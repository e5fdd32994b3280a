/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/perfdata/reader.h"

#include <string.h>

#include "base/error.h"
#include "profile/file/attached/source_map.h"

#define NOT_KNOWN "callers not known"
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
static void read_chain(struct fm_perf_reader *in, const struct fm_perf_sample *sample,
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
static void unwind(struct fm_perf_reader *in, struct fm_perf_process *process,
                   const struct fm_perf_sample *sample)
{
    g_autoptr(GArray) frames = g_array_new(FALSE, FALSE, sizeof(struct fm_perf_frame));
    bool cut;
    in->quality.copies++;
    in->quality.copies_full += sample->stack_used == sample->stack_size;
    if (!fm_perf_unwind(&in->processes, process, sample, frames, &cut)) {
        in->quality.not_unwound++;
        in->cut = true;
        return;
    }
    in->quality.unwound_cut += cut;
    in->cut = cut;
    while (in->frames->len > 0 &&
           g_array_index(in->frames, struct fm_perf_frame, in->frames->len - 1).mode ==
               FM_PERF_IN_USER)
        g_array_set_size(in->frames, in->frames->len - 1);
    g_array_append_vals(in->frames, frames->data, frames->len);
}

static bool runs_script(const struct fm_perf_reader *in, const struct fm_perf_frame *frame)
{
    return frame->mode == FM_PERF_IN_USER && frame->address >= in->script_low &&
           frame->address < in->script_high;
}

/* Whether the frame belongs to the interpreter's own file. Its functions call each other in
 * recursions, one for each call of a script's function by C: they are shown within the innermost
 * function alone, else recursion would separate the script's functions from their callers. */
static bool is_of_interpreter(const struct fm_perf_reader *in,
                              const struct fm_perf_process *process,
                              const struct fm_perf_frame *frame)
{
    const struct fm_perf_mapping *own = fm_perf_mapping_at(process, in->script_low);
    const struct fm_perf_mapping *of = fm_perf_mapping_at(process, frame->address);
    return frame->mode == FM_PERF_IN_USER && own != NULL && of != NULL && own->image == of->image;
}

/* From the outermost frame on. Whether the innermost has a name. */
static bool push_frames(struct fm_perf_reader *in, struct fm_perf_process *process,
                        const char *thread)
{
    bool named = false;
    in->inner = (struct fm_perf_inner){.function = FM_PERF_NO_FUNCTION};
    fm_stacks_cut(in->stacks, 0);
    fm_stacks_push_outside(in->stacks, thread, strlen(thread));
    if (in->cut && in->quality.live) /* else it would look as if the thread began there */
        fm_stacks_push_outside(in->stacks, NOT_KNOWN, strlen(NOT_KNOWN));
    unsigned interpreters = 0;
    guint innermost = 0; /* frame that runs a script, + 1 */
    for (guint i = 0; i < in->frames->len && in->scripts->len > 0; i++) {
        bool runs = runs_script(in, &g_array_index(in->frames, struct fm_perf_frame, i));
        interpreters += runs;
        innermost = runs && innermost == 0 ? i + 1 : innermost;
    }
    /* The outer part of the stack may be cut. */
    for (unsigned groups = fm_perf_script_groups(in); groups > interpreters; groups--)
        fm_perf_push_script(in);
    for (guint i = in->frames->len; i > 0; i--) {
        const struct fm_perf_frame *frame = &g_array_index(in->frames, struct fm_perf_frame, i - 1);
        if (runs_script(in, frame) && fm_perf_push_script(in)) {
            named = true;
            continue;
        }
        if (innermost > 0 && i > innermost && is_of_interpreter(in, process, frame))
            continue;
        struct fm_perf_place place = fm_perf_place_of(in->places, process, frame);
        named = place.named;
        for (uint32_t k = 0; k < place.count; k++) {
            fm_stacks_push(in->stacks, place.bodies[k].function, in->inner.line);
            in->inner = (struct fm_perf_inner){place.bodies[k].function, place.bodies[k].line};
        }
    }
    return named;
}

static bool add_sample(struct fm_perf_reader *in, const struct fm_perf_sample *sample,
                       enum fm_perf_mode mode, GError **error)
{
    struct fm_build_header *header = fm_build_header(fm_stacks_build(in->stacks));
    guint event =
        (guint)(sample->event - (const struct fm_perf_event *)(void *)in->file.events->data);
    struct fm_perf_measure *measure = &in->measures[event];
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
    /* Time of a thread that was not seen running. */
    bool nowhere =
        sample->ip == 0 && sample->registers == NULL && sample->event->registers_user != 0;
    if (in->frames->len == 0 && sample->has_ip && !nowhere) {
        struct fm_perf_frame frame = {sample->ip, mode, true};
        g_array_append_val(in->frames, frame);
    }
    in->cut = false;
    if (sample->stack_size > 0)
        unwind(in, process, sample);
    fm_perf_read_scripts(in, sample);
    bool named = push_frames(in, process, fm_perf_thread_name(&in->processes, sample->tid));
    fm_stacks_add(in->stacks, measure->number, value);
    quality->chains += sample->has_chain;
    quality->branches += sample->has_branches;
    if (event != in->main)
        return true;
    quality->samples++;
    quality->value += value;
    if (quality->live)
        fm_perf_lines_add(in, value);
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

bool fm_perf_reader_add(struct fm_perf_reader *in, uint64_t at, GError **error)
{
    struct fm_perf_body body = fm_perf_body_at(&in->file, at);
    struct fm_perf_sample sample;
    if (body.type != FM_PERF_SAMPLE) {
        fm_perf_processes_apply(&in->processes, &body);
        return true;
    }
    bool whole = fm_perf_sample_of(&in->file, &body, &sample);
    in->quality.damaged += !whole;
    in->quality.no_event += whole && sample.event == NULL;
    if (whole && sample.event != NULL && (sample.event->sample_type & FM_PERF_TIME) != 0)
        fm_import_times_add(&in->quality.times, sample.time);
    return !whole || sample.event == NULL || add_sample(in, &sample, mode_of(&body), error);
}

void fm_perf_reader_begin(struct fm_perf_reader *in, const char *program, const char *origin)
{
    in->frames = g_array_new(FALSE, FALSE, sizeof(struct fm_perf_frame));
    in->scripts = g_array_new(FALSE, FALSE, sizeof(struct fm_perf_script));
    fm_perf_processes_init(&in->processes, &in->file);
    in->stacks = fm_stacks_new(program, origin);
    in->places = fm_perf_places_new(&in->processes, in->stacks);
}

bool fm_perf_reader_finish(struct fm_perf_reader *in, struct fm_profile **ret, GError **error)
{
    fm_perf_add_notes(fm_stacks_build(in->stacks), &in->file, &in->processes, &in->quality);
    fm_import_only_knows(fm_stacks_build(in->stacks), 1u << FM_QUANTA);
    g_autoptr(FmSourceMap) lines = fm_perf_lines_map(in);
    bool done = fm_stacks_finish(g_steal_pointer(&in->stacks), ret, error);
    if (done && lines != NULL)
        fm_source_map_attach(lines, *ret);
    return done;
}

void fm_perf_reader_clear(struct fm_perf_reader *in)
{
    if (in->frames != NULL) {
        fm_stacks_free(in->stacks);
        fm_perf_places_free(in->places);
        fm_perf_processes_clear(&in->processes);
        g_array_unref(in->frames);
        g_array_unref(in->scripts);
    }
    if (in->lines != NULL)
        g_hash_table_unref(in->lines);
    fm_perf_file_close(&in->file);
    g_free(in->measures);
}

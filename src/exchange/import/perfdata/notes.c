/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/perfdata/notes.h"

#define NOTABLE 10u /* per cent of the samples */
#define NOTABLE_ONE_FRAME 20u
#define NOTABLE_CUT 5u
#define IMAGES_NAMED 3u

static void note(struct fm_build *build, const char *format, ...) FM_PRINTF(2, 3);
static void note(struct fm_build *build, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    fm_build_note(build, text);
}

static void note_samples(struct fm_build *build, const char *which, uint64_t count)
{
    if (count > 0)
        note(build, "samples %s: %" G_GUINT64_FORMAT, which, (guint64)count);
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole == 0 ? 0 : 100.0 * (double)part / (double)whole;
}

static void note_ending(struct fm_build *build, const struct fm_perf_file *file)
{
    if (file->killed)
        note(build, FM_NOTE_WARNING
             "perf record was killed, and did not write the file's end: samples are those "
             "up to there, without names of events and build ids");
    if (file->damage != NULL)
        note(build, FM_NOTE_WARNING "%s: samples are those before it", file->damage);
}

static void note_losses(struct fm_build *build, const struct fm_perf_file *file,
                        const struct fm_perf_quality *quality)
{
    uint64_t lost = file->lost_samples;
    if (lost > 0)
        note(build, FM_NOTE_WARNING "lost samples: %" G_GUINT64_FORMAT " (%.1f %%)", (guint64)lost,
             percent(lost, lost + quality->samples));
    if (file->lost > 0)
        note(build,
             FM_NOTE_WARNING "lost records: %" G_GUINT64_FORMAT ", samples may be among them",
             (guint64)file->lost);
    if (file->throttled > 0)
        note(build,
             FM_NOTE_WARNING "how often the kernel throttled sampling: %" G_GUINT64_FORMAT
                             ", busy stretches are under-represented",
             (guint64)file->throttled);
    fm_import_times_tell(&quality->times, build);
    note_samples(build, "that are shorter than their fields, left out", quality->damaged);
    note_samples(build, "that belong to no event, left out", quality->no_event);
    note_samples(build, "of further events, left out since there is no room for more measures",
                 quality->no_room);
}

static void note_stacks(struct fm_build *build, const struct fm_perf_processes *processes,
                        const struct fm_perf_quality *quality)
{
    if (quality->chains == 0 && quality->copies == 0)
        note(build, "call chains were not recorded: who called a function is not known (perf "
                    "record -g)");
    else if (quality->copies == 0 &&
             percent(quality->one_frame, quality->samples) >= NOTABLE_ONE_FRAME)
        note(build,
             "%.0f %% of the samples have one frame: without frame pointers callers are "
             "not known (perf record --call-graph dwarf)",
             percent(quality->one_frame, quality->samples));
    note_samples(build,
                 "with a copy of the stack that could not be unwound, of which only the innermost "
                 "function is known",
                 quality->not_unwound);
    if (percent(quality->unwound_cut, quality->copies) >= NOTABLE_CUT && quality->live)
        note(build,
             "%.0f %% of the stacks end before a thread's begin: outer callers are missing (code "
             "without unwind tables and frame pointers, or stacks larger than the copies)",
             percent(quality->unwound_cut, quality->copies));
    else if (percent(quality->unwound_cut, quality->copies) >= NOTABLE_CUT)
        note(build,
             "%.0f %% of the stacks end before a thread's begin: outer callers are missing "
             "(%.0f %% of the copies are full: perf record --call-graph dwarf,16384)",
             percent(quality->unwound_cut, quality->copies),
             percent(quality->copies_full, quality->copies));
    else if (quality->unwound_cut > 0)
        note(build,
             "%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " stacks end before a thread's "
             "begin: outer callers are missing",
             (guint64)quality->unwound_cut, (guint64)quality->copies);
    note_samples(build,
                 "of sleeping threads whose frame pointer is a guess, as it led to the thread's "
                 "begin",
                 processes->guessed);
    note_samples(build, "with a part of the stack in a later record, which is not read",
                 quality->deferred);
    if (quality->branches > 0)
        note(build, "branches that the processor remembered are left out");
}

/* Files of another build must not give names. */
static void note_images(struct fm_build *build, const struct fm_perf_processes *processes)
{
    g_autoptr(GString) others = g_string_new(NULL);
    unsigned count = 0;
    unsigned by_path = 0;
    for (guint i = 0; i < processes->images->len; i++) {
        const struct fm_perf_image *image =
            &g_array_index(processes->images, struct fm_perf_image, i);
        by_path += image->by_path;
        if (!image->other || image->code != NULL)
            continue;
        g_autofree char *valid = g_utf8_make_valid(image->path, -1);
        if (count++ < IMAGES_NAMED)
            g_string_append_printf(others, "%s%s", others->len > 0 ? ", " : "", valid);
    }
    if (count > IMAGES_NAMED)
        g_string_append_printf(others, " and %u more", count - IMAGES_NAMED);
    if (by_path > 0)
        note(build,
             "no build id was recorded of %u files that gave names: they were found by "
             "their paths, and may be others",
             by_path);
    if (count > 0)
        note(build,
             FM_NOTE_WARNING
             "on this machine another build is at the place of %s: its functions have no "
             "names",
             others->str);
}

static void note_names(struct fm_build *build, const struct fm_perf_quality *quality)
{
    uint64_t outside = quality->unnamed - quality->unnamed_kernel;
    if (percent(outside, quality->value) >= NOTABLE && quality->live)
        note(
            build,
            "%.0f %% stand in functions that are not known by name: files without symbols, or code "
            "that the program makes (node --perf-basic-prof and jcmd PID Compiler.perfmap name it)",
            percent(outside, quality->value));
    else if (percent(outside, quality->value) >= NOTABLE)
        note(build,
             "%.0f %% stand in functions that are not known by name: their files are not "
             "on this machine, or have no symbols (--symfs)",
             percent(outside, quality->value));
    if (percent(quality->unnamed_kernel, quality->value) >= NOTABLE)
        note(build,
             "%.0f %% stand in the kernel, whose functions have no names here: they can be "
             "read on the machine that was recorded, by root, until it starts anew",
             percent(quality->unnamed_kernel, quality->value));
}

void fm_perf_add_notes(struct fm_build *build, const struct fm_perf_file *file,
                       const struct fm_perf_processes *processes,
                       const struct fm_perf_quality *quality)
{
    note_ending(build, file);
    note_losses(build, file, quality);
    note_stacks(build, processes, quality);
    note_names(build, quality);
    note_images(build, processes);
    if (file->aux > 0)
        note(build,
             "%" G_GUINT64_FORMAT " bytes of a trace of the processor (Intel PT, ARM "
             "SPE) are not decoded",
             (guint64)file->aux);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Facts behind the nodes of a C program's profile: marks, notes, single figures. */
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "profile/file/encode.h"
#include "profile/file/facts/facts.h"

static bool read_mark(struct fm_profile_reading *reading, GError **error)
{
    struct fm_reader *in = &reading->in;
    struct fm_mark mark;
    if (!fm_read_string(reading, "name of a mark", &mark.name, error) ||
        !fm_reader_num(in, "time of a mark", &mark.ns, error) ||
        !fm_reader_num(in, "quanta of a mark", &mark.quanta, error) ||
        !fm_reader_u32(in, "snapshot of a mark", &mark.snapshot, error))
        return false;
    fm_run_info_add_mark(reading->profile, &mark);
    return true;
}

static bool read_note(struct fm_profile_reading *reading, GError **error)
{
    const char *note;
    if (!fm_read_string(reading, "note", &note, error))
        return false;
    fm_run_info_add_note(reading->profile, note);
    return true;
}

static bool read_duration(struct fm_profile_reading *reading, GError **error)
{
    return fm_reader_num(&reading->in, "duration", &reading->profile->run_info.duration_ns, error);
}

static bool read_peak(struct fm_profile_reading *reading, GError **error)
{
    return fm_reader_num(&reading->in, "peak of allocated bytes",
                         &reading->profile->run_info.peak_bytes, error);
}

static bool read_samples(struct fm_profile_reading *reading, GError **error)
{
    struct fm_run_info *run_info = &reading->profile->run_info;
    return fm_reader_num(&reading->in, "number of samples", &run_info->sample_count, error) &&
           fm_reader_num(&reading->in, "squares of samples", &run_info->sample_squares, error);
}

static bool read_process_fields(struct fm_profile_reading *reading, struct fm_process_fact *process,
                                GError **error)
{
    struct fm_reader *in = &reading->in;
    return fm_read_string(reading, "command line", &process->command, error) &&
           fm_read_string(reading, "working folder", &process->folder, error) &&
           fm_reader_u32(in, "process number", &process->pid, error) &&
           fm_reader_u32(in, "parent's process number", &process->parent_pid, error) &&
           fm_reader_num(in, "start of the process", &process->start_ns, error);
}

static bool read_process(struct fm_profile_reading *reading, GError **error)
{
    return read_process_fields(reading, &reading->profile->run_info.process, error);
}

static bool read_part(struct fm_profile_reading *reading, GError **error)
{
    struct fm_reader *in = &reading->in;
    const struct fm_run_info *run_info = &reading->profile->run_info;
    const uint8_t *begin = in->at;
    struct fm_part part = {0};
    if (fm_reader_left(in) < sizeof part.hash)
        return fm_reader_fail(in, begin, FM_ERROR_TRUNCATED, error,
                              "hash of a part of %zu bytes, but unexpected end of file after %zu",
                              sizeof part.hash, fm_reader_left(in));
    memcpy(part.hash, in->at, sizeof part.hash);
    in->at += sizeof part.hash;
    if (!fm_reader_num(in, "times of a part", &part.times, error) ||
        !read_process_fields(reading, &part.process, error) ||
        !fm_reader_num(in, "duration of a part", &part.duration_ns, error) ||
        !fm_reader_num(in, "peak of a part", &part.peak_bytes, error))
        return false;
    if (part.times == 0)
        return fm_reader_fail(in, begin, FM_ERROR_FORMAT, error,
                              "a part that is 0 times in the sum, expected at least once");
    if (run_info->part_count > 0 &&
        fm_part_compare(&run_info->parts[run_info->part_count - 1], &part) >= 0)
        return fm_reader_fail(in, begin, FM_ERROR_FORMAT, error,
                              "a part that does not come after the one before it, expected them "
                              "ascending");
    fm_run_info_add_part(reading->profile, &part);
    return true;
}

static bool read_unknown(struct fm_profile_reading *reading, GError **error)
{
    struct fm_reader *in = &reading->in;
    const uint8_t *begin = in->at;
    uint32_t *unknown = &reading->profile->run_info.unknown;
    if (!fm_reader_u32(in, "measures that are not known", unknown, error))
        return false;
    return *unknown >> FM_MEASURES_MERCURY == 0 ||
           fm_reader_fail(in, begin, FM_ERROR_FORMAT, error,
                          "measures that are not known, bits %#x, expected those of the first %d",
                          *unknown, FM_MEASURES_MERCURY);
}

static bool read_depths(struct fm_profile_reading *reading, GError **error)
{
    struct fm_reader *in = &reading->in;
    const struct fm_profile *profile = reading->profile;
    const struct fm_run_info *run_info = &profile->run_info;
    const uint8_t *begin = in->at;
    struct fm_depths depths = {0};
    uint32_t count;
    if (!fm_reader_u32(in, "proc dynamic that recursed", &depths.pd, error) ||
        !fm_reader_num(in, "maximum depth", &depths.greatest, error) ||
        !fm_reader_num(in, "calls of unknown depth", &depths.unknown, error) ||
        !fm_reader_u32(in, "number of counts by depth", &count, error))
        return false;
    uint32_t after =
        run_info->depths_count == 0 ? 0 : run_info->depths[run_info->depths_count - 1].pd;
    if (depths.pd <= after || depths.pd > profile->pd_count)
        return fm_reader_fail(in, begin, FM_ERROR_FORMAT, error,
                              "depths of proc dynamic %u, expected %u to %u", depths.pd, after + 1,
                              profile->pd_count);
    if (count > FM_DEPTH_CLASSES)
        return fm_reader_fail(in, begin, FM_ERROR_FORMAT, error,
                              "%u counts by depth, expected at most %u", count, FM_DEPTH_CLASSES);
    for (uint32_t i = 0; i < count; i++) {
        if (!fm_reader_num(in, "calls at a depth", &depths.calls[i], error))
            return false;
    }
    fm_run_info_add_depths(reading->profile, &depths);
    return true;
}

static bool read_origin(struct fm_profile_reading *reading, GError **error)
{
    return fm_read_string(reading, "origin", &reading->profile->run_info.origin, error);
}

static bool read_nature(struct fm_profile_reading *reading, GError **error)
{
    struct fm_reader *in = &reading->in;
    const uint8_t *begin = in->at;
    struct fm_run_info *run_info = &reading->profile->run_info;
    if (!fm_reader_u32(in, "what the figures are", &run_info->nature, error) ||
        !fm_reader_num(in, "bytes that a sample stands for", &run_info->heap_period, error))
        return false;
    if ((run_info->nature & ~(uint32_t)FM_NATURE_ALL) != 0)
        return fm_reader_fail(in, begin, FM_ERROR_FORMAT, error,
                              "what the figures are, bits %#x, expected some of %#x",
                              run_info->nature, (unsigned)FM_NATURE_ALL);
    return (run_info->nature & FM_NATURE_ARCS) == 0 || fm_read_inclusive(reading, error);
}

enum { TICK_USER_ALONE = 1 };

static bool read_tick_event(struct fm_profile_reading *reading, GError **error)
{
    struct fm_reader *in = &reading->in;
    const uint8_t *begin = in->at;
    struct fm_tick_event *event = &reading->profile->run_info.tick_event;
    uint32_t bits;
    if (!fm_reader_num(in, "events from one sample to the next", &event->period, error) ||
        !fm_reader_u32(in, "which events are sampled", &bits, error))
        return false;
    if ((bits & ~(uint32_t)TICK_USER_ALONE) != 0)
        return fm_reader_fail(in, begin, FM_ERROR_FORMAT, error,
                              "which events are sampled, bits %#x, expected some of %#x", bits,
                              (unsigned)TICK_USER_ALONE);
    if (reading->profile->ticks_per_second != 0)
        return fm_reader_fail(in, begin, FM_ERROR_FORMAT, error,
                              "samples by events in a profile of %" PRIu64
                              " ticks per second, expected 0",
                              reading->profile->ticks_per_second);
    event->recorded = true;
    event->user_alone = (bits & TICK_USER_ALONE) != 0;
    return true;
}

static void encode_tick_event(struct fm_writer *writer, const struct fm_tick_event *event)
{
    if (!event->recorded)
        return;
    fm_writer_byte(writer, FM_FACT_TICK_EVENT);
    fm_writer_num(writer, event->period);
    fm_writer_num(writer, event->user_alone ? TICK_USER_ALONE : 0);
}

enum { EXTENT_UNFINISHED = 1, EXTENT_LATER = 2 };

static bool read_extent(struct fm_profile_reading *reading, GError **error)
{
    struct fm_reader *in = &reading->in;
    const uint8_t *begin = in->at;
    struct fm_extent *extent = &reading->profile->run_info.extent;
    uint32_t bits;
    if (!fm_reader_num(in, "nanoseconds that were recorded", &extent->recorded_ns, error) ||
        !fm_reader_u32(in, "which part of the run this is", &bits, error))
        return false;
    if ((bits & ~(uint32_t)(EXTENT_UNFINISHED | EXTENT_LATER)) != 0)
        return fm_reader_fail(in, begin, FM_ERROR_FORMAT, error,
                              "which part of the run this is, bits %#x, expected some of %#x", bits,
                              (unsigned)(EXTENT_UNFINISHED | EXTENT_LATER));
    extent->unfinished = (bits & EXTENT_UNFINISHED) != 0;
    extent->later = (bits & EXTENT_LATER) != 0;
    return true;
}

static bool is_whole(const struct fm_extent *extent)
{
    return extent->recorded_ns == 0 && !extent->unfinished && !extent->later;
}

static void encode_extent(struct fm_writer *writer, const struct fm_extent *extent)
{
    if (is_whole(extent))
        return;
    fm_writer_byte(writer, FM_FACT_EXTENT);
    fm_writer_num(writer, extent->recorded_ns);
    fm_writer_num(writer, (extent->unfinished ? EXTENT_UNFINISHED : 0u) |
                              (extent->later ? EXTENT_LATER : 0u));
}

typedef bool (*read_fact_fn)(struct fm_profile_reading *reading, GError **error);
static const read_fact_fn readers[] = {
    [FM_FACT_MARK] = read_mark,
    [FM_FACT_NOTE] = read_note,
    [FM_FACT_DURATION] = read_duration,
    [FM_FACT_PEAK] = read_peak,
    [FM_FACT_PROCESS] = read_process,
    [FM_FACT_SAMPLES] = read_samples,
    [FM_FACT_PART] = read_part,
    [FM_FACT_DEPTHS] = read_depths,
    [FM_FACT_INCLUSIVE] = fm_read_pd_inclusive,
    [FM_FACT_WAITING] = fm_read_waiting,
    [FM_FACT_LOCK] = fm_read_lock,
    [FM_FACT_BLAME] = fm_read_blame,
    [FM_FACT_THREAD_TIME] = fm_read_thread_time,
    [FM_FACT_SLEEP] = fm_read_sleep,
    [FM_FACT_DURATIONS] = fm_read_durations,
    [FM_FACT_TICK_EVENT] = read_tick_event,
    [FM_FACT_EXTENT] = read_extent,
    [FM_FACT_UNHOOKED] = fm_read_unhooked,
    [FM_FACT_REALLOC] = fm_read_realloc,
    [FM_FACT_FLOW] = fm_read_flow,
    [FM_FACT_HEAP] = fm_read_heap_whole,
    [FM_FACT_LIFETIMES] = fm_read_lifetimes,
    [FM_FACT_FLOW_TIME] = fm_read_flow_time,
    [FM_FACT_HEAP_CURVE] = fm_read_heap_curve,
    [FM_FACT_ORIGIN] = read_origin,
    [FM_FACT_UNKNOWN] = read_unknown,
    [FM_FACT_NATURE] = read_nature,
    [FM_FACT_RANK] = fm_read_rank,
    [FM_FACT_RANK_STATISTICS] = fm_read_rank_info,
    [FM_FACT_FORKED] = fm_read_forked,
    [FM_FACT_PART_COST] = fm_read_part_cost,
    [FM_FACT_ATTACHED] = fm_read_attached,
};

bool fm_read_facts(struct fm_profile_reading *reading, GError **error)
{
    struct fm_reader *in = &reading->in;
    if (in->at == in->end)
        return true;
    in->at++; /* the token that ends the nodes */
    while (in->at < in->end) {
        const uint8_t *at = in->at;
        uint8_t kind;
        if (!fm_reader_byte(in, "kind of a fact", &kind, error))
            return false;
        read_fact_fn read = kind < G_N_ELEMENTS(readers) ? readers[kind] : NULL;
        if (read == NULL)
            return fm_reader_fail(in, at, FM_ERROR_FORMAT, error,
                                  "fact of kind %u, which is not known: expected at most %d", kind,
                                  (int)G_N_ELEMENTS(readers) - 1);
        if (!read(reading, error))
            return false;
    }
    return true;
}

#define RANK_BYTES_MAX 1024    /* names of hosts are short */
#define PEEKED_BYTES_MAX 65536 /* long command lines are cut when recorded */

/* The last fact, from here to the end of the bytes and no further. */
static bool peek_at(struct fm_reader in, struct fm_process_fact *ret)
{
    const char *command, *folder;
    size_t command_size, folder_size;
    if (!fm_reader_string(&in, "command line", &command, &command_size, NULL) ||
        !fm_reader_string(&in, "working folder", &folder, &folder_size, NULL) ||
        !fm_reader_u32(&in, "process number", &ret->pid, NULL) ||
        !fm_reader_u32(&in, "parent's process number", &ret->parent_pid, NULL) ||
        !fm_reader_num(&in, "start of the process", &ret->start_ns, NULL) || in.at != in.end ||
        ret->pid == 0 || command_size == 0 || !g_utf8_validate(command, (gssize)command_size, NULL))
        return false;
    ret->command = g_strndup(command, command_size);
    ret->folder = g_strndup(folder, folder_size);
    return true;
}

/* Begin of the fact about a child of fork, before the last fact; end: there is none. */
static const uint8_t *peek_forked(const uint8_t *first, const uint8_t *end)
{
    for (const uint8_t *at = end; at > first; at--) {
        struct fm_reader in = {.start = first, .at = at, .end = end, .name = ""};
        const char *name;
        size_t size;
        uint32_t part;
        if (at[-1] == FM_FACT_FORKED && fm_reader_u32(&in, "part", &part, NULL) && part == 0 &&
            fm_reader_string(&in, "function", &name, &size, NULL) && in.at == end)
            return at - 1;
    }
    return end;
}

/* The rank before the last fact, which begins at end: 0 = none. */
static uint32_t peek_rank(const uint8_t *first, const uint8_t *end)
{
    for (const uint8_t *at = end; at > first; at--) {
        struct fm_reader in = {.start = first, .at = at, .end = end, .name = ""};
        const char *host;
        size_t host_size;
        uint32_t part, rank, count;
        if (at[-1] == FM_FACT_RANK && fm_reader_u32(&in, "part", &part, NULL) && part == 0 &&
            fm_reader_u32(&in, "rank", &rank, NULL) && rank != UINT32_MAX &&
            fm_reader_u32(&in, "number of ranks", &count, NULL) &&
            fm_reader_string(&in, "host", &host, &host_size, NULL) && in.at == end)
            return rank + 1;
    }
    return 0;
}

bool fm_profile_peek_process(const uint8_t *bytes, size_t size, struct fm_process_fact *ret)
{
    size_t id = strlen(FM_C_ID);
    if (size < id || memcmp(bytes, FM_C_ID, id) != 0)
        return false;
    const uint8_t *end = bytes + size, *first = bytes + MAX(id, size - MIN(size, PEEKED_BYTES_MAX));
    for (const uint8_t *at = end; at > first; at--) {
        struct fm_reader in = {.start = bytes, .at = at, .end = end, .name = ""};
        if (at[-1] != FM_FACT_PROCESS || !peek_at(in, ret))
            continue;
        const uint8_t *fact = peek_forked(first, at - 1);
        ret->rank = peek_rank(fact - MIN((size_t)(fact - first), (size_t)RANK_BYTES_MAX), fact);
        return true;
    }
    return false;
}

static void encode_process(struct fm_writer *writer, const struct fm_process_fact *process)
{
    fm_writer_string(writer, process->command);
    fm_writer_string(writer, process->folder);
    fm_writer_num(writer, process->pid);
    fm_writer_num(writer, process->parent_pid);
    fm_writer_num(writer, process->start_ns);
}

static void encode_part(struct fm_writer *writer, const struct fm_part *part)
{
    fm_writer_byte(writer, FM_FACT_PART);
    for (size_t i = 0; i < sizeof part->hash; i++)
        fm_writer_byte(writer, part->hash[i]);
    fm_writer_num(writer, part->times);
    encode_process(writer, &part->process);
    fm_writer_num(writer, part->duration_ns);
    fm_writer_num(writer, part->peak_bytes);
}

static void encode_depths(struct fm_writer *writer, const struct fm_depths *depths)
{
    uint32_t count = FM_DEPTH_CLASSES;
    while (count > 0 && depths->calls[count - 1] == 0)
        count--;
    fm_writer_byte(writer, FM_FACT_DEPTHS);
    fm_writer_num(writer, depths->pd);
    fm_writer_num(writer, depths->greatest);
    fm_writer_num(writer, depths->unknown);
    fm_writer_num(writer, count);
    for (uint32_t i = 0; i < count; i++)
        fm_writer_num(writer, depths->calls[i]);
}

/* Then nothing follows the nodes. */
static bool has_no_facts(const struct fm_profile *profile)
{
    const struct fm_run_info *run_info = &profile->run_info;
    bool attached = false;
    for (unsigned kind = 0; kind < FM_ATTACHED_KINDS; kind++)
        attached = attached || profile->attached[kind].packed != NULL;
    return !attached && run_info->mark_count == 0 && run_info->note_count == 0 &&
           run_info->duration_ns == 0 && run_info->peak_bytes == 0 && run_info->sample_count == 0 &&
           run_info->part_count == 0 && run_info->process.command == NULL &&
           run_info->origin == NULL && run_info->unknown == 0 && run_info->nature == 0 &&
           run_info->depths_count == 0 && run_info->inclusive.measures == 0 &&
           run_info->wait_info.waiting_count == 0 && run_info->wait_info.thread_count == 0 &&
           !run_info->heap_info.recorded && !run_info->tick_event.recorded &&
           run_info->durations.count == 0 && !run_info->unhooked.recorded &&
           is_whole(&run_info->extent);
}

void fm_encode_run_info(struct fm_writer *writer, const struct fm_profile *profile)
{
    const struct fm_run_info *run_info = &profile->run_info;
    if (has_no_facts(profile))
        return;
    fm_writer_byte(writer, FM_TOKEN_END);
    fm_encode_attached(writer, profile);
    for (uint32_t i = 0; i < run_info->mark_count; i++) {
        const struct fm_mark *mark = &run_info->marks[i];
        fm_writer_byte(writer, FM_FACT_MARK);
        fm_writer_string(writer, mark->name);
        fm_writer_num(writer, mark->ns);
        fm_writer_num(writer, mark->quanta);
        fm_writer_num(writer, mark->snapshot);
    }
    for (uint32_t i = 0; i < run_info->note_count; i++) {
        fm_writer_byte(writer, FM_FACT_NOTE);
        fm_writer_string(writer, run_info->notes[i]);
    }
    if (run_info->duration_ns != 0) {
        fm_writer_byte(writer, FM_FACT_DURATION);
        fm_writer_num(writer, run_info->duration_ns);
    }
    if (run_info->peak_bytes != 0) {
        fm_writer_byte(writer, FM_FACT_PEAK);
        fm_writer_num(writer, run_info->peak_bytes);
    }
    if (run_info->sample_count != 0) {
        fm_writer_byte(writer, FM_FACT_SAMPLES);
        fm_writer_num(writer, run_info->sample_count);
        fm_writer_num(writer, run_info->sample_squares);
    }
    encode_tick_event(writer, &run_info->tick_event);
    encode_extent(writer, &run_info->extent);
    fm_encode_unhooked(writer, &run_info->unhooked);
    fm_encode_wait_info(writer, &run_info->wait_info);
    fm_encode_heap_info(writer, &run_info->heap_info);
    fm_encode_durations(writer, FM_FACT_DURATIONS, &run_info->durations);
    for (uint32_t i = 0; i < run_info->part_count; i++)
        encode_part(writer, &run_info->parts[i]);
    if (run_info->origin != NULL) {
        fm_writer_byte(writer, FM_FACT_ORIGIN);
        fm_writer_string(writer, run_info->origin);
    }
    if (run_info->unknown != 0) {
        fm_writer_byte(writer, FM_FACT_UNKNOWN);
        fm_writer_num(writer, run_info->unknown);
    }
    if (run_info->nature != 0) {
        fm_writer_byte(writer, FM_FACT_NATURE);
        fm_writer_num(writer, run_info->nature);
        fm_writer_num(writer, run_info->heap_period);
        if ((run_info->nature & FM_NATURE_ARCS) != 0)
            fm_encode_inclusive(writer, profile);
    }
    for (uint32_t i = 0; i < run_info->depths_count; i++)
        encode_depths(writer, &run_info->depths[i]);
    fm_encode_pd_inclusive(writer, &run_info->inclusive);
    fm_encode_ranks(writer, run_info);
    fm_encode_rank_info(writer, &run_info->rank_info);
    fm_encode_roles(writer, run_info);
    if (run_info->process.command != NULL) {
        fm_writer_byte(writer, FM_FACT_PROCESS);
        encode_process(writer, &run_info->process);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What follows the nodes of a C program's profile: marks, notes, single figures. */
#include <string.h>

#include "base/error.h"
#include "deep/encode.h"
#include "deep/read_internal.h"

enum fact_kind {
    FACT_MARK = 1,
    FACT_NOTE,
    FACT_DURATION,
    FACT_PEAK,
    FACT_PROCESS,
    FACT_SAMPLES,
    FACT_PART,
    FACT_KINDS
};

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

static bool read_process(struct fm_profile_reading *reading, struct fm_process_fact *process,
                         GError **error)
{
    struct fm_reader *in = &reading->in;
    return fm_read_string(reading, "command line", &process->command, error) &&
           fm_read_string(reading, "working folder", &process->folder, error) &&
           fm_reader_u32(in, "process number", &process->pid, error) &&
           fm_reader_u32(in, "parent's process number", &process->parent_pid, error) &&
           fm_reader_num(in, "start of the process", &process->start_ns, error);
}

static bool read_part(struct fm_profile_reading *reading, GError **error)
{
    struct fm_reader *in = &reading->in;
    const struct fm_run_info *run_info = &reading->profile->run_info;
    const uint8_t *begin = in->at;
    struct fm_part part;
    if (fm_reader_left(in) < sizeof part.hash)
        return fm_reader_fail(in, begin, FM_ERROR_TRUNCATED, error,
                              "hash of a part of %zu bytes, but unexpected end of file after %zu",
                              sizeof part.hash, fm_reader_left(in));
    memcpy(part.hash, in->at, sizeof part.hash);
    in->at += sizeof part.hash;
    if (!fm_reader_num(in, "times of a part", &part.times, error) ||
        !read_process(reading, &part.process, error) ||
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

bool fm_read_facts(struct fm_profile_reading *reading, GError **error)
{
    struct fm_reader *in = &reading->in;
    struct fm_run_info *run_info = &reading->profile->run_info;
    if (in->at == in->end)
        return true;
    in->at++; /* the token that ends the nodes */
    while (in->at < in->end) {
        const uint8_t *at = in->at;
        uint8_t kind;
        bool ok = fm_reader_byte(in, "kind of a fact", &kind, error);
        if (ok && kind == FACT_MARK)
            ok = read_mark(reading, error);
        else if (ok && kind == FACT_NOTE)
            ok = read_note(reading, error);
        else if (ok && kind == FACT_DURATION)
            ok = fm_reader_num(in, "duration", &run_info->duration_ns, error);
        else if (ok && kind == FACT_PEAK)
            ok = fm_reader_num(in, "peak of allocated bytes", &run_info->peak_bytes, error);
        else if (ok && kind == FACT_PROCESS)
            ok = read_process(reading, &run_info->process, error);
        else if (ok && kind == FACT_PART)
            ok = read_part(reading, error);
        else if (ok && kind == FACT_SAMPLES)
            ok = fm_reader_num(in, "number of samples", &run_info->sample_count, error) &&
                 fm_reader_num(in, "squares of samples", &run_info->sample_squares, error);
        else if (ok)
            return fm_reader_fail(in, at, FM_ERROR_FORMAT, error,
                                  "fact of kind %u, expected 1 to %d", kind, FACT_KINDS - 1);
        if (!ok)
            return false;
    }
    return true;
}

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

bool fm_profile_peek_process(const uint8_t *bytes, size_t size, struct fm_process_fact *ret)
{
    size_t id = strlen(FM_C_ID);
    if (size < id || memcmp(bytes, FM_C_ID, id) != 0)
        return false;
    const uint8_t *end = bytes + size, *first = bytes + MAX(id, size - MIN(size, PEEKED_BYTES_MAX));
    for (const uint8_t *at = end; at > first; at--) {
        struct fm_reader in = {.start = bytes, .at = at, .end = end, .name = ""};
        if (at[-1] == FACT_PROCESS && peek_at(in, ret))
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
    fm_writer_byte(writer, FACT_PART);
    for (size_t i = 0; i < sizeof part->hash; i++)
        fm_writer_byte(writer, part->hash[i]);
    fm_writer_num(writer, part->times);
    encode_process(writer, &part->process);
    fm_writer_num(writer, part->duration_ns);
    fm_writer_num(writer, part->peak_bytes);
}

void fm_encode_run_info(struct fm_writer *writer, const struct fm_run_info *run_info)
{
    if (run_info->mark_count == 0 && run_info->note_count == 0 && run_info->duration_ns == 0 &&
        run_info->peak_bytes == 0 && run_info->sample_count == 0 && run_info->part_count == 0 &&
        run_info->process.command == NULL)
        return;
    fm_writer_byte(writer, FM_TOKEN_END);
    for (uint32_t i = 0; i < run_info->mark_count; i++) {
        const struct fm_mark *mark = &run_info->marks[i];
        fm_writer_byte(writer, FACT_MARK);
        fm_writer_string(writer, mark->name);
        fm_writer_num(writer, mark->ns);
        fm_writer_num(writer, mark->quanta);
        fm_writer_num(writer, mark->snapshot);
    }
    for (uint32_t i = 0; i < run_info->note_count; i++) {
        fm_writer_byte(writer, FACT_NOTE);
        fm_writer_string(writer, run_info->notes[i]);
    }
    if (run_info->duration_ns != 0) {
        fm_writer_byte(writer, FACT_DURATION);
        fm_writer_num(writer, run_info->duration_ns);
    }
    if (run_info->peak_bytes != 0) {
        fm_writer_byte(writer, FACT_PEAK);
        fm_writer_num(writer, run_info->peak_bytes);
    }
    if (run_info->sample_count != 0) {
        fm_writer_byte(writer, FACT_SAMPLES);
        fm_writer_num(writer, run_info->sample_count);
        fm_writer_num(writer, run_info->sample_squares);
    }
    for (uint32_t i = 0; i < run_info->part_count; i++)
        encode_part(writer, &run_info->parts[i]);
    if (run_info->process.command != NULL) {
        fm_writer_byte(writer, FACT_PROCESS);
        encode_process(writer, &run_info->process);
    }
}

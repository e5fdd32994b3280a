/* SPDX-License-Identifier: Apache-2.0 */
/* The role of each process of a run, and its cost. */
#include "base/error.h"
#include "profile/file/facts/facts.h"

/* From 1; 0 = the process of a profile that is no sum. */
static bool read_part_number(struct fm_profile_reading *reading, uint32_t *ret, GError **error)
{
    struct fm_reader *in = &reading->in;
    const uint8_t *begin = in->at;
    uint32_t count = reading->profile->run_info.part_count;
    if (!fm_reader_u32(in, "part that is described", ret, error))
        return false;
    return *ret <= count ||
           fm_reader_fail(in, begin, FM_ERROR_FORMAT, error,
                          "part %u is described, expected at most %u", *ret, count);
}

bool fm_read_forked(struct fm_profile_reading *reading, GError **error)
{
    struct fm_run_info *run_info = &reading->profile->run_info;
    const uint8_t *begin = reading->in.at;
    uint32_t part;
    const char *name;
    if (!read_part_number(reading, &part, error) ||
        !fm_read_string(reading, "function that called fork", &name, error))
        return false;
    struct fm_process_fact *process =
        part == 0 ? &run_info->process : &run_info->parts[part - 1].process;
    if (process->forked)
        return fm_reader_fail(&reading->in, begin, FM_ERROR_FORMAT, error,
                              "part %u was forked twice, expected once", part);
    process->forked = true;
    process->forked_in = name[0] == '\0' ? NULL : name;
    return true;
}

bool fm_read_part_cost(struct fm_profile_reading *reading, GError **error)
{
    struct fm_reader *in = &reading->in;
    const uint8_t *begin = in->at;
    uint32_t number;
    uint64_t calls, cpu_ns;
    if (!read_part_number(reading, &number, error) ||
        !fm_reader_num(in, "calls of a part", &calls, error) ||
        !fm_reader_num(in, "CPU time of a part", &cpu_ns, error))
        return false;
    struct fm_part *part = number == 0 ? NULL : &reading->profile->run_info.parts[number - 1];
    if (part == NULL || part->has_cost)
        return fm_reader_fail(in, begin, FM_ERROR_FORMAT, error,
                              "cost of part %u, expected it of each part once at most", number);
    part->has_cost = true;
    part->calls = calls;
    part->cpu_ns = cpu_ns;
    return true;
}

static void encode_forked(struct fm_writer *writer, uint32_t part,
                          const struct fm_process_fact *process)
{
    if (!process->forked)
        return;
    fm_writer_byte(writer, FM_FACT_FORKED);
    fm_writer_num(writer, part);
    fm_writer_string(writer, process->forked_in == NULL ? "" : process->forked_in);
}

void fm_encode_roles(struct fm_writer *writer, const struct fm_run_info *run_info)
{
    for (uint32_t i = 0; i < run_info->part_count; i++) {
        const struct fm_part *part = &run_info->parts[i];
        encode_forked(writer, i + 1, &part->process);
        if (!part->has_cost)
            continue;
        fm_writer_byte(writer, FM_FACT_PART_COST);
        fm_writer_num(writer, i + 1);
        fm_writer_num(writer, part->calls);
        fm_writer_num(writer, part->cpu_ns);
    }
    if (run_info->process.command != NULL)
        encode_forked(writer, 0, &run_info->process);
}

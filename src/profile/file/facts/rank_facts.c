/* SPDX-License-Identifier: Apache-2.0 */
/* The rank of a profile's process in an MPI program. */
#include "base/error.h"
#include "profile/file/facts/facts.h"

bool fm_read_rank(struct fm_profile_reading *reading, GError **error)
{
    struct fm_reader *in = &reading->in;
    struct fm_run_info *run_info = &reading->profile->run_info;
    const uint8_t *begin = in->at;
    uint32_t part, rank, count;
    const char *host;
    if (!fm_reader_u32(in, "part that a rank is of", &part, error) ||
        !fm_reader_u32(in, "rank", &rank, error) ||
        !fm_reader_u32(in, "number of ranks", &count, error) ||
        !fm_read_string(reading, "host of a rank", &host, error))
        return false;
    if (part > run_info->part_count)
        return fm_reader_fail(in, begin, FM_ERROR_FORMAT, error,
                              "a rank of part %u, expected at most %u", part, run_info->part_count);
    struct fm_process_fact *process =
        part == 0 ? &run_info->process : &run_info->parts[part - 1].process;
    if (rank == UINT32_MAX || (count != 0 && rank >= count))
        return fm_reader_fail(in, begin, FM_ERROR_FORMAT, error,
                              "rank %u of %u, expected one below the number", rank, count);
    if (process->rank != 0)
        return fm_reader_fail(in, begin, FM_ERROR_FORMAT, error,
                              "a second rank of part %u, expected one", part);
    process->rank = rank + 1;
    process->rank_count = count;
    process->host = host[0] == '\0' ? NULL : host;
    return true;
}

static void encode_rank(struct fm_writer *writer, uint32_t part,
                        const struct fm_process_fact *process)
{
    if (process->rank == 0)
        return;
    fm_writer_byte(writer, FM_FACT_RANK);
    fm_writer_num(writer, part);
    fm_writer_num(writer, process->rank - 1u);
    fm_writer_num(writer, process->rank_count);
    fm_writer_string(writer, process->host == NULL ? "" : process->host);
}

void fm_encode_ranks(struct fm_writer *writer, const struct fm_run_info *run_info)
{
    for (uint32_t i = 0; i < run_info->part_count; i++)
        encode_rank(writer, i + 1, &run_info->parts[i].process);
    if (run_info->process.command != NULL)
        encode_rank(writer, 0, &run_info->process);
}

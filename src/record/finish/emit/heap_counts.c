/* SPDX-License-Identifier: Apache-2.0 */
#include "record/finish/emit/heap_counts.h"

/* Bytes are as requested where blocks are remembered from the first on, else as malloc rounds. */
enum when { ALWAYS, HELD, NOT_HELD };

static const struct {
    unsigned measure;
    enum when when;
    size_t offset;
} counted[FM_HEAP_COUNTS] = {
    {FM_ALLOCS, ALWAYS, offsetof(struct fm_raw_heap, allocs)},
    {FM_FREES, ALWAYS, offsetof(struct fm_raw_heap, frees)},
    {FM_FREED_BYTES, ALWAYS, offsetof(struct fm_raw_heap, freed_bytes)},
    {FM_WORDS, NOT_HELD, offsetof(struct fm_raw_heap, usable_bytes)},
    {FM_REQUESTED_BYTES, NOT_HELD, offsetof(struct fm_raw_heap, bytes)},
    {FM_WORDS, HELD, offsetof(struct fm_raw_heap, bytes)},
    {FM_LIVE_BYTES, HELD, offsetof(struct fm_raw_heap, live_bytes)},
    {FM_LIVE_BLOCKS, HELD, offsetof(struct fm_raw_heap, live_blocks)},
    {FM_PEAK_BYTES, HELD, offsetof(struct fm_raw_heap, peak_bytes)},
    {FM_USABLE_BYTES, HELD, offsetof(struct fm_raw_heap, usable_bytes)},
};

void fm_heap_counts_begin(struct fm_heap_counts *counts, struct fm_build *build,
                          const struct fm_raw_recording *recording)
{
    *counts = (struct fm_heap_counts){.build = build, .recording = recording};
    fm_build_rename_measure(build, FM_WORDS, "bytes", "bytes", 1.0);
    /* malloc was not recorded: a fully static program, or one with a sanitizer. */
    bool seen = (recording->header.grade_flags & (FM_REC_ALLOCATION | FM_REC_WILL_HOLD)) != 0;
    if (!seen && recording->heap_count <= 1) {
        fm_build_unknown(build, FM_ALLOCS);
        fm_build_unknown(build, FM_WORDS);
        return;
    }
    /* A process that allocated nothing has the measures of the program's others, with value 0,
     * because they are added up. heaps[0] is unused. */
    bool nothing = recording->header.version >= 3 && recording->heap_count <= 1;
    enum when now = recording->is_held || nothing ? HELD : NOT_HELD;
    for (unsigned i = 0; i < FM_HEAP_COUNTS; i++) {
        if (counted[i].when != ALWAYS && counted[i].when != now)
            continue;
        counts->measures[counts->count] =
            counted[i].measure < FM_FURTHER_FIRST
                ? counted[i].measure
                : fm_build_own_measure(build, (enum fm_further_measure)counted[i].measure);
        counts->offsets[counts->count++] = counted[i].offset;
    }
}

void fm_heap_counts_add(const struct fm_heap_counts *counts, uint32_t csd, uint32_t heap)
{
    const char *from = (const char *)&counts->recording->heaps[heap];
    for (unsigned i = 0; heap != 0 && i < counts->count; i++)
        fm_build_add(counts->build, csd, counts->measures[i],
                     *(const uint64_t *)(const void *)(from + counts->offsets[i]));
}

static uint64_t peak_of(const struct fm_raw_recording *recording)
{
    const struct fm_rec_header *header = &recording->header;
    uint64_t told = (uint64_t)MAX(header->peak_live_bytes, 0), live = 0;
    if (!recording->is_held || recording->held.rising == 0)
        return told;
    for (uint32_t i = 0; i < recording->heap_count; i++) /* now is the peak */
        live += recording->heaps[i].into == 0 ? recording->heaps[i].live_bytes : 0;
    return recording->held.step == 0 ? live : MAX(told, live);
}

void fm_heap_counts_facts(const struct fm_heap_counts *counts)
{
    const struct fm_raw_recording *recording = counts->recording;
    if ((recording->header.grade_flags & FM_REC_ALLOCATION) != 0)
        fm_build_header(counts->build)->peak_bytes = peak_of(recording);
}

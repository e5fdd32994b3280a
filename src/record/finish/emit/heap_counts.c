/* SPDX-License-Identifier: Apache-2.0 */
#include "record/finish/emit/heap_counts.h"

void fm_heap_counts_begin(struct fm_heap_counts *counts, struct fm_build *build,
                          const struct fm_raw_recording *recording)
{
    *counts = (struct fm_heap_counts){.build = build, .recording = recording};
    fm_build_rename_measure(build, FM_WORDS, "bytes", "bytes", 1.0);
    /* No malloc of ours: a fully static program, one with a sanitizer. */
    bool seen = (recording->header.grade_flags & (FM_REC_ALLOCATION | FM_REC_WILL_HOLD)) != 0;
    if (!seen && recording->heap_count <= 1) {
        fm_build_unknown(build, FM_ALLOCS);
        fm_build_unknown(build, FM_WORDS);
        return;
    }
    counts->frees = fm_build_own_measure(build, "frees", "frees", 1.0);
    counts->freed_bytes = fm_build_own_measure(build, "freed_bytes", "bytes", 1.0);
    /* Blocks are remembered from the first on. A process that allocated nothing has the measures of
     * the program's others, in which it has 0: they are added up. heaps[0] is none. */
    bool nothing = recording->header.version >= 3 && recording->heap_count <= 1;
    if (!recording->is_held && !nothing) {
        counts->requested_bytes = fm_build_own_measure(build, "requested_bytes", "bytes", 1.0);
        return;
    }
    counts->live_bytes = fm_build_own_measure(build, "live_bytes", "bytes", 1.0);
    counts->live_blocks = fm_build_own_measure(build, "live_blocks", "blocks", 1.0);
    counts->peak_bytes = fm_build_own_measure(build, "peak_bytes", "bytes", 1.0);
    counts->usable_bytes = fm_build_own_measure(build, "usable_bytes", "bytes", 1.0);
}

void fm_heap_counts_add(const struct fm_heap_counts *counts, uint32_t csd, uint32_t heap)
{
    if (heap == 0)
        return;
    const struct fm_raw_heap *from = &counts->recording->heaps[heap];
    struct fm_build *build = counts->build;
    fm_build_add(build, csd, FM_ALLOCS, from->allocs);
    fm_build_add(build, csd, counts->frees, from->frees);
    fm_build_add(build, csd, counts->freed_bytes, from->freed_bytes);
    if (!counts->recording->is_held) {
        fm_build_add(build, csd, FM_WORDS, from->usable_bytes);
        fm_build_add(build, csd, counts->requested_bytes, from->bytes);
        return;
    }
    fm_build_add(build, csd, FM_WORDS, from->bytes);
    fm_build_add(build, csd, counts->live_bytes, from->live_bytes);
    fm_build_add(build, csd, counts->live_blocks, from->live_blocks);
    fm_build_add(build, csd, counts->peak_bytes, from->peak_bytes);
    fm_build_add(build, csd, counts->usable_bytes, from->usable_bytes);
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

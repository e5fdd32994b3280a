/* SPDX-License-Identifier: Apache-2.0 */
/* Counters of blocks, an array for each pd. */
#include "internal.h"

/* Counters for code whose blocks are not counted; never read. */
FM_EXPORT uint64_t fm_uncounted_v1[FM_REC_BLOCKS_MAX] __attribute__((aligned(64)));

FM_RUNTIME_TEXT uint64_t *fm_pd_counters(struct fm_thread *thread, struct fm_rec_pd *pd,
                                         uint64_t hook_pc)
{
    for (uint32_t ref = pd->first_point; ref != 0;) {
        struct fm_rec_point *point = fm_at(ref);
        if ((point->epoch & FM_REC_POINT_BLOCKS) != 0 && point->pc == hook_pc)
            return fm_block_counters(point);
        ref = point->next;
    }
    uint32_t blocks = fm_hook_blocks(hook_pc) - 1;
    struct fm_rec_point *point =
        fm_arena_alloc(&thread->bump, sizeof *point + blocks * sizeof(uint64_t));
    if (point == NULL) {
        __atomic_fetch_add(&fm_process.header->dropped_nodes, 1, __ATOMIC_RELAXED);
        __atomic_fetch_add(&fm_process.header->dropped_points, blocks, __ATOMIC_RELAXED);
        return fm_uncounted_v1;
    }
    uint32_t epoch = fm_modules_epoch();
    point->pc = hook_pc;
    point->count = blocks;
    point->epoch = (epoch > 0xffffff ? 0xffffff : epoch) | FM_REC_POINT_BLOCKS;
    point->next = pd->first_point;
    __atomic_store_n(&pd->first_point, fm_ref(point), __ATOMIC_RELEASE);
    fm_process.grade_flags |= FM_REC_COVERAGE;
    fm_process.header->grade_flags |= FM_REC_COVERAGE;
    return fm_block_counters(point);
}

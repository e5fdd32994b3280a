/* SPDX-License-Identifier: Apache-2.0 */
#include "exchange/import/stacks/kept.h"

#define FRAMES_MAX ((guint)1 << 22) /* 32 MiB; stacks beyond it are built each time they come */

struct kept_stack {
    guint first, depth; /* frames */
};

struct kept_frame *fm_stacks_kept_stack(struct kept *kept, uint32_t depth, uint32_t *ret_number)
{
    if (kept->stacks == NULL) {
        kept->stacks = g_array_new(FALSE, FALSE, sizeof(struct kept_stack));
        kept->frames = g_array_new(FALSE, TRUE, sizeof(struct kept_frame));
    }
    struct kept_stack stack = {kept->frames->len, depth};
    if (depth > FRAMES_MAX - stack.first)
        return NULL;
    g_array_set_size(kept->frames, stack.first + depth);
    *ret_number = KEPT_FIRST + kept->stacks->len;
    g_array_append_val(kept->stacks, stack);
    return &g_array_index(kept->frames, struct kept_frame, stack.first);
}

void fm_stacks_kept_add(struct kept *kept, uint32_t number, unsigned measure, uint64_t value)
{
    guint index = number - KEPT_FIRST;
    GArray **sums = &kept->sums[measure];
    g_assert(kept->stacks != NULL && index < kept->stacks->len);
    if (*sums == NULL)
        *sums = g_array_new(FALSE, TRUE, sizeof(uint64_t));
    if ((*sums)->len <= index)
        g_array_set_size(*sums, index + 1);
    g_array_index(*sums, uint64_t, index) += value;
}

const struct kept_frame *fm_stacks_kept_frames(const struct kept *kept, uint32_t number,
                                               uint32_t *ret_depth)
{
    if (kept->stacks == NULL || number - KEPT_FIRST >= kept->stacks->len)
        return NULL;
    const struct kept_stack *stack =
        &g_array_index(kept->stacks, struct kept_stack, number - KEPT_FIRST);
    *ret_depth = stack->depth;
    return &g_array_index(kept->frames, struct kept_frame, stack->first);
}

uint64_t fm_stacks_kept_sum(const struct kept *kept, uint32_t number, unsigned measure)
{
    const GArray *sums = kept->sums[measure];
    guint index = number - KEPT_FIRST;
    return sums == NULL || index >= sums->len ? 0 : g_array_index(sums, uint64_t, index);
}

void fm_stacks_kept_done(struct kept *kept)
{
    g_clear_pointer(&kept->stacks, g_array_unref);
    g_clear_pointer(&kept->frames, g_array_unref);
    for (unsigned m = 0; m < FM_MEASURES_MAX; m++)
        g_clear_pointer(&kept->sums[m], g_array_unref);
}
